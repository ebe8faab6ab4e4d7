"""Images beside their clusters, importance and mask; answers that the background decides."""

from collections.abc import Iterator, Sequence

import numpy as np

from cuescope_cci.backgrounds.measure import Backgrounds, PullRow
from cuescope_cci.error_source import BACKGROUND, AnswerSource, factor_words, groups
from cuescope_sdk import Accuracy, Audit, Cell, Contrast, Occurrence, Outcome, Picture, Score, Table
from cuescope_sdk.report import (
    PanelRow,
    contrast,
    draw_beside,
    image_panels,
    interval,
    overlay_heat,
    signed,
    tint_clusters,
    typical,
)

MISLED = "On the left, {left}, spread evenly from the least to the most typical. "
SAME = (
    "On the right, samples of the same labels{where}. The drawing: clusters of patches, then what "
    "each counts (red for the class that the map is about, blue against it)."
)


def attach_examples(audit: Audit, sources: Sequence[AnswerSource], most: int) -> None:
    """Pictures of background errors, fine-grained errors and right answers."""
    wrong = [source for source in sources if source.wrong]
    background = sorted(
        (source for source in wrong if source.region == "background"),
        key=lambda source: (-source.background_share, source.key),
    )
    fine_grained = [source for source in wrong if source.fine_grained]
    kinds = {
        "Wrong answers that lean on the background": background,
        "Wrong answers that lean on an object and name its look-alike": fine_grained,
        "Other wrong answers": [
            source for source in wrong if source.region != "background" and not source.fine_grained
        ],
        "Right answers": [source for source in sources if source.correct],
        "Images without a label": [source for source in sources if source.label is None],
    }
    for title, group in kinds.items():
        if examples := group[:most]:
            panel_rows = [
                PanelRow(
                    caption=caption(source),
                    image=np.asarray(source.sample.frames[0].load()),
                    clusters=source.cluster,
                    heat=source.importance,
                    mask=source.foreground,
                )
                for source in examples
            ]
            captions = "; ".join(caption(source) for source in examples)
            audit.attach(
                Picture(title=title, caption=f"{captions}.", image=image_panels(panel_rows))
            )


def caption(source: AnswerSource) -> str:
    """What happened to an image, in a few words."""
    looks = {"foreground": ", leans on an object", "background": ", leans on the background"}
    where = looks.get(source.region or "", "")
    if source.label is None:
        return f"taken for '{source.prediction}'{where}"
    if source.correct:
        return f"'{source.label}', right{where}"
    return f"'{source.label}' taken for '{source.prediction}'{where}"


# --------------------------------------------------------------------------------------- contrasts


def attach_evidence(
    audit: Audit,
    sources: Sequence[AnswerSource],
    known: Backgrounds | None,
    scores: Sequence[Score],
) -> None:
    """How often the model is right, which background is taken for which class, and the contrasts.

    Images are asked as the network sees them, so the engine does not count them as the samples.
    """
    labelled = [source for source in sources if source.label is not None]
    if labelled:
        guessing = float(np.mean([1 / len(source.sample.choices) for source in labelled]))
        audit.attach(
            Accuracy(
                correct=sum(source.correct for source in labelled),
                answered=len(labelled),
                chance=guessing if known is None else known.chance,
                p_value=None if known is None else known.chance_p,
            )
        )
    if known is None:
        return
    if (table := backgrounds_table(known, scores)) is not None:
        audit.attach(table)
    for shown in contrasts(known, scores):
        audit.attach(shown)


def contrasts(known: Backgrounds, scores: Sequence[Score]) -> Iterator[Contrast]:
    """One for each finding: the answers that the background decides, beside others.

    They are of the images that the figures are of.
    """
    rows = {(row.feature, row.label): row for row in known.rows}
    members = groups(known.sources)
    for score in scores:
        if not score.finding or score.metric != "pull":
            continue
        row = rows.get((score.feature, str(score.label)))
        if row is not None:
            shown = pull_contrast(row, members[row.feature], known.sources)
        else:
            shown = overall_contrast(known.sources)
        if shown is not None:
            yield shown


