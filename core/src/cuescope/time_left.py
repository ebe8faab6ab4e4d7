"""A time left, with how far it may be off; and the pace of a model."""

import math
from dataclasses import dataclass
from statistics import NormalDist

RANGE = 1.28  # standard deviations: a range holds 8 times of 10
WITHIN = 4 / 3  # so far are the ends of its range at most from a number that is said
FAR_APART = 10.0  # times: ends of a range that say nothing
TINY = 1e-200  # a chance that is none
BRIEF = 5.0  # seconds: nobody plans by less


@dataclass
class Timed:
    """Inputs of a model, and their seconds; `foreseen` by the paces of earlier audits."""

    inputs: int = 0
    seconds: float = 0.0
    foreseen: float = 0.0

    def add(self, inputs: int, seconds: float, pace: float | None) -> None:
        """A batch is done, of so many inputs, whose pace was taken for this one."""
        self.inputs += inputs
        self.seconds += seconds
        self.foreseen += seconds if pace is None else inputs * pace

    def slower(self, seconds: float) -> float:
        """How many times slower than foreseen; as fast as foreseen counts as so many seconds."""
        return (self.seconds + seconds) / (self.foreseen + seconds)


@dataclass(frozen=True)
class Rest:
    """What is left of an audit: inputs of its model, and seconds beside it.

    `surely` so many of the inputs. The doubts are standard deviations, in inputs and in seconds.
    """

    inputs: float
    seconds: float
    surely: float = 0.0
    inputs_doubt: float = 0.0
    seconds_doubt: float = 0.0


def longer_than(over: float, foreseen: float, doubt: float) -> tuple[float, float]:
    """Seconds left, and how far they may be off, of work that has taken `over` and goes on.

    Its time is log-normal, with the median `foreseen` and `doubt` as the standard deviation of its
    logarithm. That it takes longer than `over` is known: it is half as likely to take longer than
    what is returned, and 16% as likely to be off by more.
    """
    if foreseen <= 0 or doubt <= 0:
        return max(0.0, foreseen - over), 0.0
    standard = NormalDist()
    deviations = math.log(over / foreseen) / doubt if over > 0 else -math.inf
    # far out `cdf` is 0 (Python 3.11), and the rest would take a thousand times as long
    longer = max(math.erfc(deviations / math.sqrt(2)) / 2, TINY)
    half, far = (
        foreseen * math.exp(-doubt * standard.inv_cdf(part * longer))
        for part in (0.5, standard.cdf(-1.0))
    )
    return max(0.0, half - over), far - half


@dataclass(frozen=True)
class TimeLeft:
    """Seconds that are left: at least `surely`, with a standard deviation of `doubt`."""

    seconds: float
    surely: float
    doubt: float

    @property
    def range(self) -> tuple[float, float]:
        """Between which seconds it lies 8 times of 10, as a log-normal."""
        if self.seconds <= 0 or math.isinf(self.seconds):
            return self.seconds, self.seconds
        log_variance = math.log1p((self.doubt / self.seconds) ** 2)
        factor = math.exp(RANGE * math.sqrt(log_variance))
        shortest = max(self.seconds / factor, min(self.surely, self.seconds))
        return shortest, self.seconds * factor

    @property
    def is_known(self) -> bool:
        """Whether it is worth saying: the ends of the range are not too far apart."""
        shortest, longest = self.range
        return longest - shortest <= BRIEF or longest <= FAR_APART * shortest

    @property
    def is_sure(self) -> bool:
        """Whether both ends of the range are within a third of the number."""
        shortest, longest = self.range
        if longest - shortest <= BRIEF:
            return True
        return longest <= WITHIN * self.seconds and self.seconds <= WITHIN * shortest
