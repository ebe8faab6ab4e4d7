"""`cuescope covar build SOURCE --out DIR`: a COVAR of one's own photos."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cuescope.application import AsJson, Quiet, Verbose, echo, echo_json, open_runner

if TYPE_CHECKING:
    from cuescope_covar_build.manifest import Row
    from cuescope_covar_build.options import BuildOptions

Texts = list[str] | None
command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.callback()
def covar() -> None:
    """Objects on many backgrounds, each in controlled variants: build a COVAR, choose its parts."""


@command.command(context_settings={"help_option_names": ["-h", "--help"]})
def build(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="Data set, NAME[:ARG].")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the images and manifest.")],
    data_option: Annotated[
        Texts, typer.Option("-D", metavar="KEY=VALUE", help="Option of the data set.")
    ] = None,
    backgrounds: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="YAML list of backgrounds. [default: the paper's 20]"),
    ] = None,
    editor: Annotated[
        str, typer.Option(metavar="SPEC", help="Image editor; composite:FOLDER pastes on photos.")
    ] = "composite",
    viewpoint_editor: Annotated[
        str | None,
        typer.Option(metavar="SPEC", help="Editor by instruction; without it, no viewpoints."),
    ] = None,
    tool: Annotated[
        Texts,
        typer.Option(
            metavar="ROLE=SPEC",
            help="segmenter: outlines objects of photos without a mask; detector: finds objects "
            "in the images, for the quality filter.",
        ),
    ] = None,
    tool_option: Annotated[
        Texts,
        typer.Option(
            "-T",
            metavar="ROLE.KEY=VALUE",
            help="Option of a tool; the roles editor, viewpoint-editor and judge are those of the "
            "options.",
        ),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(metavar="SPEC", help="Zero-shot model that the quality filter asks."),
    ] = None,
    judged: Annotated[
        bool,
        typer.Option("--filter/--no-filter", help="Judge each image, and drop those with a fault."),
    ] = True,
    false_drops: Annotated[
        float,
        typer.Option(
            metavar="SHARE", help="Share of good images that the quality filter may drop."
        ),
    ] = 0.01,
    instruction: Annotated[
        str, typer.Option(metavar="TEXT", help="What the editor is told.")
    ] = "{background}",
    classes: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="NAME,NAME, a file, or `paper`. [default: all labels]"),
    ] = None,
    per_class: Annotated[int | None, typer.Option(min=1, help="Photos of each class.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Photos in all, drawn.")] = None,
    scales: Annotated[
        str, typer.Option(metavar="LIST", help="How many times smaller the object gets.")
    ] = "1.5,2,4,8",
    keep: Annotated[
        str,
        typer.Option(
            metavar="WHAT",
            help="What stays of an image that is moved, turned or shrunk: `image`, `object`, or "
            "`paper`: the image, and of a shrunken one the object.",
        ),
    ] = "paper",
    side: Annotated[
        int | None, typer.Option(min=32, help="Shrink photos whose longer side has more pixels.")
    ] = None,
    licence: Annotated[
        str, typer.Option(metavar="TEXT", help="Of photos of which the data set names none.")
    ] = "",
    keep_all: Annotated[
        bool, typer.Option("--keep-all", help="Keep the files of dropped images too.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Another seed, other variants.")] = 0,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 ...")] = "auto",
    dtype: Annotated[str, typer.Option(help="float32, float16 or bfloat16.")] = "float32",
    plan: Annotated[bool, typer.Option("--plan", help="Say what it would cost.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Put the object of each photo on every background, and make the variants of each image.

    The same command goes on where it was stopped. `--data covar:DIR` shows the result to any
    method.
    """
    from cuescope_covar_build.options import BuildOptions, open_build

    options = BuildOptions.of(
        source=source,
        out=out.expanduser(),
        data_options=data_option or (),
        backgrounds=backgrounds,
        editor=editor,
        viewpoint_editor=viewpoint_editor,
        tools=tool or (),
        tool_options=tool_option or (),
        instruction=instruction,
        classes=classes,
        per_class=per_class,
        limit=limit,
        scales=scales,
        keep=keep,
        side=side,
        licence=licence,
        keep_all=keep_all,
        judged=judged,
        false_drops=false_drops,
        judge=judge,
        seed=seed,
        device=device,
        dtype=dtype,
    )
    with open_runner(quiet=quiet, verbose=verbose) as runner:
        opened = open_build(options, runner.context)
        if plan:
            from cuescope_covar_build.planning import plan_build

            cost = plan_build(opened)
            echo_json(cost.as_json()) if as_json else echo(str(cost))
            return
        rows = opened.run()
    _show(options, rows, as_json)


