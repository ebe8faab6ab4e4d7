"""Which plugins go together, and the command that uses one."""

import shlex
from typing import Any

from cuescope.cli.echo import echo
from cuescope_core.registry import Entry, Registry

OWN_DATA = "folder:PATH"


def show_use(entry: Entry, registry: Registry) -> None:
    """Print what fits a plugin, and an example to copy."""
    from cuescope_core.building import find_installed

    plugin = registry.load(entry)
    if entry.kind == "command":
        return
    # an example that cannot be copied is none, so it has what the plugin cannot do without
    spec = _with_argument(entry.name, plugin)
    if entry.kind == "method":
        models = find_installed(lambda model: fits(plugin, model), "model", registry)
        echo(f"models that fit: {', '.join(models) or 'none is installed'}")
        model = models[0] if models else "SPEC"
        # one that tests another run's findings has a command of its own
        started = getattr(plugin, "started_by", None)
        example = started or _audit(registry, plugin, entry.name, model)
        echo(f"example: {example}")
    elif entry.kind == "model":
        methods = find_installed(
            lambda method: fits(method, plugin), "method", registry
        )
        echo(f"methods that fit: {', '.join(methods) or 'none is installed'}")
        for name in methods:
            method = registry.load(registry.find("method", name))
            if getattr(method, "started_by", None) is None:
                echo(f"example: {_audit(registry, method, name, spec)}")
                break
    elif entry.kind == "dataset":
        words = ["cuescope", "audit", "METHOD", "--model", "SPEC", "--data", spec]
        echo(f"example: {shlex.join(words)}")
    elif entry.kind == "tool":
        for role in known_roles(registry):
            if hasattr(plugin, role.method):
                echo(f"as: --tool {role.name}={spec}")
    elif entry.kind == "bench":
        echo(
            f"example: {shlex.join(['cuescope', 'dev', 'bench', *_needed(spec, plugin)])}"
        )


def fits(method: Any, model: Any) -> bool:
    """True if a model can do all that a method requires."""
    from cuescope_core.building import missing_from, refusal

    has = model.capabilities
    return not missing_from(method.requires, has) and refusal(method, has) is None


def _audit(registry: Registry, method: Any, name: str, model: str) -> str:
    """The command of an audit of the reader's own data."""
    from cuescope_core.building import find_tools

    words = ["cuescope", "audit", name, "--model", model, "--data", OWN_DATA]
    roles = {role.name: role for role in known_roles(registry)}
    for needed in sorted(method.requires.tools):
        tools = find_tools(roles[needed], registry)
        tool = tools[0] if tools else "SPEC"
        words += ["--tool", f"{needed}={tool}"]
    return shlex.join(words)


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
