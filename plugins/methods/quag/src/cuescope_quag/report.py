"""The rows of the report and its notes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cuescope_quag.clavi.by_question import attach_by_question
from cuescope_quag.clavi.consistency import attach_consistency
from cuescope_quag.figures import contrasts
from cuescope_quag.measures import (
    Codes,
    Measure,
    balanced_accuracy,
    choose_measure,
    joint_types,
    only_answer,
    plain_accuracy,
    question_types,
)
from cuescope_quag.options import QUAGOptions
from cuescope_quag.scores import Loss, Part, Rate, Rule, compare, smallest_loss
from cuescope_quag.tables import (
    Comparison,
    Figures,
    attach_accuracies,
    attach_losses,
    attach_open_answers,
    benchmark_of,
    describe_wrong_answers,
    few_videos,
    points,
)
from cuescope_quag.trials import (
    VERDICT,
    WITHOUT_VIDEO,
    Answers,
    Condition,
    edited_layers,
    fusion_shape,
)
from cuescope_quag.verdict import UNMEASURED, Verdict, verdict, verdict_sentence
from cuescope_sdk import Audit, Sample, Score
from cuescope_sdk.statistics import benjamini_hochberg, design_effect

# What helps most after each verdict; the report's own advice is about cues.
NEXT_STEPS: dict[str, str] = {
    "fuses": "See in which layers video and text meet: -O layers=0, then -O layers=1 and so on.",
    "fuses by means": "See whether it is the mean of the video that counts: -O other_mean=true.",
    "text alone": "These questions can be answered without the video. Ask some that cannot: "
    "CLAVI's (--data clavi:...) change their answer with the video.",
    "video alone": "These questions can be answered without their words. Ask several about each "
    "video, with different answers.",
    "needs neither": "Look at questions and answers: the right answers can be guessed.",
    "each alone": "Audit the types of question one by one, with data of one type each.",
    "open": "Ask more questions about more videos: leave --limit out, or add data.",
    "too few samples": "Ask more questions about more videos: leave --limit out, or add data.",
    "at chance": "See that the model answers at all: the table of accuracies, another prompt "
    "(-M prompt=...), the right checkpoint.",
}
METRICS = ("points_lost", "points_lost_otherwise")
STATEMENTS = {
    "modality": "Asked {feature}",
    "short-circuit": "With {feature} averaged",
    "mean": "With {feature}",
    "quag-attention": "With {feature}",
}
NEEDS = {
    "modality": "its answers need it",
    "short-circuit": "its answers need that attention",
    "mean": "its answers need that attention, or the mean of their own video",
    "quag-attention": "its answers need these tokens one by one",
}


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
    part = part_with_video(audit, rule, answers, measure)
    figures = Figures(options, answers, rule, measure.name, by_measure, by_type, part)
    decision, sentence = judge(figures)
    _note(audit, figures, decision)
    attach_accuracies(audit, figures)
    attach_losses(audit, figures)
    attach_consistency(audit, options, answers, benchmark_of(audit), few_videos(answers.videos))
    attach_by_question(audit, options, answers, benchmark_of(audit))
    attach_open_answers(audit, answers.plain, answers.before.tolist())
    rows = list(_rows(figures, decision, sentence))
    for shown in contrasts(figures, decision, rows):
        audit.attach(shown)
    yield from rows


def _compare(
    audit: Audit, rule: Rule, answers: Answers, measure: Measure, index: Codes | None = None
) -> Comparison:
    """The plain rate and the losses by condition, of all samples or of those of an index."""
    part = np.arange(len(answers.before)) if index is None else index
    rate, losses = compare(
        answers.before[part],
        answers.after[part],
        measure.subset(part),
        answers.groups.take(part),
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
    """A loss of more than `drop` points, significant, whose interval excludes 0."""
    sure = q_value is not None and q_value <= options.fdr and loss.low is not None and loss.low > 0
    return sure and loss.lost > options.drop


def statement(condition: Condition, rate: Rate, loss: Loss, measure: str) -> str:
    """The finding as a sentence."""
    return (
        f"{STATEMENTS[condition.kind]}, the model loses {points(loss)} of {measure} "
        f"({loss.rate:.1f}% instead of {rate.value:.1f}%): {NEEDS[condition.kind]}."
    )


# ----------------------------------------------------------------------- the verdict in words


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
    if (example := describe_wrong_answers(answers)) is not None:
        return Verdict("no right answer"), f"{{feature}}: no verdict. {example}"
    losses = with_worst(losses, figures.by_type, rule)
    part = figures.part
    decision = verdict(rate, losses, rule, part)
    return decision, verdict_sentence(decision.kind, rate, losses, rule, figures.measure, part)


def with_worst(
    losses: Mapping[str, Loss], by_type: Mapping[str, Comparison], rule: Rule
) -> dict[str, Loss]:
    """Each with the types of question in which most is lost."""
    return {
        key: loss.with_worst(
            {kind: of_type[key] for kind, (_, of_type) in by_type.items()}, rule.level
        )
        for key, loss in losses.items()
    }


def part_with_video(audit: Audit, rule: Rule, answers: Answers, measure: Measure) -> Part | None:
    """The types of question in which the video surely matters; None where these are all, or none.

    A type with one right answer says little alone, since who gives that answer to everything is
    right: such types count together.
    """
    types = joint_types(answers.samples)
    if WITHOUT_VIDEO not in answers.keys or len(types) < 2:
        return None
    compared = {
        names: _compare(audit, rule, answers, measure, index) for names, index in types.items()
    }
    chosen = [
        names
        for names, (_, losses) in compared.items()
        if len(types) * losses[WITHOUT_VIDEO].p_costs <= rule.level
    ]
    if len(chosen) in (0, len(types)):
        return None
    index = np.sort(np.concatenate([types[names] for names in chosen]))
    rate, losses = _compare(audit, rule, answers, measure, index)
    own = {" and ".join(names): compared[names] for names in chosen}
    kinds = tuple(kind for names in chosen for kind in names)
    worst = with_worst(losses, own, rule)
    return Part(kinds, len(index), len(answers.samples), rate, worst)


# ----------------------------------------------------------------------------------- the notes


def _note(audit: Audit, figures: Figures, decision: Verdict) -> None:
    """The facts at the head of the report, the verdict first."""
    options, answers, (rate, _) = figures.options, figures.answers, figures.headline
    margin = figures.rule.margin(rate)
    audit.note("verdict", decision.kind)
    if (words := NEXT_STEPS.get(decision.kind)) is not None:
        audit.note("next step", words)
    only = only_answer(answers.samples)
    guess = f"guessing gives {rate.chance:.1f}%"
    chance = guess if only is None else f"all have the same right answer, '{only}'"
    count = f"{len(answers.samples)} questions about {answers.videos} videos"
    audit.note(figures.measure, f"{rate.value:.1f}% of {count}; {chance}")
    audit.note(
        "counts for the verdict",
        f"losses from {margin:.1f} points: {options.margin:.0%} of the accuracy above "
        f"chance, and at least {options.drop:g} points",
    )
    audit.note("limit of detection", _limit(figures))
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


def _limit(figures: Figures) -> str:
    """What would have been found, had it been there."""
    answers, options = figures.answers, figures.options
    effect = design_effect(answers.before.astype(float), answers.groups)
    tried = max(len(answers.conditions), 1)
    lost = smallest_loss(len(answers.samples) / effect, options.fdr / tried)
    if lost is None:
        return "no loss, however large, would have been found surely: there are too few questions"
    return (
        f"a condition that costs {max(lost, options.drop):.1f} points, and wins nothing, would "
        "have been found in 8 of 10 such audits; smaller losses may be there"
    )


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
