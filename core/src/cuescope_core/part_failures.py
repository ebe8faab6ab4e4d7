"""One part that fails costs itself, and never the report: the rule for all parts of an audit."""

from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType

from cuescope_core.errors import UserError, reason_of


@dataclass(frozen=True)
class Spared:
    """Context whose failure costs the `part` alone; the reason is kept and told at once.

    Ctrl-C and the end of a plan are no failures. `is_ours` tells whether the part is at fault;
    where it is not, the error is raised. `doubt` says what else may be at fault for an error that
    does not say it all.
    """

    part: str
    failures: dict[str, str]
    tell: Callable[[str], None]
    is_ours: Callable[[], bool]
    doubt: Callable[[], str | None] = lambda: None

    def __enter__(self) -> None: ...

    # a class: of a generator nobody could tell that it ends an error (docs/adr/0034)
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if not isinstance(error, Exception) or not self.is_ours():
            return False
        reason = reason_of(error)
        if self.failures.get(self.part) != reason:
            self.tell(f"{self.part} failed and is left out: {reason}")
            doubt = None if isinstance(error, UserError) else self.doubt()
            if doubt is not None:
                # told, and no part of the report, which is the same with a cold cache
                self.tell(doubt)
        self.failures[self.part] = reason
        return True
