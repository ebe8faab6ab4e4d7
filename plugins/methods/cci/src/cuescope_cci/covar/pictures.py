"""The grid of variants of one source, and drops as charts."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from cuescope_cci.covar.answers import Answers
from cuescope_cci.covar.images import KNOWN, ORIGINAL, SUBSETS, Codes, Images, factor
from cuescope_cci.covar.measures import ClassDrops
from cuescope_cci.scores import Figure
from cuescope_sdk import Picture

MOST_BACKGROUNDS = 8  # rows of a grid
SIDE = 120  # px of an image
AT_ONCE = 6  # models of a chart

Ends = dict[str, tuple[float, float, float]]


def grids(answers: Answers, images: Images, most: int) -> Iterator[Picture]:
    """Figures 1c and 19: the variants of some sources, and which of them are answered wrongly."""
    # imported here: tables without pictures need no drawing
    from cuescope_sdk.report import frame_strips

    is_photo = images.of(ORIGINAL)
    for code in _telling(answers, images)[:most]:
        member = images.photo == code
        photos = np.flatnonzero(member & is_photo)
        variants = np.flatnonzero(member & ~is_photo)
        rows = []
        for background in np.unique(images.background[variants])[:MOST_BACKGROUNDS]:
            of_row = variants[images.background[variants] == background]
            # the same order in all rows, so that they can be compared
            of_row = of_row[np.argsort(images.subset[of_row], kind="stable")]
            shown = [*photos, *of_row]
            frames = [images.samples[index].frames[0] for index in shown]
            caption = f"{images.backgrounds[background]}: {_wrong_words(answers, images, of_row)}"
            rows.append((caption, frames))
        most = max(len(frames) for _, frames in rows)
        names = [SUBSETS[name] for name in images.subsets]
        if len(photos):
            names.insert(0, "the photo")
        yield Picture(
            title=f"All variants of a photo of '{images.labels[images.label[member][0]]}'",
            caption=f"From the left: {', '.join(names)}. Wrong are answers of {answers.name}.",
            image=frame_strips(rows, most, SIDE),
        )


def _telling(answers: Answers, images: Images) -> list[int]:
    """Photos, those first of which most variants are wrong although the photo is right."""
    photo = images.of(ORIGINAL)
    count = int(images.photo.max()) + 1
    right = np.bincount(images.photo[photo & answers.right], minlength=count) > 0
    wrong = np.bincount(images.photo[~photo & ~answers.right], minlength=count)
    # a photo that is wrong itself shows nothing of what its variants change
    return list(np.lexsort((-wrong, ~right)))


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


def class_chart(model: str, classes: Sequence[ClassDrops]) -> Picture | None:
    """Figures 6 and 8 with intervals: the mean and the worst drop of each class."""
    rows = {}
    for drops in classes:
        if drops.worst is not None:
            _, worst = drops.worst
            rows[drops.name] = _ends(
                {"mean of the subsets": drops.mean, "worst subset": worst}
            )
    # without photos no class has a drop
    if not rows:
        return None
    return _chart(
        rows,
        f"{model}: accuracy lost, class by class",
        "Points of accuracy against the photos, with 95% intervals.",
    )


def subset_charts(drops: Mapping[str, Mapping[str, Figure]]) -> Iterator[Picture]:
    """Figure 7 with intervals: a dot a model, a few models a chart."""
    models = list(drops)
    for start in range(0, len(models), AT_ONCE):
        shown = models[start : start + AT_ONCE]
        rows: dict[str, Ends] = {}
        for model in shown:
            for name, ends in _ends(drops[model]).items():
                rows.setdefault(SUBSETS[name], {})[model] = ends
        yield _chart(
            rows,
            f"What each subset costs: {', '.join(shown)}",
            "Bg-varied against the photos, the other subsets against Bg-varied; 95% intervals.",
        )


def _ends(figures: Mapping[str, Figure]) -> Ends:
    ends = {}
    for name, figure in figures.items():
        if figure.points is not None:
            ends[name] = figure.points
    return ends


def _chart(rows: Mapping[str, Ends], title: str, caption: str) -> Picture:
    from cuescope_sdk.report import interval_chart

    # a row without any interval would be an empty line
    shown = {name: ends for name, ends in rows.items() if ends}
    return Picture(
        title=title,
        caption=caption,
        image=interval_chart(shown, "", "points lost"),
    )
