"""`cuescope methods`, and what an audit refuses or warns of before it asks anything."""

import json
import tomllib
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cuescope.application import ROLES
from cuescope.cli import main
from cuescope_core.registry import Entry, Problem, Registry

METHODS = {"blind", "cci", "quag", "saliency", "spurlens", "step-grounding", "trove"}
METHODS |= {
    "answers",
    "confidence",
    "contamination",
    "cue",
    "distilling-failures",
    "domino",
    "hypotheses",
    "looking",
    "maps",
    "george",
    "random",
    "mitigation",
    "confirm",
}
Line = Callable[..., str]


@pytest.fixture
def cuescope(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Line:
    """What a command prints, both streams."""
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)

    def said(*words: str, code: int = 0) -> str:
        with pytest.raises(SystemExit) as ended:
            main(words)
        out, err = capsys.readouterr()
        assert ended.value.code == code, out + err
        return out + err

    return said


def photos(
    folder: Path, *, each: int, classes: tuple[str, ...] = ("cat", "dog")
) -> None:
    """So many images of each class, no two alike."""
    for number, name in enumerate(classes):
        (folder / name).mkdir(parents=True)
        for index in range(each):
            pixels = np.full((32, 32, 3), 100 * number + index, dtype=np.uint8)
            Image.fromarray(pixels).save(folder / name / f"{index}.png")


def verdicts(text: str) -> dict[str, str]:
    return {fit["method"]: fit["verdict"] for fit in json.loads(text)["methods"]}


def test_every_method_says_what_it_finds_and_needs(cuescope: Line) -> None:
    fits = json.loads(cuescope("methods", "--json"))["methods"]
    assert {fit["method"] for fit in fits} == METHODS
    assert all(fit["finds"].endswith(".") and "data:" in fit["needs"] for fit in fits)
    words = cuescope("methods")
    assert all(f"{name}: " in words for name in METHODS)


def test_what_fits_a_model_and_data_is_said(cuescope: Line) -> None:
    line = (
        "methods",
        "--model",
        "toy",
        "--data",
        "moving-shapes:background",
        "-O",
        "data.val=400",
    )
    told = verdicts(cuescope(*line, "--json"))
    assert told["trove"] == "yes"
    assert {told[name] for name in ("cci", "saliency", "quag", "step-grounding")} == {
        "no"
    }
    words = cuescope(*line)
    assert (
        "cuescope audit trove --model toy --data moving-shapes:background -O data.val=400"
        in words
    )
    questions = (
        "moving-shapes:none",
        "-O",
        "data.questions=both",
        "-O",
        "data.val=400",
    )
    told = verdicts(
        cuescope("methods", "--model", "toy-fusion", "--data", *questions, "--json")
    )
    assert told["quag"] == "yes"


def test_models_that_read_no_question_do_not_fit_spurlens(cuescope: Line) -> None:
    for model, verdict in (
        ("open-clip", "no"),
        ("traces:x", "no"),
        ("openai:gpt", "yes"),
    ):
        assert (
            verdicts(cuescope("methods", "--model", model, "--json"))["spurlens"]
            == verdict
        )


