"""Frames of the next batch are loaded and prepared by threads while the network works."""

from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from os import cpu_count
from threading import RLock
from typing import Generic, TypeVar

T = TypeVar("T")
MAX_THREADS = 8  # decoders let go of the GIL; more would only hold more decoded images


class LoadedAhead(Generic[T]):
    """Items by key, prepared by threads in the order in which they are expected.

    Not more than `most` wait or are under way. What is taken and was not expected is prepared at
    once. The error of a preparation is raised where its item is taken. One thread may expect while
    another one takes.
    """

    def __init__(self, most: int) -> None:
        self._lock = RLock()
        self._most = most
        self._expected: Mapping[Hashable, Callable[[], T]] = {}
        self._waiting: dict[Hashable, Callable[[], T]] = {}
        self._futures: dict[Hashable, Future[T]] = {}

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(min(MAX_THREADS, cpu_count() or 1), "cuescope-ahead")

    def expect(self, items: Mapping[Hashable, Callable[[], T]]) -> None:
        """Expect what the next batch takes; what it and the last one lack is dropped."""
        with self._lock:
            wanted = {**self._expected, **items}
            for key in self._futures.keys() - wanted:
                self._futures.pop(key).cancel()
            for key in self._waiting.keys() - wanted:
                del self._waiting[key]
            for key, prepare in items.items():
                if key not in self._futures:
                    self._waiting[key] = prepare
            self._expected = items
            self._fill()

    def take(self, key: Hashable, prepare: Callable[[], T]) -> T:
        """An item; others that wait may begin."""
        with self._lock:
            self._waiting.pop(key, None)
            future = self._futures.pop(key, None)
            self._fill()
        return prepare() if future is None else future.result()

    def take_all(self, items: Mapping[Hashable, Callable[[], T]]) -> list[T]:
        """Several items, which are prepared side by side."""
        with self._lock:
            for key, prepare in items.items():
                if key not in self._futures:
                    self._waiting.pop(key, None)
                    self._futures[key] = self._pool.submit(prepare)
        return [self.take(key, prepare) for key, prepare in items.items()]

    def _fill(self) -> None:
        while self._waiting and len(self._futures) < self._most:
            key = next(iter(self._waiting))
            self._futures[key] = self._pool.submit(self._waiting.pop(key))
