"""Questions over time, their choices, and their answers by what the frames show.

A kind of question is asked of a scene where it has one plain answer, and is answered from any
scene: the annotated one for the label, or one that was read from pixels.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, permutations, product
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from cuescope_sdk.grounding import RELATIONS, SceneFrame, Thing
from cuescope_shape_world.words import COLOURS, FRAME_SECONDS, KINDS, WALL

Scene = Sequence[SceneFrame]
Things = dict[str, Thing]
CHOICES = 4  # shapes to choose from
CLEAR = 6.0  # px between two centres along the axis that a question is about
YES_NO = ("yes", "no")
SIDES = ("left", "right")
PLACES = ("left of", "right of", "above", "below")
_PHRASE = rf"(?:{'|'.join(COLOURS)}) (?:{'|'.join(KINDS)})"


class Question(NamedTuple):
    """What is asked, of which kind, among which choices, and the right one."""

    text: str
    kind: str
    choices: tuple[str, ...]
    answer: str


def ask(
    scene: Scene,
    rng: Generator,
    first: int = 0,
) -> Question:
    """A question about a scene: of the first kind from the `first` on that has a plain answer."""
    kinds = list(_QUESTIONS)
    start = first % len(kinds)
    for kind in kinds[start:] + kinds[:start]:
        # in random order, or the shapes that come first would be asked about most
        texts = list(_QUESTIONS[kind](scene))
        rng.shuffle(texts)
        for text in texts:
            right = answer(text, scene)
            if right is not None:
                choices = _choices(right, scene, rng)
                return Question(text, kind, choices, right)
    raise ValueError("a scene in which the camera turns can be asked about")


def answer(text: str, scene: Scene) -> str | None:
    """The right answer to the question within `text`; None where it is none of this world's."""
    for pattern, find in _ANSWERS.items():
        match = re.search(pattern, text.lower())
        if match:
            return find(scene, *match.groups())
    return None


def phrases_in(text: str) -> tuple[str, ...]:
    """The shapes that a text names, in order, each once."""
    return tuple(dict.fromkeys(re.findall(_PHRASE, text.lower())))


def phrase(thing: Thing) -> str:
    return f"{thing.attributes[0]} {thing.name}"


def stands(
    thing: Thing,
    relation: str,
    other: Thing,
) -> bool:
    """Whether the relation holds between two things that both have a box."""
    if not thing.box or not other.box:
        return False
    return bool(RELATIONS[relation].holds(thing.box, other.box))


def shapes(frame: SceneFrame) -> Things:
    """The shapes that can be seen, by phrase."""
    visible = {}
    for item in frame.things:
        if item.visible and item.name in KINDS:
            visible[phrase(item)] = item
    return visible


def all_shapes(scene: Scene) -> set[str]:
    """The shapes that any frame shows, by phrase."""
    return set().union(*map(shapes, scene))


def events(scene: Scene, verb: str) -> Iterator[tuple[int, str]]:
    """When which shape does it, in order of time."""
    for index, frame in enumerate(scene):
        ids = doers(frame, verb)
        for name, shape in shapes(frame).items():
            if shape.id in ids:
                yield index, name


def doers(frame: SceneFrame, verb: str) -> set[str]:
    """The ids of the things that do it."""
    return {action.subject for action in frame.actions if action.verb == verb}


def turns(scene: Scene) -> Iterator[tuple[int, str]]:
    """The frame in which each turn of the camera starts, and its side."""
    before = None
    for index, frame in enumerate(scene):
        # a turn goes on for several frames
        if frame.motion is not None and frame.motion != before:
            yield index, frame.motion.removeprefix("turn ")
        before = frame.motion


# -------------------------------------------------------------------------------------- answers


def _first_time(
    scene: Scene,
    verb: str,
    name: str,
) -> int | None:
    """The frame in which a shape does it for the first time."""
    for index, doer in events(scene, verb):
        if doer == name:
            return index
    return None


def _extreme(scene: Scene, which: str) -> str | None:
    """The shape that appears first or last; None where two do at once."""
    arrivals = list(events(scene, "appear"))
    if not arrivals:
        return None
    when, name = arrivals[-1 if which == "last" else 0]
    together = [arrival for arrival, _ in arrivals if arrival == when]
    return name if len(together) == 1 else None


def _colour(scene: Scene, kind: str) -> str | None:
    """Of the one shape of a kind in the last frame."""
    of_kind = [item for item in scene[-1].things if item.name == kind]
    # of two there is no one colour, and of a hidden one pixels tell none
    if len(of_kind) != 1 or not of_kind[0].visible:
        return None
    return of_kind[0].attributes[0]


def _order(
    scene: Scene,
    name: str,
    verb: str,
    other: str,
) -> str | None:
    """Whether `name` does it before `other` does the opposite; None where that is hard to say."""
    appears = verb == "appear"
    comer = name if appears else other
    goer = other if appears else name
    arrival = _first_time(scene, "appear", comer)
    departure = _first_time(scene, "disappear", goer)
    if arrival is None or departure is None:
        return None
    # A shape disappears in the last frame that shows it: what comes in that frame or in the next
    # comes as the other goes.
    if 0 <= arrival - departure <= 1:
        return None
    comes_first = arrival < departure
    return YES_NO[comes_first != appears]


