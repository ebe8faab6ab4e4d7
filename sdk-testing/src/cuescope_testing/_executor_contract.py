"""Contract of executors and observers."""

import inspect
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from cuescope_core.engine import Session
from cuescope_core.respond import open_respond, trial_key
from cuescope_core.store import ResponseCache
from cuescope_sdk import PluginError, Response, Trial, UserError
from cuescope_sdk._watched import (
    COUNT,
    SPECIAL,
    Fault,
    WatchedModel,
    batches,
    callers,
    calls,
    open_watched,
)
from cuescope_sdk.workers._crew import KILLS
from cuescope_testing._contract import (
    Contract,
    NotApplicable,
    PerClass,
    expect,
    expect_no_error,
    temporary_folder,
)
from cuescope_testing._fake_method import FakeMethod
from cuescope_testing._running import Setup, temporary_cache
from cuescope_testing._sink import PLACE, Received, process_sink

STOP_SECONDS = 30.0
GONE_SECONDS = 10.0  # of workers whose driver is gone
ONCE = "Yield the index of each batch with its responses, once"
AGAIN = "Ask the batches of a dead worker again, of another one"
DRIVER = "import sys; from cuescope_sdk._watched import main; main(*sys.argv[1:])"


class ExecutorContract(Contract):
    """Checks of an executor: the answers of this process, whatever answers them.

    Each batch comes once with its own index, in any order; errors of a worker arrive as they are.
    The checks of workers that die apply where workers are processes of their own.
    """

    kind: ClassVar[str] = "executor"
    device: ClassVar[str] = "cpu"  # the model under watch needs no GPU
    watched: PerClass[Path] = PerClass(lambda contract: temporary_folder("executor"))
    opener: PerClass[Any] = PerClass(
        # one function for all checks: workers may stay between calls
        lambda contract: partial(
            open_respond, partial(open_watched, contract.watched.of(contract))
        )
    )

    def exercise(self) -> None:
        """Build the plugin and use it once."""
        self.answers("none")

    def prepare(self, fault: Fault) -> None:
        """From here on the model has this fault, and what it was asked before is forgotten."""
        for name in ("calls", "handed-on"):
            # workers are other processes: files are what all of them see
            (self.watched / name).unlink(missing_ok=True)
        # last: a worker that stayed must not see the old calls under the new fault
        (self.watched / "fault").write_text(fault)

    def batches(self) -> Iterator[tuple[int, list[Response]]]:
        """Batches that the executor yields, checked to be each batch once."""
        # a dict of answers alone would hide a batch that comes twice
        seen: set[int] = set()
        # not collected first: batches must be checked as they come
        for index, responses in self.built.map(self.opener, batches()):
            expect(
                index not in seen,
                "each batch once",
                got=f"batch {index} twice",
                remedy=ONCE,
            )
            seen.add(index)
            yield index, responses

    def answers(self, fault: Fault) -> dict[int, list[Response]]:
        """The responses to the batches by index, of a model with a fault."""
        self.prepare(fault)
        return dict(self.batches())

    def compare(
        self,
        answers: Mapping[int, list[Response]],
        expected: Iterable[int],
    ) -> None:
        """Raise ContractViolation unless the answers are those of this process, in its order."""
        # batches may come in any order
        indices = set(expected)
        expect(
            answers.keys() == indices,
            f"batches {indices}",
            got=f"{set(answers)}",
            remedy=ONCE,
        )
        for index in indices:
            expect(
                equal(batches()[index], answers[index]),
                f"the responses to batch {index} in the order of its trials",
                got="others",
                remedy=ONCE,
            )

    def test_answers_as_this_process_does(self) -> None:
        """Where trials are answered changes no answer."""
        self.compare(self.answers("none"), range(COUNT))

    def test_no_batches_are_no_work(self) -> None:
        """Everything may be cached already."""
        # a worker that was asked all the same would show
        self.prepare("refuses")
        answered = len(list(self.built.map(self.opener, [])))
        expect(
            not answered,
            "nothing for no batches",
            got=f"{answered} batches",
            remedy="Return before workers start where there are no batches",
        )

    def test_errors_of_a_worker_arrive(self) -> None:
        """A model that cannot answer must end the audit with its own line, and not hang it."""
        try:
            self.answers("refuses")
            got = "no error"
        except UserError as error:
            got = str(error)
        expect(
            "the watched model refuses" in got,
            "the model's own UserError",
            got=got,
            remedy="Let exceptions of workers through: `future.result()` raises them",
        )

    def test_can_be_left_early(self) -> None:
        """Ctrl-C or a failed batch ends the loop over `map` before its last batch."""
        self.prepare("none")
        # an executor may give another iterator than a generator
        generator: Iterator[Any] = iter(self.built.map(self.opener, batches()))
        # one at least, so that workers have begun
        next(generator)
        since = time.monotonic()
        if hasattr(generator, "close"):
            generator.close()
        # monotonic: the clock may be set meanwhile
        seconds = time.monotonic() - since
        expect(
            seconds < STOP_SECONDS,
            "an end within seconds",
            got=f"{seconds:.0f} s",
            remedy="Cancel what has not begun, and wait for nothing, where the loop is left",
        )

    def test_hands_on_each_answer_at_once(self) -> None:
        """Answers are kept as they come: what is not handed on is lost when the audit is killed."""
        self.prepare("waits")
        with expect_no_error(
            "answers as they come",
            remedy="Yield a batch as soon as it is done, not at the end",
        ):
            for _ in self.batches():
                (self.watched / "handed-on").touch()

    # --------------------------------------------------------------------------- workers that die

    def require_workers(self) -> None:
        """Raise NotApplicable where this process itself answers: nothing of it can be killed."""
        self.answers("none")
        # to kill a worker here would kill the test
        if os.getpid() in {pid for pid, _ in calls(self.watched)}:
            raise NotApplicable("needs workers that are processes of their own")

    def test_goes_on_where_a_worker_is_killed(self) -> None:
        """kill -9, or too little memory: its batch is asked again, and no other is."""
        self.require_workers()
        self.prepare("dies once")
        with expect_no_error("an end with all answers", remedy=AGAIN):
            answers = dict(self.batches())
        self.compare(answers, range(COUNT))
        # by key, for a batch that is asked again may go to any worker
        asked = Counter(key for _, key in calls(self.watched))
        again = [key for key, times in asked.items() if times > 1]
        expect(len(again) == 1, "one batch asked again", got=len(again), remedy=AGAIN)

    def test_names_a_batch_that_kills_workers(self) -> None:
        """The rest is answered; then the audit ends with a line that names the samples."""
        self.require_workers()
        self.prepare("dies")
        special = [trial.sample.key for trial in batches()[SPECIAL]]
        answers: dict[int, list[Response]] = {}
        got = "no error"
        try:
            answers.update(self.batches())
        except Exception as error:
            # any other error is a violation as well, and its name says which
            got = f"{type(error).__name__}: {error}"
        remedy = f"After {KILLS} dead workers leave a batch out, and raise UserError at the end"
        # by name, as a PluginError is a UserError too
        named = got.startswith("UserError") and all(key in got for key in special)
        expect(
            named,
            f"a UserError that names {', '.join(special)}",
            got=got,
            remedy=remedy,
        )
        self.compare(answers, set(range(COUNT)) - {SPECIAL})
        # several, so that a worker that died of something else is no verdict on its batch
        tries = [key for _, key in calls(self.watched)].count(special[0])
        expect(tries == KILLS, f"{KILLS} tries of it", got=tries, remedy=remedy)

    def test_leaves_no_worker_where_the_driver_is_killed(self) -> None:
        """kill -9 of the audit: its workers end by themselves, and what is kept is right."""
        self.stop_a_driver(signal.SIGKILL)

    def test_leaves_no_worker_after_ctrl_c(self) -> None:
        """A terminal sends SIGINT to all of its processes."""
        self.stop_a_driver(signal.SIGINT)

    def stop_a_driver(self, number: signal.Signals) -> None:
        """Stop it when it asks its third batch; raise where a worker outlives it."""
        folder = temporary_folder("executor")
        (folder / "fault").write_text("slow")
        driver = self.start_a_driver(folder)
        # workers must start first, which can take long
        until = time.monotonic() + 2 * STOP_SECONDS
        while (
            len(calls(folder)) < 3
            and driver.poll() is None
            and time.monotonic() < until
        ):
            time.sleep(0.01)
        with suppress(ProcessLookupError):
            # a terminal sends Ctrl-C to the whole group, kill -9 is for one process
            stop = os.killpg if number == signal.SIGINT else os.kill
            stop(driver.pid, number)
        with suppress(subprocess.TimeoutExpired):
            driver.wait(STOP_SECONDS)
        # it may have outlived the signal: the check fails, and nothing stays behind
        driver.kill()
        driver.wait()
        said = (folder / "said").read_text()[-300:]
        # before anything is expected, so that workers are ended in any case
        left = left_alive({pid for pid, _ in calls(folder)})
        stopped = driver.returncode in (-signal.SIGKILL, 130)
        expect(
            len(calls(folder)) >= 3 and stopped and not left,
            f"an end of driver and workers at {number.name}",
            got=f"{len(left)} workers left, exit code {driver.returncode}: {said}",
            remedy="Workers watch their driver, and are ended where the loop over `map` is left",
        )
        self.check_kept(folder)

    def start_a_driver(self, folder: Path) -> "subprocess.Popen[bytes]":
        """A process that answers the batches through the executor, as slowly as the fault says."""
        words = [
            self.plugin.__module__,
            inspect.getsourcefile(self.plugin) or "",
            self.plugin.__qualname__,
            json.dumps(dict(self.options)),
            str(folder),
        ]
        with (folder / "said").open(
            "wb"
        ) as said:  # a pipe would be held by workers that are left
            return subprocess.Popen(
                [sys.executable, "-c", DRIVER, *words],
                env=os.environ
                | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                stderr=said,
                # a group of its own, or the signal would end the test as well
                start_new_session=True,
            )

    def check_kept(self, folder: Path) -> None:
        """Raise ContractViolation for a wrong answer in the cache, and for many that are lost."""
        missing = 0
        # opened anew, as the next audit would after the kill
        with closing(ResponseCache(folder / "responses.sqlite")) as cache:
            for batch in batches():
                keys = [trial_key("watched", trial) for trial in batch]
                # a batch is kept whole or not at all
                kept = cache.get(keys)
                if not kept:
                    missing += 1
                    continue
                right = equal(batch, [kept[key] for key in keys if key in kept])
                expect(
                    right,
                    "whole batches of true answers",
                    got="others",
                    remedy=ONCE,
                )
        workers = len(callers(folder))
        # each worker may have been at one batch when the driver was stopped
        lost = len(calls(folder)) - (COUNT - missing)
        expect(
            lost <= workers,
            "at most one batch of each worker to ask again",
            got=f"{lost} of {workers} workers",
            remedy="Yield a batch as soon as it is done; begin a worker's next one after that",
        )


