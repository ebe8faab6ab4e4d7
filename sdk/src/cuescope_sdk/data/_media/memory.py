"""How much memory decoding may take: one limit for all threads together."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition


class Budget:
    """Bytes that threads share: who finds too few left waits until others are done."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self._freed = Condition()

    @contextmanager
    def hold(self, size: int) -> Iterator[None]:
        """So many bytes while the block runs; what is larger than all of them runs alone.

        What is a thousand times smaller is not counted.
        """
        if size < self.limit >> 10:
            yield
            return
        with self._freed:
            self._freed.wait_for(lambda: not self.used or self.used + size <= self.limit)
            self.used += size
        try:
            yield
        finally:
            with self._freed:
                self.used -= size
                self._freed.notify_all()


DECODING = Budget(2**30)
