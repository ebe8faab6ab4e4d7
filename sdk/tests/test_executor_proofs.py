"""Each check of executors and observers catches a plugin that breaks it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from cuescope_sdk import Audit, Plugin, Response, Trial, UserError, hookimpl
from cuescope_sdk.testing import ExecutorContract, ObserverContract, _executor_contract as contracts

from .contract_proofs import failed

Batches = Sequence[Sequence[Trial]]
Answers = Iterator[tuple[int, list[Response]]]


class InTurn(Plugin):
    """One batch after the other."""

    def map(self, build: Callable[[], Any], batches: Batches) -> Answers:
        """Each batch's index and responses."""
        if batches:
            respond = build()
            for index, batch in enumerate(batches):
                yield index, respond(batch)


class WrongIndex(InTurn):
    def map(self, build: Callable[[], Any], batches: Batches) -> Answers:
        found = list(super().map(build, batches))
        yield from ((index, found[index - 1][1]) for index, _ in found)


class Twice(InTurn):
    def map(self, build: Callable[[], Any], batches: Batches) -> Answers:
        for answer in super().map(build, batches):
            yield answer
            yield answer


class DropsErrors(InTurn):
    def map(self, build: Callable[[], Any], batches: Batches) -> Answers:
        try:
            yield from super().map(build, batches)
        except UserError:
            return


class AlwaysAnswers(InTurn):
    def map(self, build: Callable[[], Any], batches: Batches) -> Answers:
        yield from super().map(build, batches)
        if not batches:
            yield 0, []


class HoldsOn(InTurn):
    def map(self, build: Callable[[], Any], batches: Batches) -> Answers:
        answers = super().map(build, batches)
        try:
            yield from answers
        finally:
            contracts.time.sleep(0.2)


class Follows(Plugin):
    @hookimpl
    def audit_started(self, audit: Audit) -> None:
        """Look on."""


class Fails(Plugin):
    @hookimpl
    def audit_finished(self) -> None:
        raise RuntimeError("the tracker is away")


class Meddles(Plugin):
    @hookimpl
    def audit_started(self, audit: Audit) -> None:
        audit.note("observed", "yes")


def executor(cls: type[Plugin]) -> type[ExecutorContract]:
    return type("TestBad", (ExecutorContract,), {"plugin": cls})


def observer(cls: type[Plugin]) -> type[ObserverContract]:
    return type("TestBad", (ObserverContract,), {"plugin": cls})


@pytest.mark.parametrize(
    ("contract", "checks"),
    [
        (executor(InTurn), set()),
        (executor(WrongIndex), {"test_answers_as_this_process_does"}),
        (executor(DropsErrors), {"test_errors_of_a_worker_arrive"}),
        (executor(AlwaysAnswers), {"test_no_batches_are_no_work"}),
        (executor(HoldsOn), {"test_can_be_left_early"}),
        (observer(Follows), set()),
        (observer(Meddles), {"test_changes_nothing"}),
    ],
)
def test_each_check_catches_its_bad_plugin(
    contract: Any, checks: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contracts, "STOP_SECONDS", 0.15)
    assert failed(contract) == checks


@pytest.mark.parametrize("contract", [executor(Twice), observer(Fails)])
def test_what_cannot_be_used_at_all_fails_everywhere(contract: Any) -> None:
    assert len(failed(contract)) >= 2