def equal(batch: Sequence[Trial], answers: Sequence[Response]) -> bool:
    """True if the logits are those of this process, bit by bit."""
    return _bits(WatchedModel.answers(batch)) == _bits(answers)


def _bits(answers: Sequence[Response]) -> list[bytes]:
    # bytes: == would call -0.0 and 0.0 equal
    return [np.asarray(answer.logits).tobytes() for answer in answers]


def left_alive(pids: Iterable[int]) -> list[int]:
    """The processes that still run after a while; they are ended."""
    until = time.monotonic() + GONE_SECONDS
    while (left := [pid for pid in pids if is_alive(pid)]) and time.monotonic() < until:
        time.sleep(0.02)
    for pid in left:
        # it may have ended between the two
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return left


def is_alive(pid: int) -> bool:
    """True if a process runs; one that is dead but not yet waited for does not."""
    try:
        # signal 0 asks whether there is such a process, and does nothing to it
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat")  # Linux alone has it
        return (
            not stat.exists()
            or stat.read_text().rpartition(")")[2].split()[0] not in "ZX"
        )
    except OSError:
        return False


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

    def test_follows_an_audit(self) -> None:
        """Start, progress and end reach it without a fault."""
        self.follow()

    def test_changes_nothing(self) -> None:
        """The report is the same with and without it."""
        alone = Setup(FakeMethod).report().hash
        followed = self.follow()
        expect(
            followed == alone,
            f"the report {alone}",
            got=followed,
            remedy="Only look at the audit: note, attach and respond belong to the method",
        )
