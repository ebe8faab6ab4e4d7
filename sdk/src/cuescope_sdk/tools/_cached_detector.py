"""Answers of a detector, kept in the user's cache: no image is shown to it twice for a name.

finder = CachedDetector(audit.tools["detector"], audit.context)
finder.detect(frames, names)
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain, product, starmap
from typing import Annotated

from pydantic import Field, FiniteFloat, TypeAdapter

from cuescope_core.capabilities import Detection, Detector
from cuescope_core.context import Context
from cuescope_core.digest import digest
from cuescope_core.store import UNREADABLE
from cuescope_core.types import Frame
from cuescope_sdk._text_cache import TextCache
from cuescope_sdk.tools._detection import sort_by_score

FILE = "detections.sqlite"
PASSES = "images shown to detectors"
Key = tuple[str, str]  # frame key, name
Asked = tuple[Sequence[Frame], Sequence[str]]
Boxes = tuple[Detection, ...]
_Score = Annotated[FiniteFloat, Field(ge=0, le=1)]
# no frame has longer sides, and a box may reach over its edge
_Pixel = Annotated[FiniteFloat, Field(ge=-(2**16), le=2**17)]
# score, and the corners of the box
_Row = tuple[_Score, _Pixel, _Pixel, _Pixel, _Pixel]
_ROWS = TypeAdapter(list[_Row])


class CachedDetector:
    """A `Detector` that asks the real one only for what is not known yet.

    One without a `fingerprint` is remembered in this process alone. A detector whose answer for a
    name depends on the names beside it says so by an attribute `joint`; its answers are kept for
    that very list of names.

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
        """Facts about the detector, and where its answers are kept."""
        storage = "for this run (no fingerprint)"
        if self.fingerprint:
            storage = "in the user's cache"
        return {**getattr(self._detector, "facts", {}), "detections are kept": storage}

    def detect(self, frames: Sequence[Frame], names: Sequence[str]) -> list[Boxes]:
        """Detections of any of the names, a tuple a frame, best first."""
        return self.detect_all([(frames, names)])[0]

    def detect_all(self, asked: Sequence[Asked]) -> list[list[Boxes]]:
        """As `detect`, for several groups of frames, each with names of its own."""
        # before any work, for a plan stops at the first of it
        self._context.tool_calls[PASSES] += sum(starmap(self.passes_to_come, asked))
        return list(starmap(self._detect, asked))

    def _detect(self, frames: Sequence[Frame], names: Sequence[str]) -> list[Boxes]:
        names = tuple(dict.fromkeys(names))
        detections: dict[str, Boxes] = {}
        images = len(_distinct(frames))
        with self._context.progress("finding objects", images) as advance:
            for batch in self._batches(frames):
                stored = self._read(batch, names)
                # a kill loses this batch and no more
                stored |= self._ask(batch, names, stored)
                for frame in batch:
                    by_name = [stored[frame.key, name] for name in names]
                    detections[frame.key] = sort_by_score(chain.from_iterable(by_name))
                advance(len(batch))
        return [detections[frame.key] for frame in frames]

    def passes_to_come(self, frames: Sequence[Frame], names: Sequence[str]) -> int:
        """How many frames `detect` would show to the real detector."""
        names = tuple(dict.fromkeys(names))
        passes = 0
        for batch in self._batches(frames):
            stored = self._read(batch, names)
            for frame in batch:
                passes += bool(_lacking(frame, names, stored))
        return passes

    def close(self) -> None:
        """Release the file."""
        self._cache.close()

    def _batches(self, frames: Sequence[Frame]) -> Iterator[list[Frame]]:
        distinct = _distinct(frames)
        size = self._context.batch_size
        for start in range(0, len(distinct), size):
            yield distinct[start : start + size]

    def _ask(
        self,
        batch: Sequence[Frame],
        names: tuple[str, ...],
        stored: dict[Key, Boxes],
    ) -> dict[Key, Boxes]:
        """Ask the real detector about what is not stored, and store it."""
        lacking = {frame.key: _lacking(frame, names, stored) for frame in batch}
        frames = [frame for frame in batch if lacking[frame.key]]
        if not frames:
            return {}
        missing = set(chain.from_iterable(lacking.values()))
        wanted = list(filter(missing.__contains__, names))
        answers = self._detector.detect(frames, wanted)
        self.passes += len(frames)
        new = {}
        texts = {}
        for frame, detections in zip(frames, answers, strict=True):
            for name in lacking[frame.key]:
                # nothing found is kept too, as ()
                boxes = tuple(box for box in detections if box.name == name)
                pair = (frame.key, name)
                new[pair] = boxes
                rows = [(box.score, *box.box) for box in boxes]
                texts[self._key(pair, names)] = json.dumps(rows)
        # a free detector answers in a plan, and counts in the audit
        if not self._context.planning:
            self._cache.put(texts)
        return new

    def _read(self, batch: Sequence[Frame], names: tuple[str, ...]) -> dict[Key, Boxes]:
        """Read what is stored of these frames and names."""
        pair_of = {}
        for pair in product([frame.key for frame in batch], names):
            pair_of[self._key(pair, names)] = pair
        stored = {}
        for key, text in self._cache.get(pair_of).items():
            pair = pair_of[key]
            # the seal fits whatever a stranger's file holds: then it is asked again
            with suppress(*UNREADABLE):
                stored[pair] = _from_json(pair[1], text)
        return stored

    def _key(self, key: Key, names: tuple[str, ...]) -> str:
        # else a new name would make all others unknown
        beside = names if self._joint else ()
        # by name: SpurLens's published cache goes by line numbers of its list of cues
        return digest("detections", 1, self.fingerprint, *key, beside)


def _distinct(frames: Sequence[Frame]) -> list[Frame]:
    return list({frame.key: frame for frame in frames}.values())


def _lacking(frame: Frame, names: Sequence[str], stored: dict[Key, Boxes]) -> list[str]:
    return [name for name in names if (frame.key, name) not in stored]


def _from_json(name: str, text: str) -> Boxes:
    boxes = []
    for score, *corners in _ROWS.validate_json(text):
        left, top, right, bottom = corners
        if left > right or top > bottom:
            raise ValueError("a box without an inside")
        boxes.append(Detection(name=name, score=score, box=tuple(corners)))
    return tuple(boxes)