def _turn(scene: Scene, which: str) -> str | None:
    sides = [side for _, side in turns(scene)]
    if not sides:
        return None
    return sides[-1 if which == "last" else 0]


def _turn_after(
    scene: Scene,
    name: str,
    verb: str,
) -> str | None:
    time = _first_time(scene, verb.removesuffix("s"), name)
    for start, side in turns(scene):
        if time is not None and start > time:
            return side
    return None


def _place(
    scene: Scene,
    name: str,
    relation: str,
    other: str,
    minute: str,
    second: str,
) -> str | None:
    """Whether it holds at a time; None where either is out of sight or the two are level."""
    seconds = 60 * int(minute) + int(second)
    index = round(seconds / FRAME_SECONDS)
    visible = shapes(scene[index]) if index < len(scene) else {}
    thing = visible.get(name)
    neighbour = visible.get(other)
    if thing is None or neighbour is None:
        return None
    boxes = np.array([thing.box, neighbour.box], float)
    # all shapes have one size: their corners are as far apart as their centres
    right, down, *_ = np.ptp(boxes, axis=0)
    distance = right if relation in ("left of", "right of") else down
    if distance < CLEAR:
        return None
    return YES_NO[not stands(thing, relation, neighbour)]


def _shape_behind_wall(scene: Scene) -> str | None:
    """The shape before which a wall comes to stand."""
    for before, now in pairwise(scene):
        for item, (name, shape) in product(now.things, shapes(before).items()):
            if item.name == WALL and stands(shape, "inside", item):
                return name
    return None


# With a few words that say the same, so that a question may be asked otherwise. They are sought
# within a text, as a prompt may add to the question.
_END = r"(first|initially|last)"
_TURN = r"which way does the camera (?:turn|rotate)"
_ANSWERS: Mapping[str, Callable[..., str | None]] = {
    rf"which shape appears {_END}\?": _extreme,
    rf"(?:what|which) colour is the ({'|'.join(KINDS)}) (?:at|in) the end\?": _colour,
    rf"does the ({_PHRASE}) (appear|disappear) before the ({_PHRASE}) (?:dis)?appears\?": _order,
    rf"{_TURN} {_END}\?": _turn,
    rf"{_TURN} after the ({_PHRASE}) ((?:dis)?appears)\?": _turn_after,
    rf"is the ({_PHRASE}) ({'|'.join(PLACES)}) the ({_PHRASE}) at (\d+):(\d\d)\?": _place,
    r"which shape is hidden by the wall\?": _shape_behind_wall,
}


# ------------------------------------------------------------------------------------ questions


def _ask_order(scene: Scene) -> Iterator[str]:
    arrivals = events(scene, "appear")
    departures = events(scene, "disappear")
    for (_, comer), (_, goer) in product(arrivals, departures):
        if comer != goer:
            yield f"Does the {comer} appear before the {goer} disappears?"
            yield f"Does the {goer} disappear before the {comer} appears?"


def _ask_turn(scene: Scene) -> Iterator[str]:
    for verb in ("appear", "disappear"):
        for _, name in events(scene, verb):
            yield f"Which way does the camera turn after the {name} {verb}s?"
    yield "Which way does the camera turn first?"
    yield "Which way does the camera turn last?"


def _ask_place(scene: Scene) -> Iterator[str]:
    """At whole seconds."""
    for second in range(1, int(len(scene) * FRAME_SECONDS)):
        minutes, seconds = divmod(second, 60)
        time = f"{minutes}:{seconds:02d}"
        visible = shapes(scene[round(second / FRAME_SECONDS)])
        for name, other in permutations(visible, 2):
            for relation in PLACES:
                yield f"Is the {name} {relation} the {other} at {time}?"


_QUESTIONS: Mapping[str, Callable[[Scene], Iterable[str]]] = {
    "appearing": lambda _: ("Which shape appears first?", "Which shape appears last?"),
    "colour": lambda _: map("What colour is the {} at the end?".format, KINDS),
    "order": _ask_order,
    "turn": _ask_turn,
    "place": _ask_place,
    "hidden": lambda _: ("Which shape is hidden by the wall?",),
}


def _choices(
    right: str,
    scene: Scene,
    rng: Generator,
) -> tuple[str, ...]:
    """All answers of the right one's sort; of shapes, a few that are seen, in any order."""
    for answers in (YES_NO, SIDES, tuple(COLOURS)):
        if right in answers:
            return answers
    # sorted, for the order of a set differs between runs
    others = sorted(all_shapes(scene) - {right})
    some = rng.permutation(others)[: CHOICES - 1]
    choices = rng.permutation([right, *some])
    return tuple(choices.tolist())
