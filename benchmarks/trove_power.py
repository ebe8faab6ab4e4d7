"""Is a cue found in 8 of 10 audits where a plan says so? Planted cues, real clusterings.

Frames are points: their label's looks, their scene, themselves, and a cue in some. They are
clustered as an audit clusters them. Answers are right in 80%, less what the cue costs one label. It
prints the loss that a plan foretells, how often the cue is found at that loss (by default and the
paper's way), and what the best candidate keeps of it: the constants of `cuescope_trove.power`.

What checks cost beside that: `benchmarks/nulls/rows.py --planted`.

    python benchmarks/trove_power.py --audits 40
"""

import argparse
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy import sparse, special

from cuescope_sdk.maths import normalise
from cuescope_sdk.statistics import Groups
from cuescope_trove.candidates.groups import (
    Candidates,
    independent_components,
    principal_components,
    several_clusterings,
)
from cuescope_trove.maths.clustering import best_clusters
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.power import (
    ASSUMED_ACCURACY,
    TOGETHER,
    expected_tried,
    smallest_loss,
)
from cuescope_trove.scores import Observations, meets
from cuescope_trove.selection import DISCOVERY, discovery_part, score, splits_by_default
from cuescope_trove.trials import sweep

DIM = 64
SCENES_A_LABEL = 3
AUDITS_A_CLUSTERING = 8
SHOWS_IT = 0.5  # share of a finding's frames from which on it shows the cue
WAYS = {"default": TRoVeOptions(), "paper=true": TRoVeOptions(paper=True)}


@dataclass(frozen=True)
class World:
    """So many sequences a label; how far cue, scene and chance move a frame beside its label."""

    n: int
    labels: int
    frames: int
    share: float
    cue: float = 1.2
    scene: float = 1.0
    noise: float = 1.2

    @property
    def label(self) -> np.ndarray:
        """Of each sequence."""
        return np.repeat(np.arange(self.labels), self.n)


WORLDS: Mapping[str, World] = {
    "300 a class": World(300, 4, 3, 0.25),
    "300 a class, in a tenth": World(300, 4, 3, 0.1),
    "150 a class, 8 classes": World(150, 8, 2, 0.25),
    "600 a class": World(600, 4, 2, 0.25),
    "600 a class, in a tenth": World(600, 4, 2, 0.1),
}


