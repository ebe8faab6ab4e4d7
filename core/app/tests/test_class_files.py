"""Classes in a file, or of a caller in Python, in place of the names of plugins."""

import importlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import cuescope
from cuescope.rerun import Rerun, ask_again
from cuescope.runner import Runner
from cuescope_core.context import Context
from cuescope_core.errors import UserError
from cuescope_core.registry import Registry
from cuescope_core.spec import Spec
from cuescope_core.trust.source import Source

from ...conftest import Line

IDEA = """
import cuescope_fakes
from neighbour import THRESHOLD

open("ran", "a").close()

class Idea(cuescope_fakes.RedMethod):
    title = f"An idea of {THRESHOLD}"

class Net(cuescope_fakes.ColourModel):
    pass

class Photos(cuescope_fakes.Clips):
    pass

class Finder(cuescope_fakes.FakeDetector):
    pass
"""
GIVEN = {"model": "colour", "data": "clips:20", "progress": False}


@pytest.fixture(autouse=True)
def here(stubs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a file of classes, and its own cache."""
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "idea.py").write_text(IDEA)
    (tmp_path / "neighbour.py").write_text("THRESHOLD = 3\n")
    return tmp_path


def test_a_class_in_a_file_stands_for_a_name_of_each_kind(line: Line) -> None:
    words = ("audit", "./idea.py:Idea", "--model", "./idea.py:Net")
    printed = line(*words, "--data", "./idea.py:Photos:20", "--json")
    provenance = json.loads(printed)["provenance"]
    assert provenance["method"]["spec"] == "./idea.py:Idea"
    assert provenance["method"]["dist"] == "in a file"
    assert provenance["samples"] == 20
    (folder,) = Path("runs").iterdir()
    assert folder.name.startswith("idea.py-Idea-idea.py-Net-idea.py-Photos-")
    by_name = cuescope.audit("red", **GIVEN)
    assert cuescope.load(folder).scores == by_name.scores
    tooled = cuescope.audit(
        "with-tool", tools={"detector": "./idea.py:Finder"}, **GIVEN
    )
    assert tooled.provenance.tools["detector"].spec == "./idea.py:Finder"


def test_an_edited_file_is_another_plugin_in_one_process() -> None:
    first = cuescope.audit("red", **GIVEN | {"model": "./idea.py:Net"})
    assert first.cost.model_calls > 0
    again = cuescope.audit("red", **GIVEN | {"model": "./idea.py:Net"})
    assert again.cost.model_calls == 0
    Path("idea.py").write_text(IDEA + "\n# edited\n")
    edited = cuescope.audit("red", **GIVEN | {"model": "./idea.py:Net"})
    assert edited.cost.model_calls == first.cost.model_calls


def test_a_class_and_an_instance_of_a_caller_stand_for_a_name() -> None:
    fakes = importlib.import_module("cuescope_fakes")
    by_name = cuescope.audit("red", **GIVEN)
    report = cuescope.audit(fakes.RedMethod, **GIVEN | {"model": fakes.ColourModel})
    assert report.scores == by_name.scores
    assert (
        "cuescope.audit(<RedMethod>, model=<ColourModel>" in report.provenance.command
    )
    method = fakes.RedMethod(fakes.RedMethod.Options(threshold=0.4), Context())
    of_instance = cuescope.audit(method, **GIVEN)
    assert of_instance.provenance.method.options["threshold"] == 0.4
    tooled = cuescope.audit(
        fakes.ToolMethod, tools={"detector": fakes.FakeDetector}, **GIVEN
    )
    assert tooled.provenance.tools["detector"].dist == "in memory"
    with pytest.raises(UserError, match=r"method Clips: .*lacks"):
        cuescope.audit(fakes.Clips, **GIVEN)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("./idea.py", "method './idea.py' names no class: expected ./idea.py:CLASS"),
        ("./idee.py:Idea", "cannot read ./idee.py: got No such file"),
        ("./idea.py:Idee", "Did you mean 'Idea'?"),
        ("./idea.py:Photos", "lacks "),
        ("./wrong.py:Idea", "NameError"),
        ("./broken.py:Idea", "SyntaxError"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_in_a_line(name: str, words: str) -> None:
    Path("wrong.py").write_text("class Idea(nothing): ...\n")
    Path("broken.py").write_text("class Idea(\n")
    with pytest.raises(UserError) as refused:
        cuescope.audit(name, **GIVEN)
    assert words in str(refused.value)


def test_code_that_nobody_typed_does_not_run(here: Path) -> None:
    mail = Source("the run file a.yaml", here)
    arrived = Context(source=mail)
    for kind, name in (("method", "./idea.py:Idea"), ("model", "./idea.py:Net")):
        with pytest.raises(UserError, match=r"expected it typed .* --allow ./idea.py"):
            arrived.resolve(kind, name)
        # whoever reads a report's names finds the same closed door
        registry = Registry()
        entry = registry.find(kind, name)
        with pytest.raises(UserError, match="is code in a file"):
            registry.load(entry)
        assert registry.check(entry) is not None
    assert not Path("ran").exists()
    let = Context(source=mail, allowed=frozenset({"./idea.py:Idea"}))
    let.resolve("method", "./idea.py:Idea")
    assert Path("ran").exists()


@pytest.mark.parametrize("edit", ["", "# edited"], ids=["as it was", "edited"])
def test_a_stored_run_asks_the_code_that_it_was_made_with(
    here: Path, edit: str
) -> None:
    folder = cuescope.audit("./idea.py:Idea", **GIVEN).folder
    Path("idea.py").write_text(IDEA + edit)
    runner = Runner(Context(), here / "again")

    def again(allow: Sequence[str] = ()) -> str:
        return ask_again(runner, folder, Rerun(allow=tuple(allow)))[1].method

    if edit:
        with pytest.raises(UserError, match=r"add --allow ./idea.py:Idea"):
            again()
        runner = replace(runner, context=Context())
    assert again(["./idea.py:Idea"] if edit else []) == "./idea.py:Idea"


def test_a_class_of_a_file_may_have_an_argument() -> None:
    assert Spec.parse("./a/net.py:Net:small:2") == Spec("./a/net.py:Net", "small:2")
    assert Spec.parse("folder:./clips.py:x") == Spec("folder", "./clips.py:x")
