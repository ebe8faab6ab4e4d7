"""The grid of variants of one source, and drops as charts."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from cuescope_cci.covar.answers import Answers
from cuescope_cci.covar.images import KNOWN, ORIGINAL, SUBSETS, Images, factor
from cuescope_cci.covar.measures import ClassDrops, Figure
from cuescope_cci.covar.tables import class_rows
from cuescope_sdk import Picture

MOST_BACKGROUNDS, SIDE = 8, 120  # rows of a grid; px of an image
AT_ONCE = 6  # models of a chart


def grids(answers: Answers, images: Images, most: int) -> Iterator[Picture]:
    """Figures 1c and 19: the variants of some sources, and which of them are answered wrongly."""
    from cuescope_sdk.report import StripRow, frame_strips, thumbnail

    for code in _telling(answers, images)[:most]:
        member = np.flatnonzero(images.photo == code).tolist()
        photo = [i for i in member if images.subset[i] == KNOWN.index(ORIGINAL)]
        label = images.labels[images.label[member[0]]]
        rows = []
        variants = [i for i in member if i not in photo]
        for background in sorted(set(images.background[variants].tolist()))[:MOST_BACKGROUNDS]:
            of_row = [i for i in variants if images.background[i] == background]
            of_row.sort(key=lambda i: int(images.subset[i]))
            shown = [*photo, *of_row]
            rows.append(
                StripRow(
                    _caption(answers, images, images.backgrounds[background], of_row),
                    [thumbnail(images.samples[i].frames[0], SIDE) for i in shown],
                )
            )
        widest = max(len(row.frames) for row in rows)
        names = [*(["the photo"] if photo else []), *(SUBSETS[name] for name in images.subsets)]
        yield Picture(
            title=f"All variants of a photo of '{label}'",
            caption=f"From the left: {', '.join(names)}. Wrong are answers of {answers.name}.",
            image=frame_strips(rows, most=widest),
        )


def _telling(answers: Answers, images: Images) -> list[int]:
    """Photos, those first of which most variants are wrong although the photo is right."""
    count = int(images.photo.max()) + 1
    photo = images.of(ORIGINAL)
    right = np.zeros(count, dtype=bool)
    right[images.photo[photo & answers.right]] = True
    wrong = np.bincount(images.photo, weights=~answers.right & ~photo, minlength=count)
    return [int(code) for code in np.lexsort((np.arange(count), -wrong, ~right))]


def _caption(answers: Answers, images: Images, background: str, member: Sequence[int]) -> str:
    wrong: dict[str, None] = {}
    for i in member:
        if not answers.right[i]:
            name = SUBSETS[KNOWN[images.subset[i]]]
            scale = factor(images.samples[i], "scale")
            told = f"{name} {scale}" if scale and name == "Scale" else name
            wrong[f"{told} ({images.labels[answers.predicted[i]]})"] = None
    return f"{background}: " + (f"wrong in {', '.join(wrong)}" if wrong else "all right")


def class_chart(model: str, classes: Sequence[ClassDrops]) -> Picture | None:
    """Figures 6 and 8 with intervals: the mean and the worst drop of each class."""
    rows = {name: _ends(figures) for name, figures in class_rows(classes)}
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
        shown = {model: drops[model] for model in models[start : start + AT_ONCE]}
        subsets = dict.fromkeys(name for own in shown.values() for name in own)
        rows = {
            SUBSETS[name]: _ends({model: own[name] for model, own in shown.items() if name in own})
            for name in subsets
        }
        yield _chart(
            rows,
            f"What each subset costs: {', '.join(shown)}",
            "Bg-varied against the photos, the other subsets against Bg-varied; 95% intervals.",
        )


def _ends(figures: Mapping[str, Figure]) -> dict[str, tuple[float, float, float]]:
    return {
        name: (100 * own.value, 100 * own.low, 100 * own.high)
        for name, own in figures.items()
        if own.value is not None and own.low is not None and own.high is not None
    }


def _chart(
    rows: Mapping[str, Mapping[str, tuple[float, float, float]]], title: str, caption: str
) -> Picture:
    from cuescope_sdk.report import interval_chart

    shown = {name: own for name, own in rows.items() if own}
    return Picture(title=title, caption=caption, image=interval_chart(shown, "", "points lost"))
