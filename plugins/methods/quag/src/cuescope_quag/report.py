"""The rows of the report and its notes."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from cuescope_quag.analysis import Figures, analyse
from cuescope_quag.clavi.by_question import attach_by_question
from cuescope_quag.clavi.consistency import attach_consistency
from cuescope_quag.figures import contrasts
from cuescope_quag.measures import only_answer
from cuescope_quag.options import QUAGOptions
from cuescope_quag.scores import Loss, Rate
from cuescope_quag.tables import attach_accuracies, describe_wrong_answers
from cuescope_quag.trials import (
    VERDICT,
    WITHOUT_VIDEO,
    Answers,
    Condition,
    edited_layers,
    fusion_shape,
)
from cuescope_quag.verdict import points, verdict_sentence
from cuescope_sdk import Audit, Finding, Impact, Row, Score, Status
from cuescope_sdk.report import count_of

MORE_DATA = "Ask more questions about more videos: leave --limit out, or add data."
# What helps most after each verdict; the report's own advice is about cues.
NEXT_STEPS: dict[str, str] = {
    "fuses": "See in which layers video and text meet: -O layers=0, then -O layers=1 and so on.",
    "text alone": "These questions can be answered without the video. Ask some that cannot: "
    "CLAVI's (--data clavi:...) change their answer with the video.",
    "video alone": "These questions can be answered without their words. Ask several about each "
    "video, with different answers.",
    "needs neither": "Look at questions and answers: the right answers can be guessed.",
    "each alone": "Audit the types of question one by one, with data of one type each.",
    "open": MORE_DATA,
    "too few samples": MORE_DATA,
    "at chance": "See that the model answers at all: the table of accuracies, another prompt "
    "(-O model.prompt=...), the right checkpoint.",
}
METRIC = "points_lost"
# by verdict: what is said of video and question, and the status of it
CLAIMS: dict[str, tuple[str, Status]] = {
    "fuses": ("VIDEO AND QUESTION are used, together", "used"),
    "fuses by means": (
        "VIDEO AND QUESTION are used, together; of the video the mean is enough",
        "partly used",
    ),
    "text alone": (
        "THE VIDEO is not used; the model answers from the question alone",
        "not used",
    ),
    "video alone": (
        "THE QUESTION is not used; the model answers from the video alone",
        "not used",
    ),
    "needs neither": ("NEITHER VIDEO NOR QUESTION is used", "not used"),
    "each alone": (
        "THE VIDEO OR THE QUESTION ALONE decides the answer",
        "partly used",
    ),
}
OPEN_CLAIM: tuple[str, Status] = (
    "VIDEO AND QUESTION: whether they are used is open",
    "inconclusive",
)
STATEMENTS = {
    "modality": "Asked {feature}",
    "short-circuit": "With {feature} averaged",
    "quag-attention": "With {feature}",
}
NEEDS = {
    "modality": "its answers need it",
    "short-circuit": "its answers need that attention",
    "quag-attention": "its answers need each of these tokens",
}
SKIPPED = "skipped, because the model does not take the edit 'average-tokens'"


def report_scores(
    audit: Audit,
    options: QUAGOptions,
    answers: Answers,
) -> Iterator[Score]:
    """The rows of the report, with its notes and tables."""
    figures = analyse(audit, options, answers)
    _note(audit, figures)
    attach_accuracies(audit, figures)
    attach_consistency(audit, options, answers)
    attach_by_question(audit, options, answers)
    # a list, for contrasts are made of the same rows
    rows = list(_rows(figures))
    audit.attach(_finding(figures))
    for shown in contrasts(figures, rows):
        audit.attach(shown)
    yield from rows


# ---------------------------------------------------------------------------------- the rows


def _rows(figures: Figures) -> Iterator[Score]:
    """Findings first, of these the verdict; then by what is lost.

    A verdict that is undecided has no figure, and is a finding only to open the report where
    there are others; of a model that cannot be measured nothing is found.
    """
    rate, losses = figures.headline
    decision = figures.decision
    sentence = _sentence(figures)
    if decision.decided_by is None:
        yield Score(
            feature=VERDICT,
            label=None,
            metric=METRIC,
            value=None,
            finding=any(map(figures.is_finding, figures.answers.keys)),
            statement=sentence,
        )
    else:
        yield _row(
            figures,
            VERDICT,
            decision.decided_by,
            p_value=decision.p_value,
            # all of its tests must hold, so the largest p needs no correction
            q_value=decision.p_value,
            finding=True,
            statement=sentence,
        )

    def order(condition: Condition) -> tuple[bool, float]:
        return not figures.is_finding(condition.key), -losses[condition.key].lost

    for condition in sorted(figures.answers.conditions, key=order):
        key = condition.key
        finding = figures.is_finding(key)
        yield _row(
            figures,
            key,
            key,
            p_value=losses[key].p_value,
            q_value=figures.q_values[key],
            finding=finding,
            statement=statement(condition, rate, losses[key], figures.measure)
            if finding
            else None,
        )


def _row(figures: Figures, feature: str, condition: str, **headline: Any) -> Score:
    """What a condition costs, with its tests and words."""
    loss = figures.headline[1][condition]
    return Score(
        feature=feature,
        label=None,
        metric=METRIC,
        value=loss.lost,
        low=loss.low,
        high=loss.high,
        n=loss.n,
        **headline,
    )


def _finding(figures: Figures) -> Finding:
    """The verdict, with what each condition leaves of the accuracy."""
    rate, losses = figures.headline
    answers = figures.answers
    rows = [Row(subject="video and question", with_cue=rate.value, n=rate.n)]
    for condition in answers.conditions:
        loss = losses[condition.key]
        rows.append(
            Row(
                # its key in brackets is for tables
                subject=condition.name.partition(" (")[0],
                feature=condition.key,
                with_cue=loss.rate,
                change=-loss.lost,
                low=None if loss.high is None else -loss.high,
                high=None if loss.low is None else -loss.low,
                n=loss.n,
            )
        )
    rows.append(Row(subject="chance level", with_cue=rate.chance))
    impact = None
    if WITHOUT_VIDEO in answers.keys:
        blind = answers.before & answers.columns[WITHOUT_VIDEO]
        impact = Impact(
            count=int(blind.sum()),
            total=int(answers.before.sum()),
            of="correct answers",
            detail="given without the video too",
        )
    claim, status = CLAIMS.get(figures.decision.kind, OPEN_CLAIM)
    return Finding(
        feature=VERDICT,
        claim=claim,
        measure="the model gets",
        columns=("correct", ""),
        rows=tuple(rows),
        impact=impact,
        status=status,
    )


def statement(condition: Condition, rate: Rate, loss: Loss, measure: str) -> str:
    """The finding as a sentence."""
    return (
        f"{STATEMENTS[condition.kind]}, the model loses {points(loss)} of {measure} "
        f"({loss.rate:.1f}% instead of {rate.value:.1f}%): {NEEDS[condition.kind]}."
    )


def _sentence(figures: Figures) -> str:
    """The verdict in words, with `{feature}` for its name; or why there is none."""
    kind = figures.decision.kind
    samples = figures.answers.samples
    if kind == "one right answer":
        return (
            f"{{feature}}: no verdict. All {len(samples)} questions have the same right "
            f"answer, '{only_answer(samples)}', so a model can be right without looking."
        )
    if kind == "no right answer":
        return f"{{feature}}: no verdict. {describe_wrong_answers(figures.answers)}"
    rate, _ = figures.headline
    # with the types of question, for a verdict may rest on one of them
    losses = figures.worst_losses
    return verdict_sentence(
        kind, rate, losses, figures.rule, figures.measure, figures.part
    )


# ----------------------------------------------------------------------------------- the notes


def _note(audit: Audit, figures: Figures) -> None:
    """The facts at the head of the report, the verdict first."""
    options = figures.options
    answers = figures.answers
    rate, _ = figures.headline
    kind = figures.decision.kind
    audit.note("verdict", kind)
    if kind in NEXT_STEPS:
        audit.note("next step", NEXT_STEPS[kind])
    only = only_answer(answers.samples)
    guess = f"chance level {rate.chance:.1f}%"
    chance = guess if only is None else f"all have the same right answer, '{only}'"
    count = f"{count_of(len(answers.samples), 'questions')} about {answers.groups.count} videos"
    audit.note(figures.measure, f"{rate.value:.1f}% of {count}; {chance}")
    audit.note(
        "counts for the verdict",
        f"losses of {figures.rule.margin(rate):.1f} points or more: {options.margin:.0%} of the "
        f"accuracy above chance, and at least {options.drop:g} points",
    )
    audit.note("power", _limit(figures.detectable))
    audit.note("layers", _layers(audit, options))
    _note_left_out(audit)
    if WITHOUT_VIDEO not in answers.keys:
        audit.note(
            "not asked", "without video: the model takes no question without a video"
        )
    if options.quag_attention and "average-tokens" not in audit.capabilities.edits:
        audit.note("QUAG-attention", SKIPPED)


def _limit(detectable: float | None) -> str:
    """What would have been found, had it been there."""
    if detectable is None:
        return "none: with so few questions, even the largest loss would often have been missed"
    return f"80% for a loss of {detectable:.1f} points, where it makes no wrong answer right"


def _layers(audit: Audit, options: QUAGOptions) -> str:
    """Which layers are changed, of how many where the model says so."""
    exposed = "fusion" in audit.capabilities.exposes
    count = audit.once(fusion_shape, audit).layers if exposed else None
    if edited_layers(audit, options) is not None:
        return (
            f"layers {options.layers} of {count}"
            if count
            else f"layers {options.layers}"
        )
    if count is None:
        return "all layers"
    return "the only layer" if count == 1 else f"all {count} layers"


def _note_left_out(audit: Audit) -> None:
    """How many samples are not asked, and why."""
    counts: Counter[str] = Counter()
    for sample in audit.samples:
        if sample.question is None:
            counts["a question"] += 1
        elif sample.label is None:
            counts["a label"] += 1
    words = [
        f"{count_of(counts[what], 'samples')} without {what}"
        for what in sorted(counts, reverse=True)
    ]
    if words:
        audit.note("left out", ", ".join(words))
