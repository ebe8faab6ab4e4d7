"""A runner for callers from Python, with objects of theirs in the place of SPECs."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from cuescope.cli.hints import refuse_bare_arguments
from cuescope.python.answer_reuse import remembered
from cuescope.python.objects import hold_data, hold_model
from cuescope.runner import Runner
from cuescope_core.atomic_files import at_home, require_path
from cuescope_core.building import context_for
from cuescope_core.context import Context, silent
from cuescope_core.errors import UserError
from cuescope_core.in_memory import Held
from cuescope_core.registry import Registry
from cuescope_core.request import Request

Given = Mapping[str, Any]


@contextmanager
def open_python(
    model: Any,
    data: Any,
    registry: Registry,
    *,
    model_options: Given | None = None,
    data_options: Given | None = None,
    model_name: str | None = None,
    data_name: str | None = None,
    cache: bool = True,
    progress: bool = True,
    out: str | Path | None = None,
    runs: str | Path = "runs",
    draft: Request | None = None,
) -> Iterator[tuple[Runner, Mapping[str, Held]]]:
    """A runner, and what it holds of the caller by role; nothing stays open after.

    Options of objects are read here, those of SPECs stand in requests. The settings of a `draft`
    hold while objects are read.
    """
    require_path("runs", runs)
    if out is not None:
        require_path("out", out)
    bars = make_bars() if progress else None
    # what has to be known (weak data, say) is no progress
    context = Context(
        registry=registry, progress=bars or silent, announce=announce_on_stderr
    )
    if draft is not None:
        context = context_for(draft, context)
    held: dict[str, Held] = {}
    refuse_bare_arguments({"dataset": data, "model": model}, registry)
    if not isinstance(data, str | None):
        held["data"] = hold_data(data, data_options or {}, data_name, context)
    if not isinstance(model, str | None):
        held["model"] = hold_model(model, model_options or {}, model_name, context)
    # one name would stand for both fingerprints
    if len({item.name for item in held.values()}) < len(held):
        raise UserError(
            f"model and data are both called '{held['model'].name}'",
            remedy="Rename one",
        )
    # a name stands for the object: the engine knows SPECs alone (docs/adr/0015)
    for item in held.values():
        registry.hold(item.entry, item)
    runner = Runner(
        context,
        at_home(runs),
        [*remembered(held, context.announce), *([bars] if bars else [])],
        # a function has no content that could be digested (docs/adr/0015)
        cache and may_be_kept(held, context.announce),
        out=None if out is None else at_home(out),
        objects={name: fingerprint for (_, name), fingerprint in registry.held.items()},
    )
    # a notebook lives for days: the file must not stay open
    with closing(runner.cache):
        try:
            yield runner, held
        finally:
            if bars is not None:
                bars.clear()


def may_be_kept(held: Mapping[str, Held], announce: Callable[[str], None]) -> bool:
    """True if answers can be told from those of another object; says so where they cannot."""
    nameless = [item for item in held.values() if item.private]
    for item in nameless:
        announce(
            f"answers of '{item.name}' are not kept: model_name=... names it for the cache"
        )
    return not nameless


def make_bars() -> Any:
    """Progress bars, which observe the audit too."""
    from cuescope.cli.progress import Bars

    return Bars()


def announce_on_stderr(line: str) -> None:
    """Say a line that is no part of the result."""
    sys.stderr.write(f"cuescope: {line}\n")
