"""The frames of a sample: as many as a model takes together, each encoded once."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from cuescope_core.amounts import count_of
from cuescope_core.errors import UserError
from cuescope_core.types import Frame


class HasBytes(Protocol):
    """An array or tensor."""

    @property
    def nbytes(self) -> int:
        """The memory that it takes."""


Row = TypeVar("Row", bound=HasBytes)


def require_frames(title: str, frames: Sequence[object], count: int) -> None:
    """Raises UserError where a model (`title`) is shown another number of frames than it takes."""
    if len(frames) != count:
        raise UserError(
            f"{title} looks at {count_of(count, 'frames')} together",
            expected=f"{count_of(count, 'frames')} a sample",
            got=str(len(frames)),
            remedy=f"Sample as many, say with -O data.frames={count}.",
        )


@dataclass
class FrameMemory(Generic[Row]):
    """Memory of an encoder: the frames that were shown last, each encoded once.

    `encode` gives a row a frame, and is called with `batch_size` frames at most; the rows that
    are remembered take `most_bytes` at most.
    """

    encode: Callable[[Sequence[Frame]], Iterable[Row]]
    batch_size: int
    most_bytes: int
    _memory: OrderedDict[str, Row] = field(default_factory=OrderedDict)

    def rows(
        self,
        frames: Sequence[Frame],
        advance: Callable[[int], object] = lambda step: None,
    ) -> list[Row]:
        """A row a frame, in order; `advance` is called with the number of those that are ready."""
        rows: dict[str, Row] = {}
        new: dict[str, Frame] = {}
        for frame in frames:
            if frame.key in self._memory:
                rows[frame.key] = self._memory[frame.key]
            else:
                new[frame.key] = frame
        advance(len(frames) - len(new))
        missing = list(new.values())
        for start in range(0, len(missing), self.batch_size):
            batch = missing[start : start + self.batch_size]
            for frame, row in zip(batch, self.encode(batch), strict=True):
                rows[frame.key] = row
            advance(len(batch))
        # after all of them: a large batch would push out its own first rows
        for key, row in rows.items():
            self._memory[key] = row
            self._memory.move_to_end(key)
        # by the largest row, so that a limit in rows is one in bytes
        largest = max((row.nbytes for row in rows.values()), default=1)
        while len(self._memory) > self.most_bytes // largest:
            self._memory.popitem(last=False)
        return [rows[frame.key] for frame in frames]
