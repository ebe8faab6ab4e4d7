"""Pictures of the report: images beside their maps."""

from collections.abc import Sequence

import numpy as np

from cuescope_saliency.options import SaliencyOptions
from cuescope_saliency.trials import ExplainedImage
from cuescope_sdk import Audit, Picture
from cuescope_sdk.maths import energy_share
from cuescope_sdk.report import PanelRow, image_panels


def attach_examples(
    audit: Audit, options: SaliencyOptions, images: Sequence[ExplainedImage]
) -> None:
    """The images whose maps lie most on the background, and those whose maps lie least there."""
    ordered = sorted(images, key=lambda image: (_foreground_share(image), image.sample.key))
    # The larger half of an odd number goes to the background, which findings are about.
    half = min(options.pictures, len(ordered)) // 2
    groups = {
        "Maps that lie most on the background": ordered[: options.pictures - half],
        "Maps that lie most on the object": ordered[len(ordered) - half :],
    }
    for title, group in groups.items():
        if group:
            captions = "; ".join(caption(image) for image in group)
            panel_rows = [
                PanelRow(
                    caption=caption(image),
                    image=np.asarray(image.canvas.frames[0].load()),
                    heat=image.importance,
                    mask=image.foreground,
                )
                for image in group
            ]
            drawing = image_panels(panel_rows)
            audit.attach(Picture(title=title, caption=f"{captions}.", image=drawing))


def _foreground_share(image: ExplainedImage) -> float:
    """Share of the importance on the object; 0 without a mask."""
    return 0.0 if image.foreground is None else energy_share(image.importance, image.foreground)


def caption(image: ExplainedImage) -> str:
    """What is shown, in a few words."""
    label = image.sample.label
    about = f"'{image.text}' in an image"
    if label is None:
        return about
    answer = "answered rightly" if image.is_right else f"answered '{image.outcome.prediction}'"
    return f"{about} of '{label}', {answer}"
