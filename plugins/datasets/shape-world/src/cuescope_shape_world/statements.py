"""Sentences about one frame with the claims that they make: true ones, and spoiled ones.

A sentence of n claims can be spoiled so that exactly k of them are true, for any k. What is made
up is a shape that the whole video never shows, so that it is false whatever a wall may hide.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import permutations, product
from typing import Literal, TypeVar

from numpy.random import Generator

from cuescope_sdk.grounding import RELATIONS, Claim, SceneFrame, Thing
from cuescope_shape_world.questions import (
    PLACES,
    Scene,
    Things,
    all_shapes,
    doers,
    phrase,
    shapes,
    stands,
)
from cuescope_shape_world.words import COLOURS, KINDS, OPPOSITE, PHRASES, WALL

T = TypeVar("T")
Form = Literal["presence", "absence", "relation", "attribute", "action", "ego-motion"]
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
    subjects = list(_referents(claim.subject, frame))
    match claim.kind:
        case "entity":
            holds = bool(subjects)
        case "attribute":
            holds = any(predicate in subject.attributes for subject in subjects)
        case "action":
            ids = {subject.id for subject in subjects}
            holds = not ids.isdisjoint(doers(frame, predicate))
        case "relation":
            others = _referents(claim.object or "", frame)
            pairs = product(subjects, others)
            holds = any(stands(subject, predicate, other) for subject, other in pairs)
        case _:
            holds = frame.motion == claim.predicate
    return holds != claim.negated


def _referents(words: str, frame: SceneFrame) -> Iterator[Thing]:
    """The visible things that "circle" or "red circle" may mean."""
    for item in frame.things:
        if item.visible and words in (item.name, phrase(item)):
            yield item


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
def relation(
    name: str,
    predicate: str,
    other: str,
) -> Statement:
    """ "the red circle is left of the blue star"."""
    words = f"the {name} is {predicate} the {other}"
    return _statement("relation", words, (name, other), predicate)


@cache
def colour_of(kind: str, colour: str) -> Statement:
    """ "the circle is red"."""
    return _statement("attribute", f"the {kind} is {colour}", (kind,), colour)


@cache
def action_of(name: str, verb: str) -> Statement:
    """ "the red circle appears", "the red circle is moving left"."""
    does = verb.replace("move", "is moving") if "move" in verb else f"{verb}s"
    return _statement("action", f"the {name} {does}", (name,), verb)


@cache
def camera_turn(side: str) -> Statement:
    """ "the camera turns left"."""
    return _statement("ego-motion", f"the camera turns {side}", (), f"turn {side}")


def _statement(
    form: Form,
    words: str,
    named: tuple[str, ...],
    predicate: str | None = None,
) -> Statement:
    """With a claim for each thing that is named, before what is said of the first of them."""
    claims = [Claim(kind="entity", text=words, subject=name) for name in named]
    if predicate is not None:
        # a camera's turn names nothing, and only a relation has an object
        roles = dict(zip(("subject", "object"), named, strict=False))
        claim = Claim(kind=form, text=words, predicate=predicate, **roles)
        claims.append(claim)
    return Statement(form, words, named, tuple(claims))


# ------------------------------------------------------------------------------------- the truth


def true_statements(scene: Scene, index: int) -> list[Statement]:
    """Never empty."""
    frame = scene[index]
    visible = shapes(frame)
    statements = list(_presences(list(visible)))
    statements += _relations(visible)
    statements += _actions(frame, visible)
    if frame.motion is not None:
        statements.append(camera_turn(frame.motion.removeprefix("turn ")))
    names = [item.name for item in frame.things]
    # behind a wall something may be hidden
    if WALL not in names:
        for shape in visible.values():
            colour = shape.attributes[0]
            statements.append(colour_of(shape.name, colour))
        unseen = all_shapes(scene) - visible.keys()
        statements += map(absence, sorted(unseen))
    return statements or [absence(PHRASES[0])]


def _presences(names: Sequence[str]) -> Iterator[Statement]:
    """Of neighbours in the list: alone, then by two, and so on."""
    for count in range(1, MOST + 1):
        for start in range(len(names) - count + 1):
            yield presence(tuple(names[start : start + count]))


def _relations(visible: Things) -> Iterator[Statement]:
    for name, other in permutations(visible, 2):
        for predicate in PLACES:
            if stands(visible[name], predicate, visible[other]):
                yield relation(name, predicate, other)


def _actions(frame: SceneFrame, visible: Things) -> Iterator[Statement]:
    for name, shape in visible.items():
        for action in frame.actions:
            if action.subject == shape.id and action.verb in VERBS:
                yield action_of(name, action.verb)


# --------------------------------------------------------------------------------- spoiling them


def spoil(
    statement: Statement,
    right: int,
    scene: Scene,
    index: int,
    rng: Generator,
) -> Statement:
    """A statement like a true one of a frame, of whose claims exactly `right` are true."""
    about = statement.about
    frame = scene[index]
    predicate = statement.claims[-1].predicate or ""
    match statement.form:
        case "presence":
            return presence(_replace_some(about, right, scene, rng))
        case "absence":
            visible = sorted(shapes(frame))
            if visible:
                return absence(draw(visible, rng))
            return presence(_replace_some(about, 0, scene, rng))
        # both shapes are there, and stand the other way round
        case "relation" if right == 2:
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
            return next(action for action in actions if not action.holds(frame))
        case "ego-motion":
            return camera_turn(OPPOSITE[predicate.removeprefix("turn ")])


def _opposite_verb(verb: str) -> str:
    if verb == "appear":
        return "disappear"
    way = verb.removeprefix("move ")
    return f"move {OPPOSITE[way]}" if way in OPPOSITE else "appear"


def _wrong_colour(
    kind: str,
    right: int,
    scene: Scene,
    rng: Generator,
) -> Statement:
    """Of a kind that is seen a colour that it never has; else of a kind that is never seen."""
    shown = all_shapes(scene)
    if right == 0:
        words = " ".join(shown)
        unseen = [other for other in KINDS if other not in words]
        others = [other for other in KINDS if other != kind]
        kind = draw(unseen or others, rng)
    colours = [colour for colour in COLOURS if f"{colour} {kind}" not in shown]
    return colour_of(kind, draw(colours or list(COLOURS), rng))


def _replace_some(
    phrases: Sequence[str],
    right: int,
    scene: Scene,
    rng: Generator,
) -> tuple[str, ...]:
    """The phrases with all but `right` of them replaced by shapes that are never shown."""
    names = list(phrases)
    for index in rng.permutation(len(names))[right:]:
        # two that are made up must not be the same
        shown = all_shapes(scene) | set(names)
        names[index] = invent_shape(phrases[index], shown, rng)
    return tuple(names)


def invent_shape(
    like: str,
    shown: Collection[str],
    rng: Generator,
) -> str:
    """A shape that is not shown, if there is one of the same colour or kind."""
    colour, kind = like.split()
    unseen = [name for name in PHRASES if name not in shown]
    akin = [name for name in unseen if colour in name or kind in name]
    return draw(akin or unseen or PHRASES, rng)


def draw(options: Sequence[T], rng: Generator) -> T:
    """One of them."""
    # not rng.choice, which would make an array of them first
    return options[int(rng.integers(len(options)))]
