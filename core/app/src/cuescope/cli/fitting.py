"""The command that uses a plugin."""

import shlex
from collections.abc import Iterator
from typing import Any

from cuescope.cli.echo import echo
from cuescope_core.registry import Entry, Registry


def show_use(entry: Entry, registry: Registry) -> None:
    """Print examples to copy; `cuescope methods` says what fits a model and data."""
    if entry.kind == "command":
        return
    for example in _examples(entry, registry.load(entry), registry):
        echo(f"example: {example}")


def _examples(entry: Entry, plugin: Any, registry: Registry) -> Iterator[str]:
    # an example that cannot be copied is none, so it has what the plugin cannot do without
    spec = _with_argument(entry.name, plugin)
    if entry.kind == "method":
        words = ["cuescope", "audit", spec, "--model", "SPEC", "--data", "folder:PATH"]
        for role in sorted(plugin.requires.tools):
            words += ["--tool", f"{role}=SPEC"]
        # one that tests another run's findings has a command of its own
        yield getattr(plugin, "started_by", None) or shlex.join(words)
    elif entry.kind == "model":
        yield shlex.join(["cuescope", "methods", "--model", spec, "--data", "SPEC"])
    elif entry.kind == "dataset":
        yield shlex.join(["cuescope", "methods", "--model", "SPEC", "--data", spec])
    elif entry.kind == "tool":
        for role in known_roles(registry):
            if hasattr(plugin, role.method):
                yield f"--tool {role.name}={spec}"
    elif entry.kind == "bench":
        yield shlex.join(["cuescope", "dev", "bench", *_needed(spec, plugin)])


def known_roles(registry: Registry) -> list[Any]:
    """The standard roles of tools, and those that methods define."""
    from cuescope_core.capabilities import ROLES

    roles = list(ROLES.values())
    for entry in registry.of_kind("method"):
        # a broken method must not cost the help of another plugin
        if registry.check(entry) is None:
            roles += registry.load(entry).requires.roles
    return roles


def _needed(spec: str, plugin: Any) -> list[str]:
    """The SPEC of a bench, with a value for each option that it cannot do without."""
    words = [spec]
    for name, field in plugin.Options.model_fields.items():
        if field.is_required() and name != plugin.Options.argument:
            words += [f"--{name.replace('_', '-')}", name.upper()]
    return words


def _with_argument(name: str, plugin: Any) -> str:
    """`NAME:ARG` where the plugin takes one and cannot do without, else `NAME`."""
    argument = plugin.Options.argument
    needed = (
        argument is not None and plugin.Options.model_fields[argument].is_required()
    )
    return f"{name}:{argument.upper()}" if needed else name
