"""`cuescope cue`: makes a cue of one's own, shows it, asks about it and applies it."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from cuescope.application import (
    DATA,
    MODEL,
    Allow,
    AskedAgain,
    Asking,
    BatchSize,
    DataOptions,
    Device,
    DrawSeed,
    ModelOptions,
    Output,
    OutputFile,
    Pairs,
    ToolOptions,
    Tools,
    ask_again,
    echo,
    open_runner,
    output_file,
    prints,
    require_same_data,
    spread,
    write_csv,
)
from cuescope_sdk import Report, Request, Sample, StoredRun, UserError
from cuescope_sdk.report import count_of

if TYPE_CHECKING:
    from cuescope_cue.making import Making
    from cuescope_sdk.cues import Cue

METHOD = "cue"
ENDING = ".cue"
SETTINGS = {"help_option_names": ["-h", "--help"]}
command = typer.Typer(
    add_completion=False, rich_markup_mode=None, context_settings=SETTINGS
)

CueFile = Annotated[Path, typer.Argument(metavar="FILE", help="Cue file.")]
With = Annotated[
    Pairs,
    typer.Option(
        "--with", metavar="KEY", help="Sample that shows the cue; repeatable."
    ),
]
Without = Annotated[
    Pairs,
    typer.Option("--without", metavar="KEY", help="Sample that does not; repeatable."),
]


@command.callback()
def cue() -> None:
    """A cue of your own: make it, show it, refine it, recognise it in any data.

    `cuescope audit --cue FILE --model SPEC --data SPEC` measures what it changes.
    """


@dataclass(frozen=True)
class On:
    """A model on data, and the way."""

    model: Annotated[str | None, MODEL] = None
    data: Annotated[str | None, DATA] = None
    model_option: ModelOptions = None
    data_option: DataOptions = None
    tool: Tools = None
    tool_option: ToolOptions = None
    device: Device = "auto"
    batch_size: BatchSize = 64
    seed: DrawSeed = 0
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Take at most this many samples, drawn by seed."),
    ] = None

    @property
    def request(self) -> Request:
        """What is asked of them."""
        return Asking(**vars(self)).request(METHOD, {})

    @property
    def again(self) -> dict[str, Any]:
        """What of it a stored run takes."""
        names = ("model", "data", "model_option", "data_option", "device", "batch_size")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Ways:
    """In which way a cue is given: one of them."""

    run: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN",
            help="Run whose finding it is, or whose findings --with and --without choose among.",
        ),
    ] = None
    finding: Annotated[
        str | None,
        typer.Option(metavar="N|NAME", help="Finding of --run, by number or name."),
    ] = None
    shown: With = None
    others: Without = None
    column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[=VALUE]",
            help="Annotation of the data that says who shows it.",
        ),
    ] = None
    listed: Annotated[
        Path | None,
        typer.Option(
            "--list",
            metavar="LIST",
            help="Text file with the key of each sample that shows it, one a line.",
        ),
    ] = None
    phrase: Annotated[
        str | None,
        typer.Option(help="Words for it, where the model or an embedder reads text."),
    ] = None
    box: Annotated[
        str | None,
        typer.Option(
            metavar="X0,Y0,X1,Y1",
            help="Region of the middle frame of --sample that shows it: pixels, or shares of 1.",
        ),
    ] = None
    sample: Annotated[
        str | None, typer.Option(metavar="KEY", help="Sample of --box.")
    ] = None

    def require_one(self) -> None:
        """Raise UserError unless the cue is given in one way."""
        ways = {
            "--finding": self.finding,
            "--with and --without": self.shown or self.others,
            "--column": self.column,
            "--list": self.listed,
            "--phrase": self.phrase,
            "--box": self.box,
        }
        given = [name for name, value in ways.items() if value]
        if len(given) != 1:
            raise UserError(
                "cue make",
                expected=f"one of {', '.join(ways)}",
                got=" and ".join(given) or "none",
            )
        if self.finding and self.run is None:
            raise UserError("--finding without --run", remedy="Add --run RUN")
        if bool(self.box) != bool(self.sample):
            raise UserError("--box and --sample", expected="both, or neither")


class Made(NamedTuple):
    """A cue, and how samples chose it."""

    cue: "Cue"
    chosen: str | None = None


@command.command(context_settings=SETTINGS)
@spread
@prints("cuescope_cue.outputs:CueFacts")
def make(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Cue file to write.", click_type=OutputFile(ENDING)
        ),
    ],
    ways: Ways,
    on: On,
    output: Output,
    name: Annotated[str | None, typer.Option(help="Name of the cue.")] = None,
    answer: Annotated[
        str | None, typer.Option(help="Answer that it draws, where you know it.")
    ] = None,
    allow: Allow = None,
) -> None:
    """Make a cue of samples with it and without it.

    It is given by a finding of a run, by samples that you have looked at, a column, a list, words,
    or a region. Ten samples choose among what the run (or the model's wrong answers) shows, and
    begin a cue of their own where none of that fits.
    """
    ways.require_one()
    if file.exists():
        raise UserError(
            f"{file} is there already",
            expected="a new file",
            remedy=f"To refine it: {shlex.join(['cuescope', 'cue', 'ask', str(file)])}",
        )
    with _open(on, output, ways.run, allow, (name, answer)) as (
        making,
        samples,
        report,
    ):
        made = _make(making, samples, report, ways)
    made.cue.save(file)
    _show(file, made.cue, output, made.chosen)


@command.command(context_settings=SETTINGS)
@spread
@prints("cuescope_cue.outputs:CueFacts")
def show(file: CueFile, output: Output) -> None:
    """Show what a cue file holds."""
    from cuescope_sdk.cues import Cue

    _show(file, Cue.load(file), output)


@command.command(context_settings=SETTINGS)
@spread
@prints("cuescope_cue.outputs:CueQuestions", "cuescope_cue.outputs:CueFacts")
def ask(
    file: CueFile,
    on: On,
    output: Output,
    shown: With = None,
    others: Without = None,
    most: Annotated[int, typer.Option(min=1, help="Most samples that are named.")] = 10,
) -> None:
    """Name the samples that the recogniser is least sure of; with --with and --without: refine it.

    Look at them, and say with the same command which show the cue and which do not.
    """
    from cuescope_cue.making import Clicks, unsure
    from cuescope_cue.outputs import CueQuestions, Recognised
    from cuescope_sdk.cues import Cue, Recognition

    cue = Cue.load(file)
    with _open(on, output) as (making, _, _):
        if shown or others:
            cue = making.refine(cue, Clicks(shown or (), others or ()))
            cue.save(file)
            _show(file, cue, output)
            return
        recognition = Recognition.ask(making.audit, making.data, cue)
    rows = [
        Recognised(
            sample=making.data.samples[number].key,
            probability=float(recognition.probability[number]),
        )
        for number in unsure(recognition, most)
    ]
    if output.as_json:
        CueQuestions(file=str(file), samples=tuple(rows)).show()
        return
    for row in rows:
        echo(f"{row.sample}  {row.probability:.2f}")
    echo("next: look at them, then the same command with --with KEY and --without KEY")


@command.command(context_settings=SETTINGS)
@spread
@prints("cuescope_cue.outputs:AppliedCue")
def apply(
    file: CueFile,
    on: On,
    output: Output,
    out: Annotated[Path, output_file("Table to write.", ".csv")],
) -> None:
    """Write the probability of each sample to show the cue."""
    from cuescope_cue.outputs import AppliedCue
    from cuescope_sdk.cues import Cue, Recognition

    cue = Cue.load(file)
    with _open(on, output) as (making, _, _):
        recognition = Recognition.ask(making.audit, making.data, cue)
    shown = recognition.probability.tolist()
    rows = [
        {"sample": sample.key, "label": sample.label, "probability": round(value, 6)}
        for sample, value in zip(making.data.samples, shown, strict=True)
    ]
    write_csv(out, rows)
    if output.as_json:
        AppliedCue(
            table=str(out),
            identity=cue.identity,
            samples=len(rows),
            expected=sum(shown),
        ).show()
        return
    samples = count_of(len(rows), "samples")
    echo(f"wrote {out}: {samples}, about {sum(shown):.0f} show {cue.name}")


def _make(
    making: "Making", samples: tuple[Sample, ...], report: Report | None, ways: Ways
) -> Made:
    from cuescope_cue.making import Clicks

    if ways.finding and report is not None and ways.run is not None:
        return Made(making.of_found(report, ways.finding, ways.run))
    if ways.column:
        return Made(making.of_column(ways.column, samples))
    if ways.listed:
        return Made(making.of_list(_keys(ways.listed), ways.listed))
    if ways.phrase:
        return Made(making.of_phrase(ways.phrase))
    if ways.box and ways.sample:
        return Made(making.of_box(_edges(ways.box), ways.sample))
    clicks = Clicks(ways.shown or (), ways.others or ())
    return Made(*making.of_clicks(clicks, report))


def _edges(text: str) -> tuple[float, float, float, float]:
    try:
        left, top, right, bottom = map(float, text.split(","))
    except ValueError:
        raise UserError("--box", expected="X0,Y0,X1,Y1", got=text) from None
    return left, top, right, bottom


def _keys(file: Path) -> list[str]:
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--list {file} cannot be read", got=str(error)) from None
    return [line.strip() for line in lines if line.strip()]


@contextmanager
def _open(
    on: On,
    output: Output,
    run: Path | None = None,
    allow: Pairs = None,
    said: tuple[str | None, str | None] = (None, None),
) -> "Iterator[tuple[Making, tuple[Sample, ...], Report | None]]":
    """The samples as a model embeds them, those with all annotations, and the report of a run."""
    from cuescope_cue.making import Making
    from cuescope_sdk.cues import Embedded

    with open_runner(quiet=output.quiet, verbose=output.verbose) as runner:
        report = None
        if run is None:
            request = on.request
        else:
            report = StoredRun(run, runner.context).report
            again = AskedAgain(**on.again, allow=allow)
            runner, request = ask_again(runner, run, again.rerun)
            require_same_data(report, runner, request)
        session = runner.session(_of_cue(request))
        audit = session.audit
        if "embedding" not in audit.capabilities.outputs:
            raise UserError(
                f"{request.model} gives no embedding",
                expected="a model with one, or --tool embedder=SPEC",
            )
        yield Making(audit, Embedded.ask(audit), *said), session.samples, report


def _of_cue(request: Request) -> Request:
    """The request without what another method needs."""
    tools = {role: spec for role, spec in request.tools.items() if role == "embedder"}
    options = {role: request.tool_options.get(role, {}) for role in tools}
    update = {
        "method": METHOD,
        "method_options": {},
        "tools": tools,
        "tool_options": options,
        "verify_with": (),
    }
    return request.model_copy(update=update)


def _show(file: Path, cue: "Cue", output: Output, chosen: str | None = None) -> None:
    from cuescope_cue.outputs import CueFacts

    facts = CueFacts.of(file, cue, chosen)
    if output.as_json:
        facts.show()
        return
    if chosen:
        echo(f"{chosen[0].upper()}{chosen[1:]}.")
    echo(f"{file}: {facts.name} ({facts.origin})")
    told = f", {facts.told} of them told by a person" if facts.told else ""
    echo(f"Examples: {facts.with_cue} with it, {facts.without_cue} without it{told}.")
    if facts.auroc is None:
        echo("Recogniser: too few examples to hold some out; not known how good it is.")
    else:
        echo(f"Recogniser: AUROC {facts.auroc:.2f} on examples that were held out.")
    echo(f"Answer that it draws: {facts.answer or 'not named'}.")
    echo(
        f"next: cuescope audit --cue {shlex.quote(str(file))} --model SPEC --data SPEC"
    )
