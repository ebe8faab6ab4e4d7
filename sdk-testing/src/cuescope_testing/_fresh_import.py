"""Imports a plugin's module in a fresh process, and says what that loads and changes."""

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from cuescope_testing import _global_state

# elsewhere a process with threads may not fork, or cannot at all
FORKS = sys.platform == "linux"
SCRIPT = (sys.executable, "-P", _global_state.__file__)


class Ended(NamedTuple):
    """How a process ended."""

    code: int
    output: str
    errors: str


def import_freshly(module: str, file: str, heavy: Sequence[str]) -> Ended:
    """The process whose last line of output is the report on a module; see `_global_state`."""
    folder = str(Path.cwd())
    # pytest names tests from where it stands
    places = [*filter(None, sys.path), folder]
    arguments = [module, file, *heavy]
    if FORKS:
        return _ask(
            {
                "arguments": arguments,
                "places": places,
                "folder": folder,
                "environment": dict(os.environ),
            }
        )
    finished = subprocess.run(
        [*SCRIPT, *arguments],
        env=_environment(places),
        capture_output=True,
        text=True,
        check=False,
    )
    return Ended(finished.returncode, finished.stdout, finished.stderr)


def _environment(places: Sequence[str]) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join(places)}


def _ask(request: dict[str, object]) -> Ended:
    # by process: a fork of this one would read the answers of the other's questions
    server = _server(os.getpid())
    # for mypy: with PIPE they are there
    if server.stdin is None or server.stdout is None:
        raise RuntimeError("the process that imports modules was started without pipes")
    server.stdin.write(json.dumps(request) + "\n")
    # the line would else stay in the buffer while both sides wait
    server.stdin.flush()
    return Ended(*json.loads(server.stdout.readline()))


@cache
def _server(asker: int) -> "subprocess.Popen[str]":
    """The process that forks; a fork of the asking process starts one of its own."""
    server = subprocess.Popen(
        [*SCRIPT, "--serve"],
        env=_environment([*filter(None, sys.path)]),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(server.communicate)  # closes its input, which ends it
    return server
