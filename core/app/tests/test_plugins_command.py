"""`cuescope plugins`: quick, whole, and honest about what is broken."""

from importlib.metadata import distributions
from pathlib import Path
from types import SimpleNamespace

import pytest

from cuescope.cli import main, plugins
from cuescope.cli.plugins import Kind
from cuescope_core.registry import KINDS, Registry

from ...conftest import Line, Shell
from ...engine.tests.broken import SIX, write_six
from ...engine.tests.stubs import cuescope, environment, write_dist

LIST_MODULES = """
import sys
from cuescope.cli import main
try:
    main()
except SystemExit as end:
    code = end.code
print("MODULES", *sys.modules)
sys.exit(code)
"""
HEAVY = {
    "torch",
    "transformers",
    "open_clip",
    "pydantic",
    "numpy",
    "faiss",
    "PIL",
    "jinja2",
}


@pytest.fixture
def broken(shell: Shell) -> Shell:
    """The command line with the fakes and the six broken ones."""
    folder = shell.folder / "broken"
    write_six(folder)
    shell.env |= {"PYTHONPATH": f"{folder}:{shell.env['PYTHONPATH']}"}
    return shell


@pytest.mark.parametrize(
    "words",
    [
        ("plugins",),
        pytest.param(("plugins", "list"), marks=pytest.mark.long),
        ("--help",),
    ],
)
def test_thirty_plugins_are_listed_without_importing_any(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    for i in range(30):
        group = ("cuescope.methods", "cuescope.models", "cuescope.commands")[i % 3]
        source = {f"stub_{i}": "raise AssertionError('imported')"}
        write_dist(
            tmp_path,
            f"cuescope-stub-{i}",
            {group: {f"stub-{i}": f"stub_{i}:X"}},
            source,
        )
    done = cuescope(*words, env=environment(tmp_path), cwd=tmp_path, code=LIST_MODULES)
    assert done.returncode == 0, done.stderr
    listed, modules = done.stdout.split("MODULES")
    shown = [i for i in range(30) if f"stub-{i} " in listed or f"stub-{i}\n" in listed]
    assert len(shown) == (10 if words == ("--help",) else 30)
    imported = {module.partition(".")[0] for module in modules.split()}
    assert "cuescope" in imported
    assert not imported & HEAVY
    assert not [
        name
        for name in imported - {"cuescope_core"}
        if name.startswith(("stub_", "cuescope_"))
    ]


def test_six_broken_plugins_are_listed_with_reason_and_remedy(broken: Shell) -> None:
    said = broken("plugins", "--check")
    blocks = said.split("broken: ")[1:]
    for name, (reason, remedy) in SIX.items():
        told = [block for block in blocks if block.startswith(f"method {name} (")]
        assert len(told) == (2 if name == "twice" else 1), name
        for block in told:
            lines = block.splitlines()
            assert lines[1].startswith("  reason: ")
            assert reason in lines[1]
            assert lines[2].startswith("  remedy: ")
            assert remedy in lines[2]
    assert "method    healthy" in said
    assert "\x1b" not in said


def test_without_check_only_what_metadata_tells_is_broken(broken: Shell) -> None:
    said = broken("plugins")
    assert "broken: method twice" in said
    assert "broken: method outdated" in said
    assert "broken: method exiting" not in said
    assert "Nothing was imported" in said


@pytest.mark.parametrize(
    "words", [("plugins",), pytest.param(("plugins", "list"), marks=pytest.mark.long)]
)
def test_strict_exits_with_one(broken: Shell, words: tuple[str, ...]) -> None:
    broken(*words, "--strict", code=1)


def test_strict_exits_with_zero_where_all_is_well(
    stubs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fakes = Registry(distributions(path=[str(stubs)]))
    monkeypatch.setattr("cuescope.cli.plugins.Registry", lambda: fakes)
    with pytest.raises(SystemExit) as ended:
        main(["plugins", "--strict"])
    assert ended.value.code == 0
    assert f"All {len(fakes.entries)} can be imported." in capsys.readouterr().out


def test_a_healthy_plugin_runs_beside_broken_ones(broken: Shell) -> None:
    said = broken("audit", "red", "--model", "colour", "--data", "clips")
    assert "1 cue found: RED EVERYWHERE " in said


@pytest.mark.parametrize(
    "name",
    [
        "exiting",
        pytest.param("unparsable", marks=pytest.mark.long),
        pytest.param("outdated", marks=pytest.mark.long),
    ],
)
def test_using_a_broken_plugin_is_one_line(broken: Shell, name: str) -> None:
    said = broken("audit", name, "--model", "colour", "--data", "clips", code=2)
    assert len(said.splitlines()) == 1
    assert f"method '{name}' of cuescope-{name} 1.0 cannot be used" in said
    assert SIX[name][0] in said


def test_each_kind_of_plugin_can_be_listed_by_itself() -> None:
    assert {kind.value for kind in Kind} == set(KINDS)


def test_only_packages_of_plugins_are_removed(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = []

    def run(command: list[str], **words: object) -> SimpleNamespace:
        commands.append(command)
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(plugins.subprocess, "run", run)
    assert "Did you mean 'cuescope-fakes'?" in line(
        "plugins", "remove", "cuescope-fake", code=2
    )
    assert "no package 'numpy' brings plugins" in line(
        "plugins", "remove", "numpy", code=2
    )
    assert "no package '--yes'" in line("plugins", "remove", "--", "--yes", code=2)
    assert commands == []
    line("plugins", "remove", "cuescope-fakes")
    assert commands[0][-1] == "cuescope-fakes"
    assert "uninstall" in commands[0]
