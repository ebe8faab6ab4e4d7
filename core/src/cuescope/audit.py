"""What a method's hooks are handed."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from cuescope.capabilities import Capabilities
from cuescope.context import Context
from cuescope.seeds import derive
from cuescope.types import Outcome, Picture, Sample, Table, Trial


@dataclass
class Audit:
    """One audit as its method sees it. `respond` is the only way to the model.

    `options` are the method's, validated; `capabilities` the model's; `tools` are by role;
    `context` has the device, the cache folder and the progress bar.
    """

    labels: tuple[str, ...]
    options: Any
    respond: Callable[[Iterable[Trial]], list[Outcome]]
    context: Context
    capabilities: Capabilities = field(default_factory=lambda: Capabilities(outputs=frozenset()))
    tools: Mapping[str, Any] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    shown: list[Table | Picture] = field(default_factory=list)
    all_samples: tuple[Sample, ...] = ()
    revealed: bool = False

    @property
    def samples(self) -> tuple[Sample, ...]:
        """The audited samples; their "cues" annotation is hidden until `verify`."""
        return self.all_samples if self.revealed else self._hidden

    @cached_property
    def _hidden(self) -> tuple[Sample, ...]:
        return tuple(_without_cues(sample) for sample in self.all_samples)

    def rng(self, *names: str) -> np.random.Generator:
        """A generator of its own for these names, under the audit's seed."""
        return self.context.rng(*names)

    def derive_seed(self, *names: str) -> int:
        """A 63-bit seed for these names, for libraries that take a number."""
        return derive(self.context.seed, *names)

    def note(self, key: str, text: str) -> None:
        """A fact for the head of the report."""
        self.notes[key] = text

    def show(self, item: Table | Picture) -> None:
        """A table or picture for the report, in the order of showing."""
        self.shown.append(item)


def _without_cues(sample: Sample) -> Sample:
    if "cues" not in sample.annotations:
        return sample
    open_to_all = {key: value for key, value in sample.annotations.items() if key != "cues"}
    return sample.model_copy(update={"annotations": open_to_all})
