"""From the sources of answers to the rows, the tables and the sentences of the report."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cuescope_cci.backgrounds.measure import (
    Backgrounds,
    PullRow,
    is_small,
    measure_backgrounds,
    smallest_findable,
)
from cuescope_cci.backgrounds.pulls import Pull
from cuescope_cci.error_source import BACKGROUND, AnswerSource, factor_words, groups
from cuescope_cci.error_source.look_alikes import choose_judge
from cuescope_cci.options import CCIOptions
from cuescope_cci.scores import Tally
from cuescope_sdk import Audit, Cell, Score, Table
from cuescope_sdk.statistics import Groups, mean_interval

REGION_WORDS = {
    "hidden": "the region whose absence costs the answer more than it costs the other choices",
    "iou": "IoU of the map's strongest part (at least {strongest:g} of its top) with each region",
    "soft-iou": "IoU of the whole map with each region",
    "mass": "share of the map's positive weight in each region",
}
SMALL_P = 0.05
NAMED = 5  # samples that a note names


@dataclass(frozen=True)
class Share:
    """A share of images with its interval, which holds for groups; None where there are none."""

    value: float | None
    low: float | None
    high: float | None
    images: int
    few: bool

    def __str__(self) -> str:
        if self.value is None or self.low is None or self.high is None:
            return "none"
        interval = f"{100 * self.value:.0f} [{100 * self.low:.0f}, {100 * self.high:.0f}]"
        return interval + " few" * self.few


@dataclass(frozen=True)
class Row:
    """Images of a feature and label, with what was counted."""

    feature: str
    label: str | None
    sources: Sequence[AnswerSource]

    @property
    def tally(self) -> Tally:
        """The counts."""
        return tally(self.sources)


def scores(audit: Audit, options: CCIOptions, sources: Sequence[AnswerSource]) -> Iterator[Score]:
    """The figures of each group and label, and the facts at the head of the report."""
    known = audit.once(measure_backgrounds, audit, options, sources)
    note_accuracy(audit, options, sources, known)
    _note(audit, options, sources)
    counted = [source for source in sources if source.is_counted]
    if not counted:
        return
    table = rows(counted, audit.labels)
    audit.attach(error_table(table, counted, options.confidence))
    pulls: Sequence[PullRow] = ()
    if known is not None:
        pulls = known.rows
        note_backgrounds(audit, options, known)
    whole, *others = table
    all_scores = [*_row_scores(whole, known, options)]
    strongest_first = sorted(
        pulls, key=lambda r: (not is_finding(r, known, options), r.q_value, -r.pull.value)
    )
    all_scores += [_pull_score(row, known, options) for row in strongest_first]
    for row in others:
        all_scores += _row_scores(row, None, options)
    if known is not None and not any(score.finding for score in all_scores):
        audit.note("could be missed", _missed_words(smallest_findable(audit, known)))
    # the overall row leads where it is found; else the pairs that are
    yield from sorted(all_scores, key=lambda score: not _leads(score, all_scores))


def _leads(score: Score, scores: Sequence[Score]) -> bool:
    """Whether a score is of a feature and label that is a finding."""
    return any(
        other.finding and (other.feature, other.label) == (score.feature, score.label)
        for other in scores
    )


def rows(sources: Sequence[AnswerSource], labels: Sequence[str]) -> list[Row]:
    """All images, each label, and each factor's values."""
    by_name = groups(sources)
    split: list[tuple[str, str | None, list[AnswerSource]]] = []
    split += [(BACKGROUND, None, by_name.pop(BACKGROUND))]
    split += [(BACKGROUND, label, [s for s in sources if s.label == label]) for label in labels]
    split += [(name, None, group) for name, group in by_name.items()]
    return [Row(feature, label, group) for feature, label, group in split if group]


def tally(group: Sequence[AnswerSource]) -> Tally:
    """Count a group."""
    wrong = [source for source in group if source.wrong]
    return Tally(
        images=len(group),
        errors=len(wrong),
        background=sum(source.region == "background" for source in group),
        background_errors=sum(source.region == "background" for source in wrong),
        fine_errors=sum(source.fine_grained for source in wrong),
    )


