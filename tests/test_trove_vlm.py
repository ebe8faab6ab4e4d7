"""TRoVe on a model that answers in words, by the command: its visual tokens are the embedding."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tiny_models import qwen2_vl, save_vlm

from cuescope.cli import main
from cuescope_core.runs import load_report

CHOICES = ("cup", "bird")
COLOURS = [
    (128, 0, 128),
    (0, 0, 128),
    (0, 128, 255),
    (0, 128, 0),
    (255, 0, 128),
    (0, 255, 0),
]


def photos(folder: Path, label: str, colour: tuple[int, ...], each: int = 16) -> None:
    rng = np.random.default_rng(sum(colour))
    (folder / label).mkdir(parents=True, exist_ok=True)
    for number in range(each):
        pixels = np.array(colour) + rng.integers(-12, 13, (32, 32, 3))
        image = Image.fromarray(pixels.clip(0, 255).astype(np.uint8))
        image.save(folder / label / f"{sum(colour)}-{number}.png")


def test_it_finds_what_misleads_a_model_that_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its weights are random: a colour for which it says one thing is given the other's label."""
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    model = f"transformers-vlm:{save_vlm(qwen2_vl(), tmp_path / 'model')}"
    answer = answers(model)
    first, other = (next(c for c in COLOURS if answer(c) == said) for said in CHOICES)
    misleading = next(c for c in COLOURS if answer(c) == CHOICES[0] and c != first)
    for label, colour in zip(
        (*CHOICES, CHOICES[1]), (first, other, misleading), strict=True
    ):
        photos(tmp_path / "photos" / "val", label, colour)
    audit = (
        "audit",
        "trove",
        "--model",
        model,
        "--data",
        f"folder:{tmp_path / 'photos'}",
    )
    audit += (
        "-O",
        "data.split=val",
        "--device",
        "cpu",
        "-q",
        "--out",
        str(tmp_path / "run"),
    )
    with pytest.raises(SystemExit):
        main(audit)
    report = load_report(tmp_path / "run")
    [found] = report.findings
    assert found.label == CHOICES[1]
    cue = next(each for each in report.features if each.key == found.feature)
    # of the label that it harms: what the answer's own label shows nobody can tell
    harmed = [
        seen.sample for seen in cue.occurrences if f"{CHOICES[1]}/" in seen.sample
    ]
    assert len(harmed) > 5
    assert all(f"{sum(misleading)}-" in sample for sample in harmed)
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(("methods", "--model", model, "--json"))
    fits = json.loads(capsys.readouterr().out)["methods"]
    verdicts = {fit["method"]: fit["verdict"] for fit in fits}
    assert verdicts["trove"] == verdicts["spurlens"] == verdicts["quag"] == "yes"
    assert verdicts["cci"] == "no"


def answers(model: str) -> Callable[[tuple[int, ...]], str]:
    """What a model says of a colour."""
    from cuescope_sdk import Context, Frame, Sample, Trial

    built = Context(device="cpu").build("model", model)

    def answer(colour: tuple[int, ...]) -> str:
        frame = Frame.from_array(np.full((32, 32, 3), colour, np.uint8))
        [response] = built.respond(
            [Trial(sample=Sample(key="x", frames=(frame,), choices=CHOICES))]
        )
        return CHOICES[response.prediction]

    return answer
