"""What interventions of this package share: each case is changed by itself."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from cuescope_sdk import Frame, Sample, Trial, digest
from cuescope_sdk.interventions import Case, Intervention


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
