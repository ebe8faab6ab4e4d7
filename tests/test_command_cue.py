"""`cuescope cue`: each way of giving a cue, on the red corner of the contracts' own data.

Every file is measured by the same audit, so that a cue that is no red corner shows.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run, run_refused, written_plugins

from cuescope_sdk import Context
from cuescope_sdk.cues import Cue
from cuescope_testing import FakeDataset

PLUGINS = """
[cuescope.models]
fake = cuescope_testing:FakeModel
reader = reading:Reader
[cuescope.datasets]
fakes = cuescope_testing:FakeDataset
"""
READER = '''
"""A model whose text tower knows one word: red, where its embedding has the red corner."""

import numpy as np

from cuescope_sdk import Capabilities
from cuescope_testing import FakeModel


class Reader(FakeModel):
    """The contracts' model, with a text tower."""

    def embed_texts(self, texts):
        rows = np.full((len(texts), 54), 1e-3, np.float32)
        for number, text in enumerate(texts):
            rows[number, 3] = 1.0 if text == "red" else 1e-3
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)
'''
ON = ("--model", "fake", "--data", "fakes", "-q")
Json = Callable[..., Any]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("cue")
    with written_plugins(folder, "reading", PLUGINS, READER) as written:
        yield written


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Json:
    """What a command prints with --json."""

    def run_json(*words: str) -> Any:
        capsys.readouterr()
        run(*words, "--json")
        return json.loads(capsys.readouterr().out)

    return run_json


@pytest.fixture(scope="module")
def sides() -> tuple[list[str], list[str]]:
    """The samples with the red corner and those without it."""
    data = FakeDataset(FakeDataset.Options(), Context())
    shown: list[str] = []
    others: list[str] = []
    for number in range(len(data)):
        sample = data[number]
        is_shown = any(sample.annotations["cues"][data.cue])
        (shown if is_shown else others).append(sample.key)
    return shown, others


def clicks(sides: tuple[list[str], list[str]], count: int) -> list[str]:
    shown, others = sides
    words = [word for key in shown[:count] for word in ("--with", key)]
    return words + [word for key in others[:count] for word in ("--without", key)]


def lost(said: Json, file: Path, *on: str) -> dict[str, float]:
    """Accuracy that each label loses with a cue."""
    report = said("audit", "--cue", str(file), *(on or ON), "--out", f"{file}-run")
    return {score["label"]: score["value"] for score in report["scores"]}


def test_a_column_is_measured_and_applied(
    place: Path, said: Json, sides: tuple[list[str], list[str]]
) -> None:
    file = place / "column.cue"
    facts = said("cue", "make", str(file), "--column", "cues.red corner", *ON)
    assert (facts["with_cue"], facts["without_cue"], facts["told"]) == (40, 40, 80)
    assert facts["auroc"] > 0.95
    assert said("cue", "show", str(file))["identity"] == facts["identity"]
    values = lost(said, file)
    assert values["middle"] > 0.6
    assert values["bottom"] > 0.6
    assert values["top"] < 0
    table = place / "table.csv"
    applied = said("cue", "apply", str(file), *ON, "--out", str(table))
    lines = table.read_text("utf-8").splitlines()
    assert lines[0] == "sample,label,probability"
    assert len(lines) == 151
    assert applied["expected"] == pytest.approx(len(sides[0]), abs=10)


def test_a_list_and_a_value_of_a_column(
    place: Path, said: Json, sides: tuple[list[str], list[str]]
) -> None:
    listed = place / "red.txt"
    listed.write_text("\n".join(sides[0]))
    file = place / "list.cue"
    assert said("cue", "make", str(file), "--list", str(listed), *ON)["name"] == "red"
    assert lost(said, file)["middle"] > 0.6


def test_ten_samples_choose_what_draws_an_answer(
    place: Path, said: Json, sides: tuple[list[str], list[str]]
) -> None:
    file = place / "ten.cue"
    facts = said("cue", "make", str(file), *clicks(sides, 5), *ON)
    assert "choose what draws 'top'" in facts["chosen"]
    assert (facts["answer"], facts["told"]) == ("top", 10)
    assert lost(said, file)["bottom"] > 0.5


def test_samples_that_fit_no_candidate_begin_a_cue_and_refine_it(
    place: Path, said: Json
) -> None:
    # the blue corner draws no answer
    data = FakeDataset(FakeDataset.Options(), Context())
    samples = [data[number] for number in range(len(data))]
    pixels = [np.asarray(sample.frames[0].load()) for sample in samples]
    blue = [int(each[6, 1, 2]) > 100 for each in pixels]
    shown = [each.key for each, has in zip(samples, blue, strict=True) if has]
    others = [each.key for each, has in zip(samples, blue, strict=True) if not has]
    file = place / "blue.cue"
    facts = said("cue", "make", str(file), *clicks((shown, others), 6), *ON)
    assert "begun from the samples alone" in facts["chosen"]
    asked = said("cue", "ask", str(file), *ON, "--most", "20")["samples"]
    assert len(asked) == 20
    unsure = [abs(each["probability"] - 0.5) for each in asked]
    assert unsure == sorted(unsure)
    told = {*shown[:6], *others[:6]}
    assert not told & {each["sample"] for each in asked}
    words = [
        word
        for each in asked
        for word in (
            "--with" if each["sample"] in shown else "--without",
            each["sample"],
        )
    ]
    refined = said("cue", "ask", str(file), *words, *ON)
    assert refined["told"] == 32
    assert refined["identity"] != facts["identity"]
    # it costs nothing, and nothing is found
    report = said("audit", "--cue", str(file), *ON, "--out", str(place / "blue-run"))
    assert not any(score["finding"] for score in report["scores"])


def test_a_finding_of_a_run_and_samples_that_choose_among_findings(
    place: Path, said: Json, sides: tuple[list[str], list[str]]
) -> None:
    column = place / "of-run.cue"
    said(
        "cue", "make", str(column), "--column", "cues.red corner", *ON, "--name", "red"
    )
    found = place / "found"
    said("audit", "--cue", str(column), *ON, "--out", str(found))
    for number, wanted in enumerate(("1", "red")):
        file = place / f"finding{number}.cue"
        run_words = ("--run", str(found), "--finding", wanted, "-q")
        facts = said("cue", "make", str(file), *run_words)
        assert (facts["name"], facts["told"]) == ("red", 0)
        assert Cue.load(file).recogniser.auroc == facts["auroc"] > 0.95
    assert lost(said, file)["middle"] > 0.6
    chosen = place / "chosen.cue"
    words = (*clicks(sides, 5), "--run", str(found), "-q")
    assert "choose red" in said("cue", "make", str(chosen), *words)["chosen"]


def test_a_phrase_needs_a_text_tower(
    place: Path, said: Json, capsys: pytest.CaptureFixture[str]
) -> None:
    file = place / "phrase.cue"
    words = ("cue", "make", str(file), "--phrase", "red", "--data", "fakes", "--model")
    run_refused(capsys, *words, "fake", said="neither the model nor an embedder reads")
    assert said(*words, "reader", "-q")["with_cue"] == 40
    values = lost(said, file, "--model", "reader", "--data", "fakes", "-q")
    assert values["middle"] > 0.5


def test_a_region_is_put_into_other_samples(
    place: Path, said: Json, sides: tuple[list[str], list[str]]
) -> None:
    file = place / "box.cue"
    words = ("--box", "0,0,3,3", "--sample", sides[0][0])
    facts = said("cue", "make", str(file), *words, *ON)
    assert (facts["with_cue"], facts["without_cue"], facts["told"]) == (40, 40, 0)
    report = said("audit", "--cue", str(file), *ON, "--out", str(place / "box-run"))
    values = {score["label"]: score["value"] for score in report["scores"]}
    assert values["middle"] > 0.5
    assert values["bottom"] > 0.5
    # nothing that was drawn says how well real samples are told
    found = [score for score in report["scores"] if score["finding"]]
    assert all("may not tell the cue" in score["doubt"] for score in found)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ((), "expected one of --finding, --with and --without"),
        (("--column", "a", "--phrase", "b"), "got --column and --phrase"),
        (("--finding", "1"), "--finding without --run"),
        (("--box", "0,0,3,3"), "--box and --sample"),
        (("--box", "0,0,x", "--sample", "val-000"), "expected X0,Y0,X1,Y1, got 0,0,x"),
        (("--box", "0,0,9,3", "--sample", "val-000"), "within 8 x 8 pixels"),
        (("--with", "val-9"), "no sample 'val-9' in the data"),
        (("--with", "val-000", "--without", "val-000"), "with the cue and without it"),
        (("--column", "weather"), "no such annotation"),
        (("--list", "missing.txt"), "cannot be read"),
    ],
)
def test_what_is_no_cue_is_refused_in_a_line(
    place: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], line: str
) -> None:
    file = place / "never.cue"
    run_refused(capsys, "cue", "make", str(file), *words, *ON[:-1], said=line)
    assert not file.exists()


def test_no_cue_file_is_written_over_or_measured_beside_a_method(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = place / "there.cue"
    file.write_text("mine")
    words = ("cue", "make", str(file), "--column", "cues.red corner", *ON[:-1])
    run_refused(capsys, *words, said="is there already")
    words = ("audit", "trove", "--cue", str(file), *ON[:-1])
    run_refused(capsys, *words, said="no METHOD beside it")
    run_refused(capsys, "audit", "--cue", str(file), *ON[:-1], said="is not what")
    run_refused(capsys, "audit", "cue", *ON[:-1], said="no cue is given")