def share_of(holds: Sequence[bool], sources: Sequence[AnswerSource], confidence: float) -> Share:
    """The share of images for which something holds."""
    values = np.array(holds, dtype=np.float64)
    drawn = Groups.of([source.sample for source in sources])
    low, high = mean_interval(values, drawn, confidence=confidence)
    value = float(values.mean()) if len(values) else None
    return Share(value, low, high, len(values), drawn.few)


# --------------------------------------------------------------------------------------- findings


def is_finding(row: PullRow, known: Backgrounds | None, options: CCIOptions) -> bool:
    """Whether a kind of background pulls answers to a class.

    The background itself must turn answers there: a kind that only keeps answers from being turned
    elsewhere pulls nowhere. A model that is no better than chance must also answer so to the
    background alone.
    """
    strong = min(row.pull.value, row.turned) >= options.min_pull
    alone = row.alone_p is not None and row.alone_p <= options.fdr
    backed = known is not None and (known.better_than_chance or alone)
    return row.q_value <= options.fdr and strong and backed


def _row_scores(row: Row, known: Backgrounds | None, options: CCIOptions) -> Iterator[Score]:
    """How often the background overrules the object, BG-Er and Fine-Er of some images."""
    about = {"feature": row.feature, "label": row.label}
    tested = [source for source in row.sources if source.is_tested]
    overruled = share_of([source.overruled for source in tested], tested, options.confidence)
    finding = is_overall_finding(known, options)
    yield Score(
        **about,
        metric="pull",
        value=overruled.value,
        low=overruled.low,
        high=overruled.high,
        n=len(tested),
        p_value=known and known.overall_p,
        q_value=known and known.overall_q,
        finding=finding,
        statement=overall_statement(overruled, tested) if finding else None,
    )
    wrong = [source for source in row.sources if source.wrong]
    for metric, holds in {
        "bg_er": [source.region == "background" for source in wrong],
        "fine_er": [source.fine_grained for source in wrong],
    }.items():
        share = share_of(holds, wrong, options.confidence)
        yield Score(
            **about, metric=metric, value=share.value, low=share.low, high=share.high, n=len(wrong)
        )


def is_overall_finding(known: Backgrounds | None, options: CCIOptions) -> bool:
    """Whether the class answered goes with the kind of background, all kinds taken together."""
    if known is None or known.overall_q is None:
        return False
    overruled = float(np.mean([source.overruled for source in known.sources]))
    alone = known.overall_alone_p is not None and known.overall_alone_p <= options.fdr
    backed = known.better_than_chance or alone
    return known.overall_q <= options.fdr and overruled >= options.min_pull and backed


def overall_statement(overruled: Share, tested: Sequence[AnswerSource]) -> str:
    """The finding about all backgrounds as a sentence."""
    count = sum(source.overruled for source in tested)
    return (
        "The class answered goes with the kind of {feature}. "
        f"{count} of {len(tested)} answers ({_percent(overruled)}) are what the model answers to "
        "the background alone, and not what it answers to the objects alone."
    )


def _pull_score(row: PullRow, known: Backgrounds | None, options: CCIOptions) -> Score:
    finding = is_finding(row, known, options)
    return Score(
        feature=row.feature,
        label=row.label,
        metric="pull",
        value=row.pull.value,
        low=row.pull.low,
        high=row.pull.high,
        n=row.images,
        p_value=row.p_value,
        q_value=row.q_value,
        finding=finding,
        statement=pull_statement(row) if finding else None,
    )


def pull_statement(row: PullRow) -> str:
    """The finding about a kind of background and a class as a sentence."""
    few = " (few groups: the interval is rough)" if row.pull.few else ""
    return (
        f"The model takes images with {{feature}} for '{row.label}': it answers so in "
        f"{row.answered} of {row.images}, and in {row.moved} of these only while the background is "
        f"there. Before other backgrounds it answers so in {row.pull.elsewhere:.0%} of the images "
        f"of the same labels. That is {_points(row.pull)} more{few}."
    )


def _points(pull: Pull) -> str:
    return f"{100 * pull.value:.0f} points [{100 * pull.low:.0f}, {100 * pull.high:.0f}]"


