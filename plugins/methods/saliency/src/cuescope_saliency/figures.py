"""Pictures of the report: images beside their maps, and those whose maps lean most."""

from collections.abc import Iterator, Sequence

import numpy as np

from cuescope_saliency.trials import ExplainedImage, Images, feature_key
from cuescope_sdk import Audit, Contrast, Occurrence, Outcome, Picture, Score
from cuescope_sdk.report import PanelRow, contrast, draw_beside, image_panels

DRAWN = " The drawing: red is what speaks for the text, blue what speaks against it."


def attach_examples(audit: Audit, images: Images) -> None:
    """The images whose maps lie most on the background, and those whose maps lie least there."""
    # the key breaks ties: which images are shown must not depend on the data's order
    ordered = sorted(
        images, key=lambda image: (image.foreground_share, image.sample.key)
    )
    groups = {
        "Maps that lie most on the background": ordered[:2],
        "Maps that lie most on the object": ordered[2:][-2:],
    }
    for title, group in groups.items():
        # few images leave nothing for the object's side
        if not group:
            continue
        captions = "; ".join(map(caption, group))
        panels = image_panels(list(map(panel_row, group)))
        audit.attach(Picture(title=title, caption=f"{captions}.", image=panels))


def panel_row(image: ExplainedImage) -> PanelRow:
    """The image beside its map and its mask."""
    return PanelRow(
        caption=caption(image),
        image=np.asarray(image.canvas.frames[0].load()),
        heat=image.importance,
        mask=image.foreground,
    )


def caption(image: ExplainedImage) -> str:
    """What is shown, in a few words."""
    label = image.sample.label
    about = f"'{image.text}' in an image"
    if label is None:
        return about
    answer = (
        "answered correctly"
        if image.is_right
        else f"answered '{image.outcome.prediction}'"
    )
    return f"{about} of '{label}', {answer}"


def contrasts(images: Images, scores: Sequence[Score]) -> Iterator[Contrast]:
    """One for each finding: images whose maps lie beside the object, and the others.

    They are of the images that the figure is of: those about the text, with a mask.
    """
    for score in scores:
        if not score.finding:
            continue
        # only images that the figure is of, or pictures and figure would disagree
        about = [image for image in images if feature_key(image.text) == score.feature]
        lean = lean_contrast(about, score.feature, score.label)
        if lean is not None:
            yield lean


def lean_contrast(images: Images, feature: str, label: str | None) -> Contrast | None:
    """Images of one text whose maps lean on the background, and those whose maps do not."""
    by_key = {}
    leans = {}
    for image in images:
        if image.lean is not None:
            by_key[image.sample.key] = image
            leans[image.sample.key] = image.lean
    limit = 0.0
    than = "its size explains"
    # all of them lean: the half that does so most
    if leans and min(leans.values()) > 0:
        limit = float(np.median(list(leans.values())))
        than = "in the other half of the images"
    most: list[Outcome] = []
    least: list[Outcome] = []
    for key, image in by_key.items():
        side = most if leans[key] > limit else least
        side.append(image.outcome)
    n = len(by_key)
    return contrast(
        feature,
        {
            f"more of the map on the background than {than}: {len(most)} of {n} images": most,
            f"not more: {len(least)} of {n} images": least,
        },
        label=label,
        where={key: Occurrence(sample=key, frame=0) for key in by_key},
        words=lambda outcome: lean_words(by_key[outcome.trial.sample.key]),
        drawing=lambda outcome: draw(by_key[outcome.trial.sample.key]),
        drawn=DRAWN,
    )


def lean_words(image: ExplainedImage) -> str:
    """How much of the map the background has, beside how much of the picture."""
    if image.foreground is None:
        return f"map for '{image.text}'"
    return (
        f"{1 - image.foreground_share:.0%} of the map for '{image.text}' lies on the "
        f"background, which is {1 - image.foreground.mean():.0%} of the picture"
    )


def draw(image: ExplainedImage) -> bytes:
    """The map over the image."""
    return draw_beside(panel_row(image).overlays())
