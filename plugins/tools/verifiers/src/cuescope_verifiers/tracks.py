"""Claims held against things that are followed from frame to frame."""

from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field, NonNegativeInt

from cuescope_sdk import Context, Options, Sample
from cuescope_sdk.grounding import Claim
from cuescope_verifiers.box_geometry import BoxGeometry, BoxOptions
from cuescope_verifiers.looking import Box, Found
from cuescope_verifiers.tracking import library, track


class TrackOptions(BoxOptions):
    """Options of `tracks`."""

    lost: NonNegativeInt = Field(2, description="frames for which a thing may be missing")
    overlap: float = Field(
        -0.4, ge=-1, lt=1,
        description="generalised intersection over union of a thing's boxes in successive frames; "
        "-0.4 lets it go two of its widths",
    )  # fmt: skip
    start: float = Field(
        0.3, ge=0, le=1, description="score of a box that starts a track; weaker ones continue one"
    )


class Tracks(BoxGeometry):
    """The boxes of `box-geometry`, joined by ByteTrack, so that of several things any is known.

    A thing appears where its track begins, and disappears where it ends for good.
    """

    Options: ClassVar[type[Options]] = TrackOptions
    options: TrackOptions
    owner: ClassVar[str] = "tracks"

    def __init__(self, options: TrackOptions, context: Context) -> None:
        super().__init__(options, context)
        library()
        self.facts |= {"tracks": "ByteTrack"}

    def asked(self, sample: Sample, claims: Sequence[Claim]) -> list[set[str]]:
        """Every name in every frame: a track has no holes."""
        names = set().union(*super().asked(sample, claims))
        return [names for _ in sample.frames]

    def joined(self, sample: Sample, found: Found) -> Found:
        """The boxes of each name with their tracks."""
        names = {name for _, name in found}
        frames, given = range(len(sample.frames)), self.options
        joined: dict[tuple[int, str], Sequence[Box]] = {}
        for name in names:
            seen = [[box.seen for box in found[frame, name]] for frame in frames]
            boxes = track(seen, given.lost, given.overlap, given.start)
            joined |= {(frame, name): boxes[frame] for frame in frames}
        return joined
