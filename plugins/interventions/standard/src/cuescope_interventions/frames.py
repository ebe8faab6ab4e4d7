"""Frames that show the cue give way to their neighbours, or one of them stands still."""

from collections.abc import Mapping, Sequence
from typing import Any

from cuescope_sdk import Trial, digest
from cuescope_sdk.interventions import Case, Intervention


class Hold(Intervention):
    """Frames with the cue are replaced by the nearest frames without it.

    `case.donor_place.frames` are the frames that may be taken, all others where it has none.
    """

    title = "frames with it are replaced by their neighbours"
    needs = "frames"
    placebo = "other frames"

    def intervene(self, cases: Sequence[Case], tools: Mapping[str, Any]) -> list[Trial]:
        """The samples with frames of their own in place of others."""
        return [_held(case) for case in cases]


class Freeze(Intervention):
    """One frame of the clip stands still over all of it: a frame with the cue."""

    title = "one frame with it stands still"
    needs = "frames"
    effect = "inserts"
    placebo = "other frames"

    def intervene(self, cases: Sequence[Case], tools: Mapping[str, Any]) -> list[Trial]:
        """The clips of one frame, the middle one of those at the place."""
        return [
            Trial(sample=case.sample.static(case.place.frames[len(case.place.frames) // 2]))
            for case in cases
        ]


def _held(case: Case) -> Trial:
    frames = case.sample.frames
    away = set(case.place.frames)
    allowed = case.donor_place.frames or tuple(n for n in range(len(frames)) if n not in away)
    if not allowed:
        raise ValueError(f"hold: each frame of sample {case.sample.key} shows the cue")
    chosen = tuple(
        frames[min(allowed, key=lambda other: (abs(other - number), other))]
        if number in away
        else frame
        for number, frame in enumerate(frames)
    )
    suffix = f"hold-{digest(*(frame.key for frame in chosen))[:10]}"
    return Trial(sample=case.sample.with_frames(chosen, suffix))
