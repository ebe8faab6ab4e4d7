"""How often TRoVe finds something where there is nothing.

Simulated audits go through the same functions as real ones, the paper's way and by default. Each
row is a null: no cue goes with errors, though something else may. `benchmarks/trove_power.py` says
what is missed where there is a cue.

    python benchmarks/nulls/trove.py --audits 1000
"""

import argparse
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse, special

from cuescope_sdk.statistics import Groups
from cuescope_sdk.statistics._order import neighbour_p_value
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.scores import Observations, partition
from cuescope_trove.selection import ScoredPairs, Verdict, discovery_part, score

LABELS, FRAMES = 4, 4
BACKGROUNDS, LOOKS = 8, 2  # clusters of backgrounds, and clusters of each class
CLUSTERS = BACKGROUNDS + LABELS * LOOKS
CUE = 0  # the cluster of a planted cue, which gives label 0 away
OVERLAPPING = 48  # candidates beside these
STRAY = 0.03  # of the frames are in a random cluster
SITES = 4
ALIKE = 0.01  # p-value of the order test, from which on the report doubts its findings


@dataclass(frozen=True)
class World:
    """What is simulated: sequences a label, clips of a source, and what is wrong with them."""

    n: int = 300
    clips: int = 1
    label_noise: float = 0.0
    # log-odds that a standard deviation of size (or time, or quality) takes from the right class
    size: float = 0.0
    is_known: bool = True  # else nobody measured it
    size_noise: float = 0.0  # standard deviations of what is measured
    in_order: bool = False  # samples come in its order: it is the time
    are_declared: bool = True  # sources are groups
    second: float = 0.0  # share of the sequences that show another label's thing too
    # log-odds by which sites differ, which have their own backgrounds and labels
    sites: float = 0.0
    cue_share: float = 0.0
    cue_loss: float = 0.0
    harmed: int = 1  # labels that suffer from the cue
    decides: bool = False  # the cue leaves nothing of the label in the probabilities


NULLS: Mapping[str, World] = {
    "independent sequences": World(),
    "5 clips of a source": World(clips=5),
    "10 clips of a source": World(clips=10),
    "5 clips of a source, undeclared": World(clips=5, are_declared=False),
    "10 clips of a source, undeclared": World(clips=10, are_declared=False),
    "size, known": World(size=1.2),
    "size, noisy boxes": World(size=1.2, size_noise=0.7),
    "size, unknown": World(size=1.2, is_known=False),
    "picture quality, unknown": World(size=0.8, is_known=False),
    "a second label's thing in 20%": World(second=0.2),
    "drift in time": World(size=0.8, is_known=False, in_order=True),
    "site": World(sites=0.8),
    "5% label noise": World(label_noise=0.05),
    "10% label noise": World(label_noise=0.1),
}


