"""`cuescope.toml`, `-O` with owners, and names of commands until 0.3."""

import json
from pathlib import Path

import pytest

from cuescope.project import with_project

from ...conftest import Line

PROJECT = """\
model = {use = "colour", options = {weights = "fine"}}
data = "clips"
method = {use = "red", options = {top_k = 2}}
limit = 16
[tools]
detector = "finder"
"""


@pytest.fixture
def project(line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Line:
    """The command line in a folder with a file that nobody has allowed yet."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "cuescope.toml").write_text(PROJECT)
    return line


def test_an_audit_needs_no_words_where_the_file_is_allowed(project: Line) -> None:
    said = project("init")
    assert said.startswith(PROJECT.splitlines()[0])
    asked = json.loads(project("audit", "--json"))["provenance"]
    assert asked["method"]["options"]["top_k"] == 2
    assert asked["model"]["options"]["weights"] == "fine"
    assert (asked["limit"], asked["tools"]["detector"]["spec"]) == (16, "finder")
    # what is typed goes before it
    words = ("audit", "-O", "top_k=1", "--model", "colour", "--limit", "12")
    asked = json.loads(project(*words, "--json"))["provenance"]
    assert (asked["method"]["options"]["top_k"], asked["limit"]) == (1, 12)
    assert asked["model"]["options"]["weights"] != "fine"
    # an option of another plugin leaves the file's own
    words = ("audit", "-O", "data.size=24", "-O", "model.delay=0", "--json")
    asked = json.loads(project(*words))["provenance"]
    assert asked["model"]["options"]["weights"] == "fine"
    assert asked["tools"]["detector"]["spec"] == "finder"
    assert project("run").startswith("run ")


def test_a_file_that_nobody_allowed_or_that_has_changed_is_not_used(
    project: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "cuescope.toml"
    with pytest.warns(FutureWarning, match="is not used"):
        assert with_project(["audit", "red"]) == (["audit", "red"], {"audit": {}})
    project("init")
    words, own = with_project(["audit", "red"])
    assert (words, own["audit"]["model"]) == (["audit", "red"], "colour")
    file.write_text(PROJECT.replace("colour", "patches"))
    with pytest.warns(FutureWarning, match="`cuescope init` shows it"):
        assert with_project(["audit", "red"]) == (["audit", "red"], {"audit": {}})
    # the same words in another folder are about other files
    file.write_text(PROJECT)
    (tmp_path / "other").mkdir()
    file.rename(tmp_path / "other" / "cuescope.toml")
    monkeypatch.chdir(tmp_path / "other")
    with pytest.warns(FutureWarning, match="is not used"):
        assert with_project(["audit"]) == (["investigate"], {"investigate": {}})


def test_a_table_of_pyproject_says_the_same(project: Line, tmp_path: Path) -> None:
    (tmp_path / "cuescope.toml").unlink()
    shared = tmp_path / "pyproject.toml"
    shared.write_text("[tool.other]\na = 1\n")
    assert with_project(["audit", "red"])[1] == {"audit": {}}
    shared.write_text('[tool.cuescope]\nmodel = "colour"\nmodle = "a"\n')
    assert "Did you mean 'models'?" in project("init", code=2)
    shared.write_text('[tool.cuescope]\nmodel = "colour"\nout = "elsewhere"\n')
    project("init")
    project("audit", "red", "--data", "clips")
    assert len(list((tmp_path / "elsewhere").glob("red-colour-clips-*"))) == 1


def test_init_writes_what_it_is_told(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "data")
    assert "model" in line("init", "--model", "colour", "--data", "clips")
    assert "is there" in line("init", "--model", "colour", code=2)
    assert (
        json.loads(line("audit", "red", "--json"))["provenance"]["data"]["spec"]
        == "clips"
    )


def test_audit_without_a_method_is_investigate() -> None:
    words, _ = with_project(["audit", "--model", "m"])
    assert words == ["investigate", "--model", "m"]
    for typed in (["audit", "-h"], ["audit", "--cue", "a.cue"]):
        assert with_project(typed)[0] == typed


def test_owners_of_options_stand_before_their_keys(line: Line) -> None:
    given = ("-Omodel.weights=fine", "-O", "data.size=24", "-O", "top_k=2")
    said = line(
        "audit", "red", "--model", "colour", "--data", "clips", *given, "--json"
    )
    asked = json.loads(said)["provenance"]
    assert asked["model"]["options"]["weights"] == "fine"
    assert asked["data"]["options"]["size"] == 24
    assert "-O model.weights=fine" in asked["command"]
    helped = line("methods", "--help")
    assert "-O model.KEY=VALUE" in helped
    assert " -M " not in helped
