"""Samples as they are beside the same without the cue, or with it, and their placebos."""

from collections.abc import Iterator, Mapping
from io import BytesIO

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageDraw, ImageFont

from cuescope_confirm.measuring import Results, Row
from cuescope_confirm.trials import Answers, box_of
from cuescope_sdk import Audit, Contrast, Occurrence, Outcome
from cuescope_sdk.report import contrast

SHOWN = 6  # cues with pictures
SIDE, STRIP = 256, 30  # pixels of a picture's width, and of the words below it
MOST = 24  # letters of these words: an answer may be long
INK, PAPER = "#ffffff", "#555555"
RULE = (
    "Both sides show the same samples, spread evenly over how far the change moves the probability"
    " of the right answer. On the second side each is shown as it was changed, and below it with"
    " the placebo, beside what the model says."
)


def contrasts(audit: Audit, results: Results) -> Iterator[Contrast]:
    """One for each of the first cues, by its clearest witness."""
    for row in results.rows[:SHOWN]:
        shown = _contrast(audit, row)
        if shown is not None:
            yield shown


def _contrast(audit: Audit, row: Row) -> Contrast | None:
    decisive = row.decisive
    answers = decisive.witness.answers if decisive else None
    if decisive is None or answers is None:
        return None
    rows = np.flatnonzero(~answers.control).tolist()
    before, after = [answers.trials[n][0] for n in rows], [answers.trials[n][1] for n in rows]
    sides = {
        "as it is": audit.respond(before),
        f"{decisive.name}: {decisive.witness.named.kind.title}": audit.respond(after),
    }
    numbers = {answers.trials[n][1].sample.key: n for n in rows}
    where = {}
    for n in rows:
        place, key = answers.pairs[n].case.place, answers.pairs[n].case.sample.key
        frame = next((i for i, mask in enumerate(place.masks) if mask.any()), None)
        frame = frame if frame is not None else next(iter(place.frames), 0)
        region = box_of(place, frame) if decisive.removes else None
        where[key] = Occurrence(sample=key, frame=frame, region=region)
        changed = answers.trials[n][1].sample.key
        if changed != key:  # no sample of the data, and so without its picture: a drawing is shown
            where[changed] = Occurrence(sample=f"changed: {key}", frame=frame)

    def drawing(outcome: Outcome) -> bytes | None:
        n = numbers.get(outcome.trial.sample.key)
        if n is None or outcome.trial.condition == "baseline":
            return None
        return _below(answers, n, where[outcome.trial.sample.key].frame or 0)

    right = answers.right[rows, 2]
    share = "" if np.isnan(right).all() else f" With the placebo {np.nanmean(right):.0%} are right."
    return contrast(
        row.target.cue.feature.key,
        sides,
        label=row.target.cue.label,
        where=where,
        drawing=drawing,
        paired=True,
        rule=RULE + share,
    )


def _below(answers: Answers, n: int, frame: int) -> bytes | None:
    """The sample as it was changed, and below it with the placebo; what an edit hides is grey."""
    images: dict[str, np.ndarray] = {}
    pair, trials = answers.pairs[n], answers.trials[n]
    for name, case, trial in (
        ("changed", pair.case, trials[1]),
        ("placebo", pair.placebo, trials[2]),
    ):
        if trial is None or case is None or not trial.sample.frames:
            continue
        pixels = np.array(trial.sample.frames[min(frame, len(trial.sample.frames) - 1)].load())
        if trial.edit is not None and frame < len(case.place.masks):
            pixels[case.place.masks[frame]] = 128
        said = answers.said.get((n, 1 if name == "changed" else 2))
        images[f"{name}: {said}" if said else name] = pixels
    return draw_below(images) if images else None


def draw_below(images: Mapping[str, UInt8[np.ndarray, "_row _col 3"]]) -> bytes:
    """A JPEG: pictures one below the other, each with its words below it."""
    pictures = []
    for image in images.values():
        height = max(1, round(SIDE * image.shape[0] / image.shape[1]))
        large = image.shape[1] >= SIDE
        how = Image.Resampling.LANCZOS if large else Image.Resampling.NEAREST
        pictures.append(Image.fromarray(image).resize((SIDE, height), how))
    sheet = Image.new("RGB", (SIDE, sum(p.height + STRIP for p in pictures)), PAPER)
    top, font = 0, ImageFont.load_default(STRIP - 8)
    for words, picture in zip(images, pictures, strict=True):
        sheet.paste(picture, (0, top))
        top += picture.height + STRIP
        ImageDraw.Draw(sheet).text((6, top - STRIP + 2), words[:MOST], fill=INK, font=font)
    out = BytesIO()
    sheet.save(out, "JPEG", quality=85)
    return out.getvalue()
