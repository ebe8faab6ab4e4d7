"""Cost of several audits together."""

from dataclasses import dataclass, field

from cuescope_core.amounts import count_of
from cuescope_core.input_counts import Shown
from cuescope_core.respond import ModelRunner


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
        words = f"{self.audits} audits in all: {count_of(self.shown, 'inputs')} shown to the model"
        if count := len(self.plain.pictures):
            inputs = self.plain.inputs
            each = inputs / count
            often = "once" if each == 1 else f"{each:.3g} times"
            words += (
                ". Without a change inside it, "
                f"{count_of(count, 'distinct pictures', 'were')} looked at "
                f"{count_of(inputs, 'times')} (each {often})"
            )
        return (
            f"{words}; {self.model_seconds:.1f} s of the model in {self.seconds:.1f} s"
        )
