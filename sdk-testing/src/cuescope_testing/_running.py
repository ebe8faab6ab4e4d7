"""Audits of classes that nobody installed, in memory."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from cuescope_core.context import Context, cache_folder
from cuescope_core.engine import Session
from cuescope_core.planning import Plan, plan_of
from cuescope_core.registry import (
    NOT_INSTALLED,
    Entry,
    Problem,
    Registry,
    require_whole,
)
from cuescope_core.request import Request
from cuescope_core.store import ResponseCache
from cuescope_sdk import Report
from cuescope_testing._fake_data import FakeDataset
from cuescope_testing._fake_models import FakeModel


class PluginShelf(Registry):
    """A registry of the given classes by (kind, name), before the installed plugins if asked."""

    def __init__(
        self,
        plugins: Mapping[tuple[str, str], Any],
        *,
        installed: bool = False,
    ) -> None:
        super().__init__(None if installed else ())
        self._own = {
            _entry(kind, name, cls): cls for (kind, name), cls in plugins.items()
        }
        for entry, cls in self._own.items():
            # a class that is here already is not imported by its name, and checked all the same
            self._loaded[entry] = _sound_or_problem(entry, cls)

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """The given classes, then what is installed under other names."""
        taken = {(entry.kind, entry.name) for entry in self._own}
        # a registry of () has been told to look at nothing installed
        others = installed_entries() if self._dists is None else ()
        # a name that is given twice could not be told apart
        free = [entry for entry in others if (entry.kind, entry.name) not in taken]
        return (*self._own, *free)


@cache
def installed_entries() -> tuple[Entry, ...]:
    """The installed plugins, read once a process."""
    # to read the entry points of all dists takes long, and they do not change meanwhile
    return Registry().entries


def _entry(kind: str, name: str, cls: Any) -> Entry:
    target = f"{cls.__module__}:{cls.__qualname__}"
    return Entry(
        kind,
        name,
        target,
        dist=NOT_INSTALLED,
        version="0",
        summary=cls.__doc__ or "",
    )


def _sound_or_problem(entry: Entry, cls: Any) -> Any:
    try:
        require_whole(entry, cls)
    except TypeError as error:
        return Problem(str(error), "Mend the class")
    return cls


# ----------------------------------------------------------------------------------------- running


Given = Mapping[str, Any]
NAME = "under-test"


def run_audit(
    method: type[Any],
    model: type[Any] = FakeModel,
    dataset: type[Any] = FakeDataset,
    /,
    **options: Any,
) -> Report:
    """The report of one audit; `options` are the method's."""
    return Setup(method, model, dataset, options).report()


@dataclass(frozen=True)
class Setup:
    """Setup of an audit, by class; `tools` are classes by role, built without options.

    `others` are what plugins build, by kind and name. `folder` is the plugins' cache folder, the
    user's own where it is None. Responses are kept in memory only.
    """

    method: type[Any]
    model: type[Any] = FakeModel
    data: type[Any] = FakeDataset
    options: Given = field(default_factory=dict)
    model_options: Given = field(default_factory=dict)
    data_options: Given = field(default_factory=dict)
    tools: Mapping[str, type[Any]] = field(default_factory=dict)
    folder: Path | None = None
    others: Mapping[tuple[str, str], type[Any]] = field(default_factory=dict)

    def report(self, cache: ResponseCache | None = None, **settings: Any) -> Report:
        """Run it; `settings` are those of a request (seed, limit, batch_size ...)."""
        with temporary_cache() if cache is None else nullcontext(cache) as kept:
            return self.session(kept, **settings).run()

    def plan(self, **settings: Any) -> Plan:
        """The call that tells the cost."""
        with temporary_cache() as kept:
            return plan_of(self.session(kept, planning=True, **settings))

    def session(
        self, cache: ResponseCache, *, planning: bool = False, **settings: Any
    ) -> Session:
        """Everything built and nothing asked; whoever opened the cache closes it."""
        request = Request(
            method=NAME,
            model=NAME,
            data=NAME,
            method_options=self.options,
            model_options=self.model_options,
            data_options=self.data_options,
            # a name a role: two roles may be filled by two classes
            tools={role: f"{NAME}-{role}" for role in self.tools},
            **settings,
        )
        return Session(request, self._context(), cache, planning=planning)

    def _context(self) -> Context:
        classes = {"method": self.method, "model": self.model, "dataset": self.data}
        shelf = {(kind, NAME): cls for kind, cls in classes.items()}
        shelf |= {("tool", f"{NAME}-{role}"): cls for role, cls in self.tools.items()}
        shelf |= self.others
        registry = PluginShelf(shelf, installed=True)
        return Context(registry=registry, cache=self.folder or cache_folder())


def temporary_cache() -> AbstractContextManager[ResponseCache]:
    """A cache in memory, which is closed at the end."""
    return closing(ResponseCache(None))
