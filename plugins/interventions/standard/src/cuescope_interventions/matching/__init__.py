"""A property of all of a frame becomes that of another sample: for cues that have no place.

Each moves one property, and leaves the others about as they are. `match-...` takes the cue out,
`impose-...` puts it into samples without it, by the same function.
"""

from abc import abstractmethod
from functools import partial
from math import exp, log, pi, remainder
from typing import ClassVar, Literal

from cuescope_interventions.arrays import Mask, Pixels
from cuescope_interventions.case_by_case import CaseByCase, paint_over, with_frames
from cuescope_interventions.matching.appearance import match_light, match_tones
from cuescope_interventions.matching.framing import (
    MOST,
    direction_of,
    layout_of,
    move,
    turn,
    zoom,
)
from cuescope_interventions.matching.spectrum import match_spectrum
from cuescope_interventions.matching.tempo import in_tempo, tempo
from cuescope_interventions.mixing import from_donor
from cuescope_sdk import Frame, Sample, Trial
from cuescope_sdk.interventions import Case, Place


class Matching(CaseByCase):
    """All of the frame is matched to a donor without the cue, or to one with it as the placebo.

    It is not `partial` as a class: of a cue of its property it takes out all by which the donor
    differs. Of a cue of another property it takes nothing, and then that it moves no answers says
    nothing of the cue. Which of both it is no class can know. So what uses it has to see, in
    pictures, how much of the cue is gone; `confirm` does (docs/adr/0019). It is finer than an
    exchange of frames: things, places and all other properties stay.
    """

    needs = "still"
    placebo = "other donor"


def imposed(match: type[Matching], title: str) -> type[Matching]:
    """The other way: samples without the cue take the property of one that shows it."""
    fields = {
        "__doc__": f"{title[0].upper()}{title[1:]}.",
        "__module__": match.__module__,
        "title": title,
        "effect": "inserts",
    }
    return type(match.__name__.replace("Match", "Impose"), (match,), fields)


class OfEachFrame(Matching):
    """A property of each frame, which becomes that of the donor's frame nearest in number."""

    @staticmethod
    @abstractmethod
    def matched(
        frame: Frame, inside: Mask | None, pixels: Pixels, mask: Mask
    ) -> Pixels:
        """The pixels, at the mask with the property that a donor's frame has `inside` its place."""

    def change(self, case: Case) -> Trial:
        """The sample with matched frames."""
        return from_donor(case, f"match-{self.changes}", self.matched)


class OfLayout(Matching):
    """A property of all frames together: each is changed by as much, so what moves still does."""

    @abstractmethod
    def step(self, case: Case) -> float:
        """From the sample to its donor; 0 where they are alike."""


class MatchTones(OfEachFrame):
    """Contrast, brightness and casts."""

    title = "its tones are those of a sample without the cue"
    changes = "tones"
    matched = staticmethod(match_tones)


ImposeTones = imposed(
    MatchTones, "samples without the cue have the tones of one with the cue"
)


class MatchLight(OfEachFrame):
    """Gradients and vignettes."""

    title = "light falls as in a sample without the cue"
    changes = "light"
    matched = staticmethod(match_light)


ImposeLight = imposed(
    MatchLight, "light falls in samples without the cue as in one with the cue"
)


class MatchSpectrum(OfEachFrame):
    """Strength of detail all over the frame: blur, grain, waves, weaves, grids, compression."""

    title = "each frequency is as strong as in a sample without the cue"
    changes = "spectrum"
    matched = staticmethod(match_spectrum)


ImposeSpectrum = imposed(
    MatchSpectrum,
    "in samples without the cue each frequency is as strong as in one with the cue",
)


