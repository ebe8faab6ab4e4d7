"""`cuescope blind DATA`: a question file alone is audited, exported and read back."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from command_line import run, run_refused

from cuescope_core.runs import load_report

WORDS = ("red", "green", "blue", "grey", "pink", "teal", "gold", "lime")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a question file whose longest option is right too often."""
    folder = tmp_path_factory.mktemp("blind")
    rng = np.random.default_rng(0)
    lines = []
    for number in range(300):
        options = []
        for place in range(4):
            words = rng.choice(WORDS, int(rng.integers(1, 5)))
            options.append(f"{' '.join(words)} {'abcd'[place]}")
        right = int(rng.integers(4))
        if number % 3 == 0:
            right = int(np.argmax([len(option) for option in options]))
        row = {
            "question": "which car is it",
            "options": options,
            "answer": options[right],
        }
        lines.append(json.dumps({**row, "video": f"v{number // 2}"}))
    (folder / "cars.jsonl").write_text("\n".join(lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUESCOPE_CACHE", str(folder / "cache"))
        patch.chdir(folder)
        run("blind", "questions:cars.jsonl", "-O", "redraws=0", "--out", "first", "-q")
        yield folder


def test_the_run_is_stored_like_any_other(place: Path) -> None:
    report = load_report(place / "first")
    assert report.provenance.model.spec == "none"
    assert "length" in {score.feature for score in report.findings}
    assert (place / "first" / "report.html").is_file()


def test_the_questions_of_a_finding_are_data_again(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("export", str(place / "first"), "--affected", "1", "--out", "answered.jsonl")
    assert "--data questions:answered.jsonl" in capsys.readouterr().out
    rows = [
        json.loads(line) for line in Path("answered.jsonl").read_text().splitlines()
    ]
    assert all(row["answer"] in row["options"] for row in rows)
    run("blind", "questions:answered.jsonl", "-O", "redraws=0", "--out", "again", "-q")
    assert load_report(Path("again")).provenance.samples == len(rows)


def test_the_hardest_are_data_again(place: Path) -> None:
    words = ("--hardest", "120", "--manifest", "hard.jsonl", "--out", "second", "-q")
    run("blind", "questions:cars.jsonl", "-O", "redraws=0", *words)
    rows = [json.loads(line) for line in Path("hard.jsonl").read_text().splitlines()]
    assert len(rows) == 120
    assert rows[0]["blind_score"] <= rows[-1]["blind_score"]
    run("blind", "questions:hard.jsonl", "-O", "redraws=0", "--out", "third", "-q")
    gains = {
        score.feature: score.value for score in load_report(Path("third")).headlines
    }
    # these are the questions that the learner answers wrong
    assert (gains["blind-learner"] or 0) < 0.05


def test_runs_are_compared(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(
        "blind",
        "questions:cars.jsonl",
        "-O",
        "redraws=0",
        "--seed",
        "1",
        "--out",
        "seed",
        "-q",
    )
    capsys.readouterr()
    run("compare", "first", "seed")
    assert "the option of the length" in capsys.readouterr().out


def test_a_plan_asks_nothing(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    run("blind", "questions:cars.jsonl", "--plan")
    assert "model calls  0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--hardest", "5"), "expected both, got no --manifest FILE"),
        (("--manifest", "x.jsonl"), "expected both, got no --hardest N"),
        (
            ("--hardest", "5", "--manifest", "x.csv"),
            "expected a file that ends in .jsonl",
        ),
        (("-O", "fold=3"), "Did you mean 'folds'?"),
        (("-O", "data.answer=right"), "has no column 'right'"),
    ],
)
def test_a_mistake_is_one_line(
    place: Path,
    words: tuple[str, ...],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run_refused(capsys, "blind", "questions:cars.jsonl", *words, said=said)


def test_an_empty_file_is_one_line(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("empty.jsonl").write_text("")
    run_refused(capsys, "blind", "questions:empty.jsonl", said="expected a row or more")


def test_what_needs_pixels_is_refused_before_it_is_asked(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("audit", "trove", "--model", "toy", "--data", "questions:cars.jsonl")
    run_refused(capsys, *words, "--plan", said="")
