"""A command without what it needs shows a line that has it: every command."""

import shlex
from typing import Any

import pytest
from command_line import run

from cuescope.cli import app
from cuescope.cli.external import parser_of
from cuescope.cli.tree import commands

NEEDS = {
    path: [parameter for parameter in command.params if parameter.required]
    for path, command, _ in commands(parser_of(app))
}


@pytest.mark.parametrize("path", [path for path, needs in NEEDS.items() if needs])
def test_the_shortest_line_is_shown(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run(*path.split(), code=2)
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1
    shown = error.split("`")[1]
    assert shlex.split(shown)[: 1 + len(path.split())] == ["cuescope", *path.split()]
    for parameter in NEEDS[path]:
        assert _word(parameter) in shown


def _word(parameter: Any) -> str:
    option: str = parameter.opts[0]
    return option if option.startswith("-") else str(parameter.metavar)
