"""Which checks of a contract a bad plugin fails."""

from collections.abc import Iterable
from typing import Any

from cuescope_testing import Contract

# test_contract.py proves these for every kind, in a process of its own
ELSEWHERE = {"test_imports_lightly"}


def failed(contract: type[Contract]) -> set[str]:
    """The names of the checks that fail."""
    results = [
        contract.run_check(check)
        for check in contract.checks()
        if check not in ELSEWHERE
    ]
    return {result.check for result in results if result.status == "failed"}


def expect_caught(contract: type[Contract], check: str, others: Iterable[str]) -> None:
    """A bad plugin fails its check, and no other but those named; any others where one is "*"."""
    if set(others) == {"*"}:
        assert contract.run_check(check).status == "failed"
    else:
        assert failed(contract) == {check, *others}


def checks_of(*proofs: Iterable[tuple[Any, ...]]) -> set[str]:
    """The checks that have a bad plugin, or are proved elsewhere."""
    return {row[0] for rows in proofs for row in rows} | ELSEWHERE
