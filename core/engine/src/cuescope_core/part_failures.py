"""One part that fails costs itself, and never the report: the rule for all parts of an audit."""

from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType

from cuescope_core.errors import reason_of


@dataclass(frozen=True)
class Spared:
    """Context whose failure costs the `part` alone; the reason is kept and told at once.

    Ctrl-C and the end of a plan are no failures. `is_ours` tells whether the part is at fault;
    where it is not, the error is raised.
    """

    part: str
    failures: dict[str, str]
    tell: Callable[[str], None]
    is_ours: Callable[[], bool]

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
        self.failures[self.part] = reason
        return True
