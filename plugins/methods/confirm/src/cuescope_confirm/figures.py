"""Samples as they are beside the same without the cue, or with it, and their controls."""

from collections.abc import Iterator, Mapping
from io import BytesIO

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageDraw, ImageFont, ImageOps

from cuescope_confirm.experiment.arms import CHANGED, CONTROL, Answers, shown_frames
from cuescope_confirm.scores import Results, Row
from cuescope_confirm.trials import box_of
from cuescope_sdk import Audit, Contrast, Occurrence, Outcome
from cuescope_sdk.report import contrast

SHOWN = 6  # cues with pictures
SIDE = 144  # pixels of a picture: a page shows it about as wide
STRIP = 19  # pixels of the words below it
MOST = 24  # letters of these words: an answer may be long
GREY = 128  # of what an edit hides
INK = "#ffffff"
PAPER = "#555555"
RULE = (
    "Both sides show the same samples, spread evenly over how far the change moves the probability"
    " of the right answer. The second side shows each sample as it was changed, and below it with"
    " the control, with what the model answers."
)
UNCHANGED = " The pictures stay as they are: the model's embedding of them is changed."


def contrasts(results: Results) -> Iterator[Contrast]:
    """One for each of the first cues, by the arm that changes most of it."""
    for row in results.rows[:SHOWN]:
        shown = _contrast(results.study.audit, row)
        if shown is not None:
            yield shown


def _contrast(audit: Audit, row: Row) -> Contrast | None:
    arm = row.fullest
    if arm is None:
        return None
    answers = arm.answers
    plain = []
    changed = []
    numbers = {}
    where = {}
    for number in np.flatnonzero(answers.with_cue).tolist():
        before, after, _ = answers.trials[number]
        plain.append(before)
        changed.append(after)
        key = before.sample.key
        numbers[after.sample.key] = number
        place = answers.pairs[number].case.place
        frame = next(iter(shown_frames(place)), 0)
        # where it is put in, the sample as it is does not show it yet
        region = box_of(place, frame) if arm.removes else None
        # the changed one is no sample of the data: a drawing is shown in its place
        drawn = Occurrence(sample=f"changed: {key}", frame=frame)
        where[after.sample.key] = drawn
        # an edit of the model leaves the key, and the sample stands for both
        where[key] = Occurrence(sample=key, frame=frame, region=region)

    def drawing(outcome: Outcome) -> bytes | None:
        key = outcome.trial.sample.key
        # an edit of the model leaves the key: only the condition tells both apart
        if key not in numbers or outcome.trial.condition == "baseline":
            return None
        return _below(answers, numbers[key], where[key].frame or 0)

    right = answers.right[answers.with_cue, CONTROL]
    rule = RULE
    if arm.edits_model:
        rule += UNCHANGED
    if not np.isnan(right).all():
        rule += f" With the control {np.nanmean(right):.0%} are right."
    name = f"{arm.spec}: {arm.plugin.title}"
    plain_name = "as it is" if arm.removes else "as it is, without the cue"
    return contrast(
        row.target.cue.feature.key,
        {plain_name: audit.respond(plain), name: audit.respond(changed)},
        label=row.target.cue.label,
        where=where,
        drawing=drawing,
        paired=True,
        rule=rule,
    )


def _below(answers: Answers, number: int, frame: int) -> bytes | None:
    """The sample as it was changed, and below it with the control; what an edit hides is grey."""
    images = {}
    pair = answers.pairs[number]
    sides = ((CHANGED, "changed", pair.case), (CONTROL, "control", pair.placebo))
    for column, name, case in sides:
        trial = answers.trials[number][column]
        if trial is None or case is None or not trial.sample.frames:
            continue
        frames = trial.sample.frames
        pixels = np.array(frames[min(frame, len(frames) - 1)].load())
        masks = case.place.masks
        # an edit of the model leaves the pixels: nobody would see what it hides
        if trial.edit is not None and frame < len(masks):
            pixels[masks[frame]] = GREY
        said = answers.said.get((number, column))
        images[f"{name}: {said}" if said else name] = pixels
    return draw_below(images) if images else None


def draw_below(images: Mapping[str, UInt8[np.ndarray, "_row _col 3"]]) -> bytes:
    """A JPEG: pictures one below the other, each with its words below it."""
    strips = []
    font = ImageFont.load_default(STRIP - 8)
    for words, image in images.items():
        rows, cols, _ = image.shape
        height = max(1, round(SIDE * rows / cols))
        # enlarged, pixels keep their edges; made smaller, LANCZOS keeps detail
        how = Image.Resampling.LANCZOS if cols >= SIDE else Image.Resampling.NEAREST
        picture = Image.fromarray(image).resize((SIDE, height), how)
        strip = ImageOps.expand(picture, (0, 0, 0, STRIP), PAPER)
        draw = ImageDraw.Draw(strip)
        draw.text((6, height + 2), words[:MOST], fill=INK, font=font)
        strips.append(np.asarray(strip))
    out = BytesIO()
    Image.fromarray(np.vstack(strips)).save(out, "JPEG")
    return out.getvalue()