def _percent(share: Share) -> str:
    if share.value is None or share.low is None or share.high is None:
        return "none"
    few = ", few" * share.few
    return f"{share.value:.0%} [{100 * share.low:.0f}, {100 * share.high:.0f}]{few}"


# ----------------------------------------------------------------------------------------- tables


def error_table(table: Sequence[Row], counted: Sequence[AnswerSource], confidence: float) -> Table:
    """What the wrong answers lean on, a row a group (Figure 1d, Table 4)."""
    cells = [_cells(_row_name(row), row.sources, confidence) for row in table]
    cells[1:1] = [_cells(name, group, confidence) for name, group in by_size(counted).items()]
    return Table(
        title="What the wrong answers lean on",
        columns=("group", "wrong", "BG-Er %", "FG-Er %", "Fine-Er %"),
        rows=tuple(cells),
        notes=(
            "A wrong answer leans on the background (BG-Er) or on an object (FG-Er). Fine-Er, "
            "look-alikes taken for each other, is a part of FG-Er. In brackets: "
            f"{confidence:.0%} intervals.",
            "BG-Er alone is no cue: small objects and backgrounds that only disturb raise it too. "
            "A finding needs a kind of background that pulls answers to one class.",
        ),
    )


def by_size(sources: Sequence[AnswerSource]) -> dict[str, list[AnswerSource]]:
    """Images whose object is smaller than the median of its label, and the others."""
    labels = {name: code for code, name in enumerate(sorted({str(s.label) for s in sources}))}
    label = np.array([labels[str(source.label)] for source in sources])
    small = is_small(np.array([source.area for source in sources]), label)
    parts = {
        "smaller objects": [s for s, is_part in zip(sources, small, strict=True) if is_part],
        "larger objects": [s for s, is_part in zip(sources, small, strict=True) if not is_part],
    }
    return parts if all(parts.values()) else {}


def _row_name(row: Row) -> str:
    return row.label or factor_words(row.feature) or "all images"


def _cells(name: str, sources: Sequence[AnswerSource], confidence: float) -> dict[str, Cell]:
    wrong = [source for source in sources if source.wrong]
    shares = {
        "BG-Er %": [source.region == "background" for source in wrong],
        "FG-Er %": [source.region == "foreground" for source in wrong],
        "Fine-Er %": [source.fine_grained for source in wrong],
    }
    return {
        "group": name,
        "wrong": f"{len(wrong)} of {len(sources)}",
        **{
            column: str(share_of(holds, wrong, confidence)) if wrong else None
            for column, holds in shares.items()
        },
    }


# ------------------------------------------------------------------------------------------ notes


def note_accuracy(
    audit: Audit, options: CCIOptions, sources: Sequence[AnswerSource], known: Backgrounds | None
) -> None:
    """How often the model is right, and whether that is better than chance."""
    labelled = [source for source in sources if source.label is not None]
    if not labelled:
        return
    right = share_of([source.correct for source in labelled], labelled, options.confidence)
    words = f"{_percent(right)} of {len(labelled)} images"
    if known is not None:
        beats = f"{known.chance:.0%} by chance, p = {known.chance_p:.2g}"
        if known.better_than_chance:
            words += f"; {beats}"
        else:
            words += (
                f": no better than chance ({beats}). What such a model leans on says little; a "
                "cue is found only where it answers so to the background alone as well"
            )
    audit.note("accuracy", words)


def note_backgrounds(audit: Audit, options: CCIOptions, known: Backgrounds) -> None:
    """What was tested, what goes with size, which labels may be wrong, what could be missed."""
    wrong = [source for source in known.sources if source.wrong]
    share = share_of([source.region == "background" for source in wrong], wrong, options.confidence)
    if wrong:
        audit.note(
            "wrong answers",
            f"{_percent(share)} of {len(wrong)} lean more on the background than on an object",
        )
    audit.note("kinds of backgrounds", _kinds_words(known))
    audit.note("object's size", _size_words(known, options))
    suspects = possible_mislabels(known.sources) if known.better_than_chance else []
    if suspects:
        named = ", ".join(source.key for source in suspects[:NAMED]) + ", ..." * (
            len(suspects) > NAMED
        )
        audit.note(
            "labels to look at",
            f"{len(suspects)} of {len(known.sources)} images: the objects alone are answered "
            f"another class, as surely as that class is where it is right ({named}). Look-alikes "
            "and wrong labels do this; no finding rests on them",
        )
    if not known.groups.declared:
        audit.note("groups", "none declared: images are taken as independent")
    else:
        mixed = f"; {known.mixed_groups} have images of several labels, and are compared with "
        mixed += "groups of the same labels only"
        audit.note("groups", f"{known.groups.count}" + mixed * (known.mixed_groups > 0))


