"""How often TRoVe finds something where there is nothing, and what it misses where there is.

Simulated audits go through the same functions as real ones. Each row of the table is a null: no cue
goes with errors. `--power` plants a cue that costs so many points, sets what was found beside what
a plan foretells, and the limit of detection beside the loss that is found 8 times of 10.

    python benchmarks/nulls/trove.py --audits 1000
    python benchmarks/nulls/trove.py --audits 200 --power
"""

import argparse
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse, special

from cuescope_sdk.statistics import GapPlan, Groups, benjamini_hochberg
from cuescope_sdk.statistics._tests import accuracy_gap_p_value
from cuescope_trove.control import levels
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.power import chance_to_find, expected_tried, limit
from cuescope_trove.scores import Observations, compare, partition, static_bias
from cuescope_trove.selection import (
    DISCOVERY,
    ScoredPairs,
    Verdict,
    discovery_part,
    score,
)

LABELS, FRAMES = 4, 4
BACKGROUNDS, LOOKS = 8, 2  # clusters of backgrounds, and clusters of each class
CLUSTERS = BACKGROUNDS + LABELS * LOOKS
CUE = 0  # the cluster of a planted cue, which gives label 0 away
OVERLAPPING = 48  # candidates beside these
STRAY = 0.03  # of the frames are in a random cluster
LOSSES = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6)
PARTS = {"one part": 0.0, "two parts": DISCOVERY}


@dataclass(frozen=True)
class World:
    """What is simulated: sequences a label, clips of a source, and what is wrong with them."""

    n: int = 300
    clips: int = 1
    label_noise: float = 0.0
    # log-odds that a standard deviation of size takes from the right class
    size: float = 0.0
    cue_share: float = 0.0
    cue_loss: float = 0.0
    harmed: int = 1  # labels that suffer from the cue
    decides: bool = False  # the cue leaves nothing of the label in the probabilities


NULLS: Mapping[str, World] = {
    "independent sequences": World(),
    "5 clips of one source": World(clips=5),
    "10 clips of one source": World(clips=10),
    "5% label noise, 300 a class": World(label_noise=0.05),
    "5% label noise, 1,000 a class": World(n=1000, label_noise=0.05),
    "errors follow the size": World(size=1.2),
}
PLANTED = (
    World(n=300, cue_share=0.25),
    World(n=300, cue_share=0.1),
    World(n=1000, cue_share=0.25),
    World(n=1000, cue_share=0.1),
    World(n=300, clips=5, cue_share=0.25),
    World(n=1000, clips=5, cue_share=0.25),
    World(n=1000, clips=5, cue_share=0.1),
    World(n=500, cue_share=0.15),
    World(n=600, clips=3, cue_share=0.2),
)


