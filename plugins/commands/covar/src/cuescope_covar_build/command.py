"""`cuescope covar build SOURCE --out DIR`: a COVAR of one's own photos."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option, Typer

from cuescope.application import (
    DataOptions,
    Output,
    Quiet,
    echo,
    echo_lines,
    open_runner,
    output_file,
    prints,
    prints_lines,
    spread,
    write_atomically,
)
from cuescope_covar_build.options import BuildOptions, Texts
from cuescope_sdk.report import count_of

if TYPE_CHECKING:
    from cuescope_sdk.data import CovarManifest

command = Typer(add_completion=False, rich_markup_mode=None)


@command.callback()
def covar() -> None:
    """Objects on many backgrounds, each in controlled variants: build a COVAR, choose its parts."""


@command.command(context_settings={"help_option_names": ["-h", "--help"]})
@spread
@prints(
    "cuescope_covar_build.outputs:CovarBuild",
    "cuescope_covar_build.outputs:CovarPlan",
)
def build(options: BuildOptions, output: Output) -> None:
    """Put the object of each photo on every background, and make the variants of each image.

    The same command goes on where it was stopped. `--data covar:DIR` shows the result to any
    method.
    """
    # imported here: `--help` need not wait for OpenCV
    from cuescope_covar_build.opening import open_build

    with open_runner(quiet=output.quiet, verbose=output.verbose) as runner:
        opened = open_build(options, runner.context)
        if options.plan:
            from cuescope_covar_build.planning import describe_plan, plan_build

            cost = plan_build(opened)
            if output.as_json:
                cost.show()
            else:
                echo_lines(describe_plan(cost))
            return
        manifest = opened.run()
    _show(options, manifest, output.as_json)


Writer = Annotated[
    Texts,
    Option(
        "--tool",
        metavar="ROLE=SPEC",
        help="text-generator: writes the list.",
    ),
]
WriterOption = Annotated[
    Texts,
    Option("-T", metavar="ROLE.KEY=VALUE", help="Option of the text generator."),
]
ListFile = Annotated[Path | None, output_file("Write the YAML there.", ".yaml", ".yml")]


@command.command(context_settings={"help_option_names": ["-h", "--help"]})
@prints_lines
def classes(
    source: Annotated[
        str | None,
        Argument(metavar="[SOURCE]", help="Data set whose labels are asked about."),
    ] = None,
    data_option: DataOptions = None,
    tool: Writer = None,
    tool_option: WriterOption = None,
    count: Annotated[int, Option(min=1, help="How many classes.")] = 33,
    out: ListFile = None,
    quiet: Quiet = False,
) -> None:
    """Show the paper's 33 classes, or have a text generator choose among those of SOURCE.

    Chosen are objects that can stand in front of anything, of as many kinds as there are.
    """
    from cuescope_covar_build.lists import as_yaml, paper_list
    from cuescope_covar_build.opening import open_writer
    from cuescope_sdk import UserError

    if tool is None:
        if source is not None:
            raise UserError(
                f"covar classes {source}",
                expected="--tool text-generator=SPEC, which chooses",
            )
        _give(as_yaml("classes", paper_list("classes")), out)
        return
    from cuescope_covar_build.choosing import choose_by_words

    if source is None:
        raise UserError("covar classes", expected="SOURCE, a data set with labels")
    with open_runner(quiet=quiet) as runner:
        writer, labels = open_writer(
            tool,
            tool_option or (),
            runner.context,
            source,
            data_option,
        )
        chosen = choose_by_words(labels, writer, count)
    _give(as_yaml("classes", chosen.classes), out)
    # on standard error: standard output may hold the list itself
    echo(
        f"{len(chosen.classes)} of {chosen.asked:,} classes: {chosen.fitting:,} can stand anywhere,"
        f" of {chosen.kinds} kinds; {chosen.unclear:,} unclear",
        err=True,
    )


@command.command(context_settings={"help_option_names": ["-h", "--help"]})
@prints_lines
def backgrounds(
    tool: Writer = None,
    tool_option: WriterOption = None,
    count: Annotated[int, Option(min=2, help="How many backgrounds.")] = 20,
    out: ListFile = None,
    quiet: Quiet = False,
) -> None:
    """Show the paper's 20 backgrounds, or have a text generator write others."""
    from cuescope_covar_build.lists import as_yaml, paper_list

    if tool is None:
        _give(as_yaml("backgrounds", paper_list("backgrounds")), out)
        return
    from cuescope_covar_build.choosing import write_backgrounds
    from cuescope_covar_build.opening import open_writer

    with open_runner(quiet=quiet) as runner:
        writer, _ = open_writer(tool, tool_option or (), runner.context)
        _give(as_yaml("backgrounds", write_backgrounds(writer, count)), out)


def _give(text: str, out: Path | None) -> None:
    """Write a list, or print it."""
    if out is None:
        echo_lines(text.rstrip())
        return
    write_atomically(out, text)
    echo(f"wrote {out}: look it over, then `cuescope covar build` takes it")


def _show(options: BuildOptions, manifest: "CovarManifest", as_json: bool) -> None:
    """What was built, and what to do with it."""
    from collections import Counter

    from cuescope_covar_build.outputs import CovarBuild

    rows = manifest.rows
    counts = Counter(row.subset for row in rows if not row.dropped)
    # a Counter has 0 for a subset of which nothing is left
    by_subset = {name: counts[name] for name in (manifest.ORIGINAL, *manifest.SUBSETS)}
    out = options.out.expanduser()
    file = out / manifest.NAME
    if as_json:
        result = CovarBuild(
            manifest=str(file),
            images=by_subset,
            dropped=len(rows) - counts.total(),
            photos=len({row.source_key for row in rows}),
        )
        result.show()
        return
    images = ", ".join(f"{count:,} {name}" for name, count in by_subset.items())
    echo(f"wrote {file}: {count_of(len(rows), 'images')}: {images}")
    if options.viewpoint_editor is None:
        echo(
            "viewpoint is left out: it needs --viewpoint-editor SPEC, an editor by instruction"
        )
    if dropped := manifest.describe_dropped(shown=options.keep_all):
        echo(f"dropped {dropped}")
    echo(f"next: cuescope audit METHOD --model SPEC --data covar:{out}")
