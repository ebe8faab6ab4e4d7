"""Each check of executors and observers catches a plugin that breaks it."""

from collections.abc import Callable
from typing import Annotated, Any
from urllib.request import Request, urlopen

import pytest
from pydantic import Field

from cuescope_sdk import Audit, Names, Options, Plugin, Report, UserError, hookimpl
from cuescope_testing import (
    ExecutorContract,
    ObserverContract,
    _executor_contract as contracts,
)

from .bad_executors import Answers, Batches, Forked, GivesUp, KeepsQuiet, TriesAgain
from .contract_proofs import failed

POISON = "test_names_a_batch_that_kills_workers"


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


class SenderOptions(Options):
    url: Annotated[str, Names.host()] = Field(description="where lines are sent")


class Sender(Plugin):
    """Sends a line to a server as an audit ends."""

    Options = SenderOptions

    @hookimpl
    def audit_finished(self, report: Report) -> None:
        request = Request(self.options.url, data=report.hash.encode(), method="POST")
        with urlopen(request, timeout=10) as answer:
            assert answer.status == 200


def test_an_observer_that_sends_is_checked_without_its_server() -> None:
    facts = {"plugin": Sender, "options": {"url": "{server}/hook"}}
    contract = type("OfSender", (ObserverContract,), facts)
    assert contract.run_check("test_changes_nothing").status == "ok"
    followed = contract().follow()
    assert contract().received[-1] == ("POST", "/hook", followed.encode())
    elsewhere = facts | {"options": {"url": "http://127.0.0.1:9"}}
    gone = type("OfGone", (ObserverContract,), elsewhere)
    assert gone.run_check("test_changes_nothing").status == "failed"


def observer(cls: type[Plugin]) -> type[ObserverContract]:
    return type("TestBad", (ObserverContract,), {"plugin": cls})


@pytest.mark.parametrize(
    ("contract", "checks"),
    [
        (executor(InTurn), set()),
        (executor(WrongIndex), {"test_answers_as_this_process_does"}),
        (executor(Twice), {"test_answers_as_this_process_does"}),
        (executor(DropsErrors), {"test_errors_of_a_worker_arrive"}),
        (executor(AlwaysAnswers), {"test_no_batches_are_no_work"}),
        (executor(HoldsOn), {"test_can_be_left_early"}),
        # that a good one passes, those that ship with cuescope show
        pytest.param(executor(Forked), set(), marks=pytest.mark.long),
        (executor(GivesUp), {"test_goes_on_where_a_worker_is_killed", POISON}),
        pytest.param(executor(TriesAgain), {POISON}, marks=pytest.mark.long),
        pytest.param(executor(KeepsQuiet), {POISON}, marks=pytest.mark.long),
        (observer(Follows), set()),
        (observer(Meddles), {"test_changes_nothing"}),
    ],
)
def test_each_check_catches_its_bad_plugin(
    contract: Any, checks: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if contract.plugin is HoldsOn:
        monkeypatch.setattr(contracts, "STOP_SECONDS", 0.15)
    assert failed(contract) == checks


def test_an_observer_that_fails_is_caught() -> None:
    assert "test_changes_nothing" in failed(observer(Fails))
