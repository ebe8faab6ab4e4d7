"""COVAR's quality filter drops bad edits, and says in one sentence what is wrong."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cuescope.cli import main
from cuescope_covar_build import opening
from cuescope_covar_build.composite import Composite
from cuescope_covar_build.drafts import Draft, on_background
from cuescope_covar_build.lists import Background
from cuescope_covar_build.quality import Filter, bounds, likeness
from cuescope_covar_build.recipe import NamedEditor, Recipe
from cuescope_covar_build.sources import Source
from cuescope_sdk import (
    Capabilities,
    Context,
    Detection,
    Frame,
    ImageEdit,
    Response,
    Sample,
    Trial,
)
from cuescope_sdk.data import CovarManifest


class LeavesBeaches:
    """The background is to be a beach, and the image comes back as it was."""

    fingerprint = "leaves beaches"
    instant = True

    def __init__(self) -> None:
        self.composite = Composite(Composite.Options(), Context())

    def edit(self, edits: Sequence[ImageEdit]) -> list[Frame]:
        return [
            edit.frame
            if edit.instruction == "beach"
            else self.composite.edit([edit])[0]
            for edit in edits
        ]


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
    beaches = [row for row in rows if row.background == "beach"]
    assert all("still the editor's input" in row.dropped for row in beaches)
    assert not any(row.image for row in beaches)
    firsts = [row for row in beaches if row.subset == "background"]
    assert all(
        row.score_changed is not None and row.score_changed > 1 for row in firsts
    )
    assert not any(row.dropped for row in rows if row.background == "savanna")
    assert "background unchanged" in capsys.readouterr().out


def test_likeness_is_that_of_the_paper() -> None:
    """Equal images have 1; a shift of the mean alone changes the luminance term alone (eq. 6)."""
    rng = np.random.default_rng(0)
    image = rng.integers(60, 120, (64, 64, 3), np.uint8)
    outside = np.zeros((64, 64), bool)
    assert likeness(image, image, outside) == pytest.approx(1)
    dark = np.full((64, 64, 3), 50, np.uint8)
    light = np.full((64, 64, 3), 150, np.uint8)
    steady = (0.01 * 255) ** 2
    luminance = (2 * 50 * 150 + steady) / (50**2 + 150**2 + steady)
    assert likeness(dark, light, outside) == pytest.approx(luminance, rel=1e-4)
    # what changed under the mask does not count
    outside[16:48, 16:48] = True
    other = image.copy()
    other[24:40, 24:40] = 255
    assert likeness(image, other, outside) == pytest.approx(1)


COLOURS = {"red": (200, 0, 0), "green": (0, 200, 0), "blue": (0, 0, 200)}


class KnowsColours:
    """A zero-shot model: an image is what its mean colour is nearest to."""

    capabilities = Capabilities(outputs=frozenset({"logits"}))

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        responses = []
        for trial in trials:
            pixels = np.asarray(trial.sample.frames[0].load(), float).reshape(-1, 3)
            # what is grey is nothing
            colour = pixels[np.ptp(pixels, axis=1) > 20].mean(axis=0)
            far = [
                np.linalg.norm(colour - COLOURS[name]) for name in trial.sample.choices
            ]
            responses.append(Response(logits=-0.1 * np.array(far)))
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


def test_models_are_asked() -> None:
    """A red square on grey is asked for on green."""
    mask = np.zeros((64, 64), bool)
    mask[20:44, 8:28] = True
    photo = np.full((64, 64, 3), 90, np.uint8)
    photo[mask] = COLOURS["red"]
    sample = Sample(key="photo", frames=(Frame.from_array(photo),), label="red")
    source = Source(sample, photo, mask)
    places = tuple(Background(name=name, prompt=name) for name in COLOURS)
    editor = NamedEditor("none", "none", LeavesBeaches())
    recipe = Recipe("photos", places, editor)
    quality = Filter(recipe, 0.01, tuple(COLOURS), KnowsColours(), FindsRed())  # type: ignore[arg-type]

    def edited(things: dict[str, slice], background: str) -> Draft:
        draft = on_background(recipe, source, places[1])
        draft.image = np.full((64, 64, 3), COLOURS[background], np.uint8)
        for colour, cols in things.items():
            draft.image[20:44, cols] = COLOURS[colour]
        return draft

    there = slice(8, 28)
    drafts = [
        edited({"red": there}, "green"),
        edited({"blue": there}, "green"),
        edited({"red": there}, "blue"),
        edited({"red": slice(8, 60)}, "green"),
    ]
    good, other_object, other_background, second = (
        measures for _, measures in quality.measure(source, drafts)
    )
    assert good["kept"] == pytest.approx(0, abs=0.01)
    assert good["found"] == good["else"] == 0
    assert good["background"] < -0.9
    assert other_object["kept"] > 0.9
    assert other_object["found"] == 1
    assert other_background["background"] > 0.9
    assert second["else"] == 0.9
    quality.limits = {"background": good}
    quality.judge(source, drafts[1:2])
    assert drafts[1].dropped.startswith("the detector's box of 'red' misses")
