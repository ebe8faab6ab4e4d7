"""How often TRoVe and its rivals find something where there is nothing.

Simulated audits go through the same functions as real ones, checks and the engine's doubts
included. Each row is a null: no cue goes with errors, though something else may. With `--planted`
there is a cue beside it.

    python benchmarks/nulls/rows.py --method trove --audits 1000
    python benchmarks/nulls/rows.py --method domino --audits 1000
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from recorded import Recorded, record, run
from scipy import special

from cuescope_sdk import Detection, Frame, Options, Sample
from cuescope_sdk.data._conditions import QUALITY
from cuescope_sdk.data._other_explanations import quality_of_files
from cuescope_sdk.statistics import Groups
from cuescope_slices import DistillingFailures, Domino, George, Slices
from cuescope_trove import TRoVe
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.scores import Observations, partition

LABELS, FRAMES = 4, 4
BACKGROUNDS, LOOKS = 8, 2  # clusters of backgrounds, and clusters of each class
CLUSTERS = BACKGROUNDS + LABELS * LOOKS
HARMED = "label 1"  # what a planted cue costs most
CUE = 0  # the cluster of a planted cue, which gives label 0 away
STRAY = 0.03  # of the frames are in a random cluster
SITES = 4
DIM = 24  # of the embedding
# of the planted cue: the share of a label's sequences that show it, and what it takes from them
SHARE, COSTS = 0.25, 0.4
SHOWS_IT = 0.5  # share of a finding's frames from which on it shows the cue
UNSHUFFLED = TRoVeOptions(null_shuffles=0, hide=False)
NO_PICTURE = Frame.from_array(np.zeros((2, 2, 3), np.uint8))


@dataclass(frozen=True)
class World:
    """What is simulated: sequences a label, clips of a source, and what is wrong with them."""

    n: int = 300
    clips: int = 1
    # clips of a source are the same but for noise, and lie anywhere
    are_copies: bool = False
    label_noise: float = 0.0
    # log-odds that a standard deviation of size (or time, or quality) takes from the right class
    size: float = 0.0
    is_known: bool = True  # else nothing is outlined
    # of the sizes: the share of their variance that is no noise
    reliability: float = 1.0
    in_order: bool = False  # samples come in its order: it is the time
    is_quality: bool = False  # it is how sharp the picture is
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
    "30 clips of a source, undeclared": World(clips=30, are_declared=False),
    "60 clips of a source, undeclared": World(clips=60, are_declared=False),
    "three near-copies, undeclared": World(
        clips=3, are_copies=True, are_declared=False
    ),
    "size, known": World(size=1.2),
    "size, noisy boxes (reliability .9)": World(size=1.2, reliability=0.9),
    "size, noisy boxes (reliability .8)": World(size=1.2, reliability=0.8),
    "size, noisy boxes (reliability .67)": World(size=1.2, reliability=0.67),
    "size, noisy boxes (reliability .5)": World(size=1.2, reliability=0.5),
    "size, unknown": World(size=1.2, is_known=False),
    "picture quality": World(size=0.8, is_quality=True),
    "a second label's thing in 20%": World(second=0.2),
    "drift in time": World(size=0.8, in_order=True),
    "drift in time, 5 clips of a source, undeclared": World(
        size=0.8, in_order=True, clips=5, are_declared=False
    ),
    "site": World(sites=0.8),
    "5% label noise": World(label_noise=0.05),
    "10% label noise": World(label_noise=0.1),
}


@dataclass(frozen=True, eq=False)
class Scene:
    """Answers as arrays, a point for each frame, and what is annotated of each sequence."""

    observations: Observations
    probability: np.ndarray
    embedding: np.ndarray
    groups: Sequence[str] | None
    size: np.ndarray | None
    site: np.ndarray | None
    sharpness: np.ndarray
    second: np.ndarray  # the other label's thing that is on screen, -1 for none

    def annotations(self, number: int, names: Sequence[str]) -> dict[str, Any]:
        """Boxes, and the site, of a sequence."""
        annotations: dict[str, Any] = {}
        if self.site is not None:
            annotations["site"] = f"site {self.site[number]}"
        if self.size is not None:
            side = float(np.exp(self.size[number] / 2))
            boxes = [_box(names[self.observations.label[number]], side)]
            if self.second[number] >= 0:
                boxes.append(_box(names[self.second[number]], 1.0))
            annotations["boxes"] = tuple(boxes)
        return annotations


def _box(name: str, side: float) -> Detection:
    return Detection(name=name, score=1.0, box=(0.0, 0.0, side, side))


def simulate(world: World, rng: np.random.Generator) -> Scene:
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
    if world.are_copies:
        source = rng.permutation(source)
    true = source_class[source]
    samples = np.arange(len(true))
    alike = 0.9 if world.are_copies else 0.0
    chance = np.sqrt(alike) * rng.normal(size=(len(source_class), LABELS))[source]
    chance += np.sqrt(1 - alike) * rng.normal(size=(len(true), LABELS))
    logits = 1.3 * chance
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
    cluster = np.where(stray, other, cluster)
    if world.are_copies:
        first = np.unique(source, return_index=True)[1]
        cluster = cluster.reshape(-1, FRAMES)[first][source].ravel()
    still = 0.7 * logits[owner] + 0.8 * rng.normal(size=(len(owner), LABELS))
    changed = (true + rng.integers(1, LABELS, size=len(true))) % LABELS
    label = np.where(rng.random(len(true)) < world.label_noise, changed, true)
    declared = world.clips > 1 and world.are_declared
    groups = Groups(source, len(source_class), True)
    prediction = logits.argmax(axis=1)
    observations = Observations(
        label=label,
        prediction=prediction,
        correct=prediction == label,
        frame_sample=owner,
        member=partition(cluster, CLUSTERS),
        frame_static=special.softmax(still, axis=1),
        groups=groups if declared else Groups.single(len(true)),
    )
    noise = np.sqrt(1 / world.reliability - 1) * rng.normal(size=len(size))
    # what errors follow is the size, the time or the quality; the others know nothing of them
    unrelated = rng.normal(size=len(size))
    is_size = not (world.in_order or world.is_quality)
    measured = size + noise if is_size else unrelated
    sharpness = size if world.is_quality else rng.normal(size=len(size))
    return Scene(
        observations=observations,
        probability=special.softmax(logits, axis=1),
        embedding=_embed(cluster, source, world, rng),
        groups=[f"source {number}" for number in source] if declared else None,
        size=measured[source] if world.is_known else None,
        site=site[source] if world.sites else None,
        sharpness=sharpness[source],
        second=np.where(has_second, other_thing, -1),
    )


def _embed(
    cluster: np.ndarray,
    source: np.ndarray,
    world: World,
    rng: np.random.Generator,
) -> np.ndarray:
    """A point for each frame, near the centre of its cluster."""
    points = 3 * np.eye(CLUSTERS, DIM)[cluster]
    if world.are_copies:
        # copies share their frames, but for a little noise
        first = np.unique(source, return_index=True)[1]
        shared = (points + rng.normal(size=points.shape)).reshape(-1, FRAMES, DIM)
        noise = 0.02 * rng.normal(size=shared.shape)
        return (shared[first][source] + noise).reshape(-1, DIM).astype(np.float32)
    return (points + rng.normal(size=points.shape)).astype(np.float32)


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


# ---------------------------------------------------------------------------- audits of it


def recorded(scene: Scene, options: Options) -> Recorded:
    """The audit of a scene, before anything is looked for."""
    label = scene.observations.label
    names = tuple(f"label {number}" for number in range(LABELS))
    samples = [
        Sample(
            key=f"{number:05d}",
            frames=(NO_PICTURE,) * FRAMES,
            choices=names,
            label=names[code],
            group=scene.groups[number] if scene.groups else None,
            annotations=scene.annotations(number, names),
        )
        for number, code in enumerate(label)
    ]
    # data come by their labels, with the wrong ones anywhere among these
    order = np.lexsort((np.arange(len(label)) % (len(label) // LABELS), label))
    audit = record(
        samples,
        names,
        options,
        logits=np.log(scene.probability),
        static_logits=np.log(scene.observations.frame_static),
        embedding=scene.embedding,
        order=order.tolist(),
    )
    audit.known[quality_of_files] = lambda of: {
        QUALITY[0]: scene.sharpness[[int(sample.key) for sample in of]]
    }
    return audit


def check_trove(scene: Scene, options: TRoVeOptions = UNSHUFFLED) -> Recorded:
    """An audit by TRoVe, after all checks; `Score.doubt` says what took a star."""
    return run(TRoVe(options, None), recorded(scene, options), checks=True)


def check_slices(method: type[Slices], scene: Scene) -> Recorded:
    """An audit by a rival, after all checks."""
    options = method.Options()
    return run(method(options, None), recorded(scene, options), checks=True)


RIVALS: Mapping[str, type[Slices]] = {
    "domino": Domino,
    "george": George,
    "distilling-failures": DistillingFailures,
}


def audit_null(method: str, world: World, seed: int) -> tuple[bool, bool]:
    """Whether a method's rule is passed, and whether a star is left after all checks."""
    rng = np.random.default_rng([14, seed])
    scene = simulate(world, rng)
    rival = RIVALS.get(method)
    audit = check_slices(rival, scene) if rival else check_trove(scene)
    found = audit.found
    return bool(found), any(score.doubt is None for score in found)


def audit_planted(null: World, seed: int) -> tuple[bool, bool]:
    """The same of TRoVe's findings that show a cue, which is planted beside what a null has."""
    rng = np.random.default_rng([15, seed])
    scene = simulate(replace(null, cue_share=SHARE, cue_loss=COSTS), rng)
    audit = check_trove(scene)
    cue = scene.observations.member[:, [CUE]].toarray().ravel()
    shows_it = set()
    for feature in audit.features:
        frames = [
            audit.answers.row[seen.sample, seen.frame] for seen in feature.occurrences
        ]
        if cue[frames].mean() >= SHOWS_IT:
            shows_it.add(feature.key)
    found = [
        score
        for score in audit.found
        if score.label == HARMED and score.feature in shows_it
    ]
    return bool(found), any(score.doubt is None for score in found)
