"""`cuescope mitigate RUN --with NAME`: a remedy for a run's cues, tried on samples held out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cuescope.cli.audit import audit_and_show
from cuescope.cli.options import AsJson, Quiet, Verbose, open_runner
from cuescope.errors import UserError

if TYPE_CHECKING:
    from cuescope.conclusions import PluginStamp, Report
    from cuescope.registry import Registry
    from cuescope.request import Request
    from cuescope.runner import Runner

METHOD = "mitigation"
PARTS = 3  # found in the first, fitted and measured in the others
command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command(context_settings={"help_option_names": ["-h", "--help"]})
def mitigate(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run folder.")],
    mitigator: Annotated[
        str, typer.Option("--with", metavar="NAME", help="Mitigator: `cuescope plugins list`.")
    ],
    on: Annotated[
        str | None,
        typer.Option(
            metavar="SPLIT",
            help="Fit and measure on this split of the data. [default: the run is made again on a "
            "third of its data, and the rest is for fitting and measuring]",
        ),
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option("-O", metavar="KEY=VALUE", help="Option of the mitigator.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Most findings, the first ones.")] = 20,
    placebos: Annotated[
        int, typer.Option(min=0, help="Times that it is fitted to cues drawn at random.")
    ] = 3,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Of parts and placebos; without it, that of the run.")
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Say what it would cost.")] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="[default: beside RUN, RUN-mitigated-NAME]")
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Learn how the model can do without the cues of RUN, and measure whether it helps.

    Cues are found on one part of the data, the remedy is learned on a second and measured on a
    third, beside two placebos. What was learned is kept: -M mitigated=DIR/mitigated audits the
    mitigated model.
    """
    from cuescope.runs import load_report
    from cuescope.spec import Spec, pairs

    report = load_report(run)
    name = Spec.parse(mitigator).name
    folder = out or _folder(run, name)
    with open_runner(out=folder, quiet=quiet, verbose=verbose) as runner:
        registry = runner.context.registry
        registry.find("mitigator", name)  # a wrong name is told before hours of answers
        request = request_of(report, registry)
        if seed is not None:
            request = request.model_copy(update={"seed": seed})
        model = report.provenance.model
        own = {"mitigator_options": pairs("-O", option or ()), "top": top, "placebos": placebos}
        fields = registry.load(registry.find("method", METHOD)).Options.model_fields
        changed = {name: value for name, value in own.items() if value != fields[name].default}
        found, finding, rest = apart(run, request, on, registry, folder / "found")
        trial = rest.model_copy(
            update={
                "method": METHOD,
                "method_options": {
                    "run": str(found),
                    "mitigator": mitigator,
                    **changed,
                    "save": str(folder / "mitigated"),
                    "model": {"model": model.fingerprint or "", "spec": model.spec},
                },
                "tools": {},
                "tool_options": {},
            }
        )
        if finding is not None:
            runner.context.announce(
                f"{run} looked at all of its data: it is made again on a third of it ({found}), so "
                "that nothing is learned or measured where the cues were found"
            )
            if plan and not (found / "report.json").exists():
                runner.context.announce("the plan of that; the rest can be planned once it is made")
                trial = finding
            elif not plan:
                find_again(runner, finding, found)
        if plan:
            from cuescope.cli.planning import show_plan

            show_plan(runner, trial, as_json=as_json)
        else:
            audit_and_show(runner, trial, as_json=as_json)


def _folder(run: Path, name: str) -> Path:
    home = (run if run.is_dir() else run.parent).resolve()
    return home.with_name(f"{home.name}-mitigated-{name}")


