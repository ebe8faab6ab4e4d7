"""What somebody reads who hands pictures, labels or answers over in another form than is wanted."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import cuescope
from cuescope.cli.hints import refuse_bare_argument
from cuescope.python.functions import Classifier
from cuescope.python.images import Images
from cuescope.python.objects import hold_data, hold_model
from cuescope.python.pixels import as_image
from cuescope_core.context import Context
from cuescope_core.errors import UserError
from cuescope_core.registry import Registry
from cuescope_core.types import Trial


class Tensor:
    """Another library's array: a dtype, a shape, and `numpy`."""

    def __init__(self, pixels: np.ndarray) -> None:
        self.pixels = pixels
        self.dtype = f"torch.{pixels.dtype}"
        self.shape = pixels.shape

    def detach(self) -> "Tensor":
        return self

    def numpy(self, force: bool) -> np.ndarray:
        return self.pixels


PIXELS = np.full((8, 9, 3), 255, np.uint8)
FIRST = PIXELS.transpose(2, 0, 1)


@pytest.mark.parametrize(
    "image",
    [
        FIRST,
        FIRST / np.float32(255),
        PIXELS / 255,
        PIXELS.astype(np.int64),
        Tensor(PIXELS),
        Tensor(FIRST),
        Tensor(FIRST / np.float32(255)),
    ],
    ids=[
        "channels first",
        "floats first",
        "floats",
        "integers",
        "tensor",
        "tensor first",
        "tensor floats",
    ],
)
def test_the_remedy_makes_pixels_when_it_is_pasted(image: Any) -> None:
    with pytest.raises(UserError, match=r"image 0 is no image: expected") as caught:
        as_image(image, "image 0")
    code = str(caught.value).rpartition("image file, got ")[2]
    code = code.partition(". ")[2].partition(" makes pixels of")[0]
    made = as_image(eval(code, {"image": image}), "image 0")
    assert np.array_equal(np.asarray(made), PIXELS)


@pytest.mark.parametrize(
    ("images", "labels", "words"),
    [
        (Image.new("RGB", (4, 4)), ["a"], "the images: expected a list with one image"),
        (
            [PIXELS],
            None,
            "the labels: expected a list with one label for each sample, got None",
        ),
        (
            [PIXELS],
            "ab",
            "the labels: expected a list with one label for each sample, got 'ab'",
        ),
        ([PIXELS], 3, "got an int"),
        ([PIXELS, PIXELS], np.eye(2), r".argmax(axis=1)"),
    ],
)
def test_one_thing_where_many_are_meant_is_named(
    images: Any, labels: Any, words: str
) -> None:
    with pytest.raises(UserError) as caught:
        Images(images, labels)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda images: None, "got None (did it forget `return`?)"),
        (lambda images: ["a"] * len(images), "a row of numbers for each image"),
        (lambda images: [{"a": 1.0}], "got a list"),
    ],
)
def test_what_a_function_returns_is_said_with_what_is_wanted(
    answer: Callable[[list[Image.Image]], Any], words: str
) -> None:
    data = Images([PIXELS, 255 - PIXELS], ["a", "b"])
    model = Classifier(answer, labels=["a", "b"])
    with pytest.raises(UserError) as caught:
        model.respond([Trial(sample=data[0])])
    assert words in str(caught.value)


def test_labels_that_are_numbers_can_be_named() -> None:
    with pytest.raises(UserError, match=r"classes=\[...\]\) names numbers"):
        Classifier(lambda images: [], labels=["cat", "dog"]).for_audit(["0", "1"], 8)
    with pytest.raises(UserError) as caught:
        Classifier(lambda images: [], labels=["cat"]).for_audit(["cow"], 8)
    assert "classes" not in str(caught.value)


class Pairs:
    """As torch has a data set: an item is an image with its label."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> tuple[np.ndarray, str]:
        return (PIXELS, 255 - PIXELS)[index], "ab"[index]


class Estimator:
    """As scikit-learn has a classifier."""

    def predict_proba(self, rows: np.ndarray) -> np.ndarray:
        return rows


def test_pairs_are_parted_as_the_remedy_says() -> None:
    for data in (Pairs(), [(PIXELS, "a"), (255 - PIXELS, "b")]):
        with pytest.raises(UserError) as caught:
            hold_data(data, {}, None, Context())
        code = (
            str(caught.value).partition("images, labels = ")[2].partition(", then")[0]
        )
        images, labels = eval(code, {"data": data})
        assert labels == ("a", "b")
        assert len(Images(list(images), labels)) == 2


def test_a_path_and_an_estimator_are_told_what_to_write() -> None:
    with pytest.raises(UserError, match="Write data='folder:photos'"):
        hold_data(Path("photos"), {}, None, Context())
    with pytest.raises(UserError, match="wrap its predict_proba in a function"):
        hold_model(Estimator(), {}, None, Context())


def test_a_folder_that_stands_for_a_spec_is_told_in_python_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "photos").mkdir()
    with pytest.raises(
        UserError, match=r"no dataset 'photos' .* expected NAME or NAME:ARG"
    ):
        cuescope.audit("trove", model="toy", data="photos")


@pytest.mark.parametrize("model", ["onnx:net.onnx", "net.onnx", "./a/net.pt"])
def test_a_network_in_a_file_goes_into_a_function(model: str) -> None:
    with pytest.raises(
        UserError, match=r"reads the network .*=cuescope.Classifier"
    ) as caught:
        refuse_bare_argument("model", model, Registry())
    assert ("-O model.checkpoint=" in str(caught.value)) == model.endswith(".pt")
