"""Commands from Python: the caller's objects and words, the command's own work and report."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
from PIL import Image

import cuescope
from cuescope import Plan, StoredReport, UserError
from cuescope.application import Draft, OutputFolder, Rerun, Runner, ask_again
from cuescope.python.request import PythonRequest
from cuescope.python.words import values_of
from cuescope_core.next_commands import Typed

pytestmark = pytest.mark.usefixtures("stubs")


def investigate(
    runner: Runner,
    draft: Draft,
    *,
    methods: Sequence[str] = ("red",),
    plan: bool = False,
    out: Annotated[Path | None, OutputFolder()] = None,
) -> StoredReport | Plan:
    """As functions of other packages are made."""
    request = runner.on_objects(draft.request(methods[0], {}))
    runner = replace(runner, out=out)
    return runner.plan(request) if plan else runner.audit(request)


def confirm(
    runner: Runner, run: Path, rerun: Rerun, *, out: Path | None = None
) -> StoredReport:
    runner, request = ask_again(replace(runner, out=out), run, rerun)
    return runner.audit(request)


@pytest.fixture(autouse=True)
def here(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    functions: dict[str, Callable[..., Any]] = {
        "investigate": investigate,
        "confirm": confirm,
    }
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "cuescope.python.commands.load_function", lambda name, _: functions[name]
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
    def look(
        runner: object,
        rerun: Rerun,
        pairs: Path | None = None,
        interventions: Sequence[str] = (),
    ) -> None:
        """As functions of other packages are made."""

    # one text is a list of one, ~ is the home folder, and a list may be named by one of it
    words = {"pairs": "~/scenes", "intervention": "blank", "seed": 3}
    assert values_of("look", look, words) == {
        "pairs": Path.home() / "scenes",
        "interventions": ["blank"],
        "rerun": Rerun(seed=3),
    }
    with pytest.raises(UserError, match="pairs is empty"):
        values_of("look", look, {"pairs": ""})


def test_the_former_word_for_options_warns() -> None:
    def look(runner: object, options: Mapping[str, Any] | None = None) -> None:
        """As functions of other packages are made."""

    with pytest.warns(DeprecationWarning, match="use options="):
        values = values_of("look", look, {"method_options": {"k": 8}})
    assert values == {"options": {"k": 8}}


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
        (
            {"seed": -1},
            "investigate: seed: expected greater than or equal to 0, got -1",
        ),
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
    monkeypatch.setattr("cuescope_core.registry.Registry.of_kind", lambda *_: ())
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
    call = Typed(asked.command).again()
    options = {"model": {"spec": "net"}, "top": 3, "out": "x"}
    assert call == f"cuescope.audit('mended', model=model, data='d', options={options})"
