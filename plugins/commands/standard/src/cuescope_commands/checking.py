"""`cuescope plugins check NAME`: a plugin against the contract of its kind."""

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cuescope.application import PrintsJson, echo, prints

if TYPE_CHECKING:
    from pathlib import Path

    from cuescope.application import Entry, Registry, Spec
    from cuescope_testing import Contract

# plain help: rich would triple the time to its first line
check = typer.Typer(add_completion=False, rich_markup_mode=None)

COLOURS = {"ok": None, "failed": "red", "skipped": "yellow"}


@check.command(context_settings={"help_option_names": ["-h", "--help"]})
@prints("cuescope_commands.outputs:PluginChecks")
def run(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="NAME or NAME:ARG.")],
    option: Annotated[
        list[str] | None,
        typer.Option("-O", metavar="KEY=VALUE", help="Option of the plugin."),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(metavar="SPEC", help="Data set that a model or tool is shown."),
    ] = None,
    data_option: Annotated[
        list[str] | None,
        typer.Option("-D", metavar="KEY=VALUE", help="Option of the data set."),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(help="method, model, dataset ..., where a name is several."),
    ] = None,
    other_cues: Annotated[
        bool,
        typer.Option(
            "--other-cues", help="The method looks for no things seen in frames."
        ),
    ] = False,
    paradigm: Annotated[
        str,
        typer.Option(
            help="errors: cues that make a model err; reliance: that a right one needs."
        ),
    ] = "errors",
    only: Annotated[
        str, typer.Option(help="Run the checks whose name contains this.")
    ] = "",
    device: Annotated[str, typer.Option(help="Device of a model or tool.")] = "auto",
    dtype: Annotated[
        str, typer.Option(help="float32, float16 or bfloat16.")
    ] = "float32",
    as_json: PrintsJson = False,
) -> None:
    """Check that a plugin holds what its kind promises; exit 1 where it does not.

    What it refuses in one line, such as data that it is not for, is shown as skipped.
    """
    # imported here: `--help` is to stay quick
    from cuescope_commands.outputs import PluginCheck, PluginChecks
    from cuescope_sdk import PluginError
    from cuescope_sdk.models import refuse_unknown

    settings = {"device": device, "dtype": dtype}
    contract = contract_of(spec, option or (), kind, data, data_option or (), settings)
    if contract.kind == "method":
        refuse_unknown("plugins check", "paradigm", paradigm, ("errors", "reliance"))
        contract.paradigm = paradigm  # type: ignore[attr-defined]
    if other_cues:
        contract.finds_planted_cue = False  # type: ignore[attr-defined]
    # it shows as failed checks; a mistake of the person ends here
    with suppress(PluginError):
        _require_data(contract.build(), contract, data)
    counts = dict.fromkeys(COLOURS, 0)
    rows = []
    for result in contract.run_checks(only):
        counts[result.status] += 1
        words = result.check.removeprefix("test_").replace("_", " ")
        row = PluginCheck(
            check=words, status=result.status, reason=result.reason or None
        )
        rows.append(row)
        if not as_json:
            typer.secho(f"{result.status:<8}{words}", fg=COLOURS[result.status])
            if result.reason:
                echo(f"        {result.reason}")
    if as_json:
        PluginChecks(plugin=spec, checks=tuple(rows)).show()
    else:
        shown = [f"{count} {status}" for status, count in counts.items() if count]
        echo(", ".join(shown))
    # nothing checked is no success: --only may fit no check
    raise typer.Exit(1 if counts["failed"] or not counts["ok"] else 0)


def _require_data(plugin: Any, contract: "type[Contract]", data: str | None) -> None:
    """Raise UserError where a model cannot even answer about the data that the suite draws."""
    from cuescope_sdk import Trial, UserError

    if contract.kind != "model" or data is not None:
        return
    [sample, *_] = contract.first_samples()  # type: ignore[attr-defined]
    outputs = plugin.capabilities.outputs
    try:
        plugin.respond([Trial(sample=sample, outputs=outputs)])
    except UserError:  # it says itself what it is for
        return
    except Exception as error:
        raise UserError(
            f"plugins check: the model cannot answer about the choices {', '.join(sample.choices)}",
            got=f"{type(error).__name__}: {error}",
            remedy="Add --data SPEC, data with labels that it knows",
        ) from error


