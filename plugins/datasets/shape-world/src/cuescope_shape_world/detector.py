"""The tool `shape-detector`: finds this world's things in pixels."""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from cuescope_sdk import Context, Detection, Frame, Plugin, digest
from cuescope_sdk.tools import normalise_name, sort_by_score
from cuescope_shape_world.words import COLOURS, HILL, KINDS, PHRASES, WALL

if TYPE_CHECKING:
    from cuescope_shape_world.seeing import Seen

ANYTHING = ("thing", "shape")  # of a colour, or any
VERSION = 1  # part of the fingerprint: raise it when a frame gives other detections


class ShapeDetector(Plugin):
    """Finds "red circle", "circle", "red thing", "shape", "wall" and "hill", on frames as drawn.

    What is covered, cut or of another size is not found. `names` is all that it knows; of any
    other name it finds nothing.
    """

    names: frozenset[str] = frozenset(
        (
            *PHRASES, *KINDS, *ANYTHING, *(f"{c} {any_}" for c in COLOURS for any_ in ANYTHING),
            WALL, f"grey {WALL}", HILL, f"black {HILL}",
        )
    )  # fmt: skip

    def __init__(self, options: Any, context: Context) -> None:
        super().__init__(options, context)
        self.fingerprint = digest("shape-detector", VERSION)

    def detect(self, frames: Sequence[Frame], names: Sequence[str]) -> list[tuple[Detection, ...]]:
        """Detections of any of the names, a tuple a frame; the score says how well a shape fits."""
        from cuescope_shape_world.seeing import view

        asked = dict.fromkeys(names)
        return [_found(view(frame).things, asked) for frame in frames]


def _found(things: Iterable["Seen"], names: Collection[str]) -> tuple[Detection, ...]:
    return sort_by_score(
        Detection(name=name, score=seen.score, box=seen.box)
        for seen in things
        for name in names
        if means(normalise_name(name), seen.colour, seen.name)
    )


def means(name: str, colour: str, kind: str) -> bool:
    """Whether a name is one of this colour and kind."""
    own = (kind, *ANYTHING) if kind in KINDS else (kind,)
    return name in own or name in {f"{colour} {one}" for one in own}
