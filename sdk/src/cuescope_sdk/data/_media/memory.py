"""How much memory decoding may take: one limit for all threads together."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition


class Budget:
    """Bytes that threads share: who finds too few left waits until others are done."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.reset()

    def reset(self) -> None:
        """Nothing is held: a forked process has none of the threads that held it."""
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
            self._freed.wait_for(
                lambda: not self.used or self.used + size <= self.limit
            )
            self.used += size
        try:
            yield
        finally:
            with self._freed:
                # a child that was forked inside of the block began at 0
                self.used = max(0, self.used - size)
                self._freed.notify_all()


# over all threads: each may hold a decoded image, so a limit for one is none (SECURITY.md)
DECODING = Budget(2**30)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=DECODING.reset)
