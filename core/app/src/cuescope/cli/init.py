"""`cuescope init`: write `cuescope.toml` from what lies in the folder, or allow it."""

import json
from pathlib import Path
from typing import Annotated

from cuescope.cli.echo import echo, echo_lines
from cuescope.cli.options import DATA, MODEL
from cuescope.cli.printing import prints_lines
from cuescope_core.errors import UserError

READERS = ("folder", "questions", "log")


@prints_lines
def init(
    model: Annotated[str | None, MODEL] = None,
    data: Annotated[str | None, DATA] = None,
) -> None:
    """Write cuescope.toml, or show and allow the one of this folder, for `cuescope audit`.

    A file that somebody else wrote, or that has changed, is not used before you have allowed it.
    """
    from cuescope.project import NAME, allow, project_file, read_project
    from cuescope_core.atomic_files import read_whole, write_atomically
    from cuescope_core.plain_yaml import MAX_BYTES

    file = project_file()
    if file is None:
        file = Path(NAME)
        data = data or _find_data()
        given = {"model": model, "data": data}
        lines = [
            "# what `cuescope audit` need not be told; `cuescope dev schema project`"
        ]
        for role, spec in given.items():
            named = f"{role} = {json.dumps(spec)}"
            lines.append(f'# {role} = "NAME:ARG"' if spec is None else named)
        write_atomically(file, "\n".join([*lines, ""]))
        echo(f"wrote {file}")
    elif model or data:
        raise UserError(
            f"{file} is there", remedy="Edit it, then `cuescope init` allows it"
        )
    read_project(file)  # what is wrong is told before it is allowed
    echo_lines(read_whole(file, most=MAX_BYTES).decode())
    allow(file)
    echo(f"{file} is used in this folder until it changes")


def _find_data() -> str | None:
    """The first folder or table here that a data set reads."""
    from cuescope.cli.hints import TABLES
    from cuescope_core.context import Context

    context = Context(planning=True)
    installed = {entry.name for entry in context.registry.of_kind("dataset")}
    for path in sorted(Path().iterdir()):
        if path.name.startswith(".") or not (path.is_dir() or path.suffix in TABLES):
            continue
        for reader in (name for name in READERS if name in installed):
            try:
                context.build("dataset", spec := f"{reader}:{path}")
            except UserError:
                continue
            return spec
    return None
