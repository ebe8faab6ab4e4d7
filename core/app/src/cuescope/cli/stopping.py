"""Ctrl-C and SIGTERM: one line, a code that says so, and no wait for what hangs."""

import atexit
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, Timer, current_thread, main_thread
from typing import Any

from cuescope.cli.log_lines import LOG

STOP_SECONDS = 1.5
LINE = "stopped; answers so far are kept, the same command goes on from there"


class Stops:
    """Hears the signals. The first one during the work ends it as a KeyboardInterrupt.

    What does not end within `STOP_SECONDS` (a thread that waits for a server) is left behind:
    every answer is in its file as soon as it came, so nothing is lost by that. More signals change
    nothing. After the work the first signal is ignored, since nothing is left to be stopped; should
    the end of the process hang, the second one ends it.
    """

    def __init__(self) -> None:
        self.number: int | None = None  # of the signal that came during the work
        self.begun = False
        self.done = False
        self.code = 0  # of the process
        self._late = 0
        self._telling = Lock()

    def hear(self, number: int, frame: object) -> None:
        """The handler."""
        if self.done:
            self._late += 1
            if self._late > 1:
                os._exit(self.code)
        elif self.number is None:
            self.number = number
            if not self.begun:  # nobody would catch it
                os._exit(self.tell())
            timer = Timer(STOP_SECONDS, self._leave)
            timer.daemon = True
            timer.start()
            raise KeyboardInterrupt

    def tell(self) -> int:
        """Print the line, once; the shell's code for a signal."""
        code = 128 + (self.number or signal.SIGINT)
        if self._telling.acquire(blocking=False):
            LOG.write(LINE, level="warning", exit_code=code)
        return code

    def _leave(self) -> None:
        code = self.tell() if not self.done else self.code
        os._exit(code)

    @contextmanager
    def heard(self, *, to_the_end: bool) -> Iterator[None]:
        """Signals are heard within; `to_the_end` of the process where nothing follows.

        After a stop they are heard to the end in any case: threads may hold it up.
        """
        if current_thread() is not main_thread():  # only there may signals be handled
            yield
            return
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.hear) for number in numbers}
        hook = sys.unraisablehook
        sys.unraisablehook = self._silent_about_stops
        if to_the_end:
            # begun first, so called last: later Python restores handlers that end it by a signal
            atexit.register(_ignore, numbers)
        try:
            yield
        finally:
            if self.number is None and not to_the_end:
                sys.unraisablehook = hook
                for number, handler in before.items():
                    signal.signal(number, handler)

    def _silent_about_stops(self, fault: Any) -> None:
        """A stop that comes while Python deletes an object is no fault to be printed."""
        if not issubclass(fault.exc_type, KeyboardInterrupt):
            sys.__unraisablehook__(fault)


def _ignore(numbers: tuple[int, ...]) -> None:
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)
