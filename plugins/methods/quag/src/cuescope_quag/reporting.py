"""From the answers to the rows of the report and the facts at its head."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cuescope_quag.answers import Measure, balanced, measure, plain, question_types
from cuescope_quag.complements import show_complements
from cuescope_quag.conditions import VERDICT, WITHOUT_VIDEO, Condition
from cuescope_quag.examples import show_examples
from cuescope_quag.losing import Loss, Rate
from cuescope_quag.observing import Answered, Found, observe
from cuescope_quag.showing import show_accuracies, show_losses, show_picture
from cuescope_quag.verdict import Verdict, in_words, verdict
from cuescope_sdk import Audit, Outcome, Score
from cuescope_sdk.stats import benjamini_hochberg

if TYPE_CHECKING:
    from cuescope_quag import QUAG

METRICS = {"accuracy": "accuracy_lost", "balanced accuracy": "balanced_accuracy_lost"}
CHANGED = {
    "modality": "Without {feature}",
    "short-circuit": "With {feature} averaged",
    "quag-attention": "With {feature} merged",
}


def scores(audit: Audit, options: "QUAG.Options", outcomes: Sequence[Outcome]) -> Iterator[Score]:
    """The rows of the report, with its notes, tables and pictures."""
    answered = observe(audit, options, outcomes)
    chosen = measure(answered.samples, options.measure)
    measures = [plain(answered.samples), balanced(answered.samples)]
    found: dict[str, Found] = {by.name: answered.compared(by) for by in measures if by is not None}
    types = question_types(answered.samples)
    by_type = {name: answered.compared(chosen, kept)[1] for name, kept in types.items()}
    rate, losses = found[chosen.name]
    level = answered.rule.level
    typed = {
        key: loss.among({name: of[key] for name, of in by_type.items()}, level)
        for key, loss in losses.items()
    }
    judged = verdict(rate, typed, answered.rule, chosen.name)
    note(audit, options, answered, chosen, rate, judged)
    show_accuracies(audit, options, answered, found, types)
    show_losses(audit, options, chosen, {"all": losses, **by_type})
    show_complements(audit, options, answered)
    show_picture(audit, answered)
    show_examples(audit, answered, outcomes)
    yield from rows(options, answered.conditions, judged, chosen.name, found)


# ---------------------------------------------------------------------------------- the rows


def rows(
    options: "QUAG.Options",
    conditions: Sequence[Condition],
    judged: Verdict,
    chosen: str,
    found: Mapping[str, Found],
) -> Iterator[Score]:
    """Findings first, of these the verdict; then by what is lost."""
    rate, losses = found[chosen]
    q_values = benjamini_hochberg([losses[one.key].p_value for one in conditions])
    tested = {one.key: q for one, q in zip(conditions, q_values, strict=True)}
    findings = {key: is_finding(losses[key], q, options) for key, q in tested.items()}
    if judged.decided_by is not None:
        yield from _pair(
            VERDICT, judged.decided_by, found, p_value=judged.p_value, q_value=judged.p_value,
            finding=True, statement=judged.sentence,
        )  # fmt: skip
    for one in sorted(conditions, key=lambda c: (not findings[c.key], -losses[c.key].lost)):
        loss, finding = losses[one.key], findings[one.key]
        words = statement(one, rate, loss, chosen) if finding else None
        yield from _pair(
            one.key, one.key, found, p_value=loss.p_value, q_value=tested[one.key],
            finding=finding, statement=words,
        )  # fmt: skip


def _pair(
    feature: str, condition: str, found: Mapping[str, Found], **headline: Any
) -> Iterator[Score]:
    """What a condition costs, in each measure; tests and words go with the first."""
    for name, (_, losses) in found.items():
        loss = losses[condition]
        yield Score(
            feature=feature, label=None, metric=METRICS[name], value=loss.lost, low=loss.low,
            high=loss.high, n=loss.n, **(headline if name == "accuracy" else {}),
        )  # fmt: skip


def is_finding(loss: Loss, q_value: float | None, options: "QUAG.Options") -> bool:
    """A loss of more than `drop` points that neither McNemar nor the draws of videos take away."""
    sure = q_value is not None and q_value <= options.fdr and loss.low is not None and loss.low > 0
    return sure and loss.lost > options.drop


def statement(condition: Condition, rate: Rate, loss: Loss, measure: str) -> str:
    """The finding as a sentence."""
    return (
        f"{CHANGED[condition.kind]}, the model loses {in_words(loss)} of {measure} "
        f"({loss.rate:.1f} % instead of {rate.value:.1f} %)."
    )


# ---------------------------------------------------------------------------------- the notes


def note(
    audit: Audit,
    options: "QUAG.Options",
    answered: Answered,
    chosen: Measure,
    rate: Rate,
    judged: Verdict,
) -> None:
    """The facts at the head of the report, the verdict first."""
    undecided = judged.sentence.replace("{feature}", "video and text")
    audit.note("verdict", judged.kind if judged.decided_by else undecided)
    audit.note(
        chosen.name,
        f"{rate.value:.1f} % of {len(answered.samples)} questions about "
        f"{len(set(answered.cluster.tolist()))} videos; guessing gives {rate.chance:.1f} %",
    )
    audit.note(
        "counts for the verdict",
        f"{answered.rule.margin(rate):.1f} points: {options.margin:.0%} of what is above chance, "
        f"at least {options.drop:g}",
    )
    audit.note("layers", options.layers)
    if left := len(audit.samples) - len(answered.samples):
        audit.note("left out", f"{left} samples without a label")
    if any(sample.question is None for sample in answered.samples):
        audit.note("not asked", "either modality alone: there are samples without a question")
    elif WITHOUT_VIDEO not in {one.key for one in answered.conditions}:
        audit.note("not asked", "language-only: the model takes no question without a video")
    if options.quag_attention:
        able = "average-tokens" in audit.capabilities.edits
        skipped = "skipped: the model does not take the edit 'average-tokens'"
        terms = {"add": "log n added to the logit", "multiply": "the logit multiplied by log n"}
        audit.note("QUAG-attention", terms[options.size_term] if able else skipped)
