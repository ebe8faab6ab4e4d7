"""Situation graphs as scenes, and which frames are shown."""

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib.resources import files

from cuescope_sdk.data import sample_indices
from cuescope_sdk.grounding import Action, Relation, SceneFrame, Thing
from cuescope_star.layout import PERSON, Classes, Situation

_WORDS: Mapping[str, Mapping[str, str]] = tomllib.loads(
    files(__package__).joinpath("words.toml").read_text("utf-8")
)
# Who does so is on it.
_SUPPORTED = frozenset({"sit on", "sit in", "lie on", "stand on"})


def scene_frame(situation: Situation, classes: Classes) -> SceneFrame:
    """The things, relations and actions of a frame; the graphs are not complete, so none is closed.

    Things have their class's code for an id, a second one of a class "o003.2". A thing without a
    box is there and not seen; one that only a relation or action names is seen somewhere.
    """
    actions = dict.fromkeys((*_contacts(situation, classes), *_actions(situation, classes)))
    relations = [
        _relation(*pair, classes.relations[label])
        for pair, label in zip(situation.rel_pairs, situation.rel_labels, strict=True)
    ]
    relations += [
        Relation(subject=action.subject, predicate="on", object=action.object)
        for action in actions
        if action.verb in _SUPPORTED and action.object
    ]
    named = [code for pair in situation.rel_pairs for code in pair]
    named += [code for action in actions for code in (action.subject, action.object) if code]
    things = _boxed(situation, classes)
    things += [
        Thing(id=code, name=noun(classes.objects[code]))
        for code in dict.fromkeys(named)
        if code not in situation.bbox_labels
    ]
    return SceneFrame(
        things=tuple(things), relations=tuple(dict.fromkeys(relations)), actions=tuple(actions)
    )


def noun(name: str) -> str:
    """A class's name as claims say it; "cup/glass/bottle" stays one of the three."""
    return _WORDS["singular"].get(name, name)


def choose_frames(
    within: Sequence[int], annotated: Collection[int], wanted: int
) -> tuple[int, ...]:
    """`wanted` of the frames `within` a clip: of each equal part the annotated one next to its
    middle, or the middle one where none is annotated.
    """
    count = len(within)
    frames = []
    for part, index in enumerate(sample_indices(count, wanted)):
        middle = within[index]
        part_frames = within[part * count // wanted : (part + 1) * count // wanted]
        known = [frame for frame in part_frames if frame in annotated]
        frames.append(min(known, key=lambda frame: abs(frame - middle), default=middle))
    return tuple(frames)


def _boxed(situation: Situation, classes: Classes) -> list[Thing]:
    things: list[Thing] = []
    for code, box in zip(situation.bbox_labels, situation.bbox, strict=True):
        before = sum(thing.id.partition(".")[0] == code for thing in things)
        key = f"{code}.{before + 1}" if before else code
        name = noun(classes.objects[code])
        things.append(Thing(id=key, name=name, box=box, visible=box is not None))
    return things


def _relation(subject: str, other: str, label: str) -> Relation:
    if subject == PERSON and label in _WORDS["of_the_object"]:
        return Relation(subject=other, predicate=_WORDS["of_the_object"][label], object=subject)
    return Relation(subject=subject, predicate=label.replace("_", " "), object=other)


def _contacts(situation: Situation, classes: Classes) -> Iterator[Action]:
    for (subject, other), label in zip(situation.rel_pairs, situation.rel_labels, strict=True):
        verb = _WORDS["contact_verbs"].get(classes.relations[label])
        if verb is not None:
            for word in dict.fromkeys((verb, verb.partition(" ")[0])):
                yield Action(subject=subject, verb=word, object=other)


def _actions(situation: Situation, classes: Classes) -> Iterator[Action]:
    for code in situation.actions:
        action = classes.actions[code]
        down = ("put down",) if action.verb == "put" else ()  # as the authors' answers say it
        for verb in dict.fromkeys((action.verb, *action.phrases, *down)):
            yield Action(subject=PERSON, verb=verb, object=action.object)
