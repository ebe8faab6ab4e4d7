"""`cuescope label`: a sheet of a real run, filled in by somebody, read back and used."""

import csv
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from PIL import Image

from cuescope.cli import main
from cuescope_core.checksummed_files import write_sealed
from cuescope_core.runs import load_report
from cuescope_spurlens.checks.human_labels import read_labels

Line = Callable[..., str]
AUDIT = (
    *("audit", "spurlens", "--model", "toy-fusion:object-scenes:presence"),
    *(
        "-O",
        "model.patches=4",
        "-O",
        "model.epochs=10",
        "--data",
        "object-scenes",
        "-O",
        "data.val=240",
    ),
    *(
        "--tool",
        "proposer=co-occurrence",
        "--tool",
        "detector=annotations",
        "--device",
        "cpu",
    ),
    *("-O", "classes=cup,bird", "-O", "k=30", "-O", "draws=100"),
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache, and a run in a folder of its own."""
    place = tmp_path_factory.mktemp("label")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUESCOPE_CACHE", str(place / "cache"))
        with pytest.raises(SystemExit) as ended:
            main([*AUDIT, "--out", str(place / "run")])
    assert ended.value.code == 0
    return place


@pytest.fixture
def cuescope(
    place: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Line:
    """What a command prints, both streams, in a folder with a copy of the run."""
    monkeypatch.setenv("CUESCOPE_CACHE", str(place / "cache"))
    monkeypatch.chdir(tmp_path)
    copytree(place / "run", "run")

    def said(*words: str, code: int = 0) -> str:
        with pytest.raises(SystemExit) as ended:
            main(words)
        out, err = capsys.readouterr()
        assert ended.value.code == code, out + err
        return out + err

    return said


def fill(path: Path, key: Path, wrong: int) -> None:
    """As a person does who sees what is there, but errs on the first so many."""
    items = {item["number"]: item for item in json.loads(key.read_text())["items"]}
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        truth = items[int(row["number"])]["expected"]
        row["answer"] = (
            truth if int(row["number"]) > wrong else {"yes": "no", "no": "Yes"}[truth]
        )
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def test_a_sheet_is_written_filled_in_and_read_back(cuescope: Line) -> None:
    report = load_report(Path("run"))
    said = cuescope("label", "run", "--each", "10")
    assert "80 questions" in said  # two classes and tasks, two sides, ten of each
    folder = Path("run/labels")
    sheet = (folder / "sheet.csv").read_text()
    assert "expected" not in sheet, "a person is not told what the run says"
    with Image.open(folder / "pictures/0001.jpg") as picture:
        assert picture.format == "JPEG"
    page = (folder / "sheet.html").read_text()
    assert page.count("<fieldset") == 80
    assert "http://" not in page
    assert "https://" not in page
    assert "may be filled in" in cuescope("label", "run", code=2)
    assert "has no answer" in cuescope(
        "label", "run", "--read", "run/labels/sheet.csv", code=2
    )

    fill(folder / "sheet.csv", folder / "key.json", wrong=8)
    said = cuescope("label", "run", "--read", "run/labels/sheet.csv")
    assert "people and the run agree in 90%" in said
    assert "Cohen's kappa 0.8" in said
    again = re.search(r"next: cuescope (.*)", said)
    assert again is not None
    cuescope(*shlex.split(again[1]), "--out", "again")
    labelled = load_report(Path("again"))
    (check,) = [e for e in labelled.evidence if "where the detector sees it" in e.check]
    assert check.n >= 80  # an image may be among the first of both tasks
    assert check.value == pytest.approx(0.9, abs=0.05)
    assert labelled.cost.model_calls == 0, "no question is asked twice"
    assert [s.value for s in labelled.findings] == [s.value for s in report.findings]


def test_a_wrong_sheet_is_one_line(cuescope: Line) -> None:
    cuescope("label", "run", "--each", "2", "--most", "5")
    for content, line in {
        "number,answer\n1,maybe\n": "expected yes or no, or nothing, got 'maybe'",
        "number,answer\n1,yes\n1,no\n": "has question 1 twice",
        "number,answer\n99,yes\n": "expected 1 to 5",
        "image,answer\n1,yes\n": "no column 'number'",
    }.items():
        Path("filled.csv").write_text(content)
        assert line in " ".join(
            cuescope("label", "run", "--read", "filled.csv", code=2).split()
        )
    assert "no report at" in cuescope("label", "nowhere", code=2)


def test_an_edited_key_is_one_line(cuescope: Line) -> None:
    """Who changes what the run says beside a question changes the agreement with people."""
    cuescope("label", "run", "--each", "2", "--most", "5")
    key = Path("run/labels/key.json")
    Path("filled.csv").write_text("number,answer\n1,yes\n")
    key.write_text(key.read_text().replace('"expected": "yes"', '"expected": "no"'))
    said = " ".join(cuescope("label", "run", "--read", "filled.csv", code=2).split())
    assert "key.json is not what cuescope wrote" in said
    assert "`cuescope label RUN` writes the sheet and its key" in said


@pytest.mark.parametrize("text", ["=cmd|' /C calc'!A0", "-Vr3", "'tis", "+1"])
def test_labels_are_no_formulas_and_come_back_as_they_were(
    cuescope: Line, text: str
) -> None:
    """A key may be a stranger's, whose seal fits; keys of clips often begin with a minus."""
    cuescope("label", "run", "--each", "2", "--most", "5")
    key = Path("run/labels/key.json")
    content = json.loads(key.read_text())
    content["items"][0]["row"] |= {"image": text, "cue": text, "=a": text}
    write_sealed(key, json.dumps(content).encode())
    Path("filled.csv").write_text("number,answer\n1,yes\n")
    cuescope("label", "run", "--read", "filled.csv")
    labels = Path("run/labels/labels.csv")
    cells = [
        cell for row in csv.reader(labels.read_text().splitlines()) for cell in row
    ]
    assert not [cell for cell in cells if cell[0] in "=+-@"]
    assert read_labels(labels) == {(text, text.lower()): True}


@pytest.mark.parametrize(
    "change",
    [
        {"number": 1e400},
        {"number": "one"},
        {"answers": 5},
        {"answers": [1, 2]},
        {"answers": None},
        {"column": ["a"]},
        {"row": ["a"]},
        {"row": {"a": 1}},
        {"kind": {}},
        {"group": None},
        {"expected": 1},
    ],
    ids=str,
)
def test_a_forged_key_is_one_line(cuescope: Line, change: dict[str, Any]) -> None:
    """Its seal fits: a stranger can compute it."""
    cuescope("label", "run", "--each", "2", "--most", "5")
    key = Path("run/labels/key.json")
    content = json.loads(key.read_text())
    content["items"][0] |= change
    write_sealed(key, json.dumps(content).encode())
    Path("filled.csv").write_text("number,answer\n1,yes\n")
    said = " ".join(cuescope("label", "run", "--read", "filled.csv", code=2).split())
    assert "cannot read run/labels/key.json" in said


@pytest.mark.long
def test_claims_of_a_trace_are_judged_by_people(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who sees what is there agrees with the annotated scenes; who cannot tell has no part."""
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)

    def cuescope(*words: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main(words)
        out, err = capsys.readouterr()
        assert ended.value.code == 0, out + err
        return out

    things = ("red circle", "cyan square", "green star", "yellow heart", "blue hexagon")
    trace = [f"There is a {thing}." for thing in things]
    trace += ["At frame 2, there is a black hill.", "There is a yellow heart."]
    trace += ["At frame 1, the camera turns left."]  # no single frame shows a movement
    lines = [{"sample": f"val-{n:05d}", "trace": trace} for n in range(8)]
    Path("traces.jsonl").write_text("\n".join(map(json.dumps, lines)))
    asked = (
        "audit",
        "step-grounding",
        "--model",
        "traces:traces.jsonl",
        "--data",
        "shape-world",
    )
    cuescope(*asked, "-O", "data.val=8", "--out", "run")
    said = cuescope("label", "run", "--each", "9", "--most", "40")
    assert "40 questions" in said
    key = json.loads(Path("run/labels/key.json").read_text())["items"]
    assert {item["expected"] for item in key} == {"supported", "unsupported"}
    claims = [
        (item["sample"], item["row"]["step"], item["row"]["claim"]) for item in key
    ]
    assert len(set(claims)) == 40
    assert "7" not in {step for _, step, _ in claims}, (
        "one verdict a claim: it is asked once"
    )
    sheet = Path("run/labels/sheet.csv")
    with sheet.open(encoding="utf-8", newline="") as file:
        pictures = {row["number"]: row["picture"] for row in csv.DictReader(file)}
    for (
        item
    ) in key:  # a claim of no moment has frames side by side, each with its number
        one = "At frame 2" in item["text"]
        shown = [0, 1] if "camera" in item["text"] else [0, 2, 4, 6, 8, 9, 11, 13, 15]
        assert item["frames"] == ([1] if one else shown)
        with Image.open(f"run/labels/{pictures[str(item['number'])]}") as picture:
            assert picture.width == (96 if one else 768)

    rows = ["number,answer"]
    for item in key:
        other = {"supported": "unsupported", "unsupported": "supported"}[
            item["expected"]
        ]
        answer = other if item["number"] <= 4 else item["expected"]
        rows.append(
            f"{item['number']},{'unverifiable' if item['number'] > 36 else answer}"
        )
    sheet.write_text("\n".join(rows))
    said = cuescope("label", "run", "--read", str(sheet))
    assert "4 answers decide nothing" in said
    assert "people and the run agree in 89%" in said
    assert "Cohen's kappa" in said