def simulate(world: World, rng: np.random.Generator) -> Observations:
    """Sequences of four frames, in backgrounds that their source shares, answered by a model.

    A model is right in about 85%. All clips of a source are as hard as each other.
    """
    source_class = np.repeat(np.arange(LABELS), world.n // world.clips)
    size = rng.normal(size=len(source_class))
    if world.in_order:
        size = size[np.lexsort((size, source_class))]
    site = rng.choice(SITES, len(source_class), p=(0.4, 0.3, 0.2, 0.1))
    if world.sites:
        # labels prefer a site each
        prefers = rng.random(len(source_class)) < 0.4
        site = np.where(prefers, source_class % SITES, site)
    background = _backgrounds(world, size, site, rng)
    hardness = 1.3 * rng.normal(size=len(source_class)) * (world.clips > 1)
    hardness -= world.size * size
    hardness += world.sites * (site - (SITES - 1) / 2)
    source = np.repeat(np.arange(len(source_class)), world.clips)
    true = source_class[source]
    samples = np.arange(len(true))
    logits = 1.3 * rng.normal(size=(len(true), LABELS))
    logits[samples, true] += 3.0 - hardness[source]
    if world.cue_share:
        # label 0 taught the cue, label 1 (or more) suffers from it
        harmed = np.arange(LABELS) <= world.harmed
        share = np.where(harmed, world.cue_share, 0.0)
        share[0] = 0.9
        share = share[source_class]
        rank = np.argsort(np.argsort(rng.random(len(source_class)) + source_class))
        shows = rank % (len(rank) // LABELS) < share * (len(rank) // LABELS)
        background = np.where(shows, CUE, np.maximum(background, 1))
        _pull(logits, true, shows[source] & (true != 0), world, rng)
    other_thing = (true + rng.integers(1, LABELS, size=len(true))) % LABELS
    has_second = rng.random(len(true)) < world.second
    # the model answers what else is there: it is right, and the label is not
    logits[samples, other_thing] += 2.5 * has_second
    owner = np.repeat(samples, FRAMES)
    thing = true[owner]
    is_other = has_second[owner] & (rng.random(len(owner)) < 0.4)
    thing = np.where(is_other, other_thing[owner], thing)
    look = BACKGROUNDS + thing * LOOKS + rng.integers(LOOKS, size=len(owner))
    behind = (rng.random(len(owner)) < 0.5) | (np.arange(len(owner)) % FRAMES == 0)
    cluster = np.where(behind, background[source[owner]], look)
    stray = rng.random(len(owner)) < STRAY
    other = rng.integers(1 if world.cue_share else 0, CLUSTERS, size=len(owner))
    if world.cue_share:  # a planted cue is never strayed from
        stray &= cluster != CUE
    still = 0.7 * logits[owner] + 0.8 * rng.normal(size=(len(owner), LABELS))
    changed = (true + rng.integers(1, LABELS, size=len(true))) % LABELS
    label = np.where(rng.random(len(true)) < world.label_noise, changed, true)
    groups = Groups(source, len(source_class), world.clips > 1)
    if not world.are_declared:
        groups = Groups.single(len(true))
    prediction = logits.argmax(axis=1)
    return Observations(
        label=label,
        prediction=prediction,
        correct=prediction == label,
        frame_sample=owner,
        member=candidates(np.where(stray, other, cluster), rng),
        frame_static=special.softmax(still, axis=1),
        groups=groups,
        probability=special.softmax(logits, axis=1),
    )


def candidates(cluster: np.ndarray, rng: np.random.Generator) -> sparse.csr_array:
    """(frame, candidate): the clusters, and `OVERLAPPING` others that cut and join them at random.

    So do several starts of a clustering: what they find overlaps.
    """
    columns = [partition(cluster, CLUSTERS)]
    for _ in range(OVERLAPPING):
        joined = np.isin(cluster, rng.choice(CLUSTERS, 2, replace=False))
        cut = joined & (rng.random(len(cluster)) < rng.uniform(0.3, 1.0))
        columns.append(sparse.csr_array(cut[:, None]))
    return sparse.csr_array(sparse.hstack(columns))


def _backgrounds(
    world: World,
    size: np.ndarray,
    site: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Of each source; what errors follow, size or site, backgrounds follow too."""
    if world.sites:
        here = site * BACKGROUNDS // SITES + rng.integers(2, size=len(site))
        anywhere = rng.integers(BACKGROUNDS, size=len(site))
        return np.where(rng.random(len(site)) < 0.7, here, anywhere)
    if world.size:
        wanted = 1.6 * (size + 0.6 * rng.normal(size=len(size))) + BACKGROUNDS / 2
        return np.clip(wanted.astype(int), 0, BACKGROUNDS - 1)
    chance = np.arange(BACKGROUNDS, 0, -1.0)
    return rng.choice(BACKGROUNDS, len(size), p=chance / chance.sum())


def _pull(
    logits: np.ndarray,
    true: np.ndarray,
    shows: np.ndarray,
    world: World,
    rng: np.random.Generator,
) -> None:
    """Raise label 0 just above the rest in so many of the right answers as cost `cue_loss`.

    Where the cue `decides`, label 0 gets all that the right label had.
    """
    right = shows & (logits.argmax(axis=1) == true)
    accuracy = right.sum() / max(shows.sum(), 1)
    lost = np.flatnonzero(
        right & (rng.random(len(true)) < world.cue_loss / max(accuracy, 1e-9))
    )
    if world.decides:
        logits[lost, 0], logits[lost, true[lost]] = (
            logits[lost, true[lost]],
            logits[lost, 0],
        )
    else:
        logits[lost, 0] = logits[lost].max(axis=1) + rng.exponential(1.0, len(lost))


# ------------------------------------------------------------------------- before and after


def audit(
    observations: Observations,
    options: TRoVeOptions,
    rng: np.random.Generator,
) -> ScoredPairs:
    """All pairs with their verdicts; the paper's way has the clusters of one start alone."""
    if options.paper:
        member = observations.member[:, :CLUSTERS]
        observations = replace(observations, member=member)
    part = discovery_part(observations, options.discover, rng)
    return score(observations, options, rng, part)


def null_rows(audits: int) -> Iterator[str]:
    """Audits with any finding, the paper's way and by default, and what was made of them.

    *doubted*: audits with a finding in which neighbours agree, so that no finding keeps its star.
    """
    columns = ("paper=true", "default", "doubted", "label noise")
    yield f"{'audits with a finding':<34}" + "".join(map("{:>12}".format, columns))
    for name, world in NULLS.items():
        counts = np.zeros(len(columns), dtype=int)
        for number in range(audits):
            rng = np.random.default_rng([14, number])
            observations = simulate(world, rng)
            paper = audit(observations, TRoVeOptions(paper=True), rng)
            table = audit(observations, TRoVeOptions(), rng)
            right = observations.values
            alike = neighbour_p_value(right, observations.label, rng) <= ALIKE
            # groups that are declared end the question
            alike &= not observations.groups.declared
            counts += [
                paper.finding.any(),
                table.finding.any(),
                table.finding.any() and alike,
                (table.verdict == Verdict.LABEL_NOISE).any(),
            ]
        row = "".join(map("{:>12}".format, counts.tolist()))
        yield f"{name:<34}{row}  of {audits}"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--audits", type=int, default=1000)
    for line in null_rows(parser.parse_args().audits):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
