"""COVAR's quality filter finds planted bad edits, and says in one sentence what is wrong."""

import importlib.util
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cuescope.cli import main
from cuescope_covar_build import opening
from cuescope_covar_build.composite import Composite
from cuescope_covar_build.quality import Case, Judges, Thresholds, judge, measure
from cuescope_covar_build.quality.judges import bounds
from cuescope_sdk import (
    Capabilities,
    Context,
    Detection,
    Frame,
    ImageEdit,
    Response,
    Trial,
    UserError,
)
from cuescope_sdk.data import CovarManifest

ASSETS = Path(
    os.environ.get("CUESCOPE_REAL_ASSETS", "~/.cache/cuescope-assets")
).expanduser()


def benchmark() -> Any:
    """benchmarks/covar_quality.py as a module, with the planted defects that it imports."""
    for name in ("covar_defects", "covar_quality"):
        path = Path(__file__).parents[1] / f"benchmarks/{name}.py"
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # its dataclasses look themselves up
        spec.loader.exec_module(module)
    return module


@pytest.mark.long
def test_bad_edits_of_scenes_are_found() -> None:
    """Other objects and other backgrounds than those that the limits were taken from."""
    quality = benchmark()
    result = quality.run(quality.scenes_world(32, 0), known=True, seed=0, each=10)
    assert result.auroc() >= 0.95
    for kind in ("object damaged", "object moved"):
        assert result.auroc(kind) >= 0.98
    found = [(kind, q.reason) for kind, _, _, q in result.planted if q.reason]
    assert len(found) >= 0.75 * len(result.planted)
    assert any("the object's pixels differ in" in reason for kind, reason in found)
    assert np.mean([bool(q.reason) for q in result.clean]) <= 0.1


@pytest.mark.long
@pytest.mark.real
@pytest.mark.skipif(
    not (ASSETS / "stamps/index.json").exists(),
    reason="needs real photos: python tests/real_assets.py all",
)
@pytest.mark.parametrize(
    ("cutouts", "each"), [(48, 15), pytest.param(60, 30, marks=pytest.mark.long)]
)
def test_bad_edits_of_real_photos_are_found(cutouts: int, each: int) -> None:
    quality = benchmark()
    world = quality.stamps_world(cutouts, 0)
    result = quality.run(world, known=True, seed=0, each=each)
    assert result.auroc() >= 0.93
    assert result.auroc("object damaged") >= 0.98
    assert np.mean([bool(q.reason) for q in result.clean]) <= 0.05


class LeavesBeaches(Composite):
    """The background is to be a beach, and the image comes back as it was."""

    def __init__(self) -> None:
        super().__init__(Composite.Options(), Context())

    def edit(self, edits: Sequence[ImageEdit]) -> list[Frame]:
        return [
            each.frame
            if each.instruction == "beach"
            else super(LeavesBeaches, self).edit([each])[0]
            for each in edits
        ]


@pytest.mark.long
def test_an_editor_that_leaves_the_background(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each image is listed with its reason, and the report counts them by subset."""
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    open_editor = opening.Tools.open_editor
    monkeypatch.setattr(
        opening.Tools,
        "open_editor",
        lambda *words: replace(open_editor(*words), tool=LeavesBeaches()),
    )
    (tmp_path / "places.yaml").write_text("- beach\n- savanna\n")
    out = tmp_path / "covar"
    words = ["covar", "build", "scenes", "--limit", "4", "--out", str(out)]
    with pytest.raises(SystemExit):
        main([*words, "--backgrounds", str(tmp_path / "places.yaml")])
    rows = CovarManifest.read(out).rows
    bad = {
        row.background
        for row in rows
        if "of the source's background is still" in row.dropped
    }
    assert bad == {"beach"}
    firsts = [
        row for row in rows if row.background == "beach" and row.subset == "background"
    ]
    assert all(
        row.dropped and row.score_changed > 1 and not row.image for row in firsts
    )
    assert (
        np.mean([bool(row.dropped) for row in rows if row.background == "savanna"])
        < 0.2
    )
    assert "background unchanged" in capsys.readouterr().out


def test_wrong_masks_are_one_line() -> None:
    pixels = np.zeros((32, 32, 3), np.uint8)
    image, mask = Frame.from_array(pixels), np.ones((32, 32), bool)
    limits = Thresholds({}, 0.01, 0)
    for wrong, line in (
        (mask[:16], "another size than its image: expected 32 x 32 px, got 32 x 16 px"),
        (~mask, "The mask of an object is empty"),
    ):
        with pytest.raises(UserError, match=line):
            judge([Case(image, mask, image, wrong, "background", image)], limits)


COLOURS = {"red": (200, 0, 0), "green": (0, 200, 0), "blue": (0, 0, 200)}


class KnowsColours:
    """A zero-shot model: an image is what its mean colour is nearest to."""

    capabilities = Capabilities(outputs=frozenset({"logits", "embedding"}))

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        responses = []
        for trial in trials:
            pixels = np.asarray(trial.sample.frames[0].load(), float).reshape(-1, 3)
            # what is grey is nothing
            colour = pixels[np.ptp(pixels, axis=1) > 20].mean(axis=0)
            far = [
                np.linalg.norm(colour - COLOURS[name]) for name in trial.sample.choices
            ]
            responses.append(Response(logits=-0.1 * np.array(far), embedding=colour))
        return responses


class FindsRed:
    """A detector of red: the box around it, in the left and in the right half of the image."""

    def detect(
        self, frames: Sequence[Frame], names: Sequence[str]
    ) -> list[tuple[Detection, ...]]:
        found = []
        for frame in frames:
            red = np.asarray(frame.load(), int) @ (1, -1, -1) > 100
            halves = red & (np.arange(64) < 32), red & (np.arange(64) >= 32)
            found.append(
                tuple(
                    Detection(name="red", score=0.9, box=bounds(half))
                    for half in halves
                    if half.any()
                )
            )
        return found


def colour_case(things: dict[str, slice], background: str) -> Case:
    """A red square on grey is asked for on green; what is there instead, by columns."""
    mask = np.zeros((64, 64), bool)
    mask[20:44, 8:28] = True
    source = np.full((64, 64, 3), 90, np.uint8)
    source[mask] = COLOURS["red"]
    edited = np.full((64, 64, 3), COLOURS[background], np.uint8)
    for colour, cols in things.items():
        edited[20:44, cols] = COLOURS[colour]
    photo = Frame.from_array(source)
    image = Frame.from_array(edited)
    return Case(
        photo,
        mask,
        image,
        mask,
        "background",
        photo,
        "green",
        "red",
        geometry=np.eye(2, 3),
    )


def test_models_are_asked() -> None:
    judges = Judges(KnowsColours(), FindsRed(), tuple(COLOURS), tuple(COLOURS))
    there = slice(8, 28)
    good, other_object, other_background, second = measure(
        [
            colour_case({"red": there}, "green"),
            colour_case({"blue": there}, "green"),
            colour_case({"red": there}, "blue"),
            colour_case({"red": slice(8, 60)}, "green"),
        ],
        judges,
    )
    assert good["object_embedding"] == pytest.approx(0, abs=0.01)
    assert good["object_class"] == pytest.approx(0, abs=0.01)
    assert good["object_box"] == good["second_detection"] == 0
    assert good["background_text"] < -0.9
    assert other_object["object_embedding"] > 0.5
    assert other_object["object_class"] > 0.9
    assert other_object["object_box"] == 1
    assert other_background["background_text"] > 0.9
    assert second["second_detection"] == 0.9
