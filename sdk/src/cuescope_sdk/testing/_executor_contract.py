"""What every executor and every observer must hold."""

import time
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, ClassVar

from cuescope.engine import Session
from cuescope.respond import open_respond
from cuescope_sdk import Context, PluginError, Response, Trial, UserError
from cuescope_sdk.testing._contract import Contract, expect
from cuescope_sdk.testing._fake_data import FakeDataOptions, FakeDataset
from cuescope_sdk.testing._fake_method import FakeMethod
from cuescope_sdk.testing._fake_models import FakeModel, FakeModelOptions
from cuescope_sdk.testing._running import Setup, temporary_cache

BATCH = 4
STOP_SECONDS = 30.0
ONCE = "Yield the index of each batch with its responses, once"


class RefusingModel(FakeModel):
    """Refuses every trial in one line."""

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Unreachable."""
        raise UserError("the fake model refuses")


def open_model(cls: type[FakeModel]) -> Any:
    """The function that answers a batch; picklable, as an executor's workers need it."""
    model: Any = cls(FakeModelOptions(), Context())
    return open_respond(lambda: model)


class ExecutorContract(Contract):
    """Checks of an executor: the answers of this process, whatever answers them.

    Each batch comes once with its own index, in any order; errors of a worker arrive as they are.
    """

    kind: ClassVar[str] = "executor"

    def exercise(self) -> None:
        """Build the plugin and use it once."""
        self.answers(FakeModel)

    def answers(self, cls: type[FakeModel]) -> dict[int, list[Response]]:
        """The responses to the batches by index; raises where an index comes twice."""
        answers: dict[int, list[Response]] = {}
        for index, responses in self.built.map(partial(open_model, cls), batches()):
            expect(index not in answers, "each batch once", got=f"batch {index} twice", remedy=ONCE)
            answers[index] = responses
        return answers

    def test_answers_as_this_process_does(self) -> None:
        """Where trials are answered changes no answer."""
        respond = open_model(FakeModel)
        answers = self.answers(FakeModel)
        expected = set(range(len(batches())))
        expect(
            answers.keys() == expected, f"batches {expected}", got=f"{set(answers)}", remedy=ONCE
        )
        for index, batch in enumerate(batches()):
            for own, other in zip(respond(batch), answers[index], strict=True):
                same = own.logits is not None and other.logits is not None
                same = same and own.logits.tobytes() == other.logits.tobytes()  # type: ignore[union-attr]
                expect(
                    same,
                    f"the responses to batch {index} in the order of its trials",
                    got="others",
                    remedy=ONCE,
                )

    def test_no_batches_are_no_work(self) -> None:
        """Everything may be cached already."""
        found = list(self.built.map(partial(open_model, RefusingModel), []))
        remedy = "Return before workers start where there are no batches"
        expect(not found, "nothing for no batches", got=f"{len(found)} batches", remedy=remedy)

    def test_errors_of_a_worker_arrive(self) -> None:
        """A model that cannot answer must end the audit with its own line, and not hang it."""
        try:
            self.answers(RefusingModel)
            got = "no error"
        except UserError as error:
            got = str(error)
        expect(
            "the fake model refuses" in got,
            "the model's own UserError",
            got=got,
            remedy="Let exceptions of workers through: `future.result()` raises them",
        )

    def test_can_be_left_early(self) -> None:
        """Ctrl-C or a failed batch ends the loop over `map` before its last batch."""
        since = time.monotonic()
        generator: Iterator[Any] = iter(self.built.map(partial(open_model, FakeModel), batches()))
        next(generator)
        if hasattr(generator, "close"):
            generator.close()
        seconds = time.monotonic() - since
        remedy = "Cancel what has not begun, and wait for nothing, where the loop is left"
        expect(
            seconds < STOP_SECONDS, "an end within seconds", got=f"{seconds:.0f} s", remedy=remedy
        )


class ObserverContract(Contract):
    """Checks of an observer: it follows an audit without a fault, and changes nothing of it."""

    kind: ClassVar[str] = "observer"

    def exercise(self) -> None:
        """Build the plugin and use it once."""
        self.follow()

    def follow(self) -> str:
        """The report hash of an audit that the observer follows; raises where it fails."""
        with temporary_cache() as cache, warnings.catch_warnings():
            warnings.simplefilter("error")  # a fault of an observer is a warning in an audit
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
        alone, followed = Setup(FakeMethod).report().hash, self.follow()
        remedy = "Only look at the audit: note, attach and respond belong to the method"
        expect(followed == alone, f"the report {alone}", got=followed, remedy=remedy)


def batches() -> list[list[Trial]]:
    """Four batches of distinct trials, the last one shorter."""
    dataset = FakeDataset(FakeDataOptions(), Context())
    trials = [Trial(sample=dataset[index]) for index in range(3 * BATCH + 2)]
    return [trials[start : start + BATCH] for start in range(0, len(trials), BATCH)]
