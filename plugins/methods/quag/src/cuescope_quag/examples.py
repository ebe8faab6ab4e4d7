"""Questions that a model no longer answers rightly, with their frames."""

from collections.abc import Sequence
from textwrap import shorten

import numpy as np
from PIL import Image

from cuescope_quag.conditions import Condition
from cuescope_quag.observing import Answered
from cuescope_quag.verdict import CROSSMODAL
from cuescope_sdk import Audit, Frame, Outcome, Picture

EXAMPLES = 4
SIDE = 160  # pixels
LONGEST = 90  # characters of a question


def show_examples(audit: Audit, answered: Answered, outcomes: Sequence[Outcome]) -> None:
    """A picture of a few questions that are lost under the condition that tells most."""
    place = telling(answered)
    if place is None:
        return
    from cuescope_sdk.report import StripRow, frame_strips

    condition, count = answered.conditions[place], len(answered.samples)
    changed = outcomes[count * (1 + place) : count * (2 + place)]
    rows = [
        StripRow(
            caption(outcomes[index], changed[index], condition),
            [_small(frame) for frame in answered.samples[index].frames],
        )
        for index in chosen(answered, place)
    ]
    audit.attach(
        Picture(
            title=f"Answers that are lost: {condition.key}",
            caption="Questions that the model answers rightly, and no longer where this is "
            "averaged or left out.",
            image=frame_strips(rows),
        )
    )


def telling(answered: Answered) -> int | None:
    """The crossmodal short-circuit where it loses an answer, else the condition that loses most."""
    lost = (answered.before[:, None] & ~answered.after).sum(axis=0)
    keys = [one.key for one in answered.conditions]
    if CROSSMODAL in keys and lost[keys.index(CROSSMODAL)]:
        return keys.index(CROSSMODAL)
    return int(lost.argmax()) if lost.any() else None


def chosen(answered: Answered, place: int) -> list[int]:
    """The first lost questions, of as many types and videos as there are."""
    lost = np.flatnonzero(answered.before & ~answered.after[:, place]).tolist()
    picked: list[int] = []
    for fresh in (("type", "video"), ("video",), ()):
        seen: set[tuple[str, object]] = set()
        for index in picked:
            seen |= _facts(answered, index)
        for index in lost:
            facts = {fact for fact in _facts(answered, index) if fact[0] in fresh}
            if len(picked) < EXAMPLES and index not in picked and not facts & seen:
                picked.append(index)
                seen |= facts
    return sorted(picked)


def caption(plain: Outcome, changed: Outcome, condition: Condition) -> str:
    """The question, and what is answered."""
    sample = plain.trial.sample
    question = shorten(sample.question or "(no question)", LONGEST, placeholder=" ...")
    return f"{question}\nanswer: {plain.prediction}; {condition.key}: {changed.prediction}"


def _facts(answered: Answered, index: int) -> set[tuple[str, object]]:
    kind = answered.samples[index].annotations.get("question_type")
    return {("video", int(answered.cluster[index])), ("type", kind)}


def _small(frame: Frame) -> np.ndarray:
    image = frame.load().copy()
    image.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    return np.asarray(image)
