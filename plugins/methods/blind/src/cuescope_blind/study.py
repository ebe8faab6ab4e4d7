"""What each tell is worth, corrected for all that were tested, and what would have been found."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float

from cuescope_blind.options import BlindOptions
from cuescope_blind.scores import Gain
from cuescope_sdk import Audit
from cuescope_sdk.statistics import DetectionLimit, Groups, benjamini_hochberg

LEARNER = "blind-learner"
POWER = 0.8  # Cohen (1988)

PerSample = Float[np.ndarray, " sample"]


@dataclass(frozen=True, eq=False)
class Result:
    """A tell (`key`, `name`) on all samples, or on those of one kind of question or label.

    `part` are the samples that count, `correct` is the share of right answers of each.
    """

    key: str
    name: str
    only: str | None
    part: Bool[np.ndarray, " sample"]
    correct: PerSample
    gain: Gain
    # None until every result is there: the correction is over all of them
    q_value: float | None = None

    @property
    def row(self) -> str:
        """The name of its row in a table."""
        return self.key if self.only is None else f"{self.key}: {self.only}"

    def is_finding(self, options: BlindOptions) -> bool:
        """True if the tell is far enough above chance, and farther than luck explains."""
        if self.q_value is None:
            return False
        return bool(self.gain.gain >= options.min_gain and self.q_value <= options.fdr)


@dataclass(frozen=True)
class Wording:
    """What a report says of samples of a sort (`noun`), and how their answers are redrawn."""

    noun: str
    title: str
    note: str
    statement: Callable[[Result], str]
    next_step: str
    nothing_found: str
    redrawn: str
    redraw: Callable[[Audit, Result, int], Iterator[float]]


@dataclass(frozen=True, eq=False)
class Study:
    """The results of an audit, findings first, of the samples `keys`, which are `about` something.

    `scores` has s(x) of each sample: the learner's probability of the right answer, minus that of
    guessing. So many groups are `copies` of others.
    """

    keys: tuple[str, ...]
    groups: Groups
    about: str
    copies: int
    results: tuple[Result, ...]
    scores: PerSample | None
    wording: Wording

    @property
    def learner(self) -> Result | None:
        """The blind learner on all samples."""
        found = [result for result in self.results if result.row == LEARNER]
        return found[0] if found else None


def corrected(results: Sequence[Result], options: BlindOptions) -> tuple[Result, ...]:
    """The results with q-values over all of them, findings first."""
    q_values = benjamini_hochberg([result.gain.p_value for result in results])
    judged = [
        replace(result, q_value=q_value)
        for result, q_value in zip(results, q_values, strict=True)
    ]

    def rank(result: Result) -> tuple[bool, bool, float]:
        # of all samples first: a kind of fifty may have a larger gain by luck
        found = result.is_finding(options)
        return not found, result.only is not None, -result.gain.gain

    return tuple(sorted(judged, key=rank))


def missed(results: Sequence[Result], options: BlindOptions) -> list[Result]:
    """The tells on all samples that are no finding."""
    # kinds and labels are too many to be listed one by one
    overall = [result for result in results if result.only is None]
    return [result for result in overall if not result.is_finding(options)]


def smallest_findable(
    results: Sequence[Result],
    options: BlindOptions,
) -> tuple[Result, float | None] | None:
    """The tell without a finding that counts on most samples, and the gain it would need.

    None where every tell on all samples is a finding.
    """
    others = missed(results, options)
    if not others:
        return None
    widest = max(others, key=lambda result: result.gain.n)
    # a lone finding needs so small a p-value
    level = options.fdr / len(results)
    low = widest.gain.low or 0.0
    high = widest.gain.high or 0.0
    limit = DetectionLimit.of_intervals([(high - low) / 2], level, POWER)
    return widest, limit if limit is not None and limit < 1 else None
