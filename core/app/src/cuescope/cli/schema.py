"""`cuescope dev schema`: JSON schemas of files and of what commands print with `--json`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from cuescope.cli.echo import echo, echo_json
from cuescope.cli.paths import output_folder
from cuescope_core.errors import UserError, nearest

RUN_FILE = "run-file"
PROJECT = "project"
LOG_LINE = "log-line"
Schema = dict[str, Any]


def schema(
    context: typer.Context,
    name: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]",
            help="A command (list, cache prune), run-file, project or log-line. "
            "[default: run-file]",
        ),
    ] = None,
    out: Annotated[
        Path | None, output_folder("Write all of them into this folder.")
    ] = None,
) -> None:
    """Print the JSON schema of the run file, or of what a command prints with --json."""
    group = context.find_root().command
    if out is not None:
        write_schemas(out, group)
        return
    wanted = " ".join(name or [RUN_FILE])
    # the run file alone needs no command to be imported
    found = dict(
        own_schemas() if wanted in (RUN_FILE, PROJECT, LOG_LINE) else schemas(group)
    )
    if wanted not in found:
        raise UserError(
            f"schema {wanted}",
            expected=", ".join(found),
            remedy=nearest(wanted, found)
            or f"`cuescope {wanted} --help` has no --json",
        )
    echo_json(json.dumps(found[wanted], indent=1))


def write_schemas(folder: Path, group: Any) -> None:
    """Write each schema into a file of its own; `group` is the command line."""
    # one file each: editors and validators take a schema by its address
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for name, content in schemas(group):
        file = folder / f"{name.replace(' ', '-')}.json"
        file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        count += 1
    echo(f"wrote {count} schemas into {folder}")


def schemas(group: Any) -> Iterator[tuple[str, Schema]]:
    """All schemas, by the name of the command."""
    from cuescope.cli.outputs import as_schema
    from cuescope.cli.printing import models_of
    from cuescope.cli.tree import commands

    yield from own_schemas()
    for path, command, _ in commands(group):
        if models := models_of(command.callback):
            title = f"cuescope {path} --json"
            yield path, {"title": title, **as_schema(*models), **_head(path)}


def own_schemas() -> Iterator[tuple[str, Schema]]:
    """Those that belong to no command."""
    from cuescope.cli.outputs import LogLine, as_schema
    from cuescope.matrix import Matrix, Project

    yield RUN_FILE, Matrix.model_json_schema() | _head(RUN_FILE)
    yield PROJECT, Project.model_json_schema() | _head(PROJECT)
    yield LOG_LINE, as_schema(LogLine) | _head(LOG_LINE)


def _head(name: str) -> Schema:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:cuescope:{name.replace(' ', '-')}:1",
    }
