"""Sentences about one frame with the claims that they make: true ones, and spoiled ones.

A sentence of n claims can be spoiled so that exactly k of them are true, for any k. What is made
up is a shape that the whole video never shows, so that it is false whatever a wall may hide.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from cuescope_sdk.grounding import INVERSE, Claim, SceneFrame, Thing, relation_holds
from cuescope_shape_world.questions import Scene, phrase, shapes
from cuescope_shape_world.words import COLOURS, KINDS, OPPOSITE, PHRASES, WALL

Form = Literal["presence", "absence", "relation", "attribute", "action", "camera"]
PLACES = ("left of", "right of", "above", "below")
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
        """Whether all of it is true of a frame."""
        return all(is_true(claim, frame) for claim in self.claims)


def is_true(claim: Claim, frame: SceneFrame) -> bool:
    """Whether a claim holds of what can be seen in a frame."""
    ours = _meant(claim.subject, frame)
    match claim.kind:
        case "entity":
            found = bool(ours)
        case "attribute":
            found = any(claim.predicate in thing.attributes for thing in ours)
        case "action":
            doers = {a.subject for a in frame.actions if a.verb == claim.predicate}
            found = any(thing.id in doers for thing in ours)
        case "relation":
            theirs = _meant(claim.object or "", frame)
            found = any(
                one.box
                and two.box
                and bool(relation_holds(claim.predicate or "", one.box, two.box))
                for one in ours
                for two in theirs
            )
        case _:
            found = frame.motion == claim.predicate
    return found != claim.negated


def _meant(words: str, frame: SceneFrame) -> list[Thing]:
    return [t for t in frame.things if t.visible and words in (t.name, phrase(t))]


# -------------------------------------------------------------------------------- the sentences


@cache
def present(phrases: tuple[str, ...]) -> Statement:
    """ "there is a red circle and a blue star"."""
    named = [f"a {name}" for name in phrases]
    listed = " and ".join(filter(None, [", ".join(named[:-1]), named[-1]]))
    return _statement("presence", f"there is {listed}", phrases)


@cache
def absent(name: str) -> Statement:
    """ "no red circle can be seen"."""
    words = f"no {name} can be seen"
    denial = Claim(kind="entity", text=words, subject=name, negated=True)
    return Statement("absence", words, (name,), (denial,))


@cache
def related(one: str, place: str, other: str) -> Statement:
    """ "the red circle is left of the blue star"."""
    words = f"the {one} is {place} the {other}"
    claim = Claim(kind="relation", text=words, subject=one, predicate=place, object=other)
    return _statement("relation", words, (one, other), claim)


@cache
def coloured(kind: str, colour: str) -> Statement:
    """ "the circle is red"."""
    words = f"the {kind} is {colour}"
    claim = Claim(kind="attribute", text=words, subject=kind, predicate=colour)
    return _statement("attribute", words, (kind,), claim)


@cache
def doing(name: str, verb: str) -> Statement:
    """ "the red circle appears", "the red circle is moving left"."""
    words = f"the {name} {verb.replace('move', 'is moving') if 'move' in verb else verb + 's'}"
    claim = Claim(kind="action", text=words, subject=name, predicate=verb)
    return _statement("action", words, (name,), claim)


@cache
def turning(side: str) -> Statement:
    """ "the camera turns left"."""
    words = f"the camera turns {side}"
    claim = Claim(kind="ego-motion", text=words, predicate=f"turn {side}")
    return Statement("camera", words, (), (claim,))


def _statement(form: Form, words: str, named: Sequence[str], *more: Claim) -> Statement:
    """With a claim for each thing that is named, before what is said of them."""
    entities = (Claim(kind="entity", text=words, subject=name) for name in named)
    return Statement(form, words, tuple(named), (*entities, *more))


# ------------------------------------------------------------------------------------- the truth


def truths(scene: Scene, index: int) -> list[Statement]:
    """True statements about a frame; never empty."""
    frame = scene[index]
    seen = shapes(frame)
    names = list(seen)
    found = [
        present(tuple(names[start : start + count]))
        for count in range(1, MOST + 1)
        for start in range(len(names) - count + 1)
    ]
    found += _relations(seen)
    verbs = [(action.subject, action.verb) for action in frame.actions if action.verb in VERBS]
    found += [doing(name, verb) for name in names for who, verb in verbs if who == seen[name].id]
    if frame.motion is not None:
        found.append(turning(frame.motion.removeprefix("turn ")))
    if not any(thing.name == WALL for thing in frame.things):  # else something may be hidden
        found += [coloured(thing.name, thing.attributes[0]) for thing in seen.values()]
        found += [absent(name) for name in sorted(ever(scene) - set(names))]
    return found or [absent(PHRASES[0])]


def _relations(seen: dict[str, Thing]) -> Iterator[Statement]:
    for one, ours in seen.items():
        for other, theirs in seen.items():
            if one != other and ours.box and theirs.box:
                for place in PLACES:
                    if relation_holds(place, ours.box, theirs.box):
                        yield related(one, place, other)


def ever(scene: Scene) -> set[str]:
    """The shapes that any frame shows, by phrase."""
    return {name for frame in scene for name in shapes(frame)}


# --------------------------------------------------------------------------------- spoiling them


def spoiled(
    said: Statement, right: int, scene: Scene, index: int, rng: np.random.Generator
) -> Statement:
    """A statement like a true one of a frame, of whose claims exactly `right` are true."""
    about, predicate = said.about, said.claims[-1].predicate or ""
    match said.form:
        case "presence":
            return present(_some_made_up(about, right, scene, rng))
        case "absence":
            seen = sorted(shapes(scene[index]))
            return absent(_one(seen, rng)) if seen else present(_some_made_up(about, 0, scene, rng))
        case "relation" if right == 2:
            return related(about[0], INVERSE[predicate], about[1])
        case "relation":
            one, other = _some_made_up(about, right, scene, rng)
            return related(one, predicate, other)
        case "attribute":
            return _miscoloured(about[0], right, scene, rng)
        case "action" if right == 0:
            return doing(*_some_made_up(about, 0, scene, rng), predicate)
        case "action":
            others = (_opposite(predicate), *VERBS)
            return next(no for v in others if not (no := doing(about[0], v)).holds(scene[index]))
        case "camera":
            return turning(OPPOSITE[predicate.removeprefix("turn ")])


def _miscoloured(kind: str, right: int, scene: Scene, rng: np.random.Generator) -> Statement:
    """Of a kind that is seen a colour that it never has; else of a kind that is never seen."""
    shown = ever(scene)
    if right == 0:
        others = {name.split()[1] for name in shown}
        kind = _one([k for k in KINDS if k not in others] or [k for k in KINDS if k != kind], rng)
    colours = [c for c in COLOURS if f"{c} {kind}" not in shown]
    return coloured(kind, _one(colours or list(COLOURS), rng))


def _opposite(verb: str) -> str:
    comes_or_goes = {"appear": "disappear", "disappear": "appear"}
    return comes_or_goes.get(verb) or f"move {OPPOSITE[verb.removeprefix('move ')]}"


def _some_made_up(
    phrases: Sequence[str], right: int, scene: Scene, rng: np.random.Generator
) -> tuple[str, ...]:
    """The phrases with all but `right` of them replaced by shapes that are never shown."""
    made = list(phrases)
    for place in rng.permutation(len(made))[right:]:
        made[place] = made_up(phrases[place], ever(scene) | set(made), rng)
    return tuple(made)


def made_up(like: str, known: Collection[str], rng: np.random.Generator) -> str:
    """A shape that is not known, if one is left of the same colour or kind."""
    unknown = [name for name in PHRASES if name not in known]
    akin = [name for name in unknown if set(name.split()) & set(like.split())]
    return _one(akin or unknown or list(PHRASES), rng)


def _one(options: Sequence[str], rng: np.random.Generator) -> str:
    return options[int(rng.integers(len(options)))]
