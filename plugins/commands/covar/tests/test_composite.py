"""A background under the mask with soft edges, and not a pixel changed outside."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cuescope_covar_build.composite import Composite, best_name
from cuescope_covar_build.lists import paper_list
from cuescope_sdk import Context, Frame, ImageEdit, generator
from cuescope_testing import ToolContract

SIZE = (60, 80)


class TestContract(ToolContract):
    plugin = Composite
    other_options = {"feather": 3}
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
    lake = edit_on(photos, mask, "The lake in the evening", feather=0)
    assert (lake[mask] == 50).all()
    assert (lake[~mask] == PIXELS[~mask]).all()
    shores = [
        edit_on(photos, mask, "rocky shore with waves", seed) for seed in range(8)
    ]
    assert {int(np.median(shore[mask])) for shore in shores} == {100, 200}
    soft = edit_on(photos, mask, "lake", feather=4)
    assert (soft[~mask] == PIXELS[~mask]).all()
    assert (soft[5, 5] == 50).all()


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
