"""Things of the class answered that are on screen beside the object: such an answer is read there.

A second thing is no background, though it lies outside of the object's mask. Where data name the
things of an image, or a detector does, their words count. Where neither names those of other labels
at all, or may miss some, the model's own maps do: a thing is small, a background is everywhere.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from cuescope_cci.error_source import AnswerSource, Sources
from cuescope_cci.scores import background_clusters, relative_drop
from cuescope_sdk import Audit
from cuescope_sdk.tools import CachedDetector, normalise_name

# A small part of the background's patches that carries most of what the background gives an answer.
# Of a background that is everywhere a part carries about its share, or less: the rest stands in.
SMALL = 0.25
MOST = 0.5
SCORE = 0.3  # of a detector's box
Told = Literal["annotations", "a detector and the maps", "the maps"]


@dataclass(frozen=True, eq=False)
class ThingsBeside:
    """Whether a thing of the class answered is `beside` the object, an entry an image.

    Only answers are looked at that the background moves. `told` says by what.
    """

    beside: np.ndarray
    told: Told


def things_beside(audit: Audit, sources: Sources) -> ThingsBeside:
    """What is known of each image, by the best that there is."""
    named = [set(_annotated_names(source)) for source in sources]
    if _names_others(sources, named):
        return ThingsBeside(_are_named(sources, named), "annotations")
    by_maps = _each(sources, _is_carried_by_a_part)
    if "detector" in audit.tools:
        detected = _detected_names(audit, sources)
        # a detector that never finds another label does not know their words
        if _names_others(sources, detected):
            # detectors miss things, and a third of them is enough for a pull
            beside = _are_named(sources, detected) | by_maps
            return ThingsBeside(beside, "a detector and the maps")
    return ThingsBeside(by_maps, "the maps")


def _annotated_names(source: AnswerSource) -> Iterator[str]:
    """What data say to be in the image, by boxes, masks and words."""
    annotations = source.sample.annotations
    for detection in annotations.get("boxes", ()):
        yield normalise_name(detection.name)
    for name in (*annotations.get("masks", ()), *annotations.get("objects", ())):
        yield normalise_name(name)


def _detected_names(audit: Audit, sources: Sources) -> list[set[str]]:
    """The classes answered that a detector finds; only images are shown to it that are asked of."""
    detector = CachedDetector(audit.tools["detector"], audit.context)
    named: list[set[str]] = [set() for _ in sources]
    moved = [index for index, source in enumerate(sources) if _is_moved(source)]
    frames = [sources[index].sample.frames[0] for index in moved]
    answers = sorted({normalise_name(sources[index].prediction) for index in moved})
    if not moved:
        return named
    for index, boxes in zip(moved, detector.detect(frames, answers), strict=True):
        for box in boxes:
            if box.score >= SCORE:
                named[index].add(normalise_name(box.name))
    return named


def _names_others(sources: Sources, named: Sequence[set[str]]) -> bool:
    """Whether a label is named in an image of another: else only the object itself was named."""
    labels = {normalise_name(str(source.label)) for source in sources}
    return any(
        names & labels - {normalise_name(str(source.label))}
        for source, names in zip(sources, named, strict=True)
    )


def _are_named(sources: Sources, named: Sequence[set[str]]) -> np.ndarray:
    """Whether a thing of the class answered is named, an entry an image."""
    names_of = {source.key: names for source, names in zip(sources, named, strict=True)}

    def is_named(source: AnswerSource) -> bool:
        # a right answer names the object, whatever else is there
        return (
            source.wrong and normalise_name(source.prediction) in names_of[source.key]
        )

    return _each(sources, is_named)


def _each(sources: Sources, holds: Callable[[AnswerSource], bool]) -> np.ndarray:
    return np.array(
        [_is_moved(source) and holds(source) for source in sources], dtype=bool
    )


def _is_moved(source: AnswerSource) -> bool:
    return source.prediction != source.object_answer


def _is_carried_by_a_part(source: AnswerSource) -> bool:
    """Whether a small part of the background carries what the background gives the answer."""
    if source.apart is None or source.foreground is None:
        return False
    choice = source.sample.choices.index(source.prediction)
    by_background = relative_drop(source.logits, source.apart.objects, choice)
    is_background = background_clusters(source.cluster, source.foreground)
    patches = np.bincount(source.cluster.ravel())
    small = patches <= SMALL * patches[is_background].sum()
    by_part = [
        relative_drop(source.logits, source.logits - source.drops[number], choice)
        for number in np.flatnonzero(is_background & small)
    ]
    return by_background > 0 and max(by_part, default=0.0) >= MOST * by_background
