"""The benchmark's tables, ours beside the paper's."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

import numpy as np

from cuescope_cci.covar import paper
from cuescope_cci.covar.answers import Answers
from cuescope_cci.covar.contexts import Pull
from cuescope_cci.covar.effects import Contrast
from cuescope_cci.covar.images import KNOWN, ORIGINAL, PLAIN, SUBSETS, Images, Mask
from cuescope_cci.covar.measures import ClassDrops, average, share
from cuescope_cci.options import Rule
from cuescope_cci.paper import TableRow
from cuescope_cci.scores import MISSING, Figure
from cuescope_sdk import Cell, Table
from cuescope_sdk.report import signed

RULES: dict[Rule, str] = {
    "hidden": "each region hidden whole",
    "iou": "IoU of the map with each region, the paper's rule",
}
INTERVALS = (
    "In brackets: 95% intervals, which draw whole photos with all of their variants"
)
FEW_WORDS = "few: fewer than 20 photos, so the interval is rough"
STAR = "*: not 0, corrected for all {what} (Holm)"
PAPER = " In round brackets, faint: the paper's own figures, of another set of images."


def percent(figure: Figure) -> Cell:
    """`56 [52, 59] few`, None where nothing is known."""
    return None if figure.value is None else str(figure)


def points(figure: Figure, *, few: bool = True) -> Cell:
    """`+12 [+3, +20] few *`, None where nothing is known; without `few` that is said elsewhere."""
    if figure.points is None:
        return None
    # whole points: intervals are wider than any decimal
    change, low, high = (signed(points, 0) for points in figure.points)
    text = f"{change} [{low}, {high}]"
    if few and figure.few:
        text += " few"
    if figure.star:
        text += " *"
    return text


def _share_cell(holds: Mask, among: Mask, images: Images) -> Cell:
    return percent(share(holds, among, images.source))


def _table(
    title: str,
    rows: Sequence[TableRow],
    *notes: str,
    paper: Sequence[TableRow] = (),
) -> Table:
    # rows may lack a column, as that of the answer sheet
    columns = tuple(dict.fromkeys(chain.from_iterable(rows)))
    return Table(
        title=title,
        columns=columns,
        rows=tuple(rows),
        paper=tuple(paper),
        notes=notes,
    )


def images_table(images: Images, facts: Mapping[str, str]) -> Table:
    """How many images and photos each subset has, and how many the filter dropped."""
    rows: list[TableRow] = []
    for name in KNOWN:
        member = images.of(name)
        flagged = images.flagged.get(name, 0)
        # a subset that was dropped whole still has a row
        if not member.any() and not flagged:
            continue
        row: TableRow = {
            "subset": SUBSETS.get(name, "photos"),
            "images": int(member.sum()),
            "photos": len(np.unique(images.photo[member])),
            "flagged": flagged,
        }
        rows.append(row)
    return _table(
        "The images",
        rows,
        "Flagged images are left out of all figures.",
        *(f"{key}: {value}" for key, value in facts.items()),
    )


def accuracy_table(answers: Sequence[Answers], images: Images) -> Table:
    """Table 3: accuracy on each subset, and the mean of the subsets."""
    rows = []
    for model in answers:
        row: TableRow = {"model": model.name}
        row["photos"] = _share_cell(model.right, images.of(ORIGINAL), images)
        for name in images.subsets:
            row[SUBSETS[name]] = _share_cell(model.right, images.of(name), images)
        row["Avg"] = percent(average(model.right, images))
        rows.append(row)
    published = paper.accuracies([model.name for model in answers])
    note = f"{INTERVALS} ({FEW_WORDS}). Avg: the mean of the subsets."
    if published:
        note += PAPER
    return _table("Accuracy on each subset, % (Table 3)", rows, note, paper=published)


MEANINGS = {
    "BG-Er": "wrong answers that rely on the background",
    "Fine-Er": "wrong answers that rely on the object and name its look-alike",
}


def error_tables(
    answers: Sequence[Answers],
    images: Images,
    rule: Rule,
) -> Iterator[Table]:
    """Table 4: what the wrong answers of each subset rely on, BG-Er and then Fine-Er."""
    counts = [
        f"{model.with_cause(rule).sum()} of {(~model.right).sum()}" for model in answers
    ]
    for kind, meaning in MEANINGS.items():
        rows = []
        for model in answers:
            holds = model.on_background(rule) if kind == "BG-Er" else model.fine(rule)
            known = model.with_cause(rule)
            row: TableRow = {"model": model.name}
            for name in images.subsets:
                row[SUBSETS[name]] = _share_cell(holds, known & images.of(name), images)
            # the photos are no subset of the paper's table
            row["all"] = _share_cell(holds, known & ~images.of(ORIGINAL), images)
            rows.append(row)
        note = (
            f"{kind}: {meaning}. {INTERVALS} ({FEW_WORDS}). Wrong answers looked into: "
        )
        note += f"{', '.join(counts)}."
        published: list[TableRow] = []
        if rule == "iou":  # the paper's figures are by its own rule
            published = paper.error_sources(kind, [model.name for model in answers])
        if published:
            note += PAPER
        title = f"{kind}, % of the wrong answers (Table 4): {RULES[rule]}"
        yield _table(title, rows, note, paper=published)


def subset_table(drops: Mapping[str, Mapping[str, Figure]]) -> Table:
    """Figure 7: what each subset costs, by model."""
    rows = []
    for model, figures in drops.items():
        row: TableRow = {"model": model}
        for name, drop in figures.items():
            column = "Bg-varied against photos" if name == PLAIN else SUBSETS[name]
            row[column] = points(drop)
        rows.append(row)
    published = paper.drops(list(drops))
    note = (
        "Above 0: accuracy is lost. Bg-varied is held against the photo of the same object, "
        "the other subsets against the same object before the same background, image by image. "
        f"{INTERVALS} ({FEW_WORDS}). {STAR.format(what='models and subsets')}."
    )
    if published:
        note += f"{PAPER} They are differences of its Table 3."
    return _table(
        "What each subset costs, points of accuracy (Figure 7)",
        rows,
        note,
        paper=published,
    )


def class_tables(model: str, classes: Sequence[ClassDrops]) -> Iterator[Table]:
    """What each class loses against its photos: other backgrounds, all subsets, then each."""
    summary = []
    of_subsets = []
    for drops in classes:
        row: TableRow = {"class": drops.name}
        of_subset = dict(row)
        for name, drop in drops.drops.items():
            # it stands in the first of both tables
            if name != PLAIN:
                of_subset[SUBSETS[name]] = points(drop, few=False)
        of_subsets.append(of_subset)
        row["photos"] = f"{drops.photos.images}{' few' if drops.photos.few else ''}"
        value = drops.photos.value
        row["right %"] = None if value is None else round(100 * value)
        row["Bg-varied"] = points(drops.drops.get(PLAIN, MISSING), few=False)
        row["Avg"] = points(drops.mean, few=False)
        summary.append(row)
    yield _table(
        f"{model}: what each class loses, points (Figures 6, 8, 15 to 18)",
        summary,
        "Each image is held against the photo that it was made of; above 0 accuracy is lost. "
        f"{INTERVALS} ({FEW_WORDS}). {STAR.format(what='classes and subsets')}.",
    )
    yield _table(
        f"{model}: what each class loses in each subset, points (Figure 20)",
        of_subsets,
        "As above.",
    )


def context_table(model: str, pulls: Mapping[str, Sequence[Pull]]) -> Table:
    """Table 7: the classes that a background makes the answer."""
    rows = []
    for background, of_background in pulls.items():
        words = [
            f"{p.label} {100 * p.here:.0f}% ({points(p.more)})" for p in of_background
        ]
        row: TableRow = {
            "background": background,
            "most predicted": ", ".join(words) or None,
        }
        rows.append(row)
    return _table(
        f"{model}: classes that a background makes the answer (Table 7)",
        rows,
        "Share of the answers before this background, and by how many points it is more than "
        "before the others, for the same objects. The true classes are as frequent before all. "
        f"{INTERVALS} ({FEW_WORDS}). *: not 0, corrected for all backgrounds and classes.",
        paper=[row for row in paper.contexts() if row["background"] in pulls],
    )


def effects_table(contrasts: Iterable[Contrast]) -> Table | None:
    """Figure 14: models that differ in one thing."""
    rows = []
    for contrast in contrasts:
        row: TableRow = {
            "differs": contrast.what,
            "from": contrast.first,
            "to": contrast.second,
        }
        for name, figure in contrast.figures.items():
            row[name] = points(figure)
        rows.append(row)
    if not rows:
        return None
    return _table(
        "Models that differ in one thing, points (Figure 14)",
        rows,
        "The accuracy of the second model less that of the first, on the same images. "
        f"{INTERVALS} ({FEW_WORDS}). {STAR.format(what='pairs of models and columns')}.",
    )
