"""What plugins keep from one audit to the next."""

import pickle

from cuescope_core.context import Context
from cuescope_core.process_memory import ProcessMemory


def test_the_two_things_used_last_are_kept() -> None:
    memory = ProcessMemory()
    made: list[str] = []

    def recall(key: str) -> str:
        return memory.recall(key, lambda: made.append(key) or key.upper())  # type: ignore[func-returns-value]

    assert [recall(key) for key in "abacab"] == list("ABACAB")
    assert made == ["a", "b", "c", "b"]


def test_another_process_begins_with_nothing() -> None:
    context = Context()
    context.memory.recall("rows", lambda: 1)
    sent = pickle.loads(pickle.dumps(context.memory))
    assert sent.recall("rows", lambda: 2) == 2
    assert context.for_kind("model").memory is context.memory
