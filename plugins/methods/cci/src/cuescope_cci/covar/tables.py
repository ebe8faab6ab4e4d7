"""The benchmark's tables, ours beside the paper's."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from cuescope_cci.covar import paper
from cuescope_cci.covar.answers import Answers
from cuescope_cci.covar.contexts import Exchange, Pull
from cuescope_cci.covar.effects import Contrast
from cuescope_cci.covar.images import KNOWN, NONE, ORIGINAL, PLAIN, SUBSETS, Images
from cuescope_cci.covar.measures import ClassDrops, Figure, average, share
from cuescope_cci.options import Rule
from cuescope_sdk import Cell, Table

RULES: dict[Rule, str] = {
    "hidden": "each region hidden whole",
    "iou": "IoU of the map with each region, the paper's rule",
}
INTERVALS = "In brackets: 95% intervals, which draw whole photos with all of their variants"
FEW_WORDS = "few: fewer than 20 photos, so the interval is rough"
STAR = "*: not 0, corrected for all {what} (Holm)"
PAPER = " In round brackets, faint: the paper's own figures, of another set of images."


def percent(figure: Figure) -> Cell:
    """`56 [52, 59] few`, None where nothing is known."""
    if figure.value is None or figure.low is None or figure.high is None:
        return None
    ends = f"[{100 * figure.low:.0f}, {100 * figure.high:.0f}]"
    return f"{100 * figure.value:.0f} {ends}" + " few" * figure.few


def points(figure: Figure, *, few: bool = True) -> Cell:
    """`+12 [+3, +20] few *`, None where nothing is known; without `few` that is said elsewhere."""
    if figure.value is None or figure.low is None or figure.high is None:
        return None
    value, low, high = (round(100 * x) + 0 for x in (figure.value, figure.low, figure.high))
    return f"{value:+d} [{low:+d}, {high:+d}]" + " few" * (few and figure.few) + " *" * figure.star


def images_table(images: Images, facts: Mapping[str, str]) -> Table:
    """How many images and photos each subset has, and how many the filter dropped, and why."""
    rows = []
    for name in KNOWN:
        member = images.of(name)
        flagged = {why: n for (of, why), n in images.flagged.items() if of == name}
        if not member.any() and not flagged:
            continue
        chosen = [images.samples[i] for i in np.flatnonzero(member)]
        exact = [bool(s.annotations.get("kept_exactly")) for s in chosen]
        told = any("kept_exactly" in s.annotations for s in chosen)
        alone = int((member & (images.plain == NONE)).sum())
        if name in (ORIGINAL, PLAIN):
            alone = int((member & (images.original == NONE)).sum())
        rows.append(
            {
                "subset": SUBSETS.get(name, "photos"),
                "images": int(member.sum()),
                "photos": len(set(images.photo[member].tolist())),
                "without a pair": alone,
                "object kept exactly %": round(100 * np.mean(exact)) if told and exact else None,
                "flagged": sum(flagged.values()),
                "why": ", ".join(f"{why}: {n}" for why, n in Counter(flagged).most_common(3)),
            }
        )
    notes = [
        "Flagged images are left out of all figures. Without a pair: no photo, or no image of the "
        "same object before the same background, to be compared with.",
        *(f"{key}: {value}" for key, value in facts.items()),
    ]
    return Table(title="The images", columns=tuple(rows[0]), rows=tuple(rows), notes=tuple(notes))


def accuracy_table(answers: Sequence[Answers], images: Images) -> Table:
    """Table 3: accuracy on each subset, and the mean of the subsets."""
    rows = []
    for own in answers:
        row: dict[str, Cell] = {"model": own.name}
        row["photos"] = percent(share(own.right, images.of(ORIGINAL), images.source))
        for name in images.subsets:
            row[SUBSETS[name]] = percent(share(own.right, images.of(name), images.source))
        row["Avg"] = percent(average(own.right, images))
        rows.append(row)
    published = paper.accuracies([own.name for own in answers])
    note = f"{INTERVALS} ({FEW_WORDS}). Avg: the mean of the subsets."
    return Table(
        title="Accuracy on each subset, % (Table 3)",
        columns=tuple(rows[0]),
        rows=tuple(rows),
        paper=published,
        notes=(note + PAPER * bool(published),),
    )


MEANINGS = {
    "BG-Er": "wrong answers that lean on the background",
    "Fine-Er": "wrong answers that lean on the object and name its look-alike",
}


def error_tables(answers: Sequence[Answers], images: Images, rule: Rule) -> Iterator[Table]:
    """Table 4: what the wrong answers of each subset lean on, BG-Er and then Fine-Er."""
    known = [int(own.known(rule).sum()) for own in answers]
    wrong = [int((~own.right).sum()) for own in answers]
    for kind, meaning in MEANINGS.items():
        rows = []
        for own in answers:
            holds = own.on_background(rule) if kind == "BG-Er" else own.fine(rule)
            row: dict[str, Cell] = {"model": own.name}
            for name in images.subsets:
                among = own.known(rule) & images.of(name)
                row[SUBSETS[name]] = percent(share(holds, among, images.source))
            among = own.known(rule) & ~images.of(ORIGINAL)
            row["all"] = percent(share(holds, among, images.source))
            rows.append(row)
        # the paper's figures are by its own rule
        names = [own.name for own in answers]
        published = paper.error_sources(kind, names) if rule == "iou" else ()
        yield Table(
            title=f"{kind}, % of the wrong answers (Table 4): {RULES[rule]}",
            columns=tuple(rows[0]),
            rows=tuple(rows),
            paper=published,
            notes=(
                f"{kind}: {meaning}. {INTERVALS} ({FEW_WORDS}). Wrong answers looked into: "
                + ", ".join(f"{n} of {m}" for n, m in zip(known, wrong, strict=True))
                + "."
                + PAPER * bool(published),
            ),
        )


def subset_table(drops: Mapping[str, Mapping[str, Figure]]) -> Table:
    """Figure 7: what each subset costs, by model."""
    subsets = list(dict.fromkeys(name for own in drops.values() for name in own))
    columns = {
        name: "Bg-varied against photos" if name == PLAIN else SUBSETS[name] for name in subsets
    }
    rows = [
        {"model": model, **{columns[n]: points(own[n]) for n in subsets if n in own}}
        for model, own in drops.items()
    ]
    published = paper.drops(list(drops))
    return Table(
        title="What each subset costs, points of accuracy (Figure 7)",
        columns=("model", *columns.values()),
        rows=tuple(rows),
        paper=published,
        notes=(
            "Above 0: accuracy is lost. Bg-varied is held against the photo of the same object, "
            "the other subsets against the same object before the same background, image by image. "
            f"{INTERVALS} ({FEW_WORDS}). {STAR.format(what='models and subsets')}."
            + f"{PAPER} They are differences of its Table 3."
            * bool(published),
        ),
    )


def class_tables(model: str, classes: Sequence[ClassDrops]) -> Iterator[Table]:
    """What each class loses against its photos: other backgrounds, all subsets, then each."""
    summary, each = [], []
    for own in classes:
        head: dict[str, Cell] = {"class": own.name}
        worst = own.worst and f"{points(own.worst[1], few=False)} {SUBSETS[own.worst[0]]}"
        of_subset = {name: points(drop, few=False) for name, drop in own.drops.items()}
        summary.append(
            head
            | {"photos": f"{own.photos.images}" + " few" * own.photos.few}
            | {"right %": None if own.photos.value is None else round(100 * own.photos.value)}
            | {"Bg-varied": of_subset.get(PLAIN)}
            | {"Avg": points(own.mean, few=False), "worst subset": worst}
        )
        others = {SUBSETS[name]: cell for name, cell in of_subset.items() if name != PLAIN}
        each.append(head | others)
    note = (
        "Each image is held against the photo that it was made of; above 0 accuracy is lost. "
        f"{INTERVALS} ({FEW_WORDS}); that of the worst subset is wide enough for the largest of "
        f"all. {STAR.format(what='classes and subsets')}."
    )
    yield Table(
        title=f"{model}: what each class loses, points (Figures 6, 8, 15 to 18)",
        columns=tuple(summary[0]),
        rows=tuple(summary),
        notes=(note,),
    )
    yield Table(
        title=f"{model}: what each class loses in each subset, points (Figure 20)",
        columns=tuple(each[0]),
        rows=tuple(each),
        notes=("As above.",),
    )


def context_table(model: str, pulls: Mapping[str, Sequence[Pull]]) -> Table:
    """Table 7: the classes that a background makes the answer."""
    rows = [
        {
            "background": background,
            "most predicted": ", ".join(_pull_words(pull) for pull in own) or None,
        }
        for background, own in pulls.items()
    ]
    known = {str(row["background"]) for row in rows}
    return Table(
        title=f"{model}: classes that a background makes the answer (Table 7)",
        columns=("background", "most predicted"),
        rows=tuple(rows),
        paper=tuple(row for row in paper.contexts() if row["background"] in known),
        notes=(
            "Share of the answers before this background, and by how many points it is more than "
            "before the others, for the same objects. The true classes are as frequent before all. "
            f"{INTERVALS} ({FEW_WORDS}). *: not 0, corrected for all backgrounds and classes.",
        ),
    )


def _pull_words(pull: Pull) -> str:
    return f"{pull.label} {100 * pull.here:.0f}% ({points(pull.more)})"


def exchange_table(exchanges: Mapping[str, Mapping[Rule, Exchange]]) -> Table | None:
    """Whether what CCI says of wrong answers is what exchanging the background shows."""
    rows = []
    for model, by_rule in exchanges.items():
        for rule, own in by_rule.items():
            row: dict[str, Cell] = {
                "model": model,
                "rule": rule,
                "wrong": own.wrong,
                "gone before others %": percent(own.follows),
                "BG-Er %": percent(own.leaning),
                "the same %": percent(own.agrees),
            }
            if own.sheet is not None:
                row["as planted %"] = percent(own.sheet)
            rows.append(row)
    if not rows or not any(row["wrong"] for row in rows):
        return None
    return Table(
        title="BG-Er against exchanged backgrounds",
        columns=tuple(dict.fromkeys(key for row in rows for key in row)),
        rows=tuple(rows),
        notes=(
            "Wrong answers of Bg-varied. Gone before others: before most other backgrounds the "
            "same object is not answered so. The same: share of wrong answers of which CCI's rule "
            "and the exchange say the same. As planted: CCI's rule against the data's answer sheet "
            f"(the answer is the class that the background was planted for). {INTERVALS} "
            f"({FEW_WORDS}).",
        ),
    )


def effects_table(contrasts: Sequence[Contrast]) -> Table | None:
    """Figure 14: models that differ in one thing."""
    rows = [
        {
            "differs": contrast.what,
            "from": contrast.first,
            "to": contrast.second,
            **{name: points(figure) for name, figure in contrast.figures.items()},
        }
        for contrast in contrasts
    ]
    if not rows:
        return None
    return Table(
        title="Models that differ in one thing, points (Figure 14)",
        columns=tuple(rows[0]),
        rows=tuple(rows),
        notes=(
            "The second model less the first, on the same images: accuracy (above 0 is better) and "
            "BG-Er, each region hidden whole (below 0 is better). "
            f"{INTERVALS} ({FEW_WORDS}). {STAR.format(what='pairs of models and columns')}; BG-Er "
            "has an interval alone.",
        ),
    )


def class_rows(classes: Sequence[ClassDrops]) -> Iterator[tuple[str, dict[str, Figure]]]:
    """Of each class the mean and the worst drop, for a chart."""
    for own in classes:
        if own.mean.value is not None and own.worst is not None:
            yield own.name, {"mean of the subsets": own.mean, "worst subset": own.worst[1]}
