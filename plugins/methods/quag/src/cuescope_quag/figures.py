"""The pictures of a report: how many answers stay right, and a few of those that are lost."""

from textwrap import shorten

import numpy as np

from cuescope_quag.trials import CROSSMODAL, Answers, Condition
from cuescope_sdk import Audit, Outcome, Picture
from cuescope_sdk.report import StripRow, bar_chart, frame_strips, thumbnail

EXAMPLES = 4
LONGEST = 90  # characters of a question


def attach_figures(audit: Audit, answers: Answers) -> None:
    """Bars of all conditions; lost answers under the condition that tells most."""
    audit.attach(_right_answers(answers))
    if (column := telling_condition(answers)) is not None:
        audit.attach(_lost_answers(answers, column))


def _right_answers(answers: Answers) -> Picture:
    """Bars: what stays right under each condition, what is lost, and what is won."""
    shares = {
        key: {
            "right as before": float((answers.before & right).mean()),
            "lost": float((answers.before & ~right).mean()),
            "right only now": float((~answers.before & right).mean()),
        }
        for key, right in answers.columns.items()
    }
    title = "Right answers under each condition"
    return Picture(
        title=title,
        caption="Of all questions: those that stay right, those that are lost, and those that "
        "become right. The first two together are what was right before.",
        image=bar_chart(shares, title, "share of the questions", limit=1.0),
    )


def _lost_answers(answers: Answers, column: int) -> Picture:
    """A few questions that are no longer answered rightly, with their frames."""
    condition, changed = answers.conditions[column], answers.changed[column]
    rows = [
        StripRow(
            caption(answers.plain[index], changed[index], condition),
            [thumbnail(frame) for frame in answers.samples[index].frames],
        )
        for index in choose_examples(answers, column)
    ]
    return Picture(
        title=f"Answers that are lost: {condition.key}",
        caption="Questions that the model answers rightly, but no longer where this is averaged "
        "or left out.",
        image=frame_strips(rows),
    )


def telling_condition(answers: Answers) -> int | None:
    """The crossmodal short-circuit where it loses an answer, else the condition that loses most."""
    lost = (answers.before[:, None] & ~answers.after).sum(axis=0)
    if CROSSMODAL in answers.keys and lost[(column := answers.keys.index(CROSSMODAL))]:
        return column
    return int(lost.argmax()) if lost.any() else None


def choose_examples(answers: Answers, column: int) -> list[int]:
    """The first lost questions, of as many types and videos as there are."""
    lost = np.flatnonzero(answers.before & ~answers.after[:, column]).tolist()
    chosen: list[int] = []
    # Three rounds, less and less strict: new in type and video, new in video, any that is left.
    for new in (("type", "video"), ("video",), ()):
        taken: set[tuple[str, object]] = set()
        for index in chosen:
            taken |= _facts(answers, index)
        for index in lost:
            facts = {fact for fact in _facts(answers, index) if fact[0] in new}
            if len(chosen) < EXAMPLES and index not in chosen and not facts & taken:
                chosen.append(index)
                taken |= facts
    return sorted(chosen)


def caption(plain: Outcome, changed: Outcome, condition: Condition) -> str:
    """The question, and what is answered."""
    sample = plain.trial.sample
    question = shorten(sample.question or "(no question)", LONGEST, placeholder=" ...")
    return f"{question}\nanswer: {plain.prediction}; {condition.key}: {changed.prediction}"


def _facts(answers: Answers, index: int) -> set[tuple[str, object]]:
    kind = answers.samples[index].annotations.get("question_type")
    return {("video", int(answers.video[index])), ("type", kind)}
