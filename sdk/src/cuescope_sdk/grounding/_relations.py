"""Spatial relations of boxes: pure geometry, in the plane of the picture."""

from dataclasses import dataclass
from math import hypot

Box = tuple[float, float, float, float]
NEAR = 1.0  # gap between boxes, in mean diagonals


@dataclass(frozen=True)
class SpatialRelation:
    """A relation by its canonical name; `inverse` is its name with subject and object swapped.

    What is `in_depth` boxes alone do not tell.
    """

    name: str
    inverse: str
    in_depth: bool = False

    def holds(self, subject: Box, other: Box) -> bool | None:
        """True if `subject` stands in the relation to `other`; None for what boxes cannot tell.

        Left, right, above and below compare centres (origin top left); `on` is above and touching;
        `near` is a gap of less than `NEAR` mean diagonals; `inside` has nine tenths of its area
        there.
        """
        x, y = box_centre(subject)
        other_x, other_y = box_centre(other)
        match self.name:
            case "left of":
                return x < other_x
            case "above":
                return y < other_y  # rows count from the top
            case "on":
                share_columns = min(subject[2], other[2]) > max(subject[0], other[0])
                return y < other_y and share_columns and _touch(subject, other)
            case "touching":
                return _touch(subject, other)
            case "near" | "far from":
                is_near = gap(subject, other) < NEAR * _diagonal(subject, other)
                return is_near == (self.name == "near")
            case "inside":
                # not 1: boxes are drawn by hand, a few pixels off
                return _share_inside(subject, other) >= 0.9
            case "right of" | "below" | "under" | "around":
                # by its inverse, so that the two can never disagree
                return RELATIONS[self.inverse].holds(other, subject)
        return None


RELATIONS: dict[str, SpatialRelation] = {}
for _name, _inverse in (
    ("left of", "right of"),
    ("above", "below"),
    ("on", "under"),
    ("in front of", "behind"),
    ("inside", "around"),
    ("near", "near"),
    ("far from", "far from"),
    ("touching", "touching"),
):
    _in_depth = _name == "in front of"
    RELATIONS[_name] = SpatialRelation(_name, _inverse, _in_depth)
    RELATIONS[_inverse] = SpatialRelation(_inverse, _name, _in_depth)


def box_centre(box: Box) -> tuple[float, float]:
    """x, y in pixels."""
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def gap(box: Box, other: Box) -> float:
    """Pixels between two boxes; 0 where they meet."""
    dx = max(0.0, other[0] - box[2], box[0] - other[2])
    dy = max(0.0, other[1] - box[3], box[1] - other[3])
    return hypot(dx, dy)  # between corners where they share no row or column


def _touch(box: Box, other: Box) -> bool:
    """True if the gap is a tenth of the mean diagonal or less."""
    # relative: boxes of far things are small
    return gap(box, other) <= 0.1 * _diagonal(box, other)


def _diagonal(box: Box, other: Box) -> float:
    """The mean of both."""
    sizes = [hypot(x1 - x0, y1 - y0) for x0, y0, x1, y1 in (box, other)]
    return sum(sizes) / 2


def _share_inside(box: Box, other: Box) -> float:
    """Share of `box` that lies in `other`."""
    width = max(0.0, min(box[2], other[2]) - max(box[0], other[0]))
    height = max(0.0, min(box[3], other[3]) - max(box[1], other[1]))
    area = (box[2] - box[0]) * (box[3] - box[1])
    # a box may be a line in bad annotations
    return width * height / area if area > 0 else 0.0


# ----------------------------------------------------------------------------------------- motions


TURN = 15.0  # degrees; less is no turn
AROUND = 135.0  # degrees; more is a turn around


def turn_name(degrees: float) -> str | None:
    """A turn to the right by `degrees`, taken the shorter way: "turn left"; None for hardly any."""
    net = (degrees + 180) % 360 - 180  # turns that are added up may pass a full circle
    if abs(net) < TURN:
        return None
    if abs(net) > AROUND:
        return "turn around"
    return "turn right" if net > 0 else "turn left"