def contract_of(
    text: str,
    options: Iterable[str],
    kind: str | None,
    data: str | None,
    data_options: Iterable[str],
    settings: dict[str, str],
) -> "type[Contract]":
    """The contract of an installed plugin; raises UserError where there is none to check."""
    from cuescope.application import Registry, Spec, cache_folder, pairs
    from cuescope_sdk import UserError

    try:
        from cuescope_testing import CONTRACTS
    except ModuleNotFoundError as error:
        raise UserError(
            "plugins check needs the contract suites",
            remedy="`cuescope plugins install cuescope-testing`",
        ) from error

    registry = Registry()
    spec = Spec.parse(text)
    entry = _entry(registry, spec.name, kind)
    plugin, known = _with_options(registry, entry, spec, pairs("-O", options))
    facts = {"folder": cache_folder(), **settings, "plugin": plugin, "options": known}
    if entry.kind == "log":
        facts["written"] = classmethod(_refuse_to_write)
    if data is not None:
        if entry.kind not in ("model", "tool"):
            raise UserError(
                "--data",
                expected="a model or tool to show it to",
                got=entry.kind,
            )
        spec = Spec.parse(data)
        dataset = registry.find("dataset", spec.name)
        facts["data"], facts["data_options"] = _with_options(
            registry, dataset, spec, pairs("-O data.KEY", data_options)
        )
    # a class, as the test of a plugin is one
    return type(f"Check{entry.kind.title()}", (CONTRACTS[entry.kind],), facts)


def _refuse_to_write(cls: type, folder: "Path") -> "Path":
    """A log of the format: nobody but its authors can write one."""
    from cuescope_testing import NotApplicable

    raise NotApplicable(
        "asks for a log of the format, which the tests of its package write"
    )


def _entry(registry: "Registry", name: str, kind: str | None) -> "Entry":
    """The installed plugin that is meant; raises UserError for none or several."""
    from cuescope.application import with_article
    from cuescope_sdk import UserError, nearest
    from cuescope_sdk.models import refuse_unknown
    from cuescope_testing import CONTRACTS

    # first: of a kind that there is not nothing is installed either
    if kind is not None:
        refuse_unknown("plugins check", "kind", kind, tuple(CONTRACTS))
    kinds = CONTRACTS if kind is None else (kind,)
    if ".py:" in name:
        # any class has all that a tool or an observer must have
        ordered = sorted(kinds, key=("tool", "observer").__contains__)
        return _entry_of_file(registry, name, ordered)
    entries = [entry for entry in registry.entries if entry.kind in kinds]
    named = {entry.kind: entry for entry in entries if entry.name == name}
    for kind_name in kinds:
        entry = registry.of_dist(kind_name, name)
        if entry:
            named[kind_name] = entry
    if not named:
        names = sorted({entry.name for entry in entries})
        unchecked = {each.kind for each in registry.entries if each.name == name}
        if kind is None and unchecked:
            raise UserError(
                f"'{name}' is {with_article(min(unchecked))}, for which there are no common checks",
                expected=f"one of {', '.join(CONTRACTS)}",
                remedy="The tests of its own package check it",
            )
        raise UserError(
            f"no {kind or 'plugin'} '{name}' to check",
            expected=f"one of the {len(names)} that are installed",
            remedy=nearest(name, names) or "`cuescope plugins` lists what is installed",
        )
    # a method and a data set may have one name
    first, *others = named
    if others:
        raise UserError(
            f"'{name}' is {' and '.join(named)}", remedy=f"Add --kind {first}"
        )
    return named[first]


def _entry_of_file(registry: "Registry", name: str, kinds: Iterable[str]) -> "Entry":
    """A class in a file that was typed: of the first kind whose members it has."""
    registry.trust([name])
    entries = [registry.find(kind, name) for kind in kinds]
    whole = (entry for entry in entries if registry.check(entry) is None)
    # else what is wrong with it is told as it is loaded
    return next(whole, entries[0])


def _with_options(
    registry: "Registry",
    entry: "Entry",
    spec: "Spec",
    options: dict[str, str],
) -> tuple[Any, dict[str, str]]:
    """A plugin's class, and its options with ARG of `NAME:ARG` among them."""
    from cuescope.application import validate

    plugin = registry.load(entry)
    # a person's own mistakes are no broken contract
    validate(entry, plugin, spec, options)
    if spec.arg is not None:
        options = {plugin.Options.argument: spec.arg} | options
    return plugin, options