Writer = Annotated[
    Texts, typer.Option("--tool", metavar="ROLE=SPEC", help="text-generator: writes the list.")
]
WriterOption = Annotated[
    Texts, typer.Option("-T", metavar="ROLE.KEY=VALUE", help="Option of the text generator.")
]
Output = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the YAML there.")]


@command.command(context_settings={"help_option_names": ["-h", "--help"]})
def classes(
    source: Annotated[
        str | None,
        typer.Argument(metavar="[SOURCE]", help="Data set whose labels are asked about."),
    ] = None,
    data_option: Annotated[
        Texts, typer.Option("-D", metavar="KEY=VALUE", help="Option of the data set.")
    ] = None,
    tool: Writer = None,
    tool_option: WriterOption = None,
    count: Annotated[int, typer.Option(min=1, help="How many classes.")] = 33,
    out: Output = None,
    quiet: Quiet = False,
) -> None:
    """Show the paper's 33 classes, or have a text generator choose among those of SOURCE.

    Chosen are objects that can stand in front of anything, of as many kinds as there are.
    """
    from cuescope_covar_build.lists import as_yaml, paper_list
    from cuescope_covar_build.options import open_writer
    from cuescope_sdk import UserError

    if tool is None:
        if source is not None:
            raise UserError(
                f"covar classes {source}", expected="--tool text-generator=SPEC, which chooses"
            )
        _give(as_yaml("classes", paper_list("classes")), out)
        return
    from cuescope_covar_build.choosing import choose_by_words

    if source is None:
        raise UserError("covar classes", expected="SOURCE, a data set with labels")
    with open_runner(quiet=quiet) as runner:
        writer, labels = open_writer(tool, tool_option or (), runner.context, source, data_option)
        chosen = choose_by_words(labels, writer, count)
    _give(as_yaml("classes", chosen.classes), out)
    echo(
        f"{len(chosen.classes)} of {chosen.asked:,} classes: {chosen.fitting:,} can stand anywhere,"
        f" of {chosen.kinds} kinds; {chosen.unclear:,} unclear",
        err=True,
    )


@command.command(context_settings={"help_option_names": ["-h", "--help"]})
def backgrounds(
    tool: Writer = None,
    tool_option: WriterOption = None,
    count: Annotated[int, typer.Option(min=2, help="How many backgrounds.")] = 20,
    out: Output = None,
    quiet: Quiet = False,
) -> None:
    """Show the paper's 20 backgrounds, or have a text generator write others."""
    from cuescope_covar_build.lists import as_yaml, paper_list

    if tool is None:
        _give(as_yaml("backgrounds", paper_list("backgrounds")), out)
        return
    from cuescope_covar_build.choosing import write_backgrounds
    from cuescope_covar_build.options import open_writer

    with open_runner(quiet=quiet) as runner:
        writer, _ = open_writer(tool, tool_option or (), runner.context)
        _give(as_yaml("backgrounds", write_backgrounds(writer, count)), out)


def _give(text: str, out: Path | None) -> None:
    """Write a list, or print it."""
    if out is None:
        echo(text.rstrip())
        return
    out.write_text(text, encoding="utf-8")
    echo(f"wrote {out}: look it over, then `cuescope covar build` takes it")


def _show(options: "BuildOptions", rows: "list[Row]", as_json: bool) -> None:
    """What was built, and what to do with it."""
    import json
    from collections import Counter

    from cuescope_covar_build.manifest import MANIFEST, ORIGINAL, SUBSETS
    from cuescope_covar_build.quality.reasons import describe_faults

    dropped = [row for row in rows if row.dropped]
    counts = Counter(row.subset for row in rows if not row.dropped)
    by_subset = {name: counts[name] for name in (ORIGINAL, *SUBSETS)}
    manifest = options.out / MANIFEST
    if as_json:
        result: dict[str, Any] = {
            "manifest": str(manifest),
            "images": by_subset,
            "dropped": len(dropped),
            "photos": len({row.source_key for row in rows}),
        }
        echo_json(json.dumps(result, indent=1))
        return
    words = ", ".join(f"{n:,} {name}" for name, n in by_subset.items())
    echo(f"wrote {manifest}: {len(rows):,} images: {words}")
    if options.viewpoint_editor is None:
        echo("viewpoint is left out: it needs --viewpoint-editor SPEC, an editor by instruction")
    if dropped:
        shown = " (shown, as keep_all asks)" if options.keep_all else ""
        of_all = f"{len(dropped):,} of {len(rows):,} images by the quality filter{shown}"
        echo(f"dropped {of_all}: {describe_faults(dropped)}")
    echo(f"next: cuescope audit METHOD --model SPEC --data covar:{options.out}")
