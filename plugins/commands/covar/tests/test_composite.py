"""A background under the mask, a shadow, soft edges; and not a pixel changed outside."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cuescope_covar_build.composite import Composite, best_name
from cuescope_covar_build.composite.painting import keeps_picture, nearest_outside
from cuescope_covar_build.lists import paper_list
from cuescope_sdk import Context, Frame, ImageEdit, generator
from cuescope_testing import ToolContract

SIZE = (60, 80)


class TestContract(ToolContract):
    plugin = Composite
    other_options = {"shadow": 0.1}
    names = ("beach", "garden")


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Two photos of one place, the left half red or blue, and a folder of another."""
    for name, colour in (("rocky_shore", 200), ("RockyShore-2", 100), ("lake/any", 50)):
        file = tmp_path / f"{name}.png"
        file.parent.mkdir(exist_ok=True)
        Image.fromarray(np.full((90, 150, 3), colour, np.uint8)).save(file)
    return tmp_path


def edit_on(
    photos: Path, mask: np.ndarray, words: str, seed: int = 0, **options
) -> np.ndarray:
    tool = Composite(
        Composite.Options(folder=photos, **options), Context(cache=photos / "cache")
    )
    return np.asarray(tool.edit([ImageEdit(SOURCE, words, mask, seed)])[0].load())


PIXELS = generator(0, "composite").integers(0, 256, (*SIZE, 3), np.uint8)
SOURCE = Frame.from_array(PIXELS)


def test_the_instruction_names_a_photo(photos: Path) -> None:
    mask = np.ones(SIZE, bool)
    mask[20:40, 30:50] = False
    mask[20:30, 30:36] = True
    lake = edit_on(photos, mask, "The lake in the evening", shadow=0, feather=0)
    assert (lake[mask] == 50).all()
    assert (lake[~mask] == PIXELS[~mask]).all()
    shores = [
        edit_on(photos, mask, "rocky shore with waves", seed, shadow=0)
        for seed in range(8)
    ]
    assert {int(np.median(shore[mask])) for shore in shores} == {100, 200}
    shaded = edit_on(photos, mask, "lake", shadow=0.5)
    assert (shaded[~mask] == PIXELS[~mask]).all()
    assert shaded[42, 35:45].mean() < 45 < shaded[5, 5].mean()


def test_the_rim_of_a_moved_picture_fades(photos: Path) -> None:
    """A picture was shifted to the right: what is new on its left has no step and no shadow."""
    mask = np.zeros(SIZE, bool)
    mask[:, :30] = True
    assert keeps_picture(mask)
    painted = edit_on(photos, mask, "lake").astype(int)
    assert (painted[:, :20] == 50).all()
    beside = PIXELS[:, 30].astype(int).mean()
    assert abs(painted[:, 29].mean() - beside) < abs(painted[:, 27].mean() - beside) + 1
    around = np.ones(SIZE, bool)
    around[20:40, 30:50] = ~np.tri(20, dtype=bool)
    assert not keeps_picture(around)


def test_the_nearest_pixel_that_stays() -> None:
    """Against brute force."""
    mask = generator(1, "mask").random((12, 15)) < 0.9
    distance, place = nearest_outside(mask)
    outside = np.argwhere(~mask)
    for row, col in np.argwhere(mask):
        best = np.hypot(*(outside - (row, col)).T).min()
        found = np.hypot(place[row, col] // 15 - row, place[row, col] % 15 - col)
        assert distance[row, col] == pytest.approx(best, rel=0.05)
        assert found == pytest.approx(best, rel=0.1)


@pytest.mark.parametrize(
    ("words", "names", "name"),
    [
        ("a forest floor with leaves", ["forest", "forest floor"], "forest floor"),
        ("Night-cityscape, lit", ["night cityscape"], "night cityscape"),
        ("beachside", ["beach"], None),
    ],
)
def test_all_words_of_a_name_are_there(
    words: str, names: Sequence[str], name: str | None
) -> None:
    assert best_name(words, names) == name


def test_every_background_of_the_paper_is_drawn() -> None:
    tool = Composite(Composite.Options(), Context())
    edits = [
        ImageEdit(SOURCE, each["prompt"], None) for each in paper_list("backgrounds")
    ]
    means = {tuple(np.asarray(f.load()).mean((0, 1)).round()) for f in tool.edit(edits)}
    assert len(means) == len(tool.names) == 20
