"""Which checks of a contract a bad plugin fails."""

from cuescope_testing import Contract

# test_contract.py proves these for every kind, in a process of its own
ELSEWHERE = {"test_imports_lightly", "test_imports_without_side_effects"}


def failed(contract: type[Contract]) -> set[str]:
    """The names of the checks that fail."""
    results = [
        contract.run_check(check)
        for check in contract.checks()
        if check not in ELSEWHERE
    ]
    return {result.check for result in results if result.status == "failed"}
