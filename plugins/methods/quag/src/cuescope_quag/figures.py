"""What is lost: the same questions as they are, and under a condition."""

from collections.abc import Iterator, Sequence

import numpy as np

from cuescope_quag.analysis import Figures
from cuescope_quag.measures import question_types
from cuescope_quag.trials import VERDICT, Condition, Outcomes, is_correct
from cuescope_sdk import Contrast, Occurrence, Outcome, Score
from cuescope_sdk.report import contrast, count_of, draw_beside

SHOWN = 3  # samples of a side
SHOWN_FRAMES = 4  # of a clip


def contrasts(figures: Figures, scores: Sequence[Score]) -> Iterator[Contrast]:
    """One for each finding: its questions as they are, and again with what it takes away.

    That of the verdict takes away what decides it, on the type of question that decides it.
    """
    for score in scores:
        verdict = score.feature == VERDICT
        key = figures.decision.decided_by if verdict else score.feature
        if score.finding and key is not None:
            kind = deciding_type(figures, key) if verdict else None
            shown = _contrast(figures, score.feature, key, kind)
            if shown is not None:
                yield shown


def deciding_type(figures: Figures, key: str) -> str | None:
    """The type of question whose loss decides in place of that of all; mostly none does."""
    loss = figures.worst_losses[key]
    # where the loss of all questions is sure, no type decides
    if loss.worst is None or loss.p_costs <= figures.rule.level:
        return None
    return loss.worst[0]


def _contrast(
    figures: Figures,
    feature: str,
    key: str,
    kind: str | None,
) -> Contrast | None:
    answers = figures.answers
    column = answers.keys.index(key)
    condition = answers.conditions[column]
    rate, losses = figures.headline
    rows = list(range(len(answers.samples)))
    questions = count_of(len(rows), "questions")
    if kind is not None:
        rate, losses = figures.by_type[kind]
        rows = question_types(answers.samples)[kind].tolist()
        questions = f"{count_of(len(rows), 'questions')} ({kind})"
    before = [answers.plain[row] for row in rows]
    after = [answers.changed[column][row] for row in rows]
    plain = f"{figures.measure} {rate.value:.1f}% in {questions}"
    changed = f"{figures.measure} {losses[key].rate:.1f}% in {questions}"
    return contrast(
        feature,
        {f"As it is: {plain}": before, f"{change_words(condition)}: {changed}": after},
        where=substitutes(before, after),
        words=question_words,
        drawing=clip,
        correct=is_correct,
        paired=True,
        # the titles have the figures: balanced accuracy cannot be counted off
        counted=False,
        count=SHOWN,
    )


def change_words(condition: Condition) -> str:
    """What is taken away, for who has read no paper."""
    name = condition.name.removesuffix(f" ({condition.key})")
    if condition.kind == "modality":
        return name.capitalize()
    averaged = " averaged, so that nothing in it stands out"
    return f"With {name}" + averaged * (condition.kind == "short-circuit")


def substitutes(
    before: Outcomes,
    after: Outcomes,
) -> dict[str, Occurrence]:
    """Names that say so, of what was asked without a video."""
    occurrences = {}
    for old, new in zip(before, after, strict=True):
        key = old.trial.sample.key
        asked = new.trial.sample
        if not asked.frames:
            occurrences[asked.key] = Occurrence(sample=f"{key} without the video")
    return occurrences


def question_words(outcome: Outcome) -> str:
    """The question as it was asked."""
    sample = outcome.trial.sample
    if sample.question is None:
        return "(no question was asked)"
    return f"{sample.question}{'' if sample.frames else ' (no video was shown)'}"


def clip(outcome: Outcome) -> bytes | None:
    """Frames of a clip in order; None for a still image, and where no video was shown."""
    frames = outcome.trial.sample.frames
    if len(frames) < 2:
        return None
    even = np.linspace(0, len(frames) - 1, min(len(frames), SHOWN_FRAMES))
    return draw_beside([frames[round(index)] for index in even.tolist()])
