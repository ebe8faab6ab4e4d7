"""Commands by name, imported when they run: our own, and those that other packages bring."""

import warnings
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from cuescope.cli.grammar import read_dotted_options
from cuescope.cli.paths import refuse_empty_paths
from cuescope_core.registry import Entry, Registry

DEVELOPERS = ("bench", "new", "schema")
FREE_OPTIONS = {"allow_extra_args": True, "ignore_unknown_options": True}


class PluginCommands(TyperGroup):
    """A group whose commands may also come from plugins: "new", or "plugins check" in `plugins`.

    The entry point names a `typer.Typer`; it is imported when its command runs.
    """

    path: ClassVar[str] = ""
    # "module:function", or "module:Typer" of several, with words for `Typer.command`
    own: ClassVar[Mapping[str, tuple[str, Mapping[str, Any]]]] = {}
    # what most people type, in the order in which they need it; others follow by their own
    first: ClassVar[tuple[str, ...]] = (
        *("demo", "methods", "audit", "confirm", "mitigate"),
        *("show", "view", "compare", "gate", "plugins"),
    )
    # names until 0.3 -> what to type
    former: ClassVar[Mapping[str, str]] = {}
    for_developers: ClassVar[bool] = False

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands of the help: the first ones, then the others."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for name in sorted(self.list_commands(ctx), key=self._place):
            command = self.get_command(ctx, name)
            if command is None or command.hidden:
                continue
            is_more = self.first and name not in self.first
            title = "More commands" if is_more else "Commands"
            words = command.get_short_help_str(limit=200)
            sections.setdefault(title, []).append((name, words))
        for title, lines in sections.items():
            with formatter.section(title):
                formatter.write_dl(lines)

    def _place(self, name: str) -> int:
        return self.first.index(name) if name in self.first else len(self.first)

    def list_commands(self, ctx: Any) -> list[str]:
        """Own commands first, then those of plugins."""
        return [*super().list_commands(ctx), *self.own, *self._external()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command by name, own or a plugin's."""
        if (own := super().get_command(ctx, cmd_name)) is not None:
            return own
        if cmd_name in self.own:
            return _own_command(cmd_name, *self.own[cmd_name])
        if cmd_name in self.former:
            return _former(cmd_name, self.former[cmd_name])
        entry = self._external().get(cmd_name)
        if entry is None:
            return None
        # as a model: of several packages one of this project's, and it is said
        return _forwarding(cmd_name, installed().find("command", entry.name))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that a line names; raises UserError with what was probably meant."""
        # half a word is no mistake while a shell completes it
        named = bool(args) and not args[0].startswith("-") and not ctx.resilient_parsing
        if named and self.get_command(ctx, args[0]) is None:
            from cuescope.cli.hints import no_such_command

            raise no_such_command(args[0], self.list_commands(ctx), installed())
        return super().resolve_command(ctx, args)

    def _external(self) -> dict[str, Entry]:
        split = [
            (entry.name.rpartition(" "), entry)
            for entry in installed().of_kind("command")
        ]
        return {
            name: entry
            for (path, _, name), entry in split
            if path == self.path and (name in DEVELOPERS) == self.for_developers
        }


class PluginsCommands(PluginCommands):
    """The same below `cuescope plugins`."""

    path = "plugins"
    first = ()


@cache
def parser_of(commands: typer.Typer) -> Any:
    """The parser of their lines, made once a process."""
    parser = typer.main.get_command(commands)
    refuse_empty_paths(parser)
    read_dotted_options(parser)
    return parser


@cache
def installed() -> Registry:
    """The installed plugins, looked up once a process."""
    return Registry()


class AuditCommand(TyperCommand):
    """Offers `--executor` and `--observe` only where a plugin fills them; both are taken always.

    Behind a method its help is about that method: its own options, and what every audit needs.
    """

    offered: ClassVar = {"executor": "executor", "observe": "observer"}
    common: ClassVar = ("model", "data", "tool", "limit", "out", "plan", "verbose")
    line: tuple[str, ...] = ()

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """As click does; what was typed is kept, for help is asked for before it is read."""
        self.line = tuple(args)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The help of the method that was typed, or that of the command."""
        word = next((word for word in self.line if not word.startswith("-")), "")
        name = word.partition(":")[0]
        known = {entry.name for entry in installed().of_kind("method")}
        if self.name != "audit" or name not in known:
            super().format_help(ctx, formatter)
            return
        from cuescope.cli.hints import write_method_help

        common = [
            option.get_help_record(ctx)
            for option in self.get_params(ctx)
            if option.name in self.common
        ]
        write_method_help(formatter, name, installed(), list(filter(None, common)))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The options of the help."""
        for option in self.params:
            if kind := self.offered.get(option.name or ""):
                option.hidden = not installed().of_kind(kind)  # type: ignore[attr-defined]
        super().format_options(ctx, formatter)


def _own_command(name: str, target: str, words: Mapping[str, Any]) -> Any:
    """A command of this package."""
    module, _, attribute = target.partition(":")
    found = getattr(import_module(module), attribute)
    if isinstance(found, typer.Typer):
        command: Any = typer.main.get_group(found)
    else:
        stub = typer.Typer(add_completion=False, rich_markup_mode=None)
        stub.command(name, **words)(found)
        command = typer.main.get_command(stub)
    command.name = name
    refuse_empty_paths(command)
    read_dotted_options(command)
    return command


def _forwarding(name: str, entry: Entry) -> Any:
    """A command that hands its whole line to the plugin's own."""
    stub = typer.Typer(add_completion=False)
    # `--help` goes to the plugin's own command too
    free = {**FREE_OPTIONS, "help_option_names": []}
    from cuescope.plugin_index import description_of

    # an import of each command for its help would cost a second
    line = description_of(entry)

    @stub.command(name, help=line, context_settings=free, add_help_option=False)
    def forward(ctx: typer.Context) -> Any:
        # imported now, and not for a list or a help (docs/adr/0002)
        command = installed().load(entry)
        if isinstance(command, typer.Typer):
            command = parser_of(command)
        return command(
            ctx.args,
            prog_name=ctx.command_path,
            standalone_mode=False,
            default_map=ctx.default_map,
        )

    return typer.main.get_command(stub)


def _former(name: str, now: str) -> Any:
    """A command by the name that it had before, which says the new one."""
    stub = typer.Typer(add_completion=False)
    free = {**FREE_OPTIONS, "help_option_names": []}

    @stub.command(name, hidden=True, context_settings=free, add_help_option=False)
    def forward(ctx: typer.Context) -> Any:
        text = f"use `cuescope {now}`, `cuescope {name}` ends in 0.3"
        warnings.warn(text, FutureWarning, stacklevel=2)
        root = ctx.find_root().command
        words = [*now.split(), *ctx.args]
        return root.main(words, prog_name="cuescope", standalone_mode=False)

    return typer.main.get_command(stub)
