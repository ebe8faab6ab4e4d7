"""What several audits took together."""

from dataclasses import dataclass, field

from cuescope.respond import ModelRunner
from cuescope.shown import Shown


@dataclass
class TotalCost:
    """The inputs `shown` to a model in some audits, those without an edit, and the seconds."""

    audits: int = 0
    shown: int = 0
    plain: Shown = field(default_factory=Shown)
    model_seconds: float = 0.0
    seconds: float = 0.0

    def add(self, respond: ModelRunner, seconds: float) -> None:
        """An audit is over, after so many seconds."""
        self.audits += 1
        self.shown += respond.shown.inputs
        self.plain.merge(respond.shown_plain)
        self.model_seconds += respond.model_seconds
        self.seconds += seconds

    @property
    def words(self) -> str:
        """In a line."""
        words = f"{self.audits} audits in all: {self.shown:,} inputs shown to the model"
        if count := len(self.plain.pictures):
            inputs = self.plain.inputs
            words += (
                f". Without a change inside it, {count:,} distinct pictures were looked at "
                f"{inputs:,} times (each {inputs / count:.3g} times)"
            )
        return (
            f"{words}; {self.model_seconds:.1f} s of the model in {self.seconds:.1f} s"
        )