class MatchAcross(OfLayout):
    """Where the thing stands from left to right; all of the frame is moved, round the edges."""

    title = "it is moved across, to where the thing of a sample without the cue stands"
    changes = "place from left to right"
    axis: ClassVar[Literal["row", "col"]] = "col"

    def step(self, case: Case) -> float:
        """In shares of the frame."""
        own, donor = map(layout_of, frames_of(case))
        return float(getattr(donor, self.axis) - getattr(own, self.axis))

    def change(self, case: Case) -> Trial:
        """The sample with moved frames."""
        share = self.step(case)
        axis = ("row", "col").index(self.axis)
        name = f"match-{self.axis} {share:.6f}"
        return paint_over(case, name, partial(move, axis, share))


ImposeAcross = imposed(
    MatchAcross, "samples without the cue are moved across as one with the cue"
)


class MatchHeight(MatchAcross):
    """How high the thing stands."""

    title = (
        "it is moved up or down, to where the thing of a sample without the cue stands"
    )
    changes = "height"
    axis = "row"


ImposeHeight = imposed(
    MatchHeight, "samples without the cue are moved up or down as one with the cue"
)


class MatchZoom(OfLayout):
    """How large the thing is; all of the frame is magnified about it."""

    title = "it is magnified until its thing is as large as in a sample without the cue"
    changes = "size"

    def step(self, case: Case) -> float:
        """The log of the scale."""
        own, donor = map(layout_of, frames_of(case))
        scale = donor.spread / own.spread
        return log(min(max(scale, 1 / MOST), MOST))

    def change(self, case: Case) -> Trial:
        """The sample with magnified frames."""
        own = layout_of(frames_at(case.sample, case.place))
        scale = exp(self.step(case))
        name = f"match-zoom {scale:.6f} {own.row:.6f} {own.col:.6f}"
        return paint_over(case, name, partial(zoom, scale, (own.row, own.col)))


ImposeZoom = imposed(
    MatchZoom, "samples without the cue are magnified as one with the cue"
)


class MatchTurn(OfLayout):
    """How far all of the frame is turned, as by a camera that is held askew."""

    title = "it is turned until it is as upright as a sample without the cue"
    changes = "direction"

    def step(self, case: Case) -> float:
        """In radians, at most an eighth of a turn."""
        own, donor = map(direction_of, frames_of(case))
        return remainder(donor - own, pi / 2)

    def change(self, case: Case) -> Trial:
        """The sample with turned frames."""
        angle = self.step(case)
        return paint_over(case, f"match-turn {angle:.6f}", partial(turn, angle))


ImposeTurn = imposed(
    MatchTurn, "samples without the cue are turned as one with the cue"
)


class MatchTempo(OfLayout):
    """How fast a clip moves."""

    title = "it runs as fast as a sample without the cue"
    changes = "tempo"

    def step(self, case: Case) -> float:
        """The log of the tempo."""
        own, donor = frames_of(case)
        return log(tempo(own, donor))

    def change(self, case: Case) -> Trial:
        """The sample with other frames of its own where it shows the cue."""
        own, _ = frames_of(case)
        picked = in_tempo(own, exp(self.step(case)))
        frames = list(case.sample.frames)
        for number, frame in zip(masked_frames(case.place), picked, strict=True):
            frames[number] = frame
        return with_frames(case.sample, frames, "match-tempo")


ImposeTempo = imposed(
    MatchTempo, "samples without the cue run as fast as one with the cue"
)


def frames_of(case: Case) -> tuple[list[Frame], list[Frame]]:
    """The frames that are matched, and those of the donor that they are matched to."""
    if case.donor is None:
        raise ValueError(f"nothing to match sample {case.sample.key} to")
    own = frames_at(case.sample, case.place)
    donor = frames_at(case.donor, case.donor_place)
    return own, donor


def frames_at(sample: Sample, place: Place) -> list[Frame]:
    """The frames at a place, all of them where it has no masks."""
    numbers = masked_frames(place) if place.masks else range(len(sample.frames))
    return [sample.frames[number] for number in numbers]


def masked_frames(place: Place) -> list[int]:
    """The numbers of the frames with a mask."""
    return [number for number, mask in enumerate(place.masks) if mask.any()]
