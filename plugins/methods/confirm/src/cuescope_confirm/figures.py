"""Samples as they are beside the same without the cue, or with it, and their placebos."""

from collections.abc import Iterator

import numpy as np

from cuescope_confirm.measuring import Results, Row
from cuescope_confirm.trials import Answers, box_of
from cuescope_sdk import Audit, Contrast, Occurrence, Outcome
from cuescope_sdk.report import contrast, draw_beside

SHOWN = 6  # cues with pictures
RULE = (
    "Both sides show the same samples, spread evenly over how far the change moves the probability"
    " of the right answer. Beside the second: left the sample as it was changed, right its placebo."
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
        place, sample = answers.pairs[n].case.place, answers.pairs[n].case.sample
        frame = next((i for i, mask in enumerate(place.masks) if mask.any()), None)
        frame = frame if frame is not None else next(iter(place.frames), 0)
        region = box_of(place, frame) if decisive.removes else None
        spot = Occurrence(sample=sample.key, frame=frame, region=region)
        where[sample.key] = where[answers.trials[n][1].sample.key] = spot

    def drawing(outcome: Outcome) -> bytes | None:
        n = numbers.get(outcome.trial.sample.key)
        if n is None or outcome.trial.condition == "baseline":
            return None
        return _beside(answers, n, where[outcome.trial.sample.key].frame or 0)

    def words(outcome: Outcome) -> str | None:
        n = numbers.get(outcome.trial.sample.key)
        if n is None or outcome.trial.condition == "baseline" or np.isnan(answers.right[n, 2]):
            return None
        return f"the placebo is {'right' if answers.right[n, 2] else 'wrong'}"

    return contrast(
        row.target.cue.feature.key,
        sides,
        label=row.target.cue.label,
        where=where,
        words=words,
        drawing=drawing,
        paired=True,
        rule=RULE,
    )


def _beside(answers: Answers, n: int, frame: int) -> bytes | None:
    trials = [trial for trial in answers.trials[n][1:] if trial is not None]
    if any(trial.edit is not None for trial in trials):
        return _masked(answers, n, frame)
    frames = [trial.sample.frames for trial in trials]
    if not all(frames):
        return None
    return draw_beside([np.asarray(own[min(frame, len(own) - 1)].load()) for own in frames])


def _masked(answers: Answers, n: int, frame: int) -> bytes | None:
    """What an edit hides is drawn grey."""
    pair, images = answers.pairs[n], []
    for case in (pair.case, pair.placebo):
        if case is not None and frame < len(case.place.masks):
            pixels = np.array(case.sample.frames[frame].load())
            pixels[case.place.masks[frame]] = 128
            images.append(pixels)
    return draw_beside(images) if images else None
