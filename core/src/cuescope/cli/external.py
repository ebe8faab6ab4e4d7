"""Commands that other packages bring through the group `cuescope.commands`."""

from functools import cache
from typing import Any, ClassVar

import typer
from typer.core import TyperGroup

from cuescope.registry import Entry, Registry

# Help lines of the sdk's commands: an entry point has no room for words, and importing the sdk
# for them would cost `--help` a second. Other packages' commands show their package's summary.
SDK_HELP = {
    "new": "Write a plugin package of your own, whose tests pass as they are.",
    "plugins check": "Check that a plugin holds what its kind promises.",
}


class PluginCommands(TyperGroup):
    """A group whose commands may also come from plugins: "new", or "plugins check" in `plugins`.

    The entry point names a `typer.Typer`; it is imported when its command runs.
    """

    path: ClassVar[str] = ""

    def list_commands(self, ctx: Any) -> list[str]:
        """Own commands first, then those of plugins."""
        return [*super().list_commands(ctx), *self._external()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command by name, own or a plugin's."""
        if (own := super().get_command(ctx, cmd_name)) is not None:
            return own
        entry = self._external().get(cmd_name)
        return None if entry is None else _forwarding(cmd_name, entry)

    def _external(self) -> dict[str, Entry]:
        split = [(entry.name.rpartition(" "), entry) for entry in _installed().of_kind("command")]
        return {name: entry for (path, _, name), entry in split if path == self.path}


class PluginsCommands(PluginCommands):
    """The same below `cuescope plugins`."""

    path = "plugins"


@cache
def _installed() -> Registry:
    return Registry()


def _forwarding(name: str, entry: Entry) -> Any:
    """A command that hands its whole line to the plugin's own."""
    stub = typer.Typer(add_completion=False)
    free = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
    line = SDK_HELP.get(entry.name) if entry.dist == "cuescope-sdk" else entry.summary

    @stub.command(name, help=line, context_settings=free, add_help_option=False)
    def forward(ctx: typer.Context) -> Any:
        command = _installed().load(entry)
        return command(ctx.args, prog_name=f"cuescope {entry.name}", standalone_mode=False)

    return typer.main.get_command(stub)
