"""Context of a plugin: the registry, devices, seeds, the cache folder, a progress bar."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import platformdirs

from cuescope_core import seeds
from cuescope_core.capabilities import Dataset, require_dataset
from cuescope_core.data_parts import draw_numbers
from cuescope_core.errors import PlanStopped, PluginError
from cuescope_core.ledger import Command
from cuescope_core.process_memory import ProcessMemory
from cuescope_core.registry import Entry, Registry
from cuescope_core.spec import MITIGATED, Spec, validate
from cuescope_core.types import Options

if TYPE_CHECKING:
    from cuescope_core.trust.source import Source

Advance = Callable[[int], None]
Progress = Callable[[str, int], AbstractContextManager[Advance]]


def cache_folder() -> Path:
    """`CUESCOPE_CACHE`, else the user's cache folder."""
    # read late: tests and clusters set it as they start
    folder = os.environ.get("CUESCOPE_CACHE")
    if folder:
        return Path(folder).expanduser()
    return Path(platformdirs.user_cache_dir("cuescope"))


class SaidOnce:
    """`say`, and nothing for a line that was said: what is fitted many times tells it each time."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._said = set[str]()

    def __call__(self, line: str) -> None:
        """Say a line."""
        if line not in self._said:
            self._said.add(line)
            self._say(line)


@contextmanager
def silent(description: str, total: int) -> Iterator[Advance]:
    """A progress bar that shows nothing."""
    yield lambda step: None


def ignore(line: str) -> None:
    """Announce nothing."""


@dataclass(frozen=True)
class Context:
    """Handed to every plugin as it is built.

    `device` is "auto", "cpu", "cuda", "cuda:1" ...; `dtype` "float32", "float16" or "bfloat16".
    `dataset` is the audited data set, None while data sets themselves are built; a plugin that
    builds a helper for other data passes `replace(context, dataset=None)`.
    `progress(description, total)` opens a bar and gives the function that advances it.
    `tool_calls` counts the costly work of tools ("images shown to the detector"), for plan and
    report; `planning` says that none may be done. `resume` is whether a bench takes reports that
    are stored already; `announce` tells the person a line that is no part of the result.
    `source` is where the options came from, None where a person typed them; of the kinds in `typed`
    ("model", "dataset") a person typed them all the same. `allowed` are the words of `--allow`.
    `memory` keeps things for the next audits of this process. What is spent for a `command` is
    counted together, in all of its audits and processes. `limit` is how many samples will be looked
    at, None where that is all of them, or nobody has said it yet.
    """

    registry: Registry = field(default_factory=Registry)
    cache: Path = field(default_factory=cache_folder)
    seed: int = 0
    device: str = "auto"
    dtype: str = "float32"
    batch_size: int = 64
    dataset: Dataset | None = None
    progress: Progress = silent
    planning: bool = False
    resume: bool = True
    announce: Callable[[str], None] = ignore
    # carried to helpers of helpers, so that no command has to remember it (docs/adr/0021)
    source: "Source | None" = None
    typed: frozenset[str] = frozenset()
    allowed: frozenset[str] = frozenset()
    tool_calls: Counter[str] = field(default_factory=Counter)
    memory: ProcessMemory = field(
        default_factory=ProcessMemory, repr=False, compare=False
    )
    command: Command = field(default_factory=Command, repr=False, compare=False)
    limit: int | None = None

    def __post_init__(self) -> None:
        # a file with code among them is a word of the person's
        self.registry.trust(self.allowed)

    def build(
        self,
        kind: str,
        spec: str,
        options: Mapping[str, Any] | None = None,
    ) -> Any:
        """A plugin by `NAME[:ARG]`, with validated options; raises UserError where it cannot be."""
        # the draw is of what is audited, and not of what a plugin builds for itself
        return self.resolve(kind, spec, options).build(replace(self, limit=None))

    def resolve(
        self,
        kind: str,
        text: str,
        options: Mapping[str, Any] | None = None,
    ) -> "Resolved":
        """Resolve a SPEC and check its options; raises UserError for what cannot be built.

        Options that ask for more than their source may are refused too (see `Source`).
        """
        given = options or {}
        spec = Spec.parse(text)
        source = self.for_kind(kind).source
        if source is None:
            self.registry.trust([spec.name])
        entry = self.registry.find(kind, spec.name)
        plugin = self.registry.load(entry)
        # no plugin declares it: every model has it
        folder = given.get(MITIGATED) if kind == "model" else None
        with self.registry.blaming(entry):
            # validators of options are code of the plugin
            valid = validate(entry, plugin, spec, given)
            if source is not None:
                source.check(entry.name, valid)
                if folder:
                    # it is no field of the options, so no mark can stand on it
                    source.check_file(entry.name, MITIGATED, str(folder))
        return Resolved(text, entry, plugin, valid, Path(folder) if folder else None)

    def for_kind(self, kind: str) -> "Context":
        """The same context, without a source where the person typed the plugin of this kind."""
        return replace(self, source=None) if kind in self.typed else self

    def stop_plan_before(self, work: str) -> None:
        """End a `--plan` here, before `work` that takes time or money ("the texts of gpt-5")."""
        if self.planning:
            raise PlanStopped(work)

    def for_dataset(self, dataset: Dataset) -> "Context":
        """The same context, about this data set."""
        return replace(self, dataset=dataset)

    def draw(self, groups: Sequence[str | None]) -> Sequence[int]:
        """Return the numbers of the samples that will be looked at, by the group of each.

        A data set that asks, opens no file of another sample.
        """
        if self.limit is None or self.limit >= len(groups):
            return range(len(groups))
        return draw_numbers(groups, self.limit, self.seed)

    def rng(self, *names: str) -> np.random.Generator:
        """A generator of its own for these names, under the audit's seed."""
        return seeds.generator(self.seed, *names)


@dataclass(frozen=True)
class Resolved:
    """A SPEC, the class that it names, and its checked options; nothing is opened yet.

    `mitigated` is the folder of what a mitigator learned for a model.
    """

    text: str
    entry: Entry
    plugin: Any
    options: Options
    mitigated: Path | None = None

    def build(self, context: Context) -> Any:
        """The plugin; raises UserError where it cannot be built."""
        registry = context.registry
        # whatever goes wrong in there is the plugin's
        with registry.blaming(self.entry):
            # helpers that a typed plugin names were typed with it: no source looks at them
            plugin = self.plugin(self.options, context.for_kind(self.entry.kind))
            if self.entry.kind == "dataset":
                require_dataset(plugin, self.text)
            _require_begun(self.entry, plugin)
        if self.mitigated is None:
            return plugin
        # derived from the model's class: what looks inside finds the same places (docs/adr/0018)
        from cuescope_core.mitigated import mitigator_of

        mitigator = registry.find("mitigator", mitigator_of(self.mitigated))
        with registry.blaming(mitigator):
            return registry.load(mitigator).mitigated(plugin, self.mitigated, context)


def _require_begun(entry: Entry, plugin: Any) -> None:
    """Raise PluginError for a plugin whose own `__init__` left out that of `Plugin`."""
    # `with_options` is of `Plugin`, which this module cannot import
    if hasattr(plugin, "with_options") and not hasattr(plugin, "options"):
        raise PluginError(
            f"{entry.kind} '{entry.name}' broke its contract",
            expected="super().__init__(options, context) first in its __init__",
            got="an object without options",
        )
