"""Executors with processes of their own: a good one, and some that break a promise each."""

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import get_context
from typing import Any, ClassVar

from cuescope_sdk import Plugin, Response, Trial, UserError
from cuescope_sdk.workers._crew import KILLS

Batches = Sequence[Sequence[Trial]]
Answers = Iterator[tuple[int, list[Response]]]
# quick, and a test's own functions need no import there
FORK: Any = get_context("fork")


class Forked(Plugin):
    """A process for each batch, one after the other."""

    tries: ClassVar[int] = KILLS

    def map(self, build: Callable[[], Any], batches: Batches) -> Answers:
        """Each batch's index and responses."""
        poison: list[str] = []
        for index, batch in enumerate(batches):
            for _ in range(self.tries):
                if (responses := self.ask(build, batch)) is not None:
                    yield index, responses
                    break
            else:
                poison += [trial.sample.key for trial in batch]
        if poison:
            self.complain(poison)

    def complain(self, poison: list[str]) -> None:
        raise UserError(f"these samples kill: {', '.join(poison)}")

    def ask(self, build: Callable[[], Any], batch: Sequence[Trial]) -> Any:
        ours, theirs = FORK.Pipe()
        process = FORK.Process(target=self.work, args=(build, batch, theirs))
        process.start()
        theirs.close()
        try:
            reply = ours.recv()
        except EOFError:
            reply = None
        finally:
            process.kill()
            process.join()
            ours.close()
        if isinstance(reply, Exception):
            raise reply
        return reply

    def work(
        self, build: Callable[[], Any], batch: Sequence[Trial], connection: Any
    ) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            connection.send(build()(batch))
        except Exception as error:
            connection.send(error)
        time.sleep(30)  # its driver ends it


class GivesUp(Forked):
    tries = 1


class TriesAgain(Forked):
    tries = KILLS + 1


class KeepsQuiet(Forked):
    def complain(self, poison: list[str]) -> None:
        """Nobody learns of them."""