def request_of(report: "Report", registry: "Registry") -> "Request":
    """What asked for a report; raises UserError where an object in memory took part."""
    from cuescope.python.objects import IN_MEMORY
    from cuescope.request import Request

    origin = report.provenance
    for role, stamp in origin.stamps:
        if stamp.dist == IN_MEMORY:
            raise UserError(
                f"the {role} of this run was an object in memory",
                expected="plugins by SPEC, which can be built again",
                got=f"'{stamp.spec}'",
            )
    tools = {role: given(registry, "tool", stamp) for role, stamp in origin.tools.items()}
    return Request(
        method=origin.method.spec,
        model=origin.model.spec,
        data=origin.data.spec,
        method_options=given(registry, "method", origin.method),
        model_options=given(registry, "model", origin.model),
        data_options=given(registry, "dataset", origin.data),
        tools={role: stamp.spec for role, stamp in origin.tools.items()},
        tool_options={role: options for role, options in tools.items() if options},
        seed=origin.seed,
        limit=origin.limit,
        part=origin.part,
        dtype=origin.dtype,
    )


def given(registry: "Registry", kind: str, stamp: "PluginStamp") -> dict[str, Any]:
    """The options of a plugin that are not its defaults, without the ARG of its SPEC."""
    from cuescope.spec import Spec

    spec = Spec.parse(stamp.spec)
    kept: dict[str, Any] = {}
    fields = registry.load(registry.find(kind, spec.name)).Options
    for name, value in stamp.options.items():
        field = fields.model_fields.get(name)
        if name == fields.argument and spec.arg is not None:
            continue
        default = field.get_default(call_default_factory=True) if field else None
        plain = list(default) if isinstance(default, tuple | set | frozenset) else default
        if value != plain:
            kept[name] = value
    return kept


def apart(
    run: Path, request: "Request", on: str | None, registry: "Registry", found: Path
) -> tuple[Path, "Request | None", "Request"]:
    """The run that found the cues, what makes it anew, and a request with other data.

    Nothing makes it anew where another split is named, or where it looked at some parts alone.
    """
    from cuescope.spec import Spec

    elsewhere: dict[str, Any] = {"limit": None}
    if on is not None:
        name = Spec.parse(request.data).name
        dataset = registry.load(registry.find("dataset", name))
        if "split" not in dataset.Options.model_fields:
            raise UserError(
                f"--on {on}",
                expected="a data set with splits",
                got=f"{name}, which has none",
                remedy="Leave --on out: the data is split by group",
            )
        own = request.data_options.get("split", dataset.Options.model_fields["split"].default)
        if on == own:
            raise UserError(
                f"--on {on}",
                expected="another split than that in which the cues were found",
                got=f"the run's own split '{on}'",
                remedy="Leave --on out: then the run is made again on a third of it",
            )
        elsewhere |= {"data_options": {**request.data_options, "split": on}, "part": None}
        return run, None, request.model_copy(update=elsewhere)
    if request.part is not None:
        elsewhere["part"] = complement(request.part)
        return run, None, request.model_copy(update=elsewhere)
    rest = f"{'+'.join(map(str, range(2, PARTS + 1)))}/{PARTS}"
    return (
        found,
        request.model_copy(update={"part": f"1/{PARTS}"}),
        request.model_copy(update=elsewhere | {"part": rest}),
    )


def find_again(runner: "Runner", request: "Request", found: Path) -> None:
    """Make the run on its part of the data; raises UserError where it finds no cue there."""
    from dataclasses import replace

    made = replace(runner, out=found).run(request, resume=True)
    if not made.findings:
        raise UserError(
            f"on a third of its data {request.method} finds no cue",
            expected="a finding to mitigate",
            got=f"none in {made.provenance.samples} samples",
            remedy="Take more samples, or name another split with --on",
        )


def complement(part: str) -> str:
    """The other parts; raises UserError where there is none."""
    wanted, _, of = part.partition("/")
    rest = [str(n) for n in range(1, int(of) + 1) if str(n) not in wanted.split("+")]
    if not rest:
        raise UserError(f"the run looked at part {part}", expected="a run of some of the parts")
    return f"{'+'.join(rest)}/{of}"
