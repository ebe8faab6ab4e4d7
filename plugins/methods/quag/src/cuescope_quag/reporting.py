"""From the answers to the rows of the report."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cuescope_quag.answers import Measure, balanced, measure, only_answer, plain, question_types
from cuescope_quag.complements import show_complements
from cuescope_quag.conditions import VERDICT, Condition
from cuescope_quag.examples import show_examples
from cuescope_quag.losing import Loss, Rate
from cuescope_quag.notes import note
from cuescope_quag.observing import Answered, Found, observe
from cuescope_quag.open_answers import none_agrees, show_answers
from cuescope_quag.showing import show_accuracies, show_losses, show_picture
from cuescope_quag.verdict import UNMEASURED, Verdict, in_words, verdict
from cuescope_sdk import Audit, Outcome, Score
from cuescope_sdk.maths import benjamini_hochberg

if TYPE_CHECKING:
    from cuescope_quag import QUAG

METRICS = ("points_lost", "points_lost_otherwise")
CHANGED = {
    "modality": "Left {feature}",
    "short-circuit": "With {feature} averaged",
    "quag-attention": "With {feature}",
}


def scores(audit: Audit, options: "QUAG.Options", outcomes: Sequence[Outcome]) -> Iterator[Score]:
    """The rows of the report, with its notes, tables and pictures."""
    answered = observe(audit, options, outcomes)
    chosen = measure(answered.samples, options.measure)
    found: dict[str, Found] = {by.name: answered.compared(by) for by in measures(answered, chosen)}
    types = question_types(answered.samples)
    by_type = {name: answered.compared(chosen, kept) for name, kept in types.items()}
    judged = judge(answered, chosen, found[chosen.name], by_type)
    note(audit, options, answered, chosen, found[chosen.name][0], judged)
    show_accuracies(audit, options, answered, found, by_type)
    show_losses(audit, options, answered, chosen, {"all": found[chosen.name], **by_type})
    show_complements(audit, options, answered)
    show_answers(audit, answered.plain, answered.before.tolist())
    show_picture(audit, answered)
    show_examples(audit, answered, outcomes)
    yield from rows(options, answered.conditions, judged, found)


def measures(answered: Answered, chosen: Measure) -> Iterator[Measure]:
    """The one that decides, then the other, where there is one."""
    yield chosen
    other = plain if chosen.name == "balanced accuracy" else balanced
    if (found := other(answered.samples)) is not None:
        yield found


def judge(
    answered: Answered, chosen: Measure, found: Found, by_type: Mapping[str, Found]
) -> Verdict:
    """The verdict, to which a loss in one type of question counts; or why there is none."""
    if (only := only_answer(answered.samples)) is not None:
        same = f"all {len(answered.samples)} questions have the same right answer, '{only}'"
        return Verdict("one right answer", f"{{feature}}: none, {same}, which needs no look.")
    if (said := none_agrees(answered.plain, answered.before.tolist())) is not None:
        return Verdict("no right answer", f"{{feature}}: none, {said}.")
    (rate, losses), rule = found, answered.rule
    typed = {
        key: loss.among({name: of[key] for name, (_, of) in by_type.items()}, rule.level)
        for key, loss in losses.items()
    }
    return verdict(rate, typed, rule, chosen.name)


# ---------------------------------------------------------------------------------- the rows


def rows(
    options: "QUAG.Options",
    conditions: Sequence[Condition],
    judged: Verdict,
    found: Mapping[str, Found],
) -> Iterator[Score]:
    """Findings first, of these the verdict; then by what is lost.

    A verdict that is undecided has no figure, and is a finding only to open the report where
    there are others; of a model that cannot be measured nothing is found.
    """
    chosen = next(iter(found))
    rate, losses = found[chosen]
    q_values = benjamini_hochberg([losses[one.key].p_value for one in conditions])
    tested = {one.key: q for one, q in zip(conditions, q_values, strict=True)}
    measured = judged.kind not in UNMEASURED
    findings = {k: measured and is_finding(losses[k], q, options) for k, q in tested.items()}
    if judged.decided_by is None:
        yield Score(
            feature=VERDICT, label=None, metric=METRICS[0], value=None,
            finding=any(findings.values()), statement=judged.sentence,
        )  # fmt: skip
    else:
        yield from _row(
            VERDICT, judged.decided_by, found, p_value=judged.p_value, q_value=judged.p_value,
            finding=True, statement=judged.sentence,
        )  # fmt: skip
    for one in sorted(conditions, key=lambda c: (not findings[c.key], -losses[c.key].lost)):
        loss, finding = losses[one.key], findings[one.key]
        words = statement(one, rate, loss, chosen) if finding else None
        yield from _row(
            one.key, one.key, found, p_value=loss.p_value, q_value=tested[one.key],
            finding=finding, statement=words,
        )  # fmt: skip


def _row(
    feature: str, condition: str, found: Mapping[str, Found], **headline: Any
) -> Iterator[Score]:
    """What a condition costs, in each measure; tests and words go with the one that decides."""
    for metric, (_, losses) in zip(METRICS, found.values(), strict=False):
        loss = losses[condition]
        yield Score(
            feature=feature, label=None, metric=metric, value=loss.lost, low=loss.low,
            high=loss.high, n=loss.n, **(headline if metric == METRICS[0] else {}),
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
