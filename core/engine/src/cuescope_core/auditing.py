"""The audit that a method's hooks are handed."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, ParamSpec, TypeVar

import numpy as np

from cuescope_core.capabilities import Capabilities
from cuescope_core.conclusions import (
    Accuracy,
    Contrast,
    Feature,
    Finding,
    Picture,
    Portrait,
    Score,
    Table,
)
from cuescope_core.context import Context
from cuescope_core.errors import PluginError, UserError
from cuescope_core.part_failures import Spared
from cuescope_core.seeds import derive
from cuescope_core.types import Outcome, PlantedCue, Sample, Trial

P = ParamSpec("P")
T = TypeVar("T")
Attachment = Table | Picture | Contrast | Portrait | Accuracy | Finding
Made = Attachment | Iterable[Attachment] | None


@dataclass(frozen=True)
class NotYet(Sequence[Any]):
    """Stands for what later hooks find; says so where an earlier one reads it."""

    name: str
    hook: str

    def __len__(self) -> int:
        raise PluginError(
            f"audit.{self.name} is not there yet", expected=f"it read in {self.hook}"
        )

    def __getitem__(self, index: Any) -> Any:
        return len(self)


@dataclass
class Audit:
    """One audit as its method sees it. `respond` is the only way to the model.

    `options` are the method's, validated; `capabilities` the model's; `embedder` is the fingerprint
    of what embeds samples, the model or a tool, None where it has none; `tools` are by role,
    `tool_specs` their SPEC as the user typed it; `context` has the device, the cache folder and the
    progress bar. `outcomes` are those of `perturb`, in order, from `compute_scores` on; `features`
    and `scores` are there from `verify` on. `failures` are the parts that failed, with the reasons.
    `planted_cues` and the "cues" annotation of `samples`
    are hidden until `verify`.
    """

    labels: tuple[str, ...]
    options: Any
    respond: Callable[[Iterable[Trial]], Sequence[Outcome]]
    context: Context
    capabilities: Capabilities = field(
        default_factory=lambda: Capabilities(outputs=frozenset())
    )
    embedder: str | None = field(default=None, kw_only=True)
    tools: Mapping[str, Any] = field(default_factory=dict)
    tool_specs: Mapping[str, str] = field(default_factory=dict)
    samples: tuple[Sample, ...] = ()
    outcomes: Sequence[Outcome] = ()
    features: Sequence[Feature] = ()
    scores: Sequence[Score] = ()
    planted_cues: tuple[PlantedCue, ...] = ()
    notes: dict[str, str] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    answers_now: Callable[[Trial], bool] = lambda trial: True
    more_trials: int | None = None
    attachments: list[Attachment] = field(default_factory=list)
    figures: list[tuple[Sample, str, str, float, str | None]] = field(
        default_factory=list
    )
    # before it, hooks asked a trial up to four times and kept state on `self` (docs/adr/0013)
    _results: dict[Hashable, tuple[tuple[object, ...], Any]] = field(
        default_factory=dict, repr=False
    )

    def once(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`function(*args)`, called the first time only and remembered for this audit.

        So one hook finds what another worked out: `audit.once(cluster, audit)`. Arguments are
        compared by identity, text and numbers by value; keyword arguments are part of the key.
        """
        # sorted: keywords come in any order
        arguments = (*args, *chain.from_iterable(sorted(kwargs.items())))
        key = (function, *map(_identity, arguments))
        if key not in self._results:
            # the arguments are kept too: an id is another object's as soon as its own is gone
            self._results[key] = arguments, function(*args, **kwargs)
        result: T
        _, result = self._results[key]
        return result

    def samples_by_key(self) -> list[Sample]:
        """The samples in the order of their keys."""
        # clusterings and random halves depend on the order, and findings must not
        return sorted(self.samples, key=lambda sample: sample.key)

    def require_closed_labels(self, method: str) -> None:
        """Raise UserError where samples have no label of one closed set."""
        labels = set(self.labels)
        for sample in self.samples:
            if sample.label not in labels or set(sample.choices) != labels:
                raise UserError(
                    f"{method} needs the same closed label set for all samples, and sample "
                    f"'{sample.key}' has another",
                    expected=f"a label and the choices {', '.join(self.labels[:4])} ...",
                    got=f"label {sample.label!r}, {len(sample.choices)} choices",
                )

    def rng(self, *names: str) -> np.random.Generator:
        """A generator of its own for these names, under the audit's seed."""
        return self.context.rng(*names)

    def derive_seed(self, *names: str) -> int:
        """A 63-bit seed for these names, for libraries that take a number."""
        return derive(self.context.seed, *names)

    def note(self, key: str, text: str) -> None:
        """A fact for the head of the report."""
        self.notes[key] = text

    def spare(self, part: str, plain: Trial | None = None) -> Spared:
        """Let a failure within cost this `part` alone: the report names it, with the reason.

        For what a report can do without: `with audit.spare("intervention blur"): ...`. Where the
        part asks the model, `plain` is a trial that any model answers: if that fails too, the
        error is raised.
        """

        def is_ours() -> bool:
            # a server that is gone would cost every part, and leave a report of nothing
            return plain is None or self.answers_now(plain)

        announce = self.context.announce
        return Spared(part, self.failures, announce, is_ours)

    def expect_more(self, trials: int, likely: float | None = None) -> None:
        """For a plan: after those that are asked next, the method asks at most so many trials.

        Nothing reads `likely` any more; plugins of 0.1 pass it.
        """
        self.more_trials = trials

    def record(
        self,
        sample: Sample,
        feature: str,
        measure: str,
        figure: float,
        text: str | None = None,
    ) -> None:
        """Keep a figure of a sample that is no answer: a row of `answers.parquet`.

        `text` is what the figure is about, where that is more than the feature tells.
        """
        self.figures.append((sample, feature, measure, figure, text))

    def attach(self, item: Attachment) -> None:
        """Add a table, picture or contrast to the report, or an accuracy in place of its own."""
        self.attachments.append(item)

    def attach_each(self, parts: Mapping[str, Callable[[], Made]]) -> None:
        """Attach what each part makes, one or several; a part that fails costs itself (`spare`)."""
        for part, make in parts.items():
            with self.spare(part):
                made = make() or ()
                items = (made,) if isinstance(made, Attachment) else made
                for item in items:
                    self.attach(item)


def _identity(value: object) -> Hashable:
    # equal text is often two objects
    if value is None or isinstance(value, str | int | float | bool):
        return type(value), value  # with its type: 1 equals True and 1.0
    return id(value)


def without_cues(sample: Sample) -> Sample:
    """The sample without its answer sheet, the "cues" annotation."""
    # as it is: a copy of each sample of a large set would cost memory
    if "cues" not in sample.annotations:
        return sample
    others = {key: value for key, value in sample.annotations.items() if key != "cues"}
    return replace(sample, annotations=others)
