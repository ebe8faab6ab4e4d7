"""`cuescope plugins`: what is installed, what it can do, and what is wrong with it."""

import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from enum import Enum
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cuescope.cli.echo import echo
from cuescope.cli.external import PluginsCommands
from cuescope.cli.fitting import show_use
from cuescope.cli.option_words import default_in_words, type_in_words
from cuescope.cli.options import PrintsJson, complete
from cuescope.cli.printing import prints, prints_lines
from cuescope.installing import find_source, how_to_install, is_own, plan_installation
from cuescope.plugin_index import description_of, shipped_index
from cuescope_core.errors import UserError, nearest
from cuescope_core.printable import printable
from cuescope_core.registry import KINDS, Entry, Problem, Registry

if TYPE_CHECKING:
    from cuescope.cli.outputs import PluginDescription

app = typer.Typer(
    rich_markup_mode=None,
    cls=PluginsCommands,
    help="List, describe, check and install plugins.",
)
Check = Annotated[
    bool, typer.Option("--check", help="Import each plugin, and say what is broken.")
]
Strict = Annotated[
    bool, typer.Option("--strict", help="As --check; exit 1 if one is broken.")
]
CPU_TORCH = "https://download.pytorch.org/whl/cpu"
# what a line of `info` says, by the field of requirements or of capabilities
MEANINGS = {
    "requires": {
        "outputs": "the model must answer with",
        "edits": "the model must take the edits",
        "exposes": "the model must let one look at",
        "tools": "tools that it needs",
        "may_use": "tools that it can use",
        "roles": "tools of a kind of its own",
        "labels": "fewest labels",
    },
    "capabilities": {
        "outputs": "answers with",
        "edits": "takes the edits",
        "exposes": "lets one look at",
        "min_frames": "fewest frames of a sample",
        "max_frames": "most frames of a sample",
        "notes": "notes",
    },
}


class Kind(Enum):
    """A kind of plugin."""

    method = "method"
    model = "model"
    dataset = "dataset"
    tool = "tool"
    executor = "executor"
    observer = "observer"
    exporter = "exporter"
    intervention = "intervention"
    explainer = "explainer"
    mitigator = "mitigator"
    log = "log"
    bench = "bench"
    command = "command"


OfKind = Annotated[
    Kind | None, typer.Option("--kind", help="List plugins of this kind only.")
]


@app.callback(invoke_without_command=True)
@prints("cuescope.cli.outputs:PluginList")
def plugins(
    ctx: typer.Context,
    kind: OfKind = None,
    check: Check = False,
    strict: Strict = False,
    as_json: PrintsJson = False,
) -> None:
    """List the installed plugins (without importing any, unless --check)."""
    if ctx.invoked_subcommand is None:
        list_(kind, check, strict, as_json)


@app.command("list")
@prints("cuescope.cli.outputs:PluginList")
def list_(
    kind: OfKind = None,
    check: Check = False,
    strict: Strict = False,
    as_json: PrintsJson = False,
) -> None:
    """List the installed plugins."""
    registry = Registry()
    # metadata alone answer in 0.3 s; why a plugin is broken only an import tells (docs/adr/0002)
    check = check or strict
    problems = {
        entry: registry.check(entry) if check else entry.problem
        for entry in (
            registry.entries if kind is None else registry.of_kind(kind.value)
        )
    }
    if as_json:
        is_broken = _print_list(problems, registry, imported=check)
        if strict and is_broken:
            raise typer.Exit(1)
        return
    broken = {entry: problem for entry, problem in problems.items() if problem}
    # this project's commands are listed by `--help`
    listed = [
        e
        for e in problems
        if e not in broken and not (e.kind == "command" and is_own(e.dist))
    ]
    if not listed and kind:
        echo(f"No {kind.value} is installed.")
    elif not listed:
        echo(f"No plugin is installed: {how_to_install('cuescope-trove')}.")
    # one width for all lines, since columns are read downwards
    width = max([14, *(len(entry.name) for entry in listed)])
    kinds = max([8, *(len(entry.kind) for entry in listed)])
    for entry in listed:
        named = f"{entry.kind:<{kinds}}  {entry.name:<{width}}"
        echo(f"{named}  {entry.version:<8}  {_does(entry)}")
    faults = [(_title(entry), problem) for entry, problem in broken.items()]
    faults += [(f"package {dist}", fault) for dist, fault in registry.damaged.items()]
    for title, problem in faults:
        # what packages say of themselves may hold codes that a terminal obeys (SECURITY.md)
        typer.secho(printable(f"broken: {title}"), fg="red")
        echo(f"  reason: {problem.reason}")
        echo(f"  remedy: {problem.remedy}")
    if not check:
        echo("Nothing was imported; `cuescope plugins --check` tries each one.")
    elif problems and not faults:
        echo(f"All {len(problems)} can be imported.")
    if strict and faults:
        raise typer.Exit(1)


def _does(entry: Entry) -> str:
    if entry.kind == "command":
        return f"`cuescope {entry.name}`"
    return description_of(entry)


