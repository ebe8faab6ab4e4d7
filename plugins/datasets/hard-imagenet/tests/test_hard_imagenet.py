"""The authors' layout becomes samples; each mistake in it is one line; no pickle runs anything."""

import os
import pickle
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from media_files import MediaFile
from PIL import Image

from cuescope_hard_imagenet import CLASSES, HardImageNet
from cuescope_hard_imagenet.layout import read_plain_pickle, read_ranking, spuriosity
from cuescope_sdk import HasBenchmark, UserError
from cuescope_testing import LayoutContract, Mistake

BELT, SKI = (
    SimpleNamespace(wnid=wnid, number=CLASSES[wnid][0])
    for wnid in ("n04162706", "n04228054")
)
RANKING = "meta/paths_by_rank.pkl"
SIZE = (16, 12)
BOX = (2, 3, 9, 8)


def write_mask(path: Path, box: tuple[int, int, int, int]) -> None:
    """A black image that is white in a box (x0, y0, x1, y1)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    mask = Image.new("L", SIZE)
    mask.paste(255, box)
    mask.save(path, "PNG")


def path_of(one, number):
    return f"train/{one.wnid}/{one.wnid}_{number}.JPEG"


class TestHardImageNet(LayoutContract):
    plugin = HardImageNet
    other_options = {"classes": ["ski"]}
    mistakes = (
        Mistake(
            "", None, "no split 'test': expected one of train, val", {"split": "test"}
        ),
        Mistake("", None, "Did you mean 'ski'?", {"classes": ["skis"]}),
        Mistake(
            "val/n04162705_1.JPEG",
            "",
            "val/n04162705_1.JPEG is of no class: expected WNID_F",
        ),
        Mistake(
            RANKING,
            "no pickle",
            "cannot read paths_by_rank.pkl: expected a pickle of plain",
        ),
        Mistake(
            "",
            None,
            "no such folder: expected a folder with val",
            {"images": "nowhere"},
        ),
    )

    @classmethod
    def written(cls, root):
        for one in (BELT, SKI):
            for number in (1, 2, 3):
                MediaFile.image(root / "images" / path_of(one, number), SIZE)
                write_mask(root / "train" / f"{one.wnid}_{one.wnid}_{number}.JPEG", BOX)
            photo = f"ILSVRC2012_val_0000{one.number:04d}.JPEG"
            MediaFile.image(root / "images" / "val" / one.wnid / photo, SIZE)
            write_mask(root / "val" / f"{one.wnid}_{photo}", BOX)
        (root / "meta").mkdir()
        ranking = {
            SKI.number: [path_of(SKI, number) for number in (2, 3, 1)],
            BELT.number: np.array([path_of(BELT, number) for number in (3, 1, 2)]),
            0: ["train/n01440764/n01440764_1.JPEG"],
        }
        (root / RANKING).write_bytes(pickle.dumps(ranking))

    def test_it_says_which_benchmark_it_is(self):
        data = self.open()
        assert isinstance(data, HasBenchmark)
        assert data.benchmark == "HardImageNet"

    def test_an_image_is_a_sample(self):
        data = self.open(split="train")
        assert len(data.labels) == 15
        assert [sample.key for sample in data][:3] == [
            f"train/{BELT.wnid}/{BELT.wnid}_{number}.JPEG" for number in (1, 2, 3)
        ]
        known = dict(data[0].annotations)
        mask = np.asarray(known.pop("masks")["seat belt"].load())
        assert known == {
            "split": "train",
            "objects": ("seat belt",),
            "wnid": BELT.wnid,
            "spuriosity": 0.5,
        }
        assert data[0].label == "seat belt"
        expected = np.zeros((12, 16, 3), np.uint8)
        expected[3:8, 2:9] = 255
        np.testing.assert_array_equal(mask, expected)

    def test_the_last_of_a_class_has_the_strongest_cues(self):
        ranks = [
            sample.annotations["spuriosity"] for sample in self.open(split="train")
        ]
        assert ranks == [0.5, 1.0, 0.0, 1.0, 0.0, 0.5]
        assert "spuriosity" not in self.open()[0].annotations
        assert spuriosity(["train/x/a.JPEG"]) == {"a.JPEG": 0.0}

    def test_the_ranking_may_be_absent(self):
        with self.copy() as root:
            (root / RANKING).unlink()
            data = self.open(root, split="train")
            assert data.facts["ranking"] == "none: there is no meta/paths_by_rank.pkl"
            assert "spuriosity" not in data[0].annotations

    def test_images_may_be_elsewhere_and_flat(self, tmp_path):
        with self.copy() as root:
            for photo in (root / "images" / "val").glob("*/*"):
                MediaFile.image(tmp_path / "ILSVRC/Data/CLS-LOC/val" / photo.name, SIZE)
            assert len(self.open(root, images=tmp_path)) == 2

    def test_an_image_without_a_readable_mask_is_left_out(self):
        with self.copy() as root:
            next((root / "val").iterdir()).write_bytes(b"broken")
            assert (
                "with an unreadable file"
                in self.open(root, max_missing=0.5).facts["left out"]
            )


def test_arrays_of_any_numpy_are_read(tmp_path):
    values = {3: np.arange(4), 5: np.float32(2.5)}
    for old in (False, True):
        content = pickle.dumps(values, protocol=2)
        if old:
            content = content.replace(
                b"numpy._core.multiarray", b"numpy.core.multiarray"
            )
        (tmp_path / "x.pkl").write_bytes(content)
        found = read_plain_pickle(tmp_path / "x.pkl", "test")
        np.testing.assert_array_equal(found[3], values[3])
        assert found[5] == 2.5


class Malicious:
    def __reduce__(self):
        return os.mkdir, ("gotcha",)


def test_a_pickle_that_calls_something_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.pkl").write_bytes(pickle.dumps([Malicious()]))
    with pytest.raises(UserError, match=r"x\.pkl: .*got it asks for posix\.mkdir"):
        read_plain_pickle(tmp_path / "x.pkl", "test")
    assert not (tmp_path / "gotcha").exists()


@pytest.mark.parametrize("paths", [None, 5, [1], [[["a"] * 9] * 9]])
def test_a_ranking_that_holds_no_paths_is_one_line(tmp_path, paths):
    """Lists that hold each other are a few bytes, and a text that fills the memory."""
    (tmp_path / "x.pkl").write_bytes(pickle.dumps({1: paths}))
    with pytest.raises(UserError, match="class 1: expected a list of paths"):
        read_ranking(tmp_path / "x.pkl", {1}, "test")
