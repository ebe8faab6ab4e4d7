"""The things that a question or a trace is about, and where they are in each frame."""

from collections.abc import Iterable, Sequence

from cuescope_sdk import Sample
from cuescope_sdk.grounding import Claim, Thing, scene_of
from cuescope_step_grounding.claims.contents import flatten

Box = tuple[float, float, float, float]
Boxes = tuple[dict[str, Box], ...]  # by thing, a mapping a frame


def boxes_of(sample: Sample) -> Boxes:
    """Where the visible things of an annotated scene are; empty without a scene."""
    return tuple(
        {thing.id: thing.box for thing in frame.things if thing.box is not None and thing.visible}
        for frame in scene_of(sample) or ()
    )


def key_boxes(sample: Sample, claims: Iterable[Claim]) -> Boxes:
    """The boxes of what the question names and of what is claimed; where that is none, of all."""
    known = [thing for frame in scene_of(sample) or () for thing in frame.things]
    subjects = [phrase for claim in flatten(claims) for phrase in (claim.subject, claim.object)]
    claimed = ". ".join(filter(None, subjects))
    keys = named_things(sample.question or "", known) | named_things(claimed, known)
    boxes = boxes_of(sample)
    if not any(keys & frame.keys() for frame in boxes):
        return boxes
    return tuple({k: box for k, box in frame.items() if k in keys} for frame in boxes)


def named_things(text: str, things: Iterable[Thing]) -> set[str]:
    """The ids of the things that a text names, those with their attributes before all others.

    "Where is the red cup?" means the red cup where there is one, and else any cup.
    """
    # Blanks on both sides make "cup" a word and no part of "cupboard".
    words = f" {' '.join(_words(text))} "
    with_attribute, by_name = set(), set()
    for thing in things:
        if any(f" {attribute} {thing.name} ".lower() in words for attribute in thing.attributes):
            with_attribute.add(thing.id)
        if f" {thing.name} ".lower() in words:
            by_name.add(thing.id)
    return with_attribute or by_name


def _words(text: str) -> Sequence[str]:
    return "".join(c if c.isalnum() else " " for c in text.lower()).split()