def pull_contrast(
    row: PullRow, members: Sequence[AnswerSource], sources: Sequence[AnswerSource]
) -> Contrast | None:
    """Images of a kind of background answered as the class, beside others of the same labels."""
    answered = [source for source in members if source.prediction == row.label]
    # what the background turned shows more than what would have been answered so without it
    turned = [source for source in answered if source.object_answer != row.label]
    here = {id(source) for source in members}
    others = [source for source in sources if id(source) not in here]
    name = factor_words(row.feature)
    return _contrast(
        row.feature,
        row.label,
        f"with {name}: {row.answered} of {row.images} answered '{row.label}'",
        f"the same labels, other backgrounds: {row.pull.elsewhere:.0%} answered '{row.label}'",
        turned or answered,
        others,
        MISLED.format(
            left="images answered so only while the background is there"
            if turned
            else "images answered so"
        )
        + SAME.format(where=" before other backgrounds"),
    )


def overall_contrast(sources: Sequence[AnswerSource]) -> Contrast | None:
    """Answers that the background decides, beside those that the objects decide."""
    overruled = [source for source in sources if source.overruled]
    others = [s for s in sources if s.prediction == s.object_answer != s.background_answer]
    who, where = "the objects decide", " where it is the other way round"
    if not others:  # a model that the objects never sway
        others = [source for source in sources if not source.overruled]
        who, where = "it does not", " where it is not so"
    return _contrast(
        BACKGROUND,
        None,
        f"the background decides: {len(overruled)} of {len(sources)} answers",
        f"{who}: {len(others)} of {len(sources)} answers",
        overruled,
        others,
        MISLED.format(
            left="answers that are those to the background alone, and not to the objects alone"
        )
        + SAME.format(where=where),
    )


def _contrast(
    feature: str,
    label: str | None,
    left: str,
    right: str,
    misled: Sequence[AnswerSource],
    others: Sequence[AnswerSource],
    rule: str,
) -> Contrast | None:
    by_key = {source.sample.key: source for source in (*misled, *others)}
    shown = [by_key[outcome.trial.sample.key] for outcome in typical(_wholes(misled))]
    beside: list[Outcome] = []
    for name in dict.fromkeys(source.label for source in shown):
        of_label = [source for source in others if source.label == name]
        beside += typical(_wholes(of_label), sum(source.label == name for source in shown))
    if not beside:  # no such label: any other shows more than none
        beside = typical(_wholes(others))
    return contrast(
        feature,
        {left: _wholes(shown), right: beside},
        label=label,
        where={key: Occurrence(sample=s.key, frame=0) for key, s in by_key.items()},
        words=lambda outcome: _apart_words(by_key[outcome.trial.sample.key]),
        drawing=lambda outcome: draw(by_key[outcome.trial.sample.key]),
        rule=rule,
        counted=False,
    )


def _wholes(sources: Sequence[AnswerSource]) -> list[Outcome]:
    """The answers to the images as they are."""
    return [source.outcomes[0] for source in sources]


def _apart_words(source: AnswerSource) -> str:
    return (
        f"background alone: '{source.background_answer}'; objects alone: '{source.object_answer}'"
    )


def draw(source: AnswerSource) -> bytes:
    """The clusters of an image and their importance, over the image."""
    image = np.asarray(source.sample.frames[0].load())
    return draw_beside(
        [tint_clusters(image, source.cluster), overlay_heat(image, source.importance)]
    )


# ------------------------------------------------------------------------------------------- table


def backgrounds_table(known: Backgrounds, scores: Sequence[Score]) -> Table | None:
    """Which background is taken for which class, what is found first; None without a row."""
    pulls = [score for score in scores if score.metric == "pull"]
    order = {(score.feature, score.label): (not score.finding, i) for i, score in enumerate(pulls)}
    rows = sorted(known.rows, key=lambda row: order[row.feature, row.label])
    found = {place for place, (missed, _) in order.items() if not missed}
    if not rows:
        return None
    return Table(
        title="Which background is taken for which class",
        columns=("background", "taken for", "images", "here %", "elsewhere %", "points", "finding"),
        rows=tuple(_pull_cells(row, (row.feature, row.label) in found) for row in rows),
        notes=(
            "Here: share of the images with this background that are answered so. Elsewhere: the "
            "same before other backgrounds, for the same labels. Points: the difference, with its "
            "interval. The pairs that were found, and the strongest of each background.",
        ),
    )


def _pull_cells(row: PullRow, found: bool) -> dict[str, Cell]:
    pull = row.pull
    ends = interval(pull.low, pull.high, lambda end: signed(100 * end, 0))
    return {
        "background": factor_words(row.feature),
        "taken for": row.label,
        "images": row.images,
        "here %": round(100 * row.answered / row.images),
        "elsewhere %": round(100 * pull.elsewhere),
        "points": signed(100 * pull.value, 0) + ends,
        "finding": "finding" if found else "",
    }
