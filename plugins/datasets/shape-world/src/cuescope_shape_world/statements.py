"""Sentences about one frame with the claims that they make: true ones, and spoiled ones.

A sentence of n claims can be spoiled so that exactly k of them are true, for any k. What is made
up is a shape that the whole video never shows, so that it is false whatever a wall may hide.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import permutations, product, starmap
from operator import attrgetter
from typing import Literal, TypeVar

from numpy.random import Generator

from cuescope_sdk.grounding import RELATIONS, Claim, SceneFrame, Thing
from cuescope_shape_world.questions import (
    PLACES,
    Scene,
    all_shapes,
    doers,
    phrase,
    shapes,
)
from cuescope_shape_world.words import COLOURS, KINDS, OPPOSITE, PHRASES, WALL

T = TypeVar("T")
Form = Literal["presence", "absence", "relation", "attribute", "action", "camera"]
VERBS = ("appear", "disappear", *(f"move {way}" for way in OPPOSITE))
MOST = 3  # things named as present in one sentence


@dataclass(frozen=True)
class Statement:
    """A sentence without its time, what it speaks of, and its claims, `frames` left open."""

    form: Form
    words: str
    about: tuple[str, ...]
    claims: tuple[Claim, ...]

    def holds(self, frame: SceneFrame) -> bool:
        return all(is_true(claim, frame) for claim in self.claims)


def is_true(claim: Claim, frame: SceneFrame) -> bool:
    """Whether a claim holds of what can be seen in a frame."""
    predicate = claim.predicate or ""
    subjects = _referents(claim.subject, frame)
    match claim.kind:
        case "entity":
            holds = bool(subjects)
        case "attribute":
            holds = any(predicate in subject.attributes for subject in subjects)
        case "action":
            ids = {subject.id for subject in subjects}
            holds = not ids.isdisjoint(doers(frame, predicate))
        case "relation":
            pairs = product(subjects, _referents(claim.object or "", frame))
            holds = any(starmap(partial(_stands, predicate), pairs))
        case _:
            holds = frame.motion == claim.predicate
    return holds != claim.negated


def _stands(predicate: str, thing: Thing, other: Thing) -> bool:
    """Whether the relation holds between two things that both have a box."""
    if not thing.box or not other.box:
        return False
    return bool(RELATIONS[predicate].holds(thing.box, other.box))


def _referents(words: str, frame: SceneFrame) -> list[Thing]:
    """The visible things that "circle" or "red circle" may mean."""
    visible = [item for item in frame.things if item.visible]
    return [item for item in visible if words in (item.name, phrase(item))]


# -------------------------------------------------------------------------------- the sentences


@cache
def presence(phrases: tuple[str, ...]) -> Statement:
    """ "there is a red circle and a blue star"."""
    *first, last = map("a {}".format, phrases)
    shapes = f"{', '.join(first)} and {last}" if first else last
    return _statement("presence", f"there is {shapes}", phrases)


@cache
def absence(name: str) -> Statement:
    """ "no red circle can be seen"."""
    words = f"no {name} can be seen"
    denial = Claim(kind="entity", text=words, subject=name, negated=True)
    return Statement("absence", words, (name,), (denial,))


@cache
def relation(name: str, predicate: str, other: str) -> Statement:
    """ "the red circle is left of the blue star"."""
    words = f"the {name} is {predicate} the {other}"
    claim = Claim(
        kind="relation", text=words, subject=name, predicate=predicate, object=other
    )
    return _statement("relation", words, (name, other), claim)


@cache
def colour_of(kind: str, colour: str) -> Statement:
    """ "the circle is red"."""
    words = f"the {kind} is {colour}"
    claim = Claim(kind="attribute", text=words, subject=kind, predicate=colour)
    return _statement("attribute", words, (kind,), claim)


@cache
def action_of(name: str, verb: str) -> Statement:
    """ "the red circle appears", "the red circle is moving left"."""
    predicate = verb.replace("move", "is moving") if "move" in verb else f"{verb}s"
    words = f"the {name} {predicate}"
    claim = Claim(kind="action", text=words, subject=name, predicate=verb)
    return _statement("action", words, (name,), claim)


@cache
def camera_turn(side: str) -> Statement:
    """ "the camera turns left"."""
    words = f"the camera turns {side}"
    claim = Claim(kind="ego-motion", text=words, predicate=f"turn {side}")
    return Statement("camera", words, (), (claim,))


def _statement(form: Form, words: str, named: Sequence[str], *more: Claim) -> Statement:
    """With a claim for each thing that is named, before what is said of them."""
    claims = []
    for name in named:
        claim = Claim(kind="entity", text=words, subject=name)
        claims.append(claim)
    return Statement(form, words, tuple(named), (*claims, *more))


# ------------------------------------------------------------------------------------- the truth


def true_statements(scene: Scene, index: int) -> list[Statement]:
    """Never empty."""
    frame = scene[index]
    visible = shapes(frame)
    statements = [*_presences(list(visible)), *_relations(visible)]
    statements += _actions(frame, visible)
    if frame.motion is not None:
        statements.append(camera_turn(frame.motion.removeprefix("turn ")))
    if WALL not in map(
        attrgetter("name"), frame.things
    ):  # else something may be hidden
        statements += [
            colour_of(shape.name, shape.attributes[0]) for shape in visible.values()
        ]
        unseen = all_shapes(scene) - visible.keys()
        statements += map(absence, sorted(unseen))
    return statements or [absence(PHRASES[0])]


def _presences(names: Sequence[str]) -> Iterator[Statement]:
    """Of neighbours in the list: alone, then by two, and so on."""
    for count in range(1, MOST + 1):
        for start in range(len(names) - count + 1):
            yield presence(tuple(names[start : start + count]))


def _relations(visible: Mapping[str, Thing]) -> Iterator[Statement]:
    for (name, other), predicate in product(permutations(visible, 2), PLACES):
        if _stands(predicate, visible[name], visible[other]):
            yield relation(name, predicate, other)


def _actions(frame: SceneFrame, visible: Mapping[str, Thing]) -> Iterator[Statement]:
    for (name, thing), action in product(visible.items(), frame.actions):
        if action.subject == thing.id and action.verb in VERBS:
            yield action_of(name, action.verb)


# --------------------------------------------------------------------------------- spoiling them


def spoil(
    statement: Statement, right: int, scene: Scene, index: int, rng: Generator
) -> Statement:
    """A statement like a true one of a frame, of whose claims exactly `right` are true."""
    about = statement.about
    predicate = statement.claims[-1].predicate or ""
    match statement.form:
        case "presence":
            return presence(_replace_some(about, right, scene, rng))
        case "absence":
            visible = sorted(shapes(scene[index]))
            if visible:
                return absence(draw(visible, rng))
            return presence(_replace_some(about, 0, scene, rng))
        case "relation" if (
            right == 2
        ):  # both shapes are there, and stand the other way round
            return relation(about[0], RELATIONS[predicate].inverse, about[1])
        case "relation":
            name, other = _replace_some(about, right, scene, rng)
            return relation(name, predicate, other)
        case "attribute":
            return _wrong_colour(about[0], right, scene, rng)
        case "action" if right == 0:
            return action_of(*_replace_some(about, 0, scene, rng), predicate)
        case "action":
            verbs = (_opposite_verb(predicate), *VERBS)
            actions = map(partial(action_of, about[0]), verbs)
            return next(action for action in actions if not action.holds(scene[index]))
        case "camera":
            return camera_turn(OPPOSITE[predicate.removeprefix("turn ")])


def _opposite_verb(verb: str) -> str:
    match verb.split():
        case ["move", way]:
            return f"move {OPPOSITE[way]}"
        case ["appear"]:
            return "disappear"
        case _:
            return "appear"


def _wrong_colour(kind: str, right: int, scene: Scene, rng: Generator) -> Statement:
    """Of a kind that is seen a colour that it never has; else of a kind that is never seen."""
    shown = all_shapes(scene)
    if right == 0:
        kinds = {name.split()[1] for name in shown}
        unseen = [other for other in KINDS if other not in kinds]
        others = [other for other in KINDS if other != kind]
        kind = draw(unseen or others, rng)
    colours = [colour for colour in COLOURS if f"{colour} {kind}" not in shown]
    return colour_of(kind, draw(colours or list(COLOURS), rng))


def _replace_some(
    phrases: Sequence[str], right: int, scene: Scene, rng: Generator
) -> tuple[str, ...]:
    """The phrases with all but `right` of them replaced by shapes that are never shown."""
    names = list(phrases)
    for index in rng.permutation(len(names))[right:]:
        # two that are made up must not be the same
        shown = all_shapes(scene) | set(names)
        names[index] = invent_shape(phrases[index], shown, rng)
    return tuple(names)


def invent_shape(like: str, shown: Collection[str], rng: Generator) -> str:
    """A shape that is not shown, if there is one of the same colour or kind."""
    unseen = [name for name in PHRASES if name not in shown]
    words = set(like.split())
    akin = [name for name in unseen if words.intersection(name.split())]
    return draw(akin or unseen or PHRASES, rng)


def draw(options: Sequence[T], rng: Generator) -> T:
    """One of them."""
    return options[int(rng.integers(len(options)))]