def _print_list(
    problems: Mapping[Entry, Problem | None], registry: Registry, *, imported: bool
) -> bool:
    """Print the plugins as JSON; whether one is broken."""
    from cuescope.cli.outputs import PluginList, PluginRow

    rows = []
    # problems are None where nothing was tried: `imported` says which
    for entry, problem in problems.items():
        row = PluginRow(
            kind=entry.kind,
            name=entry.name,
            dist=entry.dist,
            version=entry.version,
            does="" if problem else _does(entry),
            problem=problem and problem.reason,
            remedy=problem and problem.remedy,
        )
        rows.append(row)
    damaged = {dist: fault.reason for dist, fault in registry.damaged.items()}
    PluginList(imported=imported, plugins=tuple(rows), damaged=damaged).show()
    return bool(damaged) or any(problems.values())


def _title(entry: Entry) -> str:
    return f"{entry.kind} {entry.name} ({entry.dist} {entry.version})"


@app.command("info")
@prints("cuescope.cli.outputs:PluginDescriptions")
def info(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="Plugin.", autocompletion=complete("names")
        ),
    ],
    as_json: PrintsJson = False,
) -> None:
    """Describe a plugin: what it can do, its options, what fits it, and an example."""
    registry = Registry()
    # by name alone: a model and a data set may share one
    entries = [entry for entry in registry.entries if entry.name == name]
    of_dist = (registry.of_dist(kind, name) for kind in KINDS)
    entries += filter(None, of_dist)
    if not entries:
        known = sorted(
            {entry.name for entry in registry.entries if entry.kind != "command"}
        )
        raise UserError(
            f"no plugin '{name}' is installed",
            remedy=nearest(name, known) or "`cuescope plugins` lists them",
        )
    if as_json:
        from cuescope.cli.outputs import PluginDescriptions

        described = [describe(entry, registry.load(entry)) for entry in entries]
        PluginDescriptions(plugins=tuple(described)).show()
        return
    for entry in entries:
        show_description(describe(entry, registry.load(entry)), _title(entry))
        show_use(entry, registry)


def describe(entry: Entry, plugin: Any) -> "PluginDescription":
    """Description of a plugin: kind, capabilities and options."""
    from cuescope.cli.outputs import PluginDescription, PluginOption

    is_command = entry.kind == "command"
    has_own_words = not is_command and plugin.__doc__
    summary = plugin.__doc__ if has_own_words else entry.summary
    abilities = {}
    for what in ("requires", "capabilities"):
        values = dict(getattr(plugin, what, ()))
        abilities[what] = {key: capability_in_words(v) for key, v in values.items()}
    options = []
    # a command is a Typer app, which has no `Options`
    fields = {} if is_command else plugin.Options.model_fields
    for name, field in fields.items():
        default = (
            "needed" if field.is_required() else default_in_words(field.get_default())
        )
        option = PluginOption(
            name=f"{name} (ARG)" if name == plugin.Options.argument else name,
            takes=type_in_words(field.annotation),
            default=default,
            meaning=field.description or "",
        )
        options.append(option)
    return PluginDescription(
        kind=entry.kind,
        name=entry.name,
        dist=entry.dist,
        version=entry.version,
        # a stranger's class may say nothing of itself, and its package neither
        summary=next(iter(summary.strip().splitlines()), "says nothing of itself"),
        **abilities,
        options=tuple(options),
    )


def show_description(plugin: "PluginDescription", title: str) -> None:
    """Print it."""
    from cuescope.cli.terminal import print_table

    echo(f"{title}: {plugin.summary}")
    for what, meanings in MEANINGS.items():
        for name, words in getattr(plugin, what).items():
            if words not in ("none", "no limit", "0"):
                echo(f"{meanings.get(name, name)}: {words}")
    rows = [
        (option.name, option.takes, option.default, option.meaning)
        for option in plugin.options
    ]
    if rows:
        print_table(("option", "takes", "default", "meaning"), rows)


def capability_in_words(value: Any) -> str:
    """A value of requirements or capabilities as a person reads it."""
    if value is None:
        return "no limit"
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {words}" for name, words in value.items()) or "none"
    if isinstance(value, (frozenset, tuple)):
        # a role is no word: its name is
        return (
            # sets have no order, and the line should be the same each time
            ", ".join(sorted(str(getattr(part, "name", part)) for part in value))
            or "none"
        )
    return str(value)


