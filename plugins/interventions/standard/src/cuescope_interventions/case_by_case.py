"""What interventions of this package share: each case is changed by itself."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from cuescope_interventions.arrays import Mask, Pixels
from cuescope_sdk import Frame, Sample, Trial, digest
from cuescope_sdk.interventions import Case, Intervention, change_frames


class CaseByCase(Intervention):
    """An intervention without tools, for which no case depends on another one."""

    @abstractmethod
    def change(self, case: Case) -> Trial:
        """The trial of one case."""

    def intervene(self, cases: Sequence[Case], tools: Mapping[str, Any]) -> list[Trial]:
        """A trial a case, in order."""
        return list(map(self.change, cases))


def with_frames(sample: Sample, frames: Sequence[Frame], operation: str) -> Trial:
    """The sample with other frames, under a key that tells them."""
    keys = [frame.key for frame in frames]
    # a digest of the frames: intervention and placebo of one sample need two keys
    suffix = f"{operation}-{digest(*keys)[:10]}"
    changed = sample.with_frames(tuple(frames), suffix)
    return Trial(sample=changed)


def paint_over(
    case: Case,
    name: str,
    paint: Callable[[Pixels, Mask], Pixels],
) -> Trial:
    """The place's pixels are painted over; the name says all that decides the paint."""
    return change_frames(case.sample, case.place, name, lambda _: paint)


def nearest_number(number: int, others: Iterable[int]) -> int:
    """Of the numbers of frames that which is nearest."""
    # of two as near the earlier, so that the same case gives the same trial
    return min(others, key=lambda other: (abs(other - number), other))
