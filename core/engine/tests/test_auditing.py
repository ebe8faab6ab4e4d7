"""What a method's hooks are handed: the memory that they share."""

from cuescope_core.auditing import Audit
from cuescope_core.context import Context


def test_what_one_hook_works_out_the_next_one_finds() -> None:
    calls: list[tuple[object, ...]] = []

    def work(audit: Audit, *given: object, factor: int = 1) -> list[object]:
        calls.append(given)
        return [len(calls), factor]

    audit = Audit(labels=(), options=None, respond=lambda trials: [], context=Context())
    features = ["a"]
    first = audit.once(work, audit, features)
    assert audit.once(work, audit, features) is first
    # Another list is another argument, though it is equal; text and numbers are their values.
    assert audit.once(work, audit, ["a"]) is not first
    assert audit.once(work, audit, "x" * 2) is audit.once(work, audit, "xx")
    assert audit.once(work, audit, 1) is not audit.once(work, audit, True)
    assert audit.once(work, audit, features, factor=2) == [6, 2]
    assert len(calls) == 6
