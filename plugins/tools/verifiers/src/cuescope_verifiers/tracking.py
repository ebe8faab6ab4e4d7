"""ByteTrack (Zhang et al., 2022) over sparse frames, by the `trackers` library."""

import warnings
from collections.abc import Sequence
from itertools import count
from typing import Any

import numpy as np

from cuescope_sdk import Detection, UserError
from cuescope_verifiers.looking import Box

AS_PUBLISHED = 30.0  # frames a second of the videos that the library's buffer is counted in


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
            remedy="pip install 'cuescope-verifiers[tracks]'",
        ) from error
    return trackers, supervision


def track(
    frames: Sequence[Sequence[Detection]], lost: int, overlap: float, start: float
) -> list[list[Box]]:
    """The detections of one name in successive frames, each with the number of its track.

    Boxes are joined by their generalised intersection over union (Rezatofighi et al., 2019), which
    tells near from far where they do not meet; it must exceed `overlap`. What was seen in two
    successive frames may be missing for `lost`. A track starts with a box of at least the score
    `start`; weaker ones only continue one. A box that no other follows has a number below 0.
    """
    trackers, supervision = library()
    tracker = trackers.ByteTrackTracker(
        lost_track_buffer=lost, frame_rate=AS_PUBLISHED, minimum_consecutive_frames=1,
        track_activation_threshold=start, high_conf_det_threshold=start,
        minimum_iou_threshold=overlap, iou=trackers.GIoU(),
    )  # fmt: skip
    numbers: list[list[int | None]] = []
    begun: dict[Any, tuple[int, int]] = {}  # a track has no number yet in its first frame
    for index, found in enumerate(frames):
        boxes = np.array([one.box for one in found], dtype=np.float64).reshape(-1, 4)
        tracked = tracker.update(
            supervision.Detections(
                xyxy=boxes, confidence=np.array([one.score for one in found], dtype=np.float64),
                data={"place": np.arange(len(found))},
            )
        )  # fmt: skip
        given = dict(zip(tracked.data.get("place", ()), tracked.tracker_id, strict=True))
        numbers.append([_number(given.get(place, -1)) for place in range(len(found))])
        for one in tracker.tracks:
            if one not in begun:
                begun[one] = index, int(np.abs(boxes - one.get_state_bbox()).sum(axis=1).argmin())
    for one, (index, place) in begun.items():
        numbers[index][place] = _number(one.tracker_id)
    alone = count(-1, -1)
    return [
        [Box(one, next(alone) if n is None else n) for one, n in zip(found, of_frame, strict=True)]
        for found, of_frame in zip(frames, numbers, strict=True)
    ]


def _number(given: int) -> int | None:
    return None if given < 0 else int(given) + 1
