"""Sequences that are too long for memory: their later items lie in a temporary file."""

import gc
import io
import pickle
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, TypeVar
from weakref import finalize

from cuescope_core.types import Frame, Outcome, Sample

T = TypeVar("T")
CHUNK = 1000  # items that are written and read together
# lists of a million trials took more than a gigabyte (docs/adr/0013)
# bytes that all items of an audit take at most: what is shorter touches no disk
IN_MEMORY = 2**28
BESIDE = 400  # bytes of an item beside its numbers and its text
RECENT = 4  # chunks that were read last stay in memory


class Shared:
    """Samples of an audit and their frames: files hold the number of each, not its content.

    `room` is how many bytes more its items may take in memory.
    """

    def __init__(
        self,
        samples: Sequence[Sample] = (),
        folder: Path | None = None,
    ) -> None:
        self._samples = samples
        self.folder = folder
        self.room = IN_MEMORY

    @cached_property
    def objects(self) -> list[Any]:
        """The samples, each with its frames behind it."""
        objects: list[Any] = []
        for sample in self._samples:
            objects += (sample, *sample.frames)
        return objects

    @cached_property
    def numbers(self) -> dict[int, int]:
        """Their numbers by `id`."""
        # by identity: read back they are the same objects, which `once` compares by id
        return {id(item): number for number, item in enumerate(self.objects)}


class Spool(Sequence[T]):
    """The items, in order; a slice is a view of them.

    Where all of an audit take more than `IN_MEMORY`, further ones are written to a file of
    `shared.folder`, which is gone with the process. What cannot be pickled, or has no room there,
    stays in memory.
    """

    def __init__(self, items: Iterable[T] = (), shared: Shared | None = None) -> None:
        self._store = _Store(shared or Shared())
        self._rows = range(0)
        self.extend(items)

    def extend(self, items: Iterable[T]) -> None:
        """Add the items at the end."""
        for item in items:
            self._store.append(item)
        self._rows = range(self._store.length)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:
        """An item, or a view of several."""
        rows = self._rows[index]
        if isinstance(rows, int):
            return self._store.read(rows)
        view = copy(self)
        view._rows = rows
        return view


class _Store:
    """Items by their number."""

    def __init__(self, shared: Shared) -> None:
        self.length = 0
        self._shared = shared
        self._chunks: list[
            list[Any] | tuple[int, int]
        ] = []  # or start and size in the file
        self._recent: OrderedDict[int, list[Any]] = OrderedDict()
        self._taken = 0

    def __del__(self) -> None:
        self._shared.room += self._taken

    def append(self, item: Any) -> None:
        if self.length % CHUNK == 0:
            if self._chunks:
                self._settle(len(self._chunks) - 1)
            self._chunks.append([])
        self._chunks[-1].append(item)  # type: ignore[union-attr]  # the last is in memory
        self.length += 1

    def read(self, row: int) -> Any:
        number, position = divmod(row, CHUNK)
        chunk = self._chunks[number]
        if isinstance(chunk, tuple):
            chunk = self._load(number, *chunk)
        return chunk[position]

    @cached_property
    def _file(self) -> IO[bytes]:
        # without a buffer: a write that failed is known at once
        file = TemporaryFile(buffering=0, dir=self._shared.folder)  # noqa: SIM115
        # closed as soon as nobody holds it: then the disk has its room back
        finalize(self, file.close)
        return file

    def _settle(self, number: int) -> None:
        """Keep a chunk that is full where there is room for it."""
        size = sum(map(size_of, self._chunks[number]))
        if size > self._shared.room:
            self._put_away(number)
            return
        self._shared.room -= size
        self._taken += size

    def _put_away(self, number: int) -> None:
        content = io.BytesIO()
        # a function without a name cannot be pickled, a full disk takes nothing
        with suppress(pickle.PicklingError, AttributeError, TypeError, OSError):
            _Pickler(content, self._shared).dump(self._chunks[number])
            size = content.tell()
            start = self._file.seek(0, io.SEEK_END)
            # a disk that is nearly full takes a part: then the chunk stays in memory
            if self._file.write(content.getbuffer()) == size:
                self._chunks[number] = start, size

    def _load(self, number: int, start: int, size: int) -> list[Any]:
        if number not in self._recent:
            self._file.seek(start)
            # a pickle can run code: this file has no name, so nobody else wrote it
            content = io.BytesIO(self._file.read(size))
            with no_collection():
                self._recent[number] = _Unpickler(content, self._shared).load()
            if len(self._recent) > RECENT:
                self._recent.popitem(last=False)
        return self._recent[number]


def size_of(item: object) -> int:
    """About how many bytes a trial or outcome takes, without what it shares with others."""
    if not isinstance(item, Outcome):
        return BESIDE
    response = item.response
    size = BESIDE + len(response.text or "")
    for array in (response.logits, response.embedding, response.readout):
        if array is not None:
            size += array.nbytes
    return size


@contextmanager
def no_collection() -> Iterator[None]:
    """Garbage collection would walk through everything for each thousand of new objects."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _Pickler(pickle.Pickler):
    """Samples and frames of the audit are written as their numbers."""

    def __init__(self, file: io.BytesIO, shared: Shared) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._number = shared.numbers.get

    def persistent_id(self, item: Any) -> int | None:
        return self._number(id(item)) if isinstance(item, Sample | Frame) else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, shared: Shared) -> None:
        super().__init__(file)
        self._objects = shared.objects

    def persistent_load(self, number: int) -> Any:
        return self._objects[number]
