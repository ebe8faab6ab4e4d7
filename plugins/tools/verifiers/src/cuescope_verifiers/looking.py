"""Boxes for the claims of many samples: each frame is shown to the detector once, for all names."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cuescope_sdk import Detection, Detector, Frame

Found = Mapping[tuple[int, str], Sequence["Box"]]


@dataclass(frozen=True)
class Box:
    """A detection, and the number of its `track`, never 0; None where nothing was tracked."""

    seen: Detection
    track: int | None = None


def look(
    detector: Detector,
    frames: Sequence[Sequence[Frame]],
    asked: Sequence[Sequence[set[str]]],
    threshold: float,
) -> list[Found]:
    """For each video the boxes by frame and name, best first; what is not there was not found.

    `asked` are the names for each frame of each video; boxes must score more than `threshold`.
    """
    names: dict[str, set[str]] = defaultdict(set)
    shown: dict[str, Frame] = {}
    for video, of_video in zip(frames, asked, strict=True):
        for frame, of_frame in zip(video, of_video, strict=True):
            names[frame.key] |= of_frame
            shown[frame.key] = frame
    seen = _in_one_pass(detector, shown, names)
    return [
        {
            (index, name): [
                Box(box) for box in seen[frame.key] if box.name == name and box.score > threshold
            ]
            for index, (frame, of_frame) in enumerate(zip(video, of_video, strict=True))
            for name in of_frame
        }
        for video, of_video in zip(frames, asked, strict=True)
    ]


def _in_one_pass(
    detector: Detector, shown: Mapping[str, Frame], names: Mapping[str, set[str]]
) -> dict[str, tuple[Detection, ...]]:
    """Frames that want the same names go in one call."""
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for key, of_frame in names.items():
        alike[tuple(sorted(of_frame))].append(key)
    found: dict[str, tuple[Detection, ...]] = {}
    for wanted, keys in alike.items():
        if wanted:
            said = detector.detect([shown[key] for key in keys], wanted)
            found |= zip(keys, said, strict=True)
        else:
            found |= dict.fromkeys(keys, ())
    return found
