"""Situation graphs as scenes, and which frames are shown."""

import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import chain

from cuescope_sdk.data import Probe
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
    actions = dict.fromkeys(
        (*_contacts(situation, classes), *_actions(situation, classes))
    )
    codes = list(chain.from_iterable(situation.rel_pairs))
    relations = []
    for pair, label in zip(situation.rel_pairs, situation.rel_labels, strict=True):
        name = classes.relations[label]
        relations.append(_relation(*pair, name))
    for action in actions:
        codes += filter(None, (action.subject, action.object))
        if action.verb in _SUPPORTED and action.object:
            relation = Relation(
                subject=action.subject,
                predicate="on",
                object=action.object,
            )
            relations.append(relation)
    things = _things_in_boxes(situation, classes)
    for code in dict.fromkeys(codes):
        # a thing with a box is there already
        if code not in situation.bbox_labels:
            name = noun(classes.objects[code])
            things.append(Thing(id=code, name=name))
    return SceneFrame(
        things=tuple(things),
        relations=tuple(dict.fromkeys(relations)),
        actions=tuple(actions),
    )


def noun(name: str) -> str:
    """A class's name as claims say it; "cup/glass/bottle" stays one of the three."""
    return _WORDS["singular"].get(name, name)


def choose_frames(
    within: Sequence[int],
    annotated: Collection[int],
    wanted: int,
) -> tuple[int, ...]:
    """`wanted` of the frames `within` a clip: of each equal part the annotated one next to its
    middle, or the middle one where none is annotated.
    """
    count = len(within)
    frames = []
    for part, index in enumerate(Probe.sample_indices(count, wanted)):
        middle = within[index]
        first = part * count // wanted
        end = (part + 1) * count // wanted
        candidates = [frame for frame in within[first:end] if frame in annotated]
        frames.append(
            min(candidates, key=lambda frame: abs(frame - middle), default=middle)
        )
    return tuple(frames)


def _things_in_boxes(situation: Situation, classes: Classes) -> list[Thing]:
    things: list[Thing] = []
    counts: Counter[str] = Counter()
    for code, box in zip(situation.bbox_labels, situation.bbox, strict=True):
        counts[code] += 1
        key = f"{code}.{counts[code]}" if counts[code] > 1 else code
        name = noun(classes.objects[code])
        things.append(Thing(id=key, name=name, box=box, visible=box is not None))
    return things


def _relation(subject: str, other: str, label: str) -> Relation:
    # in front of, behind: said of the object, seen from the person
    if subject == PERSON and label in _WORDS["of_the_object"]:
        return Relation(
            subject=other,
            predicate=_WORDS["of_the_object"][label],
            object=subject,
        )
    return Relation(subject=subject, predicate=label.replace("_", " "), object=other)


def _contacts(situation: Situation, classes: Classes) -> Iterator[Action]:
    for (subject, other), label in zip(
        situation.rel_pairs,
        situation.rel_labels,
        strict=True,
    ):
        verb = _WORDS["contact_verbs"].get(classes.relations[label])
        if verb is not None:
            # "drink from" is said without "from" too
            for word in dict.fromkeys((verb, verb.partition(" ")[0])):
                yield Action(subject=subject, verb=word, object=other)


def _actions(situation: Situation, classes: Classes) -> Iterator[Action]:
    for code in situation.actions:
        action = classes.actions[code]
        # as the authors' answers say it
        down = ("put down",) if action.verb == "put" else ()
        for verb in dict.fromkeys((action.verb, *action.phrases, *down)):
            yield Action(subject=PERSON, verb=verb, object=action.object)
