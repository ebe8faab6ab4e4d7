"""How a person types this program: what a shown command must begin with to work as it stands."""

import os
import shlex
import shutil
import sys
from pathlib import Path


def program() -> str:
    """`cuescope` where the shell finds it, else `uv run cuescope`, or the path from here.

    In a fresh clone `cuescope` is not on the PATH: `make demo` calls `.venv/bin/cuescope`, and a
    command that is shown without it would not be found.
    """
    if "UV_RUN_RECURSION_DEPTH" in os.environ:  # uv sets it for what it runs
        return "uv run cuescope"
    script = Path(sys.argv[0])
    found = shutil.which("cuescope")
    if script.stem != "cuescope" or not script.exists():  # called from Python or by -m
        return "cuescope"
    if found and Path(found).resolve() == script.resolve():
        return "cuescope"
    path = script.absolute()
    here = Path.cwd()
    if path.parent == here:
        return f"./{path.name}"
    return shlex.quote(
        str(path.relative_to(here) if path.is_relative_to(here) else path)
    )
