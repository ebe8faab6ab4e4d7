"""Contract of executors and observers."""

import os
import time
import warnings
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from cuescope_core.engine import Session
from cuescope_core.respond import open_respond
from cuescope_sdk import PluginError, Response, UserError
from cuescope_sdk._watched import (
    COUNT,
    SPECIAL,
    Fault,
    WatchedModel,
    batches,
    calls,
    open_watched,
)
from cuescope_sdk.workers._crew import KILLS
from cuescope_testing._contract import (
    Contract,
    NotApplicable,
    PerClass,
    expect,
    temporary_folder,
)
from cuescope_testing._fake_method import FakeMethod
from cuescope_testing._running import Setup, temporary_cache
from cuescope_testing._sink import PLACE, Received, process_sink

STOP_SECONDS = 30.0


class ExecutorContract(Contract):
    """Checks of an executor: the answers of this process, whatever answers them.

    Each batch comes once with its own index, in any order; errors of a worker arrive as they are.
    The checks of workers that die apply where workers are processes of their own.
    """

    kind: ClassVar[str] = "executor"
    device: ClassVar[str] = "cpu"  # the model under watch needs no GPU
    watched: PerClass[Path] = PerClass(lambda contract: temporary_folder("executor"))
    # one function for all checks: workers may stay between calls
    opener: PerClass[Callable[[], Any]] = PerClass(
        lambda contract: partial(
            open_respond, partial(open_watched, contract.watched.of(contract))
        )
    )

    def exercise(self) -> None:
        """Build the plugin and use it once."""
        list(self.answers("none"))

    def answers(
        self, fault: Fault, asked: Sequence[Any] | None = None
    ) -> Iterator[tuple[int, list[Response]]]:
        """Batches that the executor yields, of a model with a fault."""
        # workers are other processes: files are what all of them see
        (self.watched / "calls").unlink(missing_ok=True)
        # last: a worker that stayed must not see the old calls under the new fault
        (self.watched / "fault").write_text(fault)
        asked = batches() if asked is None else asked
        return iter(self.built.map(self.opener, asked))

    def expect_whole(
        self,
        answers: Sequence[tuple[int, list[Response]]],
        left_out: Container[int] = (),
    ) -> None:
        """Raise ContractViolation unless each batch came once, with this process's answers."""
        indices = sorted(index for index, _ in answers)
        wanted = [index for index in range(COUNT) if index not in left_out]
        expect(indices == wanted, f"batches {wanted}, once each", got=indices)
        for index, responses in answers:
            own = _bits(WatchedModel.answers(batches()[index]))
            expect(own == _bits(responses), f"the responses to batch {index}, in order")

    def test_answers_as_this_process_does(self) -> None:
        """Where trials are answered changes no answer: yield each batch's index with it, once."""
        self.expect_whole(list(self.answers("none")))

    def test_no_batches_are_no_work(self) -> None:
        """Everything may be cached already: return before workers start."""
        # a worker that was asked all the same would show
        answered = list(self.answers("refuses", []))
        expect(not answered, "nothing for no batches", got=answered)

    def test_errors_of_a_worker_arrive(self) -> None:
        """A model that cannot answer ends the audit with its own line: `future.result()` raises."""
        got = _error_of(lambda: list(self.answers("refuses")))
        refused = isinstance(got, UserError) and "the watched model refuses" in str(got)
        expect(refused, "the model's own UserError", got=repr(got))

    def test_can_be_left_early(self) -> None:
        """Ctrl-C ends the loop over `map` before its end: cancel what has not begun."""
        answers: Any = self.answers("none")
        # one at least, so that workers have begun
        next(answers)
        since = time.monotonic()
        if hasattr(answers, "close"):
            answers.close()
        seconds = time.monotonic() - since
        expect(seconds < STOP_SECONDS, "an end within seconds", got=f"{seconds:.0f} s")

    def require_workers(self) -> None:
        """Raise NotApplicable where this process itself answers: nothing of it can be killed."""
        list(self.answers("none"))
        if os.getpid() in {pid for pid, _ in calls(self.watched)}:
            raise NotApplicable("needs workers that are processes of their own")

    def test_goes_on_where_a_worker_is_killed(self) -> None:
        """kill -9, or too little memory: the batch is asked again of another, and no other is."""
        self.require_workers()
        answers: list[tuple[int, list[Response]]] = []
        got = _error_of(lambda: answers.extend(self.answers("dies once")))
        expect(got is None, "an end with all answers", got=got)
        self.expect_whole(answers)
        asked = Counter(key for _, key in calls(self.watched))
        again = sum(times > 1 for times in asked.values())
        expect(again == 1, "one batch asked again", got=again)

    def test_names_a_batch_that_kills_workers(self) -> None:
        """After some dead workers the batch is left out, and a UserError at the end names it."""
        self.require_workers()
        special = [trial.sample.key for trial in batches()[SPECIAL]]
        answers: list[tuple[int, list[Response]]] = []
        got = _error_of(lambda: answers.extend(self.answers("dies")))
        # `extend` keeps what came before the error
        named = type(got) is UserError and all(key in str(got) for key in special)
        expect(named, f"a UserError that names {special}", got=repr(got))
        self.expect_whole(answers, {SPECIAL})
        # several, so that a worker that died of something else is no verdict on its batch
        tries = [key for _, key in calls(self.watched)].count(special[0])
        expect(tries == KILLS, f"{KILLS} tries of it", got=tries)


def _error_of(action: Callable[[], object]) -> Exception | None:
    try:
        action()
    except Exception as error:
        return error
    return None


def _bits(answers: Sequence[Response]) -> list[bytes]:
    # bytes: == would call -0.0 and 0.0 equal
    return [np.asarray(answer.logits).tobytes() for answer in answers]


class ObserverContract(Contract):
    """Checks of an observer: it follows an audit without a fault, and changes nothing of it.

    One that sends to a server needs none: "{server}" in a text of `options` is the address of a
    server on loopback that takes anything, and `received` is what came, as method, path and body.
    """

    kind: ClassVar[str] = "observer"

    @classmethod
    def build(cls, options: Mapping[str, Any] | None = None) -> Any:
        """The plugin, with the address of the server that takes anything."""
        given = dict(cls.options if options is None else options)
        for name, value in given.items():
            if isinstance(value, str) and PLACE in value:
                given[name] = value.replace(PLACE, process_sink().url)
        return super().build(given)

    @property
    def received(self) -> list[Received]:
        """Messages of observers in this process, the latest last."""
        return process_sink().received

    def exercise(self) -> None:
        """Build the plugin and use it once."""
        self.follow()

    def follow(self) -> str:
        """The report hash of an audit that the observer follows; raises where it fails."""
        with temporary_cache() as cache, warnings.catch_warnings():
            # a fault of an observer is a warning in an audit
            warnings.simplefilter("error")
            # builds the parts: the audit runs in the session below, with the observer
            plain = Setup(FakeMethod).session(cache)
            session = Session(plain.request, plain.parts.context, cache, [self.build()])
            try:
                report = session.run()
                session.finish(report)
            except UserWarning as error:
                raise PluginError(str(error)) from error
            return report.hash

    def test_changes_nothing(self) -> None:
        """It only looks, without a fault: note, attach and respond belong to the method."""
        followed = self.follow()
        expect(followed == Setup(FakeMethod).report().hash, "the report without it")