def _kinds_words(known: Backgrounds) -> str:
    if not known.tests.count:
        return (
            "none could be compared: no factor is annotated (annotations['factors']) and the "
            "backgrounds fall into no clear kinds, or too few images move. Shares are reported, "
            "and no finding"
        )
    p_value = f"; all together p = {known.overall_p:.2g}" if known.overall_p is not None else ""
    return f"{known.tests.count} pairs of a kind and a class tested{p_value}"


def _size_words(known: Backgrounds, options: CCIOptions) -> str:
    parts = by_size(known.sources)
    if not parts or known.size_p is None:
        return "all alike"
    small, large = (
        _percent(share_of([s.wrong for s in part], part, options.confidence))
        for part in parts.values()
    )
    named = f" (annotated as {', '.join(known.size_factors)})" * bool(known.size_factors)
    figures = f"wrong: {small} of smaller objects, {large} of larger ones, p = {known.size_p:.2g}"
    if known.size_p <= SMALL_P:
        return f"wrong answers go with it{named}; {figures}. That is no cue of the background"
    return f"no link with wrong answers seen{named}; {figures}"


def _missed_words(findable: tuple[float, float | None] | None) -> str:
    if findable is None:
        return "any pull: nothing could be tested"
    share, limit = findable
    if limit is None:
        return (
            f"any pull of a kind of background in {share:.0%} of the images: there are too few "
            "images"
        )
    return (
        f"a kind of background in {share:.0%} of the images that turns {limit:.0%} of their "
        "answers into one class would have been found in 8 of 10 such audits; weaker pulls may be "
        "there"
    )


def possible_mislabels(sources: Sequence[AnswerSource]) -> list[AnswerSource]:
    """Wrong answers that the objects alone give too, as surely as right ones of that class.

    Confident learning (Northcutt et al., 2021): the probability of the class is at least the mean
    that it has in images of its own label.
    """
    own: dict[str, list[float]] = {}
    for source in sources:
        own.setdefault(str(source.label), []).append(_sureness(source, str(source.label)))
    suspects = [
        source
        for source in sources
        if source.wrong
        and source.prediction == source.object_answer
        and source.prediction in own
        and _sureness(source, source.prediction) >= np.mean(own[source.prediction]) - 1e-9
    ]
    return sorted(suspects, key=lambda s: (-_sureness(s, s.prediction), s.key))


def _sureness(source: AnswerSource, choice: str) -> float:
    """Probability of a choice where only the objects are seen."""
    if source.apart is None:
        return 0.0
    logits = source.apart.objects
    odds = np.exp(logits - logits.max())
    return float(odds[source.sample.choices.index(choice)] / odds.sum())


def _note(audit: Audit, options: CCIOptions, sources: Sequence[AnswerSource]) -> None:
    labelled = [source for source in sources if source.label is not None]
    subjects = {"predicted": "the predicted class", "true": "the true class"}
    subject = subjects.get(options.target, repr(options.text))
    audit.note("maps", f"about {subject}, {options.k} clusters an image")
    if not labelled:
        audit.note("error sources", "not known: the data has no labels")
        return
    if all(source.foreground is None for source in sources):
        audit.note(
            "error sources",
            "not known: the data has no foreground masks (annotations['foreground'], or "
            "--tool segmenter=SPEC)",
        )
        return
    audit.note("leans on", REGION_WORDS[options.region].format(strongest=options.strongest))
    audit.note("look-alikes", choose_judge(audit, options)[0])
    if left := len(sources) - sum(source.is_counted for source in sources):
        audit.note(
            "left out",
            f"{left} images: without a label, with a mask that is empty or whole, or with a map "
            "that has no positive part",
        )
