"""Frames that show the cue give way to their neighbours, or one of them stands still."""

from cuescope_interventions.case_by_case import CaseByCase, nearest_number, with_frames
from cuescope_sdk import Trial
from cuescope_sdk.interventions import Case


class Hold(CaseByCase):
    """Frames with the cue are replaced by the nearest frames without it.

    `case.donor_place.frames` are the frames that may be taken, all others where it has none.
    """

    title = "frames with it are replaced by their neighbours"
    needs = "frames"
    placebo = "other frames"

    def change(self, case: Case) -> Trial:
        """The sample with frames of its own in place of others."""
        frames = list(case.sample.frames)
        away = case.place.frames
        others = set(range(len(frames))).difference(away)
        allowed = case.donor_place.frames or sorted(others)
        if not allowed:
            raise ValueError(
                f"hold: each frame of sample {case.sample.key} shows the cue"
            )
        for number in away:
            nearest = nearest_number(number, allowed)
            frames[number] = case.sample.frames[nearest]
        return with_frames(case.sample, frames, "hold")


class Freeze(CaseByCase):
    """One frame of the clip stands still over all of it: a frame with the cue."""

    title = "one frame with it stands still"
    needs = "frames"
    effect = "inserts"
    placebo = "other frames"

    def change(self, case: Case) -> Trial:
        """The clip of one frame, the middle one of those at the place."""
        shown = case.place.frames
        middle = shown[len(shown) // 2]
        return Trial(sample=case.sample.static(middle))
