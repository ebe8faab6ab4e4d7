"""How a contract check speaks: it passes, is violated, or does not apply."""

from unittest import SkipTest


class ContractViolation(AssertionError):  # noqa: N818 - the word for it
    """A plugin broke its contract: what was expected, what came, and what to do."""

    def __init__(self, expected: str, *, got: str, remedy: str) -> None:
        super().__init__(f"expected {expected}, got {got}. {remedy}")


class NotApplicable(SkipTest):
    """The check asks about something that this plugin does not claim; pytest shows it skipped."""


def expect(condition: bool, expected: str, *, got: object, remedy: str) -> None:
    """Raise ContractViolation unless the condition holds."""
    if not condition:
        raise ContractViolation(expected, got=str(got), remedy=remedy)
