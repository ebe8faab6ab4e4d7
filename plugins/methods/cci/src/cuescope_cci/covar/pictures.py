"""The grid of variants of one source."""

import numpy as np

from cuescope_cci.covar.answers import Answers
from cuescope_cci.covar.images import KNOWN, ORIGINAL, SUBSETS, Codes, Images, factor
from cuescope_sdk import Picture

MOST_BACKGROUNDS = 8  # rows of a grid
SIDE = 120  # px of an image


def grid(answers: Answers, images: Images) -> Picture:
    """Figures 1c and 19: the variants of one source, and which of them are answered wrongly."""
    # imported here: tables without pictures need no drawing
    from cuescope_sdk.report import frame_strips

    is_photo = images.of(ORIGINAL)
    member = images.photo == _telling(answers, images)
    photos = np.flatnonzero(member & is_photo)
    variants = np.flatnonzero(member & ~is_photo)
    rows = []
    for background in np.unique(images.background[variants])[:MOST_BACKGROUNDS]:
        of_row = variants[images.background[variants] == background]
        # the same order in all rows, so that they can be compared
        of_row = of_row[np.argsort(images.subset[of_row], kind="stable")]
        shown = [*photos, *of_row]
        frames = [images.samples[index].frames[0] for index in shown]
        caption = (
            f"{images.backgrounds[background]}: {_wrong_words(answers, images, of_row)}"
        )
        rows.append((caption, frames))
    most = max(len(frames) for _, frames in rows)
    names = [SUBSETS[name] for name in images.subsets]
    if len(photos):
        names.insert(0, "the photo")
    return Picture(
        title=f"All variants of a photo of '{images.labels[images.label[member][0]]}'",
        caption=f"From the left: {', '.join(names)}. Wrong are answers of {answers.name}.",
        image=frame_strips(rows, most, SIDE),
    )


def _telling(answers: Answers, images: Images) -> int:
    """The photo of which most variants are wrong although it is right itself."""
    photo = images.of(ORIGINAL)
    count = int(images.photo.max()) + 1
    right = np.bincount(images.photo[photo & answers.right], minlength=count) > 0
    wrong = np.bincount(images.photo[~photo & ~answers.right], minlength=count)
    # a photo that is wrong itself shows nothing of what its variants change
    return int(np.lexsort((-wrong, ~right))[0])


def _wrong_words(answers: Answers, images: Images, variants: Codes) -> str:
    wrong = []
    for index in variants[~answers.right[variants]]:
        words = SUBSETS[KNOWN[images.subset[index]]]
        scale = factor(images.samples[index], "scale")
        if scale and words == "Scale":
            words += f" {scale}"
        wrong.append(f"{words} ({images.labels[answers.predicted[index]]})")
    if not wrong:
        return "all right"
    return f"wrong in {', '.join(dict.fromkeys(wrong))}"
