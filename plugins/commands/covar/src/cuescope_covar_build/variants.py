"""The eleven variants of an image on a background (section 4.2, appendix A.6)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from cuescope_covar_build import geometry
from cuescope_covar_build.geometry import Mask, Moved, Pixels

# Times smaller that the object gets. Appendix A.6 has four, up to 8; the others are ours.
SCALES = (1.5, 2.0, 4.0, 8.0)
SHIFT = 0.2  # most, as a share of the width and of the height (appendix A.6)
ANGLE = 45.0  # degrees, most either way (appendix A.6)
AREA = (0.6, 0.9)  # share of the image that a crop shows (appendix A.6)
VIEWS = 2  # of those below; appendix A.6 takes 2 of the 6 that Zero123++ renders
VIEWPOINTS = (
    "from its front left and slightly above",
    "from its front right and slightly above",
    "from its left side and slightly below",
    "from its right side and slightly below",
    "from behind on its left",
    "from behind on its right",
)


@dataclass(frozen=True)
class Variant:
    """One of the images made from an image on a background.

    `move` changes the picture; None for a viewpoint, which an editor makes by `instruction`.
    """

    subset: str
    name: str
    parameters: dict[str, Any]
    move: Callable[[Pixels, Mask], Moved] | None = None
    instruction: str = ""

    def editable(self, moved: Moved) -> Mask:
        """Where an editor is to paint; nowhere for a flip and a crop.

        It fills the border of a moved or turned image, and all but the object of a shrunken one.
        """
        return ~moved.mask if self.subset == "scale" else ~moved.known


def variants(
    rng: np.random.Generator,
    size: tuple[int, int],
    label: str,
    scales: Sequence[float] = SCALES,
    *,
    views: int = 0,
) -> list[Variant]:
    """The variants of an image of `size` (row, col), what is drawn of them drawn from `rng`."""
    rows, cols = size
    # all is drawn before it is used: other scales change no shift and no angle
    right = round(rng.uniform(-SHIFT, SHIFT) * cols)
    down = round(rng.uniform(-SHIFT, SHIFT) * rows)
    # rounded: the manifest says exactly what was done
    degrees = round(rng.uniform(-ANGLE, ANGLE), 2)
    area = round(rng.uniform(*AREA), 3)
    shown = sorted(rng.permutation(len(VIEWPOINTS))[:VIEWS].tolist())
    made = [
        Variant("h-flip", "h-flip", {}, geometry.flip),
        Variant(
            "translate",
            "translate",
            {"right": right, "down": down},
            partial(geometry.translate, right=right, down=down),
        ),
        Variant(
            "crop",
            "crop",
            {"area": area},
            partial(geometry.crop, area=area),
        ),
        Variant("v-flip", "v-flip", {}, partial(geometry.flip, vertical=True)),
        Variant(
            "rotation",
            "rotation",
            {"degrees": degrees},
            partial(geometry.rotate, degrees=degrees),
        ),
    ]
    for number, view in enumerate(shown[:views], 1):
        words = VIEWPOINTS[view]
        told = f"Show the same {label} in the same place, seen {words}."
        # no pixel says that the editor did so
        known = {"view": words, "controlled": False}
        made.append(
            Variant("viewpoint", f"viewpoint-{number}", known, instruction=told)
        )
    for scale in scales:
        name = f"scale-{scale:g}"
        move = partial(geometry.shrink, scale=scale)
        made.append(Variant("scale", name, {"scale": scale}, move))
    return made