def simulate(world: World, rng: np.random.Generator) -> Observations:
    """Sequences of four frames, in backgrounds that their source shares, answered by a model.

    A model is right in about 85%. All clips of a source are as hard as each other.
    """
    source_class = np.repeat(np.arange(LABELS), world.n // world.clips)
    size = rng.normal(size=len(source_class))
    background = _backgrounds(world, size, rng)
    hardness = (
        1.3 * rng.normal(size=len(source_class)) * (world.clips > 1) - world.size * size
    )
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
    owner = np.repeat(samples, FRAMES)
    look = BACKGROUNDS + true[owner] * LOOKS + rng.integers(LOOKS, size=len(owner))
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
    prediction = logits.argmax(axis=1)
    observations = Observations(
        label=label,
        prediction=prediction,
        correct=prediction == label,
        frame_sample=owner,
        member=candidates(np.where(stray, other, cluster), rng),
        frame_static=special.softmax(still, axis=1),
        groups=groups,
        probability=special.softmax(logits, axis=1),
    )
    if world.size:
        names = [str(number) for number in label.tolist()]
        return replace(
            observations, control=levels(size[source].tolist(), names, groups)
        )
    return observations


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
    world: World, size: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Of each source; where errors follow the size, backgrounds follow it too."""
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


def before(observations: Observations) -> np.ndarray:
    """Whether each (label, cluster) was a finding until now: sequences permuted one by one."""
    alone = replace(observations, member=observations.member[:, :CLUSTERS])
    pairs, options = compare(alone), TRoVeOptions()
    bias = static_bias(alone, pairs)
    counts = pairs.correct_without, pairs.n_without, pairs.correct_with, pairs.n_with
    q_value = np.array(benjamini_hochberg(accuracy_gap_p_value(*counts).tolist()))
    table = np.zeros((LABELS, CLUSTERS), dtype=bool)
    table[pairs.label, pairs.cluster] = (
        (pairs.error_contribution > options.min_error_contribution)
        & (bias.n_frames > 0)
        & (bias.value > 1 / LABELS)
        & (q_value <= options.fdr)
    )
    return table


def after(
    observations: Observations,
    discover: float,
    rng: np.random.Generator,
    *,
    pool_labels: bool = True,
) -> tuple[np.ndarray, ScoredPairs]:
    """The verdict on each (label, candidate), and the table that it is from."""
    options = TRoVeOptions(discover=discover, pool_labels=pool_labels)
    part = discovery_part(observations, discover, rng)
    scored = score(observations, options, rng, part)
    table = np.zeros((LABELS, observations.clusters), dtype=int)
    table[scored.pairs.label, scored.pairs.cluster] = scored.verdict
    return table, scored


def null_rows(audits: int) -> Iterator[str]:
    """Audits with any finding, before and after, and with anything explained away."""
    yield f"{'audits with a ...':<32}{'before':>8}{'after':>8}{'parts':>8}{'noise':>8}{'size':>8}"
    for name, world in NULLS.items():
        counts = np.zeros(5, dtype=int)
        for audit in range(audits):
            rng = np.random.default_rng([14, audit])
            observations = simulate(world, rng)
            verdicts, parts = (
                after(observations, part, rng)[0] for part in PARTS.values()
            )
            counts += [
                before(observations).any(),
                (verdicts == Verdict.FINDING).any(),
                (parts == Verdict.FINDING).any(),
                (verdicts == Verdict.LABEL_NOISE).any(),
                (verdicts == Verdict.CONTROL).any(),
            ]
        yield (
            f"{name:<32}"
            + "".join(f"{count:>8}" for count in counts)
            + f"  of {audits}"
        )


# ------------------------------------------------------------------------------------- power


def power_rows(audits: int) -> Iterator[str]:
    """How often the cue is found for one label, by what it costs, and what was foretold."""
    yield "audits that find the cue for one label, in percent, by points of accuracy that it costs"
    yield (
        f"{'':<36}"
        + "".join(f"{100 * loss:>6.0f}" for loss in LOSSES)
        + f"{'80% at':>9}"
    )
    for world in PLANTED:
        yield f"{world.n} a class, {world.clips} clip(s) a source, in {world.cue_share:.0%}"
        curves = [_found(replace(world, cue_loss=loss), audits) for loss in LOSSES]
        for row in curves[0]:
            curve = [found[row] for found in curves]
            yield (
                f"  {row:<34}"
                + "".join(f"{value:>6.0f}" for value in curve)
                + _reached(curve)
            )
        for name, limits in _limits(world, min(audits, 20)).items():
            yield f"  limit of detection, {name}: {np.nanmedian(limits):.1f} (median of audits)"


def _found(world: World, audits: int) -> dict[str, float]:
    """Percent of audits with the finding, and the chance that was foretold."""
    sums = {"before": 0.0}
    for audit in range(audits):
        rng = np.random.default_rng([15, audit])
        observations = simulate(world, rng)
        sums["before"] += float(before(observations)[1, CUE])
        for name, part in PARTS.items():
            verdicts, _ = after(observations, part, rng)
            mine = observations.label == 1
            right = observations.correct[mine].astype(float)
            count = mine.sum() / observations.groups.take(mine).design_effect(right)
            rate = (
                float(observations.correct[mine].mean())
                + world.cue_share * world.cue_loss
            )
            n_with = count * world.cue_share
            plan = GapPlan(n_with, count * (1 - world.cue_share), rate)
            told = chance_to_find(
                world.cue_loss,
                plan,
                TRoVeOptions(),
                tried=expected_tried(LABELS * CLUSTERS, world.n / world.clips, part),
                discover=part,
            )
            for key, value in (
                (name, float(verdicts[1, CUE] == Verdict.FINDING)),
                (f"{name}, foretold", told),
            ):
                sums[key] = sums.get(key, 0.0) + value
    return {key: 100 * value / audits for key, value in sums.items()}


def _limits(world: World, audits: int) -> dict[str, list[float]]:
    """Limits of detection in answers without a cue."""
    limits: dict[str, list[float]] = {name: [] for name in PARTS}
    for audit in range(audits):
        rng = np.random.default_rng([16, audit])
        observations = simulate(replace(world, cue_share=0.0), rng)
        for name, part in PARTS.items():
            _, scored = after(observations, part, rng)
            options = TRoVeOptions(discover=part)
            value = limit(observations, scored, options, rng, world.cue_share)
            limits[name].append(np.nan if value is None else 100 * value)
    return limits


def _reached(curve: list[float]) -> str:
    """Points of loss at which the curve passes 80%."""
    if max(curve) < 80:
        return f"{'-':>9}"
    return f"{100 * np.interp(80, np.maximum.accumulate(curve), LOSSES):>9.1f}"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--audits", type=int, default=1000)
    parser.add_argument("--power", action="store_true")
    given = parser.parse_args()
    for line in (power_rows if given.power else null_rows)(given.audits):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
