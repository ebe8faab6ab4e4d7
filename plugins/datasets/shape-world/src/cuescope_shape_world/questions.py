"""Questions over time, their choices, and their answers by what the frames show.

A kind of question is asked of a scene where it has one plain answer, and is answered from any
scene: the annotated one for the label, or one that was read from pixels.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise, permutations, product
from typing import NamedTuple

from numpy.random import Generator

from cuescope_sdk.grounding import RELATIONS, SceneFrame, Thing
from cuescope_shape_world.words import COLOURS, FRAME_SECONDS, KINDS, WALL

Scene = Sequence[SceneFrame]
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


def ask(scene: Scene, rng: Generator, first: int = 0) -> Question:
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
                return Question(text, kind, _choices(right, scene, rng), right)
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


def shapes(frame: SceneFrame) -> dict[str, Thing]:
    """The shapes that can be seen, by phrase."""
    visible = {}
    for item in frame.things:
        if item.visible and item.name in KINDS:
            visible[phrase(item)] = item
    return visible


def all_shapes(scene: Scene) -> set[str]:
    """The shapes that any frame shows, by phrase."""
    return set().union(*map(shapes, scene))


def events(scene: Scene, verb: str) -> list[tuple[int, str]]:
    """When which shape does it, in order of time."""
    events = []
    for index, frame in enumerate(scene):
        ids = doers(frame, verb)
        for name, shape in shapes(frame).items():
            if shape.id in ids:
                events.append((index, name))
    return events


def doers(frame: SceneFrame, verb: str) -> set[str]:
    """The ids of the things that do it."""
    return {action.subject for action in frame.actions if action.verb == verb}


def turns(scene: Scene) -> list[tuple[int, str]]:
    """The frame in which each turn of the camera starts, and its side."""
    turns = []
    before = None
    for index, frame in enumerate(scene):
        # a turn goes on for several frames
        if frame.motion is not None and frame.motion != before:
            turns.append((index, frame.motion.removeprefix("turn ")))
        before = frame.motion
    return turns


# -------------------------------------------------------------------------------------- answers


def _yes_or_no(holds: bool | None) -> str:
    return "yes" if holds else "no"


def _first_times(scene: Scene, verb: str) -> dict[str, int]:
    """The frame in which each shape does it for the first time."""
    times: dict[str, int] = {}
    for index, name in events(scene, verb):
        times.setdefault(name, index)
    return times


def _extreme(scene: Scene, which: str) -> str | None:
    """The shape that appears first or last; None where two do at once."""
    arrivals = events(scene, "appear")
    if not arrivals:
        return None
    when, name = arrivals[-1 if which == "last" else 0]
    times = [time for time, _ in arrivals]
    return name if times.count(when) == 1 else None


def _colour(scene: Scene, kind: str) -> str | None:
    """Of the one shape of a kind in the last frame."""
    of_kind = [item for item in scene[-1].things if item.name == kind]
    # of two there is no one colour, and of a hidden one pixels tell none
    if len(of_kind) != 1 or not of_kind[0].visible:
        return None
    return of_kind[0].attributes[0]


def _order(scene: Scene, name: str, verb: str, other: str) -> str | None:
    """Whether `name` does it before `other` does the opposite; None where that is hard to say."""
    comer, goer = (name, other) if verb == "appear" else (other, name)
    arrival = _first_times(scene, "appear").get(comer)
    departure = _first_times(scene, "disappear").get(goer)
    if arrival is None or departure is None:
        return None
    # A shape disappears in the last frame that shows it: what comes in that frame or in the next
    # comes as the other goes.
    if 0 <= arrival - departure <= 1:
        return None
    comes_first = arrival < departure
    return _yes_or_no(comes_first == (verb == "appear"))


def _turn(scene: Scene, which: str) -> str | None:
    starts = turns(scene)
    if not starts:
        return None
    _, side = starts[-1 if which == "last" else 0]
    return side


def _turn_after(scene: Scene, name: str, verb: str) -> str | None:
    time = _first_times(scene, verb.removesuffix("s")).get(name)
    if time is None:
        return None
    for start, side in turns(scene):
        if start > time:
            return side
    return None


def _place(
    scene: Scene, name: str, relation: str, other: str, minute: str, second: str
) -> str | None:
    """Whether it holds at a time; None where either is out of sight or the two are level."""
    index = round((60 * int(minute) + int(second)) / FRAME_SECONDS)
    visible = shapes(scene[index]) if index < len(scene) else {}
    if name not in visible or other not in visible:
        return None
    ours = visible[name].box
    theirs = visible[other].box
    if ours is None or theirs is None:
        return None
    axis = 0 if relation in ("left of", "right of") else 1
    # of the centres, from the sums of both edges
    distance = sum(ours[axis::2]) / 2 - sum(theirs[axis::2]) / 2
    if abs(distance) < CLEAR:
        return None
    return _yes_or_no(RELATIONS[relation].holds(ours, theirs))


def _shape_behind_wall(scene: Scene) -> str | None:
    """The shape before which a wall comes to stand."""
    for before, now in pairwise(scene):
        walls = [item for item in now.things if item.name == WALL]
        for wall, (name, shape) in product(walls, shapes(before).items()):
            if (
                shape.box
                and wall.box
                and RELATIONS["inside"].holds(shape.box, wall.box)
            ):
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
        time = f"{second // 60}:{second % 60:02d}"
        visible = shapes(scene[round(second / FRAME_SECONDS)])
        for (name, other), relation in product(permutations(visible, 2), PLACES):
            yield f"Is the {name} {relation} the {other} at {time}?"


_QUESTIONS: Mapping[str, Callable[[Scene], Iterator[str]]] = {
    "appearing": lambda scene: (
        f"Which shape appears {which}?" for which in ("first", "last")
    ),
    "colour": lambda scene: (
        f"What colour is the {kind} at the end?" for kind in KINDS
    ),
    "order": _ask_order,
    "turn": _ask_turn,
    "place": _ask_place,
    "hidden": lambda scene: iter(("Which shape is hidden by the wall?",)),
}


def _choices(right: str, scene: Scene, rng: Generator) -> tuple[str, ...]:
    """All answers of the right one's sort; of shapes, a few that are seen, in any order."""
    for answers in (YES_NO, SIDES, tuple(COLOURS)):
        if right in answers:
            return answers
    # sorted, for the order of a set differs between runs
    others = rng.permutation(sorted(all_shapes(scene) - {right}))
    choices = [right, *others[: CHOICES - 1]]
    return tuple(map(str, rng.permutation(choices)))
