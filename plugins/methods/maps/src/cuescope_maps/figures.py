"""Pictures of the report: each answer with its outline, without the region, without a control."""

from collections.abc import Iterator, Sequence

import numpy as np
from PIL import Image

from cuescope_maps.options import ELSEWHERE
from cuescope_maps.proof import Tested
from cuescope_maps.report import NOT_SHOWN, Result, occurrence_of
from cuescope_maps.trials import Map
from cuescope_sdk import Contrast, Exhibit, Frame, Side
from cuescope_sdk.report import draw_beside

SHOWN = 4  # on a side: more are not looked at
OUTLINE = (230, 30, 60), (255, 255, 255)
DRAWN = (
    "Spread evenly over how likely each region is to matter. The drawing: the region that the map "
    "claims, the picture without it, the picture without an equal region elsewhere."
)


def contrasts(made: Sequence[Result], margin: float) -> Iterator[Contrast]:
    """For each result the maps that hold, and those that do not."""
    for result in made:
        sides = []
        for holds, title in ((True, "hold"), (False, NOT_SHOWN)):
            chosen = [
                one
                for one, held in zip(result.tested, result.held, strict=True)
                if held == holds
            ]
            ordered = sorted(
                chosen,
                key=lambda one: (
                    -one.proof.above(margin),
                    one.claim.map.target.sample.key,
                ),
            )
            shares = (np.arange(min(SHOWN, len(ordered))) + 0.5) / max(
                min(SHOWN, len(ordered)), 1
            )
            exhibits = [
                _exhibit(ordered[int(share * len(ordered))]) for share in shares
            ]
            heading = f"{title}: {len(chosen)} of {len(result.tested)} maps"
            sides.append(Side(title=heading, exhibits=tuple(exhibits)))
        yield Contrast(
            feature=result.explainer,
            label=None,
            sides=(sides[0], sides[1]),
            rule=DRAWN,
        )


def _exhibit(one: Tested) -> Exhibit:
    drawn = one.claim.map
    target = drawn.target
    removed, control = one.removed
    return Exhibit(
        occurrence=occurrence_of(drawn),
        label=target.sample.label,
        prediction=target.words_explained,
        probability=drawn.intact,
        words=f"{drawn.intact:.2f} as is, {removed:.2f} without the region, {control:.2f} without "
        "an equal region elsewhere",
        drawing=draw_beside(_panels(drawn, one.claim.controls[ELSEWHERE])),
    )


def _panels(one: Map, control: np.ndarray) -> list[Frame | np.ndarray]:
    number = occurrence_of(one).frame or 0
    sample = one.target.sample
    image = sample.frames[number].load()
    mask = one.grid.masks(one.region, [image.size[::-1]] * one.grid.frames)[number]
    outlined = Image.fromarray(draw_outline(np.asarray(image), mask))
    without = one.grid.show(sample, ~one.region).frames[number]
    without_control = one.grid.show(sample, ~control).frames[number]
    return [np.asarray(outlined), without, without_control]


def draw_outline(pixels: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The picture with a line round a mask, light within dark, wide enough to be seen small."""
    from scipy.ndimage import binary_erosion

    drawn = pixels.copy()
    width = max(1, min(mask.shape) // 60)
    inside = mask
    for colour in OUTLINE:
        smaller = binary_erosion(inside, iterations=width, border_value=0)
        drawn[inside & ~smaller] = colour
        inside = smaller
    return drawn
