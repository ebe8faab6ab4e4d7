"""Commands from Python: the caller's objects and words, the command's own work and report."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
import typer
from PIL import Image

import cuescope
from cuescope import UserError
from cuescope.application import (
    Asked,
    AskedAgain,
    Output,
    Run,
    ask_again,
    audit_and_show,
    open_runner,
    show_plan,
    spread,
)
from cuescope.python.commands import _values
from cuescope.python.request import PythonRequest
from cuescope.typed import typed

pytestmark = pytest.mark.usefixtures("stubs")


@spread
def investigate(asked: Asked, output: Output, methods: str | None = None) -> None:
    """As commands of other packages are made."""
    request = asked.request(methods or "red", {})
    with asked.runner(output) as runner:
        if asked.plan:
            show_plan(runner, request, as_json=output.as_json)
        else:
            audit_and_show(runner, request, as_json=output.as_json)


@spread
def confirm(run: Run, asked: AskedAgain, output: Output) -> None:
    with open_runner(out=asked.out) as runner:
        runner, request = ask_again(runner, run, asked)
        audit_and_show(runner, request, as_json=output.as_json)


@pytest.fixture(autouse=True)
def here(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: dict[str, Callable[..., Any]] = {
        "investigate": investigate,
        "confirm": confirm,
    }
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "cuescope.python.commands._function_of", lambda name, registry: commands[name]
    )


def red_is_right(images: list[Image.Image]) -> np.ndarray:
    red = np.array([np.asarray(image)[..., 0].mean() / 255 for image in images])
    return np.stack([1 - red, red], axis=1)


def clips() -> tuple[list[np.ndarray], list[str]]:
    images = [
        np.full((4, 4, 3), 50 + 100 * (n % 3 > 0) + n, np.uint8) for n in range(20)
    ]
    return images, [("left", "right")[n % 2] for n in range(20)]


def test_a_command_takes_objects_and_gives_its_report(
    capsys: pytest.CaptureFixture[str],
) -> None:
    model = cuescope.Classifier(red_is_right, name="red-v1")
    given: dict[str, Any] = {"model": model, "data": clips(), "progress": False}
    plan = cuescope.investigate(**given, plan=True)
    of_red = cuescope.plan("red", model=model, data=clips())
    assert plan["trials"] == of_red.trials > 0
    assert re.match(rf"trials +(at least )?{of_red.trials}", str(of_red))
    report = cuescope.investigate(**given, methods=["red"], out="dossier")
    audited = cuescope.audit("red", **given)
    assert (report.hash, report.folder.name) == (audited.hash, "dossier")
    assert report.to_pandas().equals(audited.to_pandas())
    assert capsys.readouterr().out == "", "what a command prints is handed over"
    # the run is asked again with the same objects; loaded, it has to be given them
    again = cuescope.confirm(report, out="again", progress=False)
    assert again.hash == report.hash
    with pytest.raises(UserError, match=r"cuescope\.confirm\('dossier', model=model"):
        cuescope.confirm(cuescope.load("dossier"), progress=False)
    assert cuescope.confirm("dossier", **given, out="given").hash == report.hash


def test_words_are_those_of_the_options(tmp_path: Path) -> None:
    kept: dict[str, Any] = {}

    def look(
        own_pairs: Annotated[Path | None, typer.Option("--pairs")] = None,
        interventions: Annotated[list[str] | None, typer.Option("--with")] = None,
    ) -> None:
        kept.update(own_pairs=own_pairs, interventions=interventions)

    # one text is a list of one, and ~ is the home folder
    words = {"pairs": "~/scenes", "interventions": "blank"}
    assert _values("look", look, words) == {
        "own_pairs": Path.home() / "scenes",
        "interventions": ["blank"],
    }
    with pytest.raises(UserError, match="pairs is empty"):
        _values("look", look, {"pairs": ""})


def test_the_home_folder_is_no_folder_of_this_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    report = cuescope.audit("red", model="colour", data="clips", out="~/run")
    assert report.folder == tmp_path / "home/run"
    assert cuescope.load("~/run").hash == report.hash


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            {"methds": "red"},
            "investigate has no option 'methds'. Did you mean 'methods'?",
        ),
        ({"seed": "x"}, "investigate: seed: expected a valid integer, got 'x'"),
        ({"seed": -1}, "investigate: seed: expected 0 or more, got -1"),
        ({"executor": "threads"}, "executor with an object in memory"),
        ({"data": 3}, "data is an int"),
        ({"methods": "rad"}, "Did you mean 'red'?"),
    ],
)
def test_a_wrong_word_is_one_line(words: dict[str, Any], said: str) -> None:
    given: dict[str, Any] = {"model": red_is_right, "data": clips(), "progress": False}
    with pytest.raises(UserError) as refused:
        cuescope.investigate(**given | words)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_command_that_no_package_brings_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr("cuescope.registry.Registry.of_kind", lambda *_: ())
    with pytest.raises(UserError, match="cuescope-confirm"):
        cuescope.investigate(model="colour", data="clips")


def test_an_option_that_has_the_name_of_a_word_is_in_a_mapping() -> None:
    asked = PythonRequest(
        method="mended",
        model="net",
        data="d",
        method_options={"model": {"spec": "net"}, "top": 3, "out": "x"},
        objects={"net": "digest"},
    )
    call = typed(asked.command).again()
    assert call.startswith("cuescope.audit('mended', model=model, data='d', top=3, ")
    assert "method_options={'model': {'spec': 'net'}, 'out': 'x'}" in call
