"""`cuescope example`: a CLIP and photos to try an audit on, and the commands that do it."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from cuescope.application import echo, prints_lines
from cuescope_sdk.report import count_of

command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command(context_settings={"help_option_names": ["-h", "--help"]})
@prints_lines
def example(
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="Where it goes.")
    ] = Path("cuescope-example"),
    toy: Annotated[
        bool,
        typer.Option("--toy", help="Fetch nothing: a toy CLIP and drawn pictures."),
    ] = False,
    sources: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Other homes, such as a mirror of yours (TOML)."
        ),
    ] = None,
) -> None:
    """Fetch an open CLIP and freely licensed photos, and say how to audit the one on the other.

    Both come from their official homes, pinned by checksum: about 750 MB. What is here already is
    not fetched again, and what was broken off goes on.
    """
    from cuescope.application import program

    model, photos = _draw(folder) if toy else _fetch(folder, sources)
    data = ["--data", f"folder:{photos}"]
    audit = ["audit", "cci", *model, *data]
    # the commands and not the audit itself: whoever types them has learned them
    echo("Next, in this order: what fits, what it would cost, the audit.")
    for words in (["methods", *model, *data], [*audit, "--plan"], audit):
        echo(f"  {program()} {shlex.join(words)}")


def _draw(folder: Path) -> tuple[list[str], Path]:
    from cuescope_commands.example._photos import MANIFEST, draw_toy
    from cuescope_sdk import Context

    photos = folder / "toy-photos"
    # the manifest comes last: with it the folder is whole
    if not (photos / MANIFEST).exists():
        photos.mkdir(parents=True, exist_ok=True)
        echo(
            f"{count_of(draw_toy(Context(), photos), 'drawn pictures')} with masks are in {photos}"
        )
    return ["--model", "toy-clip:scenes"], photos


def _fetch(folder: Path, sources: Path | None) -> tuple[list[str], Path]:
    from cuescope_commands.example._download import fetch, read_sources
    from cuescope_commands.example._photos import MANIFEST, unpack_caltech

    homes = read_sources(sources or Path(__file__).with_name("sources.toml"))
    # who they are from and under which license, before anything is fetched
    for source in homes.values():
        echo(f"{source.name}, from {source.home}. License: {source.license}")
    # photos before weights: they are the smaller part, and what is wrong shows early
    archive = fetch(homes["photos"], folder)
    photos = folder / "photos"
    if not (photos / MANIFEST).exists():
        count = unpack_caltech(archive, homes["photos"], photos)
        echo(f"{count} photos with masks are in {photos}")
    weights = fetch(homes["model"], folder)
    return [
        "--model",
        str(homes["model"].spec),
        "-O",
        f"model.checkpoint={weights}",
    ], photos
