"""The words of `cuescope covar build`, each with its line of help."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from cuescope.application import DataOptions, Device, Dtype, Planned, output_folder

Texts = list[str] | None


@dataclass(frozen=True)
class BuildOptions:
    """What a person asked for, as it was typed."""

    source: Annotated[str, Argument(metavar="SOURCE", help="Data set, NAME[:ARG].")]
    out: Annotated[Path, output_folder("Folder of the images and manifest.")]
    data_option: DataOptions = None
    backgrounds: Annotated[
        Path | None,
        Option(
            metavar="FILE", help="YAML list of backgrounds. [default: the paper's 20]"
        ),
    ] = None
    editor: Annotated[
        str,
        Option(metavar="SPEC", help="Image editor; composite:FOLDER pastes on photos."),
    ] = "composite"
    viewpoint_editor: Annotated[
        str | None,
        Option(
            metavar="SPEC", help="Editor by instruction; without it, no viewpoints."
        ),
    ] = None
    tool: Annotated[
        Texts,
        Option(
            metavar="ROLE=SPEC",
            help="segmenter: outlines objects of photos without a mask; detector: finds objects "
            "in the images, for the quality filter.",
        ),
    ] = None
    tool_option: Annotated[
        Texts,
        Option(
            "-T",
            metavar="ROLE.KEY=VALUE",
            help="Option of a tool; the roles editor, viewpoint-editor and judge are those of the "
            "options.",
        ),
    ] = None
    judge: Annotated[
        str | None,
        Option(metavar="SPEC", help="Zero-shot model that the quality filter asks."),
    ] = None
    judged: Annotated[
        bool,
        Option(
            "--filter/--no-filter",
            help="Judge each image, and drop those with a fault.",
        ),
    ] = True
    false_drops: Annotated[
        float,
        Option(
            metavar="SHARE",
            min=0,
            max=1,
            help="Share of clean composites that each check of the filter would drop.",
        ),
    ] = 0.01
    instruction: Annotated[
        str, Option(metavar="TEXT", help="What the editor is told.")
    ] = "{background}"
    classes: Annotated[
        str | None,
        Option(
            metavar="LIST", help="NAME,NAME, a file, or `paper`. [default: all labels]"
        ),
    ] = None
    per_class: Annotated[int | None, Option(min=1, help="Photos of each class.")] = None
    limit: Annotated[int | None, Option(min=1, help="Photos in all, drawn.")] = None
    scales: Annotated[
        str,
        Option(metavar="LIST", help="How many times smaller the object gets."),
    ] = "1.5,2,4,8"
    side: Annotated[
        int | None,
        Option(min=32, help="Shrink photos whose longer side has more pixels."),
    ] = None
    licence: Annotated[
        str,
        Option(metavar="TEXT", help="Of photos of which the data set names none."),
    ] = ""
    keep_all: Annotated[
        bool, Option("--keep-all", help="Keep the files of dropped images too.")
    ] = False
    seed: Annotated[int, Option(min=0, help="Another seed, other variants.")] = 0
    device: Device = "auto"
    dtype: Dtype = "float32"
    plan: Planned = False