def embed(
    world: World, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points of all frames; which sequences show the cue, and in which frames."""
    label = world.label
    scenes = SCENES_A_LABEL * world.labels
    looks = _directions(world.labels, rng)
    places = world.scene * _directions(scenes, rng)
    rank = np.argsort(np.argsort(rng.random(len(label)) + label)) % world.n
    has_cue = rank < round(world.share * world.n)
    shows = rng.random((len(label), world.frames)) < 0.6
    shows[:, 0] = True
    shows &= has_cue[:, None]
    still = looks[label] + places[rng.integers(scenes, size=len(label))]
    still = still + world.noise * _noise(len(label), rng)
    points = np.repeat(still, world.frames, axis=0)
    points = points + world.noise * _noise(len(points), rng)
    points += world.cue * shows.reshape(-1, 1) * _directions(1, rng)
    return points.astype(np.float32), has_cue, shows.ravel()


def _directions(count: int, rng: np.random.Generator) -> np.ndarray:
    return normalise(rng.normal(size=(count, DIM)))


def _noise(count: int, rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(count, DIM)) / np.sqrt(2 * DIM)


def candidates(
    points: np.ndarray, world: World, options: TRoVeOptions, seed: int
) -> Candidates:
    """Those of an audit."""
    counts = sweep(world.labels, options.k_min, options.k_max, options.step)
    if options.paper:
        return Candidates.of(best_clusters(points, counts, seed)[0])
    seeds = [100 * seed + start for start in range(options.starts)]
    clusterings = several_clusterings(points, counts, seeds)
    label = np.repeat(world.label, world.frames)
    directions = [
        independent_components(points, options.components, seed),
        principal_components(points, label, options.principal_components),
    ]
    return Candidates.join([clusterings, *directions])


def answer(
    label: np.ndarray,
    costs: np.ndarray,
    loss: float,
    rng: np.random.Generator,
) -> np.ndarray:
    """Logits, right in 80%; where the cue `costs`, `loss` of the answers go to another label."""
    classes = int(label.max()) + 1
    samples = np.arange(len(label))
    logits = rng.normal(size=(len(label), classes))
    # what the right answer needs to lead in 8 of 10
    others = logits.copy()
    others[samples, label] = -np.inf
    lead = others.max(axis=1) - logits[samples, label]
    logits[samples, label] += np.quantile(lead, ASSUMED_ACCURACY)
    right = logits.argmax(axis=1) == label
    rate = max(right[costs].mean(), 1e-9)
    lost = np.flatnonzero(costs & right & (rng.random(len(label)) < loss / rate))
    taught = (label[lost] + 1) % classes
    logits[lost, taught] = logits[lost].max(axis=1) + rng.exponential(size=len(lost))
    return logits


def observe(
    world: World,
    logits: np.ndarray,
    member: sparse.csr_array,
    rng: np.random.Generator,
) -> Observations:
    """The answers as an audit has them."""
    label = world.label
    owner = np.repeat(np.arange(len(label)), world.frames)
    still = 0.7 * logits[owner] + 0.8 * rng.normal(size=(len(owner), world.labels))
    prediction = logits.argmax(axis=1)
    return Observations(
        label=label,
        prediction=prediction,
        correct=prediction == label,
        frame_sample=owner,
        frame_static=special.softmax(still, axis=1),
        member=member,
        groups=Groups.single(len(label)),
        probability=special.softmax(logits, axis=1),
    )


def told(world: World, options: TRoVeOptions) -> float | None:
    """The loss that a plan says is found in 8 of 10."""
    discover = DISCOVERY if splits_by_default([world.n]) else 0.0
    tried = expected_tried(world.labels, world.n, options, discover)
    return smallest_loss(
        world.share,
        world.n,
        ASSUMED_ACCURACY,
        options,
        kept=TOGETHER,
        tried=tried,
        discover=discover,
    )


def is_found(
    world: World,
    options: TRoVeOptions,
    groups: Candidates,
    shows: np.ndarray,
    observations: Observations,
    harmed: int,
    rng: np.random.Generator,
) -> bool:
    """Whether a finding of the harmed label shows the cue."""
    part = discovery_part(observations, options.discover, rng)
    table = score(observations, options, rng, part)
    found = table.pairs.cluster[table.finding & (table.pairs.label == harmed)]
    return any(shows[groups.members[cluster]].mean() >= SHOWS_IT for cluster in found)


def kept(observations: Observations, has_cue: np.ndarray) -> np.ndarray:
    """What each label's best candidate has of the cue's sequences, and of the others; the mean."""
    present = meets(observations).toarray()
    parts = []
    for label in range(observations.classes):
        mine = present[observations.label == label]
        cue = has_cue[observations.label == label]
        caught = mine[cue].mean(axis=0)
        stray = mine[~cue].mean(axis=0)
        spread = np.sqrt(mine.mean(axis=0) * (1 - mine.mean(axis=0)))
        best = np.argmax((caught - stray) / np.maximum(spread, 1e-6))
        parts.append((caught[best], stray[best]))
    return np.mean(parts, axis=0)


def found_shares(world: World, audits: int) -> dict[str, tuple[float, float, float]]:
    """The share of audits that find what a plan foretells, and what was `kept` of it, each way."""
    loss = told(world, WAYS["default"])
    if loss is None:
        return {}
    shares = {}
    for way, options in WAYS.items():
        found = 0
        parts = []
        for audit in range(audits):
            # a clustering serves several audits: it is what takes the time
            seed = audit // AUDITS_A_CLUSTERING
            rng = np.random.default_rng([17, seed])
            if audit % AUDITS_A_CLUSTERING == 0:
                points, has_cue, shows = embed(world, rng)
                groups = candidates(points, world, options, seed)
            rng = np.random.default_rng([18, audit])
            harmed = audit % world.labels
            costs = has_cue & (world.label == harmed)
            logits = answer(world.label, costs, loss, rng)
            observations = observe(world, logits, groups.member, rng)
            if audit % AUDITS_A_CLUSTERING == 0:
                parts.append(kept(observations, has_cue))
            found += is_found(world, options, groups, shows, observations, harmed, rng)
        caught, stray = np.mean(parts, axis=0)
        shares[way] = found / audits, float(caught), float(stray)
    return shares


def rows(audits: int) -> Iterator[str]:
    """The table."""
    ways = "".join(f"{way:>26}" for way in WAYS)
    yield f"{'found (caught, stray)':<28}{'points':>8}{ways}"
    for name, world in WORLDS.items():
        loss = told(world, WAYS["default"])
        words = f"{name:<28}{100 * (loss or np.nan):>8.0f}"
        for found, caught, stray in found_shares(world, audits).values():
            words += f"{100 * found:>12.0f} ({caught:.2f}, {stray:.3f})"
        yield words


def main() -> None:
    """Print the table, line by line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--audits", type=int, default=40)
    audits = parser.parse_args().audits
    for line in rows(audits):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
