"""`python -m release COMMAND`: see .ci/release/README.md. A fault is one line, and exit code 1."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from packaging.version import InvalidVersion, Version

from release import (
    ReleaseError,
    answering,
    building,
    checks,
    promises,
    proving,
    registering,
    versions,
)
from release.changelog import Changelog
from release.dists import publishing_order, read_dists

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / ".release"
app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _version(text: str) -> str:
    try:
        return str(Version(text))
    except InvalidVersion as error:
        raise typer.BadParameter("expected a version such as 0.1.0") from error


OfVersion = Annotated[str, typer.Argument(metavar="VERSION", parser=_version)]


@app.command("version")
def write_version(version: OfVersion) -> None:
    """Write a version, the ranges between ours and the common metadata into every package."""
    versions.write_version(ROOT, version)
    typer.echo(f"{len(read_dists(ROOT))} packages say {version}")


@app.command("check")
def check(version: OfVersion) -> None:
    """Whether names, versions, metadata, change notes and promises are right."""
    for fault in checks.faults(ROOT, version):
        raise ReleaseError(fault)
    announced = promises.read_announced()
    promised = promises.read_promised()
    for line in (
        *promises.broken_names(ROOT, announced, version),
        *promises.broken(promised, promises.collect(), announced, version),
    ):
        raise ReleaseError(
            f"promised by the last release, {line}: docs/reference.md says what to do"
        )
    typer.echo(f"{len(read_dists(ROOT))} packages can become {version}")


@app.command("build")
def build(version: OfVersion) -> None:
    """Check, then build wheels and sdists twice, with notes, SBOMs, licences and digests."""
    check(version)
    dists = read_dists(ROOT)
    folder = OUT / version
    building.build(ROOT, folder)
    building.check_files(dists, folder, version)
    building.write_beside(ROOT, dists, folder, version)
    typer.echo(f"{len(dists)} wheels and sdists, the same bytes twice: {folder}")
    if changed := building.uncommitted(ROOT):
        typer.echo(
            f"NOTE: {changed} changed files are not committed; publish no such build"
        )
    for name in answering.to_look_at(ROOT, version):
        typer.echo(
            f"NOTE: the code of {name} has changed and its answers_version has not: do equal "
            "weights answer as before?"
        )
    if not registering.is_registered(ROOT):
        typer.echo(f"NOTE: {registering.HOW}")


@app.command("prove")
def prove(
    version: OfVersion,
    only: Annotated[
        str,
        typer.Option(
            "--only",
            help="Names of packages, by commas; older: the older plugin. [default: all]",
        ),
    ] = "",
    python: Annotated[
        str, typer.Option("--python", help="Versions of Python, by commas.")
    ] = "3.11,3.12,3.13,3.14",
    resolution: Annotated[
        str, typer.Option("--resolution", help="highest, lowest-direct, by commas.")
    ] = "highest,lowest-direct",
    install: Annotated[
        bool, typer.Option(help="Install and use; without, only find wheels.")
    ] = True,
) -> None:
    """Install each package alone from a local index into empty environments, and use it."""
    proving.prove(
        ROOT,
        OUT / version,
        [name for name in only.split(",") if name],
        python.split(","),
        resolution.split(","),
        install=install,
    )


@app.command("notes")
def notes(version: OfVersion, dist: str) -> None:
    """Print what a user of a package can do with a release."""
    typer.echo(Changelog.read(ROOT / "CHANGELOG.md").notes(version, dist))


@app.command("order")
def order() -> None:
    """Print which names are registered on which day."""
    for day, names in enumerate(publishing_order(read_dists(ROOT)), 1):
        typer.echo(f"{day:>2}  {' '.join(names)}")


@app.command("promise")
def promise() -> None:
    """After a release: promise what this checkout has."""
    promises.write_promised()


@app.command("registered")
def registered() -> None:
    """Once all names are ours on the index: say so in the core, the README and the docs."""
    registering.register(ROOT)


if __name__ == "__main__":
    try:
        app(prog_name="release")
    except ReleaseError as error:
        typer.echo(f"release: {error}", err=True)
        sys.exit(1)
