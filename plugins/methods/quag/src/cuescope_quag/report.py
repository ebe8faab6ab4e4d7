"""The rows of the report, the verdict in words, its notes and its tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Any, TypeAlias

import numpy as np

from cuescope_quag.clavi.consistency import attach_consistency
from cuescope_quag.options import QUAGOptions
from cuescope_quag.paper import paper_rows
from cuescope_quag.scores import (
    UNMEASURED,
    Codes,
    Kind,
    Loss,
    Measure,
    Rate,
    Rule,
    Verdict,
    balanced_accuracy,
    choose_measure,
    compare,
    only_answer,
    plain_accuracy,
    question_types,
    state,
    verdict,
)
from cuescope_quag.trials import (
    CROSSMODAL,
    SHORT_CIRCUITS,
    VERDICT,
    WITHOUT_QUESTION,
    WITHOUT_VIDEO,
    Answers,
    Condition,
    accepted_answers,
    edited_layers,
    fusion_shape,
)
from cuescope_sdk import Audit, Cell, HasBenchmark, Outcome, Sample, Score, Table
from cuescope_sdk.maths import benjamini_hochberg
from cuescope_sdk.report import interval, signed

Comparison: TypeAlias = tuple[Rate, dict[str, Loss]]  # the plain rate, and losses by condition

METRICS = ("points_lost", "points_lost_otherwise")
STATEMENTS = {
    "modality": "Tested {feature}",
    "short-circuit": "With {feature} averaged",
    "quag-attention": "With {feature}",
}
DROP = "\N{DOWNWARDS ARROW}"
FEW_VIDEOS = 10
OPEN_ROWS, LONGEST = 6, 60  # open answers that are shown, and their characters
# Question types of CLAVI (section 5.1), where a data set brings no words for its own.
CLAVI_TYPES = {
    "E": "existence of an action",
    "E-NC": "existence of an action that is not there",
    "BE": "at the beginning or at the end",
    "BA": "before or after",
    "BA-NC": "before or after an action that is not there",
}


@dataclass(frozen=True)
class Figures:
    """What a report is made of; `measure` decides, and `by_type` is in it."""

    options: QUAGOptions
    answers: Answers
    rule: Rule
    measure: str
    by_measure: Mapping[str, Comparison]
    by_type: Mapping[str, Comparison]

    @property
    def headline(self) -> Comparison:
        """The plain rate and the losses in the measure that decides."""
        return self.by_measure[self.measure]


def report_scores(audit: Audit, options: QUAGOptions, answers: Answers) -> Iterator[Score]:
    """The rows of the report, with its notes and tables."""
    rule = Rule(options.margin, options.drop, options.confidence, options.resamples)
    measure = choose_measure(answers.samples, options.measure)
    by_measure: dict[str, Comparison] = {
        other.name: _compare(audit, rule, answers, other) for other in _measures(answers, measure)
    }
    by_type = {
        kind: _compare(audit, rule, answers, measure, index)
        for kind, index in question_types(answers.samples).items()
    }
    figures = Figures(options, answers, rule, measure.name, by_measure, by_type)
    decision, sentence = judge(figures)
    _note(audit, figures, decision)
    _attach_accuracies(audit, figures)
    _attach_losses(audit, figures)
    attach_consistency(audit, options, answers, benchmark_of(audit), few_videos(answers.videos))
    _attach_open_answers(audit, answers.plain, answers.before.tolist())
    yield from _rows(figures, decision, sentence)


def benchmark_of(audit: Audit) -> str | None:
    """The benchmark that the audited data set says it is."""
    data = audit.context.dataset
    return data.benchmark if isinstance(data, HasBenchmark) else None


def _compare(
    audit: Audit, rule: Rule, answers: Answers, measure: Measure, index: Codes | None = None
) -> Comparison:
    """The plain rate and the losses by condition, of all samples or of those of an index."""
    part = np.arange(len(answers.before)) if index is None else index
    rate, losses = compare(
        answers.before[part],
        answers.after[part],
        measure.subset(part),
        answers.video[part],
        audit.rng("bootstrap"),
        rule,
        None if answers.given is None else answers.given[part],
    )
    return rate, dict(zip(answers.keys, losses, strict=True))


def _measures(answers: Answers, measure: Measure) -> Iterator[Measure]:
    """The one that decides, then the other, where there is one."""
    yield measure
    other = plain_accuracy if measure.name == "balanced accuracy" else balanced_accuracy
    if (second := other(answers.samples)) is not None:
        yield second


# ---------------------------------------------------------------------------------- the rows


def _rows(figures: Figures, decision: Verdict, sentence: str) -> Iterator[Score]:
    """Findings first, of these the verdict; then by what is lost.

    A verdict that is undecided has no figure, and is a finding only to open the report where
    there are others; of a model that cannot be measured nothing is found.
    """
    rate, losses = figures.headline
    conditions, by_measure = figures.answers.conditions, figures.by_measure
    q_values = benjamini_hochberg([losses[condition.key].p_value for condition in conditions])
    q_by_key = {condition.key: q for condition, q in zip(conditions, q_values, strict=True)}
    measured = decision.kind not in UNMEASURED
    findings = {
        key: measured and is_finding(losses[key], q, figures.options) for key, q in q_by_key.items()
    }
    if decision.decided_by is None:
        yield Score(
            feature=VERDICT,
            label=None,
            metric=METRICS[0],
            value=None,
            finding=any(findings.values()),
            statement=sentence,
        )
    else:
        p_value = decision.p_value
        tests: dict[str, Any] = {"p_value": p_value, "q_value": p_value, "finding": True}
        yield from _row(VERDICT, decision.decided_by, by_measure, statement=sentence, **tests)
    for condition in sorted(conditions, key=lambda c: (not findings[c.key], -losses[c.key].lost)):
        key, loss = condition.key, losses[condition.key]
        tests = {"p_value": loss.p_value, "q_value": q_by_key[key], "finding": findings[key]}
        words = statement(condition, rate, loss, figures.measure) if findings[key] else None
        yield from _row(key, key, by_measure, statement=words, **tests)


def _row(
    feature: str, condition: str, by_measure: Mapping[str, Comparison], **headline: Any
) -> Iterator[Score]:
    """What a condition costs, in each measure; tests and words go with the one that decides."""
    for metric, (_, losses) in zip(METRICS, by_measure.values(), strict=False):
        loss = losses[condition]
        yield Score(
            feature=feature,
            label=None,
            metric=metric,
            value=loss.lost,
            low=loss.low,
            high=loss.high,
            n=loss.n,
            **(headline if metric == METRICS[0] else {}),
        )


def is_finding(loss: Loss, q_value: float | None, options: QUAGOptions) -> bool:
    """A loss of more than `drop` points that neither McNemar nor the draws of videos take away."""
    sure = q_value is not None and q_value <= options.fdr and loss.low is not None and loss.low > 0
    return sure and loss.lost > options.drop


def statement(condition: Condition, rate: Rate, loss: Loss, measure: str) -> str:
    """The finding as a sentence."""
    return (
        f"{STATEMENTS[condition.kind]}, the model loses {_points(loss)} of {measure} "
        f"({loss.rate:.1f} % instead of {rate.value:.1f} %)."
    )


# ----------------------------------------------------------------------- the verdict in words


# What the model does, and the figures for that in a sentence of their own.
ANSWERING: dict[Kind, str] = {
    "fuses": "fuses them. {Crossmodal}; {without}",
    "text alone": "answers {alone}{also}. {Without}; {crossmodal}{none}",
    "video alone": "answers {alone}{also}. {Without}; {crossmodal}{none}",
    "needs neither": "needs neither of them. {Without}; {crossmodal}{none}",
    "never aligns": "uses both but {never} aligns them. {Without}, yet {crossmodal}{none}",
    "does not fuse": "does not fuse them. {Without}, yet {crossmodal}{none}",
    "not asked": "was not tested enough for a verdict. {Crossmodal}",
    "open": "cannot be judged from these samples. {Without}; {crossmodal}",
}


def judge(figures: Figures) -> tuple[Verdict, str]:
    """The verdict with its sentence; or why there is none.

    A loss in one type of question counts for it.
    """
    answers, rule, (rate, losses) = figures.answers, figures.rule, figures.headline
    if (only := only_answer(answers.samples)) is not None:
        sentence = (
            f"{{feature}}: no verdict. All {len(answers.samples)} questions have the same right "
            f"answer, '{only}', so a model can be right without looking."
        )
        return Verdict("one right answer"), sentence
    if (example := _no_open_answer_is_right(answers)) is not None:
        return Verdict("no right answer"), f"{{feature}}: no verdict. {example}"
    with_worst = {
        key: loss.with_worst(
            {kind: of_type[key] for kind, (_, of_type) in figures.by_type.items()}, rule.level
        )
        for key, loss in losses.items()
    }
    decision = verdict(rate, with_worst, rule)
    return decision, verdict_sentence(decision.kind, rate, with_worst, rule, figures.measure)


def verdict_sentence(
    kind: Kind, rate: Rate, losses: Mapping[str, Loss], rule: Rule, measure: str = "accuracy"
) -> str:
    """With `{feature}` for the name of the verdict; `measure` names what is lost."""
    match kind:
        case "too few samples":
            words = f"no verdict. With so few samples (n = {rate.n}), all answers could be luck"
        case "at chance":
            words = (
                f"the model answers at chance, so nothing can be measured. Its {measure} is "
                f"{rate.value:.1f} %{interval(rate.low, rate.high)}, where guessing gives "
                f"{rate.chance:.1f} %"
            )
        case _ if CROSSMODAL not in losses:
            words = "no verdict, because crossmodal attention was not averaged"
        case _:
            words = f"the model {_answering(kind, losses, rule)}"
    margin = f" Only losses of {rule.margin(rate):.1f} points or more count."
    return f"{{feature}}: {words}.{margin if kind == 'open' else ''}"


def _answering(kind: Kind, losses: Mapping[str, Loss], rule: Rule) -> str:
    """What it does, and the figures for that in a sentence of their own."""
    crossmodal = f"averaging crossmodal attention {_loss('costs', losses[CROSSMODAL], rule.level)}"
    crossmodal = crossmodal.removesuffix(",")
    without = _without_modalities(losses, rule.level)
    none = _no_short_circuit_costs(losses, rule.level)
    # A loss that is surely there, but below the margin, takes the edge off the words.
    key = {"text alone": WITHOUT_VIDEO, "video alone": WITHOUT_QUESTION}.get(kind, CROSSMODAL)
    small = losses[key].lost > rule.drop and losses[key].p_value <= rule.level
    return ANSWERING[kind].format(
        alone=f"almost only from {kind.removesuffix(' alone')}" if small else f"from {kind}",
        also=", and never aligns the two" if none else "",
        never="hardly" if small else "never",
        # str.capitalize would lower the rest
        Without=without[0].upper() + without[1:],
        without=without,
        Crossmodal=crossmodal[0].upper() + crossmodal[1:],
        crossmodal=crossmodal,
        none=none,
    )


def _without_modalities(losses: Mapping[str, Loss], level: float) -> str:
    """What it loses without each modality, as far as it was asked."""
    names = {WITHOUT_VIDEO: "the video", WITHOUT_QUESTION: "the question"}
    words = " and ".join(
        f"{_loss('loses', losses[key], level)} without {name}"
        for key, name in names.items()
        if key in losses
    )
    # "loses 3 points without the video and 4 points without the question" needs one verb.
    if words.startswith("loses ") and "nothing" not in words:
        words = words.replace(" and loses ", " and ")
    cannot = "" if WITHOUT_VIDEO in losses else " (it takes no question without a video)"
    return f"it {words}{cannot}"


def _no_short_circuit_costs(losses: Mapping[str, Loss], level: float) -> str:
    """Added where all four short-circuits were made and each surely costs less than the margin."""
    keys = [f"SC: {name}" for name in SHORT_CIRCUITS]
    if any(state(losses.get(key), level) != "spared" for key in keys):
        return ""
    most = max((losses[key] for key in keys), key=lambda loss: loss.lost)
    words = f"more than {_points(most)}" if most.lost > 0 else "anything"
    return f", and no short-circuit costs {words}"


def _loss(verb: str, loss: Loss, level: float) -> str:
    """What is lost or gained, and the type of question on which the verdict rests in its place."""
    if signed(loss.lost) == "0.0":
        words = f"{verb} nothing ({_points(loss)})"
    elif loss.lost > 0:
        words = f"{verb} {_points(loss)}"
    else:
        # A gain is the loss with the other sign, and so its ends change places.
        low, high = (None if end is None else -end for end in (loss.high, loss.low))
        words = f"gains {signed(-loss.lost)} points{interval(low, high)}"
    if loss.worst is None or loss.p_costs <= level:
        return words
    kind, worst = loss.worst
    return f"{words} in all, but {verb} {_points(worst)} on {kind} questions,"


def _points(loss: Loss) -> str:
    """Points with their interval."""
    return f"{signed(loss.lost)} points{interval(loss.low, loss.high)}"


# ----------------------------------------------------------------------------------- the notes


def _note(audit: Audit, figures: Figures, decision: Verdict) -> None:
    """The facts at the head of the report, the verdict first."""
    options, answers, (rate, _) = figures.options, figures.answers, figures.headline
    margin = figures.rule.margin(rate)
    audit.note("verdict", decision.kind)
    only = only_answer(answers.samples)
    guess = f"guessing gives {rate.chance:.1f} %"
    chance = guess if only is None else f"all have the same right answer, '{only}'"
    count = f"{len(answers.samples)} questions about {answers.videos} videos"
    audit.note(figures.measure, f"{rate.value:.1f} % of {count}; {chance}")
    audit.note(
        "counts for the verdict",
        f"losses from {margin:.1f} points: {options.margin:.0%} of the accuracy above "
        f"chance, and at least {options.drop:g} points",
    )
    audit.note("layers", _layers(audit, options))
    if words := _left_out(audit.samples):
        audit.note("left out", words)
    if WITHOUT_VIDEO not in answers.keys:
        audit.note("not asked", "without video: the model takes no question without a video")
    if options.quag_attention:
        terms = {
            "add": "log n is added to the logit of a token that stands for n",
            "multiply": "log n multiplies the logit of a token that stands for n",
        }
        can_merge = "average-tokens" in audit.capabilities.edits
        skipped = "skipped, because the model does not take the edit 'average-tokens'"
        audit.note("QUAG-attention", terms[options.size_term] if can_merge else skipped)


def _layers(audit: Audit, options: QUAGOptions) -> str:
    """Which layers are changed, of how many where the model says so."""
    exposed = "fusion" in audit.capabilities.exposes
    count = audit.once(fusion_shape, audit).layers if exposed else None
    if edited_layers(audit, options) is not None:
        return f"layers {options.layers}" + (f" of {count}" if count else "")
    if count is None:
        return "all layers"
    return "the only layer" if count == 1 else f"all {count} layers"


def _left_out(samples: Sequence[Sample]) -> str:
    """How many samples are not asked, and why; "" where all are."""
    without = {
        "a question": sum(sample.question is None for sample in samples),
        "a label": sum(s.question is not None and s.label is None for s in samples),
    }
    return ", ".join(f"{count} samples without {what}" for what, count in without.items() if count)


# ---------------------------------------------------------------------------------- the tables


def _attach_accuracies(audit: Audit, figures: Figures) -> None:
    """Table 1 of the paper: accuracy under each condition, overall and by type of question."""
    options, answers = figures.options, figures.answers
    columns = {
        name: [rate.value, *(loss.rate for loss in losses.values())]
        for name, (rate, losses) in (*figures.by_measure.items(), *figures.by_type.items())
    }
    rows: list[dict[str, Cell]] = [
        {"condition": key, **{name: _cell(columns[name], row, options.drop) for name in columns}}
        for row, key in enumerate(answers.columns)
    ]
    benchmark = benchmark_of(audit)
    paper = paper_rows(options.beside, benchmark) if benchmark else ()
    beside = f" In brackets: {options.beside} on {benchmark} in the paper." if paper else ""
    names = ("condition", *columns)
    note = (
        f"{DROP}: {options.drop:g} points or more below the baseline. Without video, without "
        "question: the other modality alone. SC: a short-circuit, which averages attention. "
        "Merged: QUAG-attention, which averages the tokens of a modality to one."
        f"{beside}"
    )
    audit.attach(
        Table(
            title="Accuracy under each condition, %",
            columns=names,
            rows=tuple(rows),
            paper=tuple({k: v for k, v in row.items() if k in names} for row in paper),
            notes=(note, *type_notes(answers.samples, list(figures.by_type), figures.measure)),
        )
    )


def _cell(values: list[float], row: int, drop: float) -> str:
    fell = row > 0 and values[0] - values[row] >= drop
    return f"{values[row]:.1f}{DROP if fell else ''}"


def type_notes(samples: Sequence[Sample], types: Sequence[str], measure: str) -> list[str]:
    """What the columns of question types are: their words, and what is counted there."""
    if not types:
        return []
    words = CLAVI_TYPES if set(types) <= set(CLAVI_TYPES) else {}
    facts = [sample.annotations for sample in samples]
    words = words | {
        str(fact["question_type"]): str(fact["question_type_name"])
        for fact in facts
        if "question_type" in fact and "question_type_name" in fact
    }
    legend = "; ".join(f"{name}: {words[name]}" for name in types if name in words)
    plain = (
        "The columns of types have balanced accuracy too, which is plain accuracy in a type with "
        "one right answer."
    )
    return [*([f"{legend}."] if legend else []), *([plain] if measure != "accuracy" else [])]


def _attach_losses(audit: Audit, figures: Figures) -> None:
    """Points lost with intervals, overall and by type; stars are corrected for the whole table."""
    options, comparisons = figures.options, {"all": figures.headline, **figures.by_type}
    columns = {name: losses for name, (_, losses) in comparisons.items()}
    cells = [(key, name) for key in columns["all"] for name in columns]
    q_values = benjamini_hochberg([columns[name][key].p_value for key, name in cells])
    words = {
        (key, name): loss_cell(columns[name][key], q is not None and q <= options.fdr)
        for (key, name), q in zip(cells, q_values, strict=True)
    }
    rows: list[dict[str, Cell]] = [
        {"condition": key, **{name: words[key, name] for name in columns}} for key in columns["all"]
    ]
    note = (
        f"In brackets: {options.confidence:.0%} intervals, paired by question, over draws of whole "
        f"videos. *: the loss is significant (exact McNemar test, q at most {options.fdr:g} over "
        "the table) and the interval does not contain 0."
    )
    audit.attach(
        Table(
            title=f"Points of {figures.measure} lost",
            columns=("condition", *columns),
            rows=tuple(rows),
            notes=(note, *few_videos(figures.answers.videos)),
        )
    )


def loss_cell(loss: Loss, significant: bool) -> str:
    """Points lost with their interval; a star where `significant`, and 0 is outside."""
    bounds = loss.low or 0.0, loss.high or 0.0
    sure = significant and (min(bounds) > 0 or max(bounds) < 0)
    return f"{signed(loss.lost)}{interval(loss.low, loss.high)}{' *' if sure else ''}"


def few_videos(count: int) -> list[str]:
    """A warning of intervals over too few draws."""
    rough = "with so few, the intervals are rough and mostly too narrow"
    return [f"Videos: {count}; {rough}."] if count < FEW_VIDEOS else []


# ------------------------------------------------------------------------------- open answers


def _no_open_answer_is_right(answers: Answers) -> str | None:
    """What is said where all questions are open and no answer is right; else None."""
    if answers.before.any() or any(sample.choices for sample in answers.samples):
        return None
    question, accepted, given = _open_answer(answers.plain[0])
    quote = "\N{LEFT DOUBLE QUOTATION MARK}{}\N{RIGHT DOUBLE QUOTATION MARK}".format
    return (
        f"No answer equals an accepted one. To {quote(question)}, the model answered "
        f"{quote(given)}, and accepted is {quote(accepted)}. Ask for short answers, for example "
        "with -M prompt='{question} Answer in one word.' of transformers-vlm (docs/quag.md)."
    )


def _attach_open_answers(audit: Audit, outcomes: Sequence[Outcome], right: Sequence[bool]) -> None:
    """A table of a few open questions, wrong and right ones, with what was answered."""
    is_open = [i for i, outcome in enumerate(outcomes) if not outcome.trial.sample.choices]
    if not is_open:
        return
    wrong, good = ([i for i in is_open if bool(right[i]) is kind] for kind in (False, True))
    half = max(OPEN_ROWS // 2, OPEN_ROWS - len(good))
    chosen = [*wrong[:half], *good][:OPEN_ROWS]
    columns = ("sample", "question", "accepted", "given", "right")
    rows: list[dict[str, Cell]] = []
    for index in sorted(chosen):
        outcome, is_right = outcomes[index], "yes" if right[index] else "no"
        cells = (outcome.trial.sample.key, *_open_answer(outcome), is_right)
        rows.append(dict(zip(columns, cells, strict=True)))
    note = (
        f"{len(chosen)} of {len(is_open)} open questions, of which {len(good)} are answered "
        "rightly. Case, punctuation and articles do not count (docs/quag.md)."
    )
    audit.attach(Table(title="What was answered", columns=columns, rows=tuple(rows), notes=(note,)))


def _open_answer(outcome: Outcome) -> tuple[str, str, str]:
    """The question, what is accepted, and what was given."""
    sample = outcome.trial.sample
    words = (sample.question or "", " | ".join(accepted_answers(sample)), outcome.response.text)
    question, accepted, given = (shorten(w or "", LONGEST, placeholder=" ...") for w in words)
    return question, accepted, given or "(nothing)"
