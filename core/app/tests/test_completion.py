"""What the shell completes and the list says."""

import pytest

from ...conftest import Shell
from ...engine.tests.stubs import cuescope
from .test_plugins_command import LIST_MODULES


def completed(shell: Shell, line: str) -> tuple[list[str], set[str]]:
    """The words that bash is offered for the last word of a line, and the modules imported."""
    words = line.split(" ")
    variables = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    env = shell.env | {"_CUESCOPE_COMPLETE": "complete_bash"} | variables
    done = cuescope(env=env, cwd=shell.folder, code=LIST_MODULES)
    offered, _, modules = done.stdout.partition("MODULES")
    return offered.split(), {name.partition(".")[0] for name in modules.split()}


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("cuescope audit re", {"red"}),
        ("cuescope audit red --model col", {"colour"}),
        ("cuescope audit red --model colour --data cl", {"clips"}),
        ("cuescope audit red --model colour -M fa", {"fault=", "fault_at="}),
        ("cuescope audit red --model colour:x -M w", {"weights="}),
        ("cuescope audit red -O th", {"threshold="}),
        ("cuescope audit nothing -O th", set()),
        ("cuescope nothing sh", {"show"}),
        ("cuescope plugins info find", {"finder"}),
    ],
)
def test_names_and_options_are_completed(
    shell: Shell, line: str, offered: set[str]
) -> None:
    words, modules = completed(shell, line)
    assert offered <= set(words)
    assert not {word for word in words if not word.startswith(line.split(" ")[-1])}
    assert bool(words) == bool(offered)
    # names come from metadata, options from their plugin
    if "=" not in str(offered):
        assert "cuescope_fakes" not in modules
        assert "numpy" not in modules


def test_info_shows_an_example(shell: Shell) -> None:
    said = " ".join(shell("plugins", "info", "with-tool").split())
    assert "cuescope audit with-tool --model SPEC --data folder:PATH" in said
    assert "--tool detector=SPEC" in said


@pytest.mark.long
def test_info_of_a_model_and_of_a_tool_shows_an_example(shell: Shell) -> None:
    assert "methods --model colour" in shell("plugins", "info", "colour")
    assert "example: --tool detector=finder" in shell("plugins", "info", "finder")
