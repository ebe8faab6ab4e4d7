"""Which plugins go together, and the command that uses one."""

import shlex
from collections.abc import Callable
from typing import Any

from cuescope.cli.echo import echo
from cuescope.registry import Entry, Registry

OWN_DATA = "folder:PATH"


def show_use(entry: Entry, registry: Registry) -> None:
    """Print what fits a plugin, and an example to copy."""
    plugin = registry.load(entry)
    if entry.kind == "method":
        models = fitting(registry, "model", lambda model: fits(plugin, model))
        echo(f"models that fit: {', '.join(models) or 'none is installed'}")
        echo(f"example: {_audit(registry, plugin, entry.name, (models or ['SPEC'])[0], OWN_DATA)}")
    elif entry.kind == "model":
        methods = fitting(registry, "method", lambda method: fits(method, plugin))
        echo(f"methods that fit: {', '.join(methods) or 'none is installed'}")
        if methods:
            method = registry.load(registry.find("method", methods[0]))
            spec = _with_argument(entry.name, plugin)
            echo(f"example: {_audit(registry, method, methods[0], spec, OWN_DATA)}")
    elif entry.kind == "dataset":
        words = ["cuescope", "audit", "METHOD", "--model", "SPEC"]
        echo(f"example: {shlex.join([*words, '--data', _with_argument(entry.name, plugin)])}")
    elif entry.kind == "tool":
        roles = [role.name for role in _roles(registry) if hasattr(plugin, role.method)]
        for role in roles:
            echo(f"as: --tool {role}={_with_argument(entry.name, plugin)}")
    elif entry.kind == "bench":
        echo(f"example: cuescope bench {entry.name}")


def fitting(registry: Registry, kind: str, test: Callable[[Any], bool]) -> list[str]:
    """Names of the plugins of a kind that are sound and pass a test of their class."""
    sound = [entry for entry in registry.of_kind(kind) if registry.check(entry) is None]
    return [entry.name for entry in sound if test(registry.load(entry))]


def fits(method: Any, model: Any) -> bool:
    """Whether a model can do all that a method requires."""
    needs, has = method.requires, model.capabilities
    sets = ("outputs", "edits", "exposes")
    if not all(getattr(needs, name) <= getattr(has, name) for name in sets):
        return False
    refuses = getattr(method, "refuses", None)  # by more than single capabilities can say
    return refuses is None or refuses(has) is None


def _audit(registry: Registry, method: Any, name: str, model: str, data: str) -> str:
    words = ["cuescope", "audit", name, "--model", model, "--data", data]
    roles = {role.name: role for role in _roles(registry)}
    for needed in sorted(method.requires.tools):
        tools = fitting(registry, "tool", _answers_with(roles[needed].method))
        words += ["--tool", f"{needed}={(tools or ['SPEC'])[0]}"]
    return shlex.join(words)


def _answers_with(method: str) -> Callable[[Any], bool]:
    return lambda tool: hasattr(tool, method)


def _roles(registry: Registry) -> list[Any]:
    """The standard roles of tools, and those that methods define."""
    from cuescope.capabilities import ROLES

    sound = [entry for entry in registry.of_kind("method") if registry.check(entry) is None]
    own = [role for entry in sound for role in registry.load(entry).requires.roles]
    return [*ROLES.values(), *own]


def _with_argument(name: str, plugin: Any) -> str:
    """`NAME:ARG` where the plugin takes one and cannot do without, else `NAME`."""
    argument = plugin.Options.argument
    needed = argument is not None and plugin.Options.model_fields[argument].is_required()
    return f"{name}:{argument.upper()}" if needed else name
