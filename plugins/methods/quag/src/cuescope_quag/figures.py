"""What is lost: the same questions as they are, and under a condition."""

from collections.abc import Iterator, Sequence
from io import BytesIO

import numpy as np
from PIL import Image, ImageDraw

from cuescope_quag.analysis import Figures
from cuescope_quag.measures import question_types
from cuescope_quag.trials import VERDICT, Condition, Outcomes, is_correct
from cuescope_sdk import Contrast, Frame, Occurrence, Outcome, Score
from cuescope_sdk.report import contrast, count_of

SHOWN = 3  # samples of a side
SHEET = "#fcfcfa"  # the ground that frames lie on
QUALITY = 85  # of a JPEG


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
        where=substitutes(before, after, condition),
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
    condition: Condition,
) -> dict[str, Occurrence]:
    """Where the picture comes from of what was asked without its own video: another, or none."""
    occurrences = {}
    for old, new in zip(before, after, strict=True):
        key = old.trial.sample.key
        asked = new.trial.sample
        if not asked.frames:
            occurrences[asked.key] = Occurrence(sample=f"{key} without the video")
        elif key in condition.others:
            occurrences[asked.key] = Occurrence(sample=condition.others[key].key)
    return occurrences


def question_words(outcome: Outcome) -> str:
    """The question as it was asked."""
    sample = outcome.trial.sample
    if sample.question is None:
        return "(no question was asked)"
    return f"{sample.question}{'' if sample.frames else ' (no video was shown)'}"


def clip(outcome: Outcome) -> bytes | None:
    """Frames of a clip in order; None for a still image; of no video, a sheet that says so."""
    frames = outcome.trial.sample.frames
    if not frames:
        return empty_sheet()
    return frame_sheet(frames) if len(frames) > 1 else None


def frame_sheet(frames: Sequence[Frame]) -> bytes:
    """A JPEG: at most four frames of a clip, from first to last, in rows of two."""
    even = np.linspace(0, len(frames) - 1, min(len(frames), 4))
    images = []
    for index in even:
        # a copy: frames are shared, and Pillow's thumbnail() works in place
        image = frames[round(index)].load().copy()
        image.thumbnail((128, 128), Image.Resampling.LANCZOS)
        images.append(image)
    width = max(image.width for image in images) + 2
    height = max(image.height for image in images) + 2
    lines = -(-len(images) // 2)
    sheet = Image.new("RGB", (2 * width, lines * height), SHEET)
    for number, image in enumerate(images):
        row, column = divmod(number, 2)
        sheet.paste(image, (column * width, row * height))
    out = BytesIO()
    sheet.save(out, "JPEG", quality=QUALITY)
    return out.getvalue()


def empty_sheet() -> bytes:
    """A JPEG in place of a video that was not shown."""
    sheet = Image.new("RGB", (256, 128), (238, 238, 238))
    ImageDraw.Draw(sheet).text(
        (128, 64),
        "no video was shown",
        fill=(90, 90, 90),
        anchor="mm",
    )
    out = BytesIO()
    sheet.save(out, "JPEG", quality=90)
    return out.getvalue()
