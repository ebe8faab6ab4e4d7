"""Claims held against things that are followed from frame to frame.

By ByteTrack (Zhang et al., 2022) over sparse frames, of the `trackers` library. Departs from step
grounding (Rahman et al., section 4.3), which has DeepSORT, a network more.
"""

import warnings
from collections.abc import Sequence
from itertools import count
from typing import Any, ClassVar

import numpy as np

from cuescope_sdk import Context, Detection, Sample, UserError, how_to_install
from cuescope_sdk.grounding import Claim
from cuescope_verifiers.box_geometry import BoxGeometry
from cuescope_verifiers.boxes import Boxes, TrackedBox
from cuescope_verifiers.options import TrackOptions


class Tracks(BoxGeometry):
    """The boxes of `box-geometry`, joined by ByteTrack, so that of several things any is known.

    A thing appears where its track begins, and disappears where it ends for good.
    """

    Options = TrackOptions
    options: TrackOptions
    owner: ClassVar[str] = "tracks"

    def __init__(self, options: TrackOptions, context: Context) -> None:
        super().__init__(options, context)
        # a library that is missing is told before any frame is looked at
        library()
        self.facts |= {
            "tracks": "ByteTrack",
            "departure": "the paper of step grounding has DeepSORT",
        }

    def names(self, sample: Sample, claims: Sequence[Claim]) -> list[set[str]]:
        """Every name in every frame: a track has no holes."""
        by_frame = super().names(sample, claims)
        names = set[str]().union(*by_frame)
        return [names for _ in sample.frames]

    def join(self, sample: Sample, boxes: Boxes) -> Boxes:
        options = self.options
        frames = range(len(sample.frames))
        joined: dict[tuple[int, str], Sequence[TrackedBox]] = {}
        names = {name for _, name in boxes}
        for name in names:
            detections = []
            for frame in frames:
                of_frame = boxes[frame, name]
                detections.append([box.detection for box in of_frame])
            tracked = track(detections, options.lost, options.overlap, options.start)
            for frame, of_track in zip(frames, tracked, strict=True):
                joined[frame, name] = of_track
        return joined


def library() -> tuple[Any, Any]:
    """The libraries `trackers` and `supervision`; raises UserError where they are not installed.

    The second warns at import where OpenCV is missing, which nothing here needs.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import supervision
            import trackers  # type: ignore[import-not-found,unused-ignore]
    except ImportError as error:
        raise UserError(
            f"tracks: {error.name} is not installed",
            remedy=how_to_install("cuescope-verifiers[tracks]"),
        ) from error
    return trackers, supervision


def track(
    frames: Sequence[Sequence[Detection]],
    lost: int,
    overlap: float,
    start: float,
) -> list[list[TrackedBox]]:
    """The detections of one name in successive frames, each with the number of its track.

    Boxes are joined by their generalised intersection over union (Rezatofighi et al., 2019), which
    tells near from far where they do not meet; it must exceed `overlap`. What was seen in two
    successive frames may be missing for `lost`. A track starts with a box of at least the score
    `start`; weaker ones only continue one. A box that no other follows has a number below 0.
    """
    trackers, supervision = library()
    tracker = trackers.ByteTrackTracker(
        lost_track_buffer=lost,
        minimum_consecutive_frames=1,
        track_activation_threshold=start,
        high_conf_det_threshold=start,
        minimum_iou_threshold=overlap,
        iou=trackers.GIoU(),
    )
    numbers = []
    # the library numbers a track in its second frame: where it began is looked up by its box
    starts = {}
    for index, detections in enumerate(frames):
        # four columns also where there is no box
        boxes = np.array([box.box for box in detections], float).reshape(-1, 4)
        scores = np.array([box.score for box in detections], float)
        data = {"position": np.arange(len(detections))}
        found = supervision.Detections(xyxy=boxes, confidence=scores, data=data)
        tracked = tracker.update(found)
        numbers.append(_numbers_of(tracked, len(detections)))
        for path in tracker.tracks:
            if path not in starts:
                distances = np.abs(boxes - path.get_state_bbox()).sum(axis=1)
                starts[path] = (index, int(distances.argmin()))
    for path, (index, position) in starts.items():
        numbers[index][position] = _number(path.tracker_id)
    return _tracked_boxes(frames, numbers)


def _numbers_of(tracked: Any, detections: int) -> list[int | None]:
    """The number that the library gave each of so many detections of a frame."""
    numbers: list[int | None] = [None] * detections
    positions = tracked.data.get("position", ())
    for position, track in zip(positions, tracked.tracker_id, strict=True):
        numbers[position] = _number(track)
    return numbers


def _tracked_boxes(
    frames: Sequence[Sequence[Detection]],
    numbers: Sequence[Sequence[int | None]],
) -> list[list[TrackedBox]]:
    """The detections with their numbers."""
    alone = count(-1, -1)  # each its own number: alone, they are not one thing
    by_frame = []
    for detections, of_frame in zip(frames, numbers, strict=True):
        boxes = []
        for detection, number in zip(detections, of_frame, strict=True):
            if number is None:
                number = next(alone)
            boxes.append(TrackedBox(detection, number))
        by_frame.append(boxes)
    return by_frame


def _number(track: int) -> int | None:
    """Tracks from 1 on; None where the library gave none."""
    return None if track < 0 else int(track) + 1
