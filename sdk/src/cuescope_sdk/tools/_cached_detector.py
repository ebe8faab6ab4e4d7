"""What a detector said, kept in the user's cache: no image is shown to it twice for a name.

finder = cached_detector(audit.tools["detector"], audit.context)
finder.detect(frames, names)
"""

import json
from collections.abc import Sequence
from typing import Any

from cuescope.capabilities import Detection, Detector
from cuescope.context import Context
from cuescope.digest import digest
from cuescope.types import Frame
from cuescope_sdk._text_cache import TextCache
from cuescope_sdk.tools._detection import sort_by_score

FILE = "detections.sqlite"
PASSES = "images shown to detectors"
Key = tuple[str, str]  # frame key, name
Asked = tuple[Sequence[Frame], Sequence[str]]


def cached_detector(detector: Detector, context: Context) -> "CachedDetector":
    """The detector with a memory; one without a `fingerprint` is remembered in this process alone.

    A detector whose answer for a name depends on the names beside it says so by an attribute
    `joint`; its answers are kept for that very list of names.
    """
    return CachedDetector(detector, context)


class CachedDetector:
    """A `Detector` that asks the real one only for what is not known yet.

    The frames of a batch (`context.batch_size`) go in one call, with the names that any of them
    lacks; what came is stored before the next call. `passes` counts the frames that were shown;
    `context.tool_calls` those that will be, before the first of them, for a plan.
    """

    def __init__(self, detector: Detector, context: Context) -> None:
        self.fingerprint: str | None = getattr(detector, "fingerprint", None)
        self.passes = 0
        self._detector = detector
        self._context = context
        self._joint = bool(getattr(detector, "joint", False))
        self._cache = TextCache(context.cache / FILE if self.fingerprint else None)

    @property
    def facts(self) -> dict[str, str]:
        """What the detector says of itself, and where its answers are kept."""
        storage = "in the user's cache" if self.fingerprint else "for this run (no fingerprint)"
        return {**getattr(self._detector, "facts", {}), "detections are kept": storage}

    def detect(self, frames: Sequence[Frame], names: Sequence[str]) -> list[tuple[Detection, ...]]:
        """Detections of any of the names, a tuple a frame, best first."""
        return self.detect_all([(frames, names)])[0]

    def detect_all(self, asked: Sequence[Asked]) -> list[list[tuple[Detection, ...]]]:
        """As `detect`, for several groups of frames, each with names of its own."""
        # before any work, for a plan stops at the first of it
        self._context.tool_calls[PASSES] += sum(self.passes_to_come(*group) for group in asked)
        return [self._detect(*group) for group in asked]

    def _detect(self, frames: Sequence[Frame], names: Sequence[str]) -> list[tuple[Detection, ...]]:
        names = tuple(dict.fromkeys(names))
        distinct = list({frame.key: frame for frame in frames}.values())
        detections: dict[str, tuple[Detection, ...]] = {}
        with self._context.progress("finding objects", len(distinct)) as advance:
            for batch in self._batches(distinct):
                known = self._read(batch, names)
                known |= self._ask(batch, names, known)  # a kill loses this batch and no more
                for frame in batch:
                    of_frame = (d for name in names for d in known[frame.key, name])
                    detections[frame.key] = sort_by_score(of_frame)
                advance(len(batch))
        return [detections[frame.key] for frame in frames]

    def passes_to_come(self, frames: Sequence[Frame], names: Sequence[str]) -> int:
        """How many frames `detect` would show to the real detector."""
        names = tuple(dict.fromkeys(names))
        batches = self._batches(list({frame.key: frame for frame in frames}.values()))
        return sum(len(_lacking(batch, names, self._read(batch, names))) for batch in batches)

    def close(self) -> None:
        """Release the file."""
        self._cache.close()

    def _batches(self, frames: list[Frame]) -> list[list[Frame]]:
        size = self._context.batch_size
        return [frames[start : start + size] for start in range(0, len(frames), size)]

    def _ask(
        self, batch: Sequence[Frame], names: tuple[str, ...], known: dict[Key, Any]
    ) -> dict[Key, tuple[Detection, ...]]:
        """What the real detector says of what is not known, stored."""
        lacking = _lacking(batch, names, known)
        if not lacking:
            return {}
        wanted = [name for name in names if any((f.key, name) not in known for f in lacking)]
        answers = self._detector.detect(lacking, wanted)
        self.passes += len(lacking)
        new = {
            # nothing found is kept too, as ()
            (frame.key, name): tuple(d for d in of_frame if d.name == name)
            for frame, of_frame in zip(lacking, answers, strict=True)
            for name in wanted
            if (frame.key, name) not in known
        }
        if not self._context.planning:  # a free detector answers in a plan, and counts in the audit
            self._cache.put({self._key(key, names): _to_json(boxes) for key, boxes in new.items()})
        return new

    def _read(
        self, batch: Sequence[Frame], names: tuple[str, ...]
    ) -> dict[Key, tuple[Detection, ...]]:
        """What is known of these frames and names."""
        keys = {self._key((f.key, name), names): (f.key, name) for f in batch for name in names}
        texts = self._cache.get(keys)
        return {keys[key]: _from_json(keys[key][1], text) for key, text in texts.items()}

    def _key(self, key: Key, names: tuple[str, ...]) -> str:
        beside = names if self._joint else ()  # else a new name would make all others unknown
        return digest("detections", 1, self.fingerprint, *key, beside)


def _lacking(batch: Sequence[Frame], names: Sequence[str], known: dict[Key, Any]) -> list[Frame]:
    return [f for f in batch if any((f.key, name) not in known for name in names)]


def _to_json(detections: Sequence[Detection]) -> str:
    return json.dumps([(d.score, *d.box) for d in detections])


def _from_json(name: str, text: str) -> tuple[Detection, ...]:
    return tuple(
        Detection(name=name, score=score, box=tuple(box)) for score, *box in json.loads(text)
    )
