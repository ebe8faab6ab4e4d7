"""What several audits took together."""

from dataclasses import dataclass, field

from cuescope.respond import ModelRunner
from cuescope.seen_keys import SeenKeys


@dataclass
class TotalCost:
    """The inputs that a model was shown in some audits, and the seconds of all.

    `plain` are inputs of trials without an edit, of distinct `plain_frames`.
    """

    audits: int = 0
    shown: int = 0
    plain: int = 0
    plain_frames: SeenKeys = field(default_factory=SeenKeys)
    model_seconds: float = 0.0
    seconds: float = 0.0

    def add(self, respond: ModelRunner, seconds: float) -> None:
        """An audit is over, after so many seconds."""
        self.audits += 1
        self.shown += respond.shown
        self.plain += respond.shown_plain
        self.plain_frames.merge(respond.plain_frames)
        self.model_seconds += respond.model_seconds
        self.seconds += seconds

    @property
    def words(self) -> str:
        """In a line."""
        words = f"{self.audits} audits in all: {self.shown:,} inputs shown to the model"
        if count := len(self.plain_frames):
            times = self.plain / count
            words += (
                f", {self.plain:,} of them without a change inside it, of {count:,} distinct "
                f"pictures (each {times:.3g} times)"
            )
        return (
            f"{words}; {self.model_seconds:.1f} s of the model in {self.seconds:.1f} s"
        )
