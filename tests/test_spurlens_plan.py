"""`--plan` on a COCO tree: the detector's passes and the model's calls, before any weight opens."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from cuescope.cli import main

from .kitchens import IMAGES, write_kitchens
from .tiny_models import qwen2_vl, save_owl, save_vlm

Line = Callable[..., str]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Kitchens, a detector, a model and a file of cues."""
    place = tmp_path_factory.mktemp("plan")
    write_kitchens(place / "coco")
    save_owl(place / "owl")
    save_vlm(qwen2_vl(), place / "vlm")
    (place / "cues.yaml").write_text("cup: [table, tree]\nclock: [rug, tree]\n")
    return place


@pytest.fixture
def line(
    place: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Line:
    """`line(detector, *words, code=0)`: what the command prints, its cache empty at first."""
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(place)

    def run(detector: str, *words: str, code: int = 0) -> str:
        audit = "audit spurlens --model transformers-vlm:vlm -O model.max_new_tokens=1"
        options = (
            "--data coco:coco "
            "-O classes=cup,clock -O k=6 -O draws=100 -O negatives=all -O discover=1 -v "
            "--device cpu"
        )
        tools = ("--tool", f"detector={detector}", "--tool", "proposer=cues:cues.yaml")
        with pytest.raises(SystemExit) as ended:
            main(
                [
                    *audit.split(),
                    *options.split(),
                    *tools,
                    "--out",
                    str(tmp_path / "run"),
                    *words,
                ]
            )
        out, err = capsys.readouterr()
        assert ended.value.code == code, out + err
        return out if code == 0 else err

    return run


def number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    assert found, f"no {pattern!r} in:\n{text}"
    return int(found[1].replace(",", ""))


def test_passes_and_calls_are_known_before_weights_open(line: Line) -> None:
    cold = line("owl:owl", "--plan")
    passes = number(r"images shown to detectors +([\d,]+)", cold)
    most = number(r"questions: ([\d,]+) at most", cold)
    read = number(r"vision encoder: ([\d,]+) images read at most", cold)
    assert passes == IMAGES
    assert "What follows depends on the weights of owl." in cold
    report = line("owl:owl")
    assert number(r"images shown to\s+detectors: ([\d,]+)", report) == passes
    calls = number(r"([\d,]+)\s+answered\s+by\s+the\s+model", report)
    assert 0 < calls <= most + read
    again = line("owl:owl", "--plan")
    assert number(r"images shown to detectors +([\d,]+)", again) == 0
    assert number(r"cache hits +([\d,]+)", again) == calls
    assert "depends on" not in again


def test_with_the_data_sets_own_boxes_the_plan_is_exact(line: Line) -> None:
    plan = line("annotations", "--plan")
    assert "What follows depends on the answers of the model" in plan
    read = number(r"vision encoder: ([\d,]+) images read at most", plan)
    report = line("annotations")
    passes = number(r"images shown to\s+detectors: ([\d,]+)", report)
    assert number(r"images shown to detectors +([\d,]+)", plan) == passes == IMAGES
    answered = number(r"([\d,]+)\s+answered\s+by\s+the\s+model", report)
    assert number(r"model calls +at least ([\d,]+)", plan) + read == answered


def test_a_plan_does_not_even_read_what_an_audit_refuses(
    place: Path, line: Line
) -> None:
    """Weights of the right size and the wrong bytes: only whoever opens them can tell."""
    weights = place / "owl" / "model.safetensors"
    shutil.copy(weights, place / "kept")
    try:
        weights.write_bytes(b"\xff" * weights.stat().st_size)
        assert (
            number(r"images shown to detectors +([\d,]+)", line("owl:owl", "--plan"))
            == IMAGES
        )
        told = line("owl:owl", code=2)
        assert "the weights of owl cannot be read" in told
        assert told.count("\n") == 1
    finally:
        shutil.move(place / "kept", weights)
