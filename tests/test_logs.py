"""Logs of others, by the command line: what they are enough for, what they show, two compared."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cuescope_core.runs import load_report

from .command_line import run, run_refused, written_plugins

EYE = """
import numpy as np
import cuescope_sdk as sdk


class Eye(sdk.Plugin):
    \"\"\"Sees mean colours of the quarters of a picture.\"\"\"

    capabilities = sdk.Capabilities(outputs=frozenset({"embedding"}))
    fingerprint = "eye"
    facts = {}

    def respond(self, trials):
        return [sdk.Response(embedding=self.see(t.sample.frames[0])) for t in trials]

    def see(self, frame):
        pixels = np.asarray(frame.load()) / 255
        quarters = [half for row in np.split(pixels, 2) for half in np.split(row, 2, axis=1)]
        return np.concatenate([quarter.mean(axis=(0, 1)) for quarter in quarters])
"""
WORDS = ("lamp", "river", "chair", "cloud", "bridge", "spoon", "garden", "engine")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    points = "[cuescope.models]\neye = eye_of_test:Eye\n"
    with written_plugins(tmp_path, "eye_of_test", points, EYE) as folder:
        yield folder


def audit(method: str, log: Path, out: Path, *words: str) -> Any:
    spec = f"log:{log}"
    run(
        "audit",
        method,
        "--model",
        spec,
        "--data",
        spec,
        "--out",
        str(out),
        "-q",
        *words,
    )
    return load_report(out)


def write_log(
    path: Path, count: int, *, cue: str = "", seed: int = 0, accuracy: float = 0.8
) -> dict[str, bool]:
    """Questions with two words each; the `cue` makes the model guess. Which of them have it."""
    rng = np.random.default_rng(seed)
    has_cue = {}
    with path.open("w") as file:
        for number in range(count):
            # the questions are the same whatever the model does
            words = np.random.default_rng(number).choice(WORDS, 2, replace=False)
            question = f"What does the {words[0]} do beside the {words[1]}?"
            right = 0.3 if cue and cue in question else accuracy
            label = number % 4
            others = [place for place in range(4) if place != label]
            answer = label if rng.random() < right else int(rng.choice(others))
            key = f"q{number}"
            row = {
                "key": key,
                "question": question,
                "options": [f"{n}-{key}" for n in "abcd"],
            }
            row |= {
                "answer": f"{'abcd'[label]}-{key}",
                "prediction": f"{'abcd'[answer]}-{key}",
            }
            file.write(json.dumps(row) + "\n")
            has_cue[key] = cue in question
    return has_cue


def first_shown(report: Any, count: int = 10) -> list[str]:
    """The first samples of the strongest finding."""
    finding = report.findings[0].feature
    [feature] = [feature for feature in report.features if feature.key == finding]
    return [occurrence.sample for occurrence in feature.occurrences[:count]]


def check_planted(folder: Path, count: int, *words: str) -> None:
    log = folder / "log.jsonl"
    has_cue = write_log(log, count, cue="river")
    report = audit("answers", log, folder / "run", *words)
    assert report.cost.model_calls == 0
    assert report.cost.trials == count
    shown = first_shown(report)
    assert sum(has_cue[key] for key in shown) >= 0.9 * len(shown)


def test_a_planted_cue_is_found_without_a_call(place: Path) -> None:
    check_planted(place, 500)


@pytest.mark.long
def test_a_planted_cue_is_found_in_five_thousand_answers(place: Path) -> None:
    check_planted(place, 5000)


def test_pictures_are_seen_by_an_eye(place: Path) -> None:
    """A red corner that goes with errors, found by clusters, and by a method of slices."""
    rng = np.random.default_rng(0)
    rows = ["key,answer,prediction,image,options"]
    has_cue = {}
    for number in range(160):
        pixels = rng.integers(100, 140, (16, 16, 3), dtype=np.uint8)
        cue = number % 4 == 0
        if cue:
            pixels[:8, :8] = (255, 0, 0)
        name = f"{number}.png"
        Image.fromarray(pixels).save(place / name)
        label = ("cat", "dog")[number // 4 % 2]
        wrong = rng.random() < (0.8 if cue else 0.1)
        said = {"cat": "dog", "dog": "cat"}[label] if wrong else label
        rows.append(f'{number},{label},{said},{name},"[""cat"", ""dog""]"')
        has_cue[str(number)] = cue
    log = place / "log.csv"
    log.write_text("\n".join(rows))
    for method, words in (
        ("answers", ("-O", "clusters=4")),
        ("george", ()),
    ):
        report = audit(method, log, place / method, "--tool", "embedder=eye", *words)
        assert report.cost.model_calls == 0
        shown = first_shown(report)
        assert sum(has_cue[key] for key in shown) >= 0.9 * len(shown), method


def test_what_a_log_is_enough_for_is_said(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = place / "log.jsonl"
    write_log(log, 400)
    capsys.readouterr()
    run("methods", "--model", f"log:{log}", "--json")
    fits = {
        fit["method"]: fit for fit in json.loads(capsys.readouterr().out)["methods"]
    }
    assert fits["answers"]["verdict"] in ("yes", "weakly")
    assert fits["blind"]["verdict"] == "yes"
    for method, why in (
        ("spurlens", "recorded"),
        ("domino", "embeddings"),
        ("cci", "image tokens"),
    ):
        assert fits[method]["verdict"] == "no"
        assert why in fits[method]["lacks"][0]["what"]
    spec = f"log:{log}"
    words = ("audit", "domino", "--model", spec, "--data", spec)
    run_refused(capsys, *words, said="--tool embedder")


def test_a_bad_log_is_one_line(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = place / "log.eval"
    path.write_bytes(b"PK\x03\x04 no archive")
    words = ("audit", "answers", "--model", f"log:{path}", "--data", f"log:{path}")
    run_refused(capsys, *words, said="inspect: log.eval is no ZIP archive")


def test_what_a_cue_hurts_is_for_another_model(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = place / "log.jsonl"
    write_log(log, 600, cue="river")
    assert audit("answers", log, place / "run").findings
    capsys.readouterr()
    run("export", str(place / "run"), "--affected", "1")
    _, _, said = capsys.readouterr().out.strip().rpartition("for OTHER: cuescope ")
    # a log of all questions does not fit a part of them
    words = shlex.split(said.replace("OTHER", "none"))
    assert words[:4] == ["audit", "answers", "--model", "none"]
    run(*words, "--out", str(place / "again"))


def test_two_logs_are_compared_and_gated(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = []
    for name, cue, accuracy in (("old", "", 0.8), ("new", "river", 0.6)):
        log = place / f"{name}.jsonl"
        write_log(log, 300, cue=cue, seed=1, accuracy=accuracy)
        audit("answers", log, place / name, "-O", "words=5")
        runs.append(str(place / name))
    capsys.readouterr()
    run("compare", *runs, "--json")
    tables = json.loads(capsys.readouterr().out)["tables"]
    [changes] = [
        table["rows"]
        for table in tables
        if "0 flips" not in table["title"]
        and any("lost" in row for row in table["rows"])
    ]
    # a label of one question is no row of its own
    assert [row["kind"] for row in changes if "kind" in row] in (["baseline"], [])
    assert len(changes) == 1
    policy = place / "policy.yaml"
    policy.write_text(
        "rules:\n- {rule: accuracy-at-least, percent: 95}\n"
        "- {rule: cues-grew-at-most, points: 3, undecided: pass}\n"
    )
    old, new = runs
    words = (
        "gate",
        str(policy),
        new,
        "--baseline",
        old,
        "--junit",
        str(place / "j.xml"),
    )
    run(*words, code=1)
    assert "fail: accuracy-at-least" in capsys.readouterr().out
    assert 'failures="1"' in (place / "j.xml").read_text()
    run("gate", str(policy), new, code=2)
    assert "--baseline RUN" in capsys.readouterr().err
    policy.write_text("rules:\n- {rule: cues-cost-at-most, points: 0.1}\n")
    run("gate", str(policy), new, code=3)
