"""What is asked, the points that are ranked, and the slices of them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cuescope_sdk import Audit, Feature, Occurrence
from cuescope_sdk.maths import softmax
from cuescope_sdk.statistics import Groups
from cuescope_sdk.stills import Answers
from cuescope_slices.scores import (
    Points,
    Slice,
    distilling_failures,
    domino,
    george,
    one_order,
)

Slicer = Callable[[Points, Any, int, np.random.Generator], list[Slice]]
SLICERS: dict[str, Slicer] = {
    "domino": domino,
    "george": george,
    "distilling-failures": distilling_failures,
}


@dataclass(frozen=True, eq=False)
class Ranked:
    """The points with the sequence and the frame of each (-1: all frames), and their slices.

    `sequences` are the outcomes in the order of the numbers; `groups` are theirs.
    """

    points: Points
    sequence: np.ndarray
    frame: np.ndarray
    lengths: np.ndarray
    keys: tuple[str, ...]
    groups: Groups
    slices: tuple[Slice, ...]

    @property
    def first(self) -> np.ndarray:
        """The first point of each sequence."""
        return np.unique(self.sequence, return_index=True)[1]

    @property
    def measured(self) -> np.ndarray:
        """Whether each sequence had no part in making the slices, or all had (sequence)."""
        fitted = np.zeros(len(self.keys), dtype=bool)
        # one fitted frame is enough: its sequence had a part in the slices
        fitted[self.sequence[self.points.fitted]] = True
        return fitted if fitted.all() else ~fitted


def rank(audit: Audit, name: str, options: Any) -> Ranked:
    """The slices of an audit's points; for `audit.once`."""
    answers = audit.once(Answers.ask, audit)
    # both orders are of frames by definition, and have no `unit`
    frames = name in ("confidence", "random") or options.unit == "frame"
    samples = [outcome.trial.sample for outcome in answers.outcomes]
    lengths = np.array([len(sample.frames) for sample in samples])
    if frames:
        sequence = np.repeat(np.arange(len(samples)), lengths)
        starts = np.cumsum(lengths) - lengths
        frame = np.arange(lengths.sum()) - starts[sequence]
        embedding = answers.embedding
    else:
        sequence = np.arange(len(samples))
        frame = np.full(len(samples), -1)
        embedding = Answers.stack_embeddings(answers.outcomes)
    groups = Groups.of(samples)
    logits = Answers.stack_logits(answers.outcomes, audit.labels)
    label = np.array([audit.labels.index(str(sample.label)) for sample in samples])
    # only methods that look at errors hold groups back: the others cannot overfit them
    share = getattr(options, "discover", 0.0)
    part = np.ones(len(samples), dtype=bool)
    if share:
        part = groups.split(audit.rng("discover"), share=share, strata=label)
    points = Points(
        embedding=embedding,
        label=label[sequence],
        probability=softmax(logits)[sequence],
        group=groups.codes[sequence],
        fitted=part[sequence],
        prediction=logits.argmax(axis=1)[sequence],
        labels=audit.labels,
    )
    keys = tuple(sample.key for sample in samples)
    ranked = Ranked(points, sequence, frame, lengths, keys, groups, ())
    slices = tuple(find(audit, name, options, answers, points))
    return replace(ranked, slices=slices)


def find(
    audit: Audit,
    name: str,
    options: Any,
    answers: Answers,
    points: Points,
) -> Sequence[Slice]:
    """The slices; none where all is right, or too few samples are left to make them of."""
    # without an error there is nothing to explain, and one point has no spread
    if points.correct.all() or points.fitted.sum() < 2:
        return []
    if name == "confidence":
        confidence = softmax(answers.static_logits).max(axis=1)
        return [one_order("frames by confidence", confidence, points.classes)]
    if name == "random":
        chance = audit.rng("random").random(len(points))
        return [one_order("frames in random order", chance, points.classes)]
    return SLICERS[name](points, options, audit.derive_seed(name), audit.rng(name))


def features(ranked: Ranked) -> Iterator[Feature]:
    """A feature a slice: its frames by strength, those of a sequence in temporal order."""
    # keys of equal width sort as text in the order of their numbers
    digits = max(2, len(str(len(ranked.slices) - 1)))
    for number, part in enumerate(ranked.slices):
        yield Feature(
            key=f"slice-{number:0{digits}d}",
            name=part.name,
            kind="slice",
            occurrences=tuple(_occurrences(ranked, part)),
        )


def _occurrences(ranked: Ranked, part: Slice) -> Iterator[Occurrence]:
    for point, strength in zip(part.points, part.strength, strict=True):
        number = ranked.sequence[point]
        frame = int(ranked.frame[point])
        # a sequence does not say which of its frames shows a cue: all, in their order
        frames = range(ranked.lengths[number]) if frame < 0 else [frame]
        for shown in frames:
            yield Occurrence(
                sample=ranked.keys[number],
                frame=shown,
                strength=float(strength),
            )