@app.command("search")
@prints("cuescope.cli.outputs:PluginSearch")
def search(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORDS...", help="Each is in the line. [default: all]"),
    ] = None,
    kind: OfKind = None,
    as_json: PrintsJson = False,
) -> None:
    """Search the list of everybody's plugins, installed or not."""
    index = shipped_index()
    found = [
        plugin
        for plugin in index
        if plugin.has(words or []) and (kind is None or plugin.kind == kind.value)
    ]
    here = {(entry.kind, entry.name) for entry in Registry().entries}
    if as_json:
        from cuescope.cli.outputs import ListedPlugin, PluginSearch

        rows = []
        for plugin in found:
            row = ListedPlugin(
                kind=plugin.kind,
                name=plugin.name,
                dist=plugin.dist,
                finds=plugin.finds,
                installed=(plugin.kind, plugin.name) in here,
                how=how_to_install(plugin.dist),
            )
            rows.append(row)
        PluginSearch(plugins=tuple(rows)).show()
        return
    for plugin in found:
        is_here = (plugin.kind, plugin.name) in here
        echo(f"{plugin.kind} {plugin.name} ({plugin.dist}): {plugin.finds}")
        how = "installed" if is_here else how_to_install(plugin.dist)
        echo(f"  {how}")
    if not found:
        echo(f"None of {len(index)} listed plugins has all these words: try others.")
        if kind is None or kind.value == "model":
            echo(
                "A model of your own needs no plugin: from Python, cuescope.audit takes a function "
                "from images to probabilities (cuescope.Classifier)."
            )
    if not all(is_own(plugin.dist.partition("[")[0]) for plugin in found):
        echo("Nobody here has looked at packages that are not of this project.")


@app.command("install")
@prints_lines
def install(
    dists: Annotated[
        list[str],
        typer.Argument(metavar="DIST...", help="Packages, each as pip takes it."),
    ],
) -> None:
    """Install packages of plugins into this environment.

    Those of this project come from where cuescope came from: a clone, or a folder of wheels. Their
    names are not registered on the package index yet.
    """
    installation = plan_installation(dists)
    for dist in dists:
        # pip would take it for an option of its own
        if dist.startswith("-"):
            raise UserError(f"install {dist}", expected="the name of a package")
    command = [*_installer("install"), *installation.arguments]
    if installation.brings_torch and sys.platform == "linux" and not find_spec("torch"):
        command += _torch_build("pip" if "-m" in command else "uv")
    # pip takes constraints from a file alone
    with TemporaryDirectory() as folder:
        # a stranger's plugin may need one of ours, whose names nobody has registered on the index
        if installation.constraints:
            constraints = Path(folder, "constraints.txt")
            constraints.write_text(
                "\n".join(installation.constraints) + "\n", encoding="utf-8"
            )
            command += ["-c", str(constraints)]
        # no exception: pip has said what is wrong
        # its own words are no result: standard output may be JSON
        code = subprocess.run(command, check=False, stdout=sys.__stderr__).returncode
    if code:
        echo(f"cuescope: nothing was installed: see above.{_hints(dists)}", err=True)
        raise typer.Exit(code)


def _torch_build(installer: str) -> list[str]:
    """What makes torch the build for this computer; whoever would get CUDA is asked."""
    if shutil.which("nvidia-smi"):
        # without a terminal nobody is there to be asked
        if sys.stdin.isatty():
            typer.confirm(
                "torch with CUDA takes 6 GB. Go on?", True, abort=True, err=True
            )
        return []
    words = "(where that cannot be reached, install torch and torchvision first)"
    echo(f"no GPU is seen: torch without CUDA, from {CPU_TORCH} {words}", err=True)
    if installer == "uv":
        return ["--torch-backend", "cpu"]
    return ["--extra-index-url", CPU_TORCH]


@app.command("remove")
@prints_lines
def remove(
    dists: Annotated[
        list[str],
        typer.Argument(
            metavar="DIST...", help="Packages, as `cuescope plugins` names them."
        ),
    ],
) -> None:
    """Remove packages of plugins from this environment."""
    # nothing else is removed: this command is about plugins
    brought = {entry.dist for entry in Registry().entries}
    for dist in dists:
        if dist not in brought:
            raise UserError(
                f"no package '{dist}' brings plugins here",
                remedy=nearest(dist, brought) or "`cuescope plugins` names them",
            )
    command = [*_installer("uninstall"), *dists]
    code = subprocess.run(command, check=False, stdout=sys.__stderr__).returncode
    if code:
        raise typer.Exit(code)


def _hints(dists: Sequence[str]) -> str:
    """Names of the list that are near to those that nobody knows."""
    # all begin alike, so that any two seem near
    prefix = "cuescope-"
    listed = {plugin.dist.removeprefix(prefix) for plugin in shipped_index()}
    hints = ""
    for dist in dists:
        name = dist.removeprefix(prefix)
        guess = None if name in listed else nearest(name, sorted(listed))
        if guess is not None:
            hints += f" {guess}"
    return hints


def _installer(action: str) -> list[str]:
    """The command that installs or uninstalls here; raises UserError where there is none."""
    if find_spec("pip"):  # an environment of uv has none
        # whoever typed it means it, and nobody may be there to be asked
        agreed = ["--yes"] if action == "uninstall" else []
        return [sys.executable, "-m", "pip", action, *agreed]
    source = find_source()
    # where make put it
    of_clone = source and shutil.which(source.folder / ".uv" / "bin" / "uv")
    if uv := shutil.which("uv") or of_clone:
        return [uv, "pip", action, "--python", sys.executable]
    raise UserError(
        "neither pip nor uv is here",
        remedy=f"`{sys.executable} -m ensurepip` brings pip",
    )
