"""The child process in which files of strangers are parsed, within limits of time and memory.

A child is kept and used again. Limits hold where the system has them: Linux has both, macOS that of
time, Windows none.
"""

import atexit
import os
import pickle
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from io import BytesIO
from typing import IO, Any, TypeVar

from cuescope_core.errors import BadDataError

# of processor time for a value: a workbook of half a million rows takes 92
SECONDS = 120
# a picture of the most pixels that Pillow opens takes .7 GB, a log of 50,000 rows .4
BYTES = 2**32
VALUE, END, ERROR = range(3)
Value = TypeVar("Value")


class ParserLimitError(BadDataError):
    """The child that parsed a file was ended: by its limits, or since its decoder crashed."""


class Child:
    """A process that answers calls with their values; what it prints goes nowhere."""

    def __init__(self) -> None:
        self.is_idle = True
        # modules are found where they are found here, and never in the folder of the moment
        paths = os.pathsep.join(filter(None, sys.path))
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", f"from {__name__} import serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        )
        self._send((SECONDS, BYTES))

    def _send(self, value: object) -> None:
        assert self._process.stdin is not None
        pickle.dump(value, self._process.stdin)
        self._process.stdin.flush()

    def values(
        self,
        title: str,
        call: Callable[..., Iterable[Value]],
        arguments: tuple[Any, ...],
    ) -> Iterator[Value]:
        """What the call gives, one after the other; raises ParserLimitError where it is ended."""
        assert self._process.stdout is not None
        self.is_idle = False
        try:
            self._send((call, arguments))
            kind, value = _receive(self._process.stdout)
            while kind == VALUE:
                yield value
                kind, value = _receive(self._process.stdout)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            code = self._process.wait()
            got = "more: it may be a bomb"
            if code != -getattr(signal, "SIGXCPU", 0):
                got = f"a crash of its decoder ({code})"
            raise ParserLimitError(
                f"{title} could not be parsed",
                expected=f"at most {SECONDS} s of processor time",
                got=got,
            ) from None
        self.is_idle = True
        if kind == ERROR:
            raise value

    @property
    def lives(self) -> bool:
        """True unless the process has ended."""
        return self._process.poll() is None

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


_idle: list[Child] = []
if hasattr(os, "register_at_fork"):
    # two processes must not talk to one child
    os.register_at_fork(after_in_child=_idle.clear)


@atexit.register
def end_children() -> None:
    """End the children that are kept."""
    while _idle:
        _idle.pop().end()


def each_in_child(
    title: str, call: Callable[..., Iterable[Value]], *arguments: Any
) -> Iterator[Value]:
    """The values of a call in a child; `title` begins the error of one that is ended.

    Call, arguments and values can be pickled. Raises what the call raises.
    """
    child = _take_idle() or Child()
    try:
        yield from child.values(title, call, arguments)
    finally:
        if child.is_idle:
            _idle.append(child)
        else:
            child.end()


def _take_idle() -> Child | None:
    """A child that is kept and lives; None where there is none."""
    # another thread may take the last one
    with suppress(IndexError):
        while True:
            child = _idle.pop()
            if child.lives:
                return child
            child.end()
    return None


def in_child(title: str, call: Callable[..., Value], *arguments: Any) -> Value:
    """The one value of a call in a child, as `each_in_child` has many."""
    values: list[Value] = list(each_in_child(title, _once, call, arguments))
    return values[0]


def _once(call: Callable[..., Value], arguments: tuple[Any, ...]) -> Iterator[Value]:
    yield call(*arguments)


def _receive(file: IO[bytes]) -> Any:
    return pickle.load(file)  # noqa: S301 - of this program, on either side


def serve() -> None:
    """Answer the calls that come on standard input, until there are no more."""
    answers = os.fdopen(os.dup(1), "wb")
    # decoders may print
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    # who interrupts a command or a cell means that, and it ends its child itself
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    seconds, most = _receive(sys.stdin.buffer)
    with suppress(ImportError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    while True:
        try:
            call, arguments = _receive(sys.stdin.buffer)
        except EOFError:
            return
        # a reader that is not there is an error of this call alone
        except Exception as error:
            answer = ERROR, _portable(error, most)
        else:
            answer = _answer(call, arguments, answers, seconds, most)
        pickle.dump(answer, answers)
        answers.flush()


def _answer(
    call: Any, arguments: Any, answers: Any, seconds: int, most: int
) -> tuple[int, Any]:
    """The end of a call, after each of its values was sent."""
    try:
        _allow_time(seconds)
        for value in call(*arguments):
            # whole first: half a value could not be followed by an error
            content = pickle.dumps((VALUE, value))
            answers.write(content)
            answers.flush()
            _allow_time(seconds)
    except Exception as error:
        return ERROR, _portable(error, most)
    return END, None


def _allow_time(seconds: int) -> None:
    with suppress(ImportError, ValueError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        used = sum(os.times()[:2])
        resource.setrlimit(resource.RLIMIT_CPU, (int(used) + seconds + 1, hard))


def _portable(error: Exception, most: int) -> Exception:
    """The error as it can be sent; one of memory in words."""
    if isinstance(error, MemoryError):
        return ParserLimitError(
            "no memory is left for its parser",
            expected=f"at most {most / 2**30:g} GB",
            got="more: it may be a bomb",
        )
    try:
        _receive(BytesIO(pickle.dumps(error)))
    except Exception:
        return ValueError(f"{type(error).__name__}: {error}")
    return error