def test_a_method_that_is_not_installed_is_named_with_its_package(
    cuescope: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = tuple(
        e for e in Registry().entries if (e.kind, e.name) != ("method", "cci")
    )
    monkeypatch.setattr(Registry, "entries", others)
    assert "`cuescope plugins install cuescope-cci` brings it from" in cuescope(
        "methods"
    )


def test_a_misspelt_model_is_one_line(cuescope: Line) -> None:
    assert "Did you mean 'toy'" in cuescope("methods", "--model", "toyy", code=2)


@pytest.mark.parametrize(
    ("each", "classes", "words"),
    [
        (3, ("cat", "dog"), "at least 6 independent samples"),
        (9, ("cat",), "at least 2 labels"),
    ],
)
def test_data_that_cannot_give_a_finding_are_refused(
    cuescope: Line, each: int, classes: tuple[str, ...], words: str
) -> None:
    for split in ("train", "val"):
        photos(Path("photos", split), each=each, classes=classes)
    data = ("--data", "folder:photos", "-O", "data.split=val")
    assert words in cuescope(
        "audit", "trove", "--model", "toy", *data, "--plan", code=2
    )


def test_a_refusal_names_the_limit(cuescope: Line) -> None:
    data = ("--data", "moving-shapes:none", "-O", "data.val=400", "--limit", "8")
    words = cuescope("audit", "trove", "--model", "toy", *data, "--plan", code=2)
    assert "It looks at 8 of 400 samples: the others are left out by --limit" in words


def test_a_table_is_offered_to_those_that_read_tables(cuescope: Line) -> None:
    Path("rows.csv").write_text("question,A,B,answer\n")
    asked = ("audit", "answers", "--model", "toy", "--data", "rows.csv")
    words = cuescope(*asked, code=2)
    for reader in ("log", "questions", "folder"):
        assert f"{reader}:rows.csv (" in words
    assert "as in NAME:rows.csv" in cuescope("blind", "rows.csv", code=2)


def test_formats_of_tables_are_near_too(cuescope: Line) -> None:
    data = ("--data", "moving-shapes:none", "-O", "data.val=60", "--out", "run")
    cuescope("audit", "answers", "--model", "toy:moving-shapes:none", *data)
    assert "Did you mean 'csv'?" in cuescope("export", "run", "--to", "csvv", code=2)


def test_confirm_fits_no_log(cuescope: Line) -> None:
    Path("log.csv").write_text(
        "question,A,B,answer,prediction\n"
        + "seen?,cat,dog,A,B\nseen?,dog,cat,A,A\n" * 20
    )
    words = cuescope("methods", "--model", "log:log.csv")
    assert "confirm" in words.partition("Do not fit: ")[2].partition(".")[0]
    named = cuescope("methods", "confirm", "--model", "log:log.csv")
    assert named[named.index("\nconfirm ") :].split()[:2] == ["confirm", "no"]
    assert "Did you mean 'trove'?" in cuescope("methods", "trov", code=2)
    run = ("--model", "log:log.csv", "--data", "log:log.csv", "--out", "run")
    cuescope("audit", "answers", *run)
    refused = cuescope("confirm", "run", code=2)
    assert (
        "run is a run of recorded answers: expected a model that can be asked"
        in refused
    )
    assert "cuescope investigate --log FILE --model SPEC" in refused


def test_weak_data_are_warned_of_before_the_first_question(cuescope: Line) -> None:
    for split in ("train", "val"):
        photos(Path("photos", split), each=9)
    data = ("--data", "folder:photos", "-O", "data.split=val")
    words = cuescope("audit", "trove", "--model", "toy", *data, "--plan")
    assert "warning: trove: few samples, so only strong cues can be found" in words
    assert "About 60 of each label" in words
    assert "over time" not in words


def test_a_missing_tool_names_those_that_are_here(cuescope: Line) -> None:
    words = cuescope(
        "audit", "spurlens", "--model", "toy-fusion", "--data", "object-scenes", code=2
    )
    assert (
        "spurlens needs a detector. Add --tool detector=SPEC (installed: annotations, "
        in words
    )


def test_hints_name_a_dist_for_every_role() -> None:
    words = tomllib.loads(
        files("cuescope_sdk.choosing").joinpath("words.toml").read_text()
    )
    registry = Registry()
    roles = dict(ROLES)
    for entry in registry.of_kind("method"):
        roles |= {role.name: role for role in registry.load(entry).requires.roles}
    for role, dist in words["brings"].items():
        tools = [entry for entry in registry.of_kind("tool") if entry.dist == dist]
        assert any(
            hasattr(registry.load(entry), roles[role].method) for entry in tools
        ), role


def test_a_broken_method_is_said_to_be_broken(
    cuescope: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = Registry.check

    def broken(self: Registry, entry: Entry, **words: float) -> Problem | None:
        is_trove = entry.name == "trove" and entry.kind == "method"
        return (
            Problem("it is in pieces", "mend it")
            if is_trove
            else check(self, entry, **words)
        )

    monkeypatch.setattr(Registry, "check", broken)
    said = cuescope("methods")
    assert "trove: it cannot be used: it is in pieces\n  mend it" in said
    assert "trove: not installed" not in said
