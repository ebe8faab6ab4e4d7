"""Pictures of the report: each answer with its region, without it, and without a control."""

from collections.abc import Iterator, Sequence

import numpy as np

from cuescope_maps.options import ELSEWHERE
from cuescope_maps.proof import Tested
from cuescope_maps.report import NOT_SHOWN, Result, occurrence_of
from cuescope_maps.trials import Map
from cuescope_sdk import Contrast, Exhibit, Frame, Side
from cuescope_sdk.report import draw_beside

SHOWN = 4  # on a side: more are not looked at
DRAWN = (
    "Spread evenly over how likely each region is to matter. The outline is the "
    "region that the map claims. Below: the picture without it, and without an equal region."
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
    question = f"{target.sample.question} " if target.sample.question else ""
    return Exhibit(
        occurrence=occurrence_of(drawn),
        label=target.sample.label,
        prediction=target.words_explained,
        probability=drawn.intact,
        words=f"{question}{drawn.intact:.2f} as is, {removed:.2f} without the region, "
        f"{control:.2f} without an equal region elsewhere",
        drawing=draw_beside(_panels(drawn, one.claim.controls[ELSEWHERE])),
    )


def _panels(one: Map, control: np.ndarray) -> list[Frame]:
    """The frame that has most of the region, without the region and without a control."""
    number = occurrence_of(one).frame or 0
    sample = one.target.sample
    return [
        one.grid.show(sample, ~hidden).frames[number]
        for hidden in (one.region, control)
    ]
