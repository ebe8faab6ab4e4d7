"""Pictures of the report: images beside their maps."""

from typing import TYPE_CHECKING

import numpy as np

from cuescope_saliency.observing import Explained, explained, trials
from cuescope_sdk import Audit, Picture
from cuescope_sdk.maths import energy_share
from cuescope_sdk.report import PanelRow, image_panels

if TYPE_CHECKING:
    from cuescope_saliency import Saliency


def show_examples(audit: Audit, options: "Saliency.Options") -> None:
    """The images whose maps lie most on the background, and those whose maps lie least there."""
    images = explained(audit, options, audit.respond(trials(audit, options)))
    ordered = sorted(images, key=lambda one: (foreground_share(one), one.sample.key))
    half = min(options.pictures, len(ordered)) // 2
    kinds = {
        "Maps that lie most on the background": ordered[: options.pictures - half],
        "Maps that lie most on the object": ordered[len(ordered) - half :],
    }
    for title, group in kinds.items():
        if group:
            rows = [
                PanelRow(
                    caption=in_words(one),
                    image=np.asarray(one.canvas.frames[0].load()),
                    heat=one.importance,
                    mask=one.foreground,
                )
                for one in group
            ]
            captions = "; ".join(in_words(one) for one in group)
            audit.attach(Picture(title=title, caption=f"{captions}.", image=image_panels(rows)))


def foreground_share(one: Explained) -> float:
    """Share of the importance on the object; 0 without a mask."""
    return 0.0 if one.foreground is None else energy_share(one.importance, one.foreground)


def in_words(one: Explained) -> str:
    """What is shown, in a few words."""
    label, answer = one.sample.label, one.prediction
    about = f"'{one.text}' in an image"
    if label is None:
        return about
    told = "rightly told" if label == answer else f"taken for '{answer}'"
    return f"{about} of '{label}', {told}"
