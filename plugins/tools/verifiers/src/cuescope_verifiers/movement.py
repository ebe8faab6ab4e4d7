"""What boxes tell of movement: verbs, and a box before and after."""

from collections.abc import Sequence
from typing import Literal

from cuescope_sdk.grounding import Box, box_centre

Movement = Literal["left", "right", "up", "down", "any", "none", "appear", "disappear"]

_VERBS = "move go slide walk run fly drift travel shift roll head"
_COLOURS = "red green blue yellow orange purple pink brown black white grey cyan magenta"
_GOING = frozenset(_VERBS.split())
COLOURS = frozenset(_COLOURS.split())
_ALONE: dict[str, Movement] = {
    "rise": "up", "ascend": "up", "fall": "down", "drop": "down", "descend": "down",
    "appear": "appear", "reappear": "appear", "enter": "appear", "emerge": "appear",
    "disappear": "disappear", "leave": "disappear", "exit": "disappear",
    "stay": "none", "rest": "none", "remain": "none", "stop": "none", "stand still": "none",
    "stay still": "none", "still": "none", "stationary": "none", "motionless": "none",
    "moving": "any",
}  # fmt: skip
_WAYS: dict[str, Movement] = {
    "left": "left", "right": "right", "up": "up", "down": "down", "upward": "up",
    "upwards": "up", "downward": "down", "downwards": "down", "leftward": "left",
    "rightward": "right", "": "any",
}  # fmt: skip


def movement(verb: str) -> Movement | None:
    """What a verb or adjective says of boxes, None where it says nothing of them."""
    first, _, way = verb.partition(" ")
    return _WAYS.get(way) if first in _GOING else _ALONE.get(verb)


def colour_after(verb: str) -> str | None:
    """ "turn red" -> "red"."""
    first, _, colour = verb.partition(" ")
    return colour if first in ("turn", "become") and colour in COLOURS else None


def moved(before: Box, after: Box, how: Movement, step: float) -> bool:
    """Whether a box went that way: more than `step` pixels, and mainly along that axis."""
    (x, y), (later_x, later_y) = box_centre(before), box_centre(after)
    right, down = later_x - x, later_y - y
    match how:
        case "left" | "right":
            along = right if how == "right" else -right
            return along > step and along >= abs(down)
        case "up" | "down":
            along = down if how == "down" else -down
            return along > step and along >= abs(right)
        case "any":
            return max(abs(right), abs(down)) > step
        case "none":
            return max(abs(right), abs(down)) <= step
    raise ValueError(f"'{how}' is no way to go")


def overlaps(one: Box, other: Box) -> bool:
    """Whether two boxes are of the same thing: nearly the same place and size."""
    shared = _span(one, other, 0) * _span(one, other, 1)
    return shared > 0.8 * max(_area(one), _area(other))


def _span(one: Box, other: Box, axis: int) -> float:
    low, high = max(one[axis], other[axis]), min(one[axis + 2], other[axis + 2])
    return max(0.0, high - low)


def _area(box: Sequence[float]) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])
