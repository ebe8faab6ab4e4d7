"""All commands of the command line, those of plugins included."""

from collections.abc import Iterator
from typing import Any

from cuescope.cli.external import parser_of
from cuescope_core.registry import Registry


def commands(group: Any) -> Iterator[tuple[str, Any, Any]]:
    """Path, command and context of every command of the group that can be run."""
    root = group.make_context("cuescope", [], resilient_parsing=True)
    brought = {entry.name: entry for entry in Registry().of_kind("command")}
    for path, command, context in _below("", group, root):
        entry = brought.get(path.removeprefix("dev "))
        if entry is not None:  # what stands in the group only hands the line on
            command = parser_of(Registry().load(entry))
            context = command.make_context(
                f"cuescope {path}", [], resilient_parsing=True
            )
            if hasattr(command, "list_commands"):  # several in one
                yield from _below(f"{path} ", command, context)
                continue
        yield path, command, context


def _below(path: str, group: Any, context: Any) -> Iterator[tuple[str, Any, Any]]:
    for name in sorted(group.list_commands(context)):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        own = command.make_context(f"cuescope {path}{name}", [], resilient_parsing=True)
        if not hasattr(command, "list_commands") or command.invoke_without_command:
            yield f"{path}{name}", command, own
        if hasattr(command, "list_commands"):
            yield from _below(f"{path}{name} ", command, own)
