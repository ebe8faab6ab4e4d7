"""Folders of images: opened as far as they are wanted, left out with a word, remembered."""

import os
from pathlib import Path

import numpy as np
import pytest
from media_files import MediaFile
from PIL import Image
from pydantic import BaseModel

import cuescope_sdk.data._media.survey
from cuescope_sdk import BadDataError, Context, UserError
from cuescope_sdk.data._image_folders import (
    ImageFolder,
    ImageItem,
    MediaFolder,
    mask_frame,
    required_place,
    sample_evenly,
)
from cuescope_sdk.data._layouts import first_place
from cuescope_sdk.data._media.survey import probe, probe_each
from cuescope_sdk.data._text_files import TextFile
from cuescope_testing import LayoutContract, Mistake


def write_mask(
    path: Path, box: tuple[int, int, int, int], size: tuple[int, int]
) -> Path:
    """A black image (width, height) that is white in a box (x0, y0, x1, y1)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    mask = Image.new("L", size)
    mask.paste(255, box)
    mask.save(path, "PNG")
    return path


PETS = {"train": ("cat",) * 3 + ("dog",) * 3, "val": ("cat", "dog") * 5}


class PetRow(BaseModel):
    file: str
    pet: str


class Pets(ImageFolder):
    """A table of photos, each with a mask of its pet where there is one."""

    title = "pets"

    def read(self, split):
        self.labels = ("cat", "dog")
        for row in self.file(f"{split}.csv").csv_rows(PetRow):
            mask = first_place(self.root, f"masks/{row.file}")
            yield ImageItem(
                row.file,
                self.root / row.file,
                (row.pet,),
                label=row.pet,
                annotations={"size": 3},
                masks={} if mask is None else {row.pet: mask},
            )


class TestPets(LayoutContract):
    plugin = Pets
    other_options = {"per_class": 2}
    mistakes = (
        Mistake("val.csv", None, "no val.csv: expected val.csv in "),
        Mistake(
            "", None, "no split 'vall': expected one of train, val", {"split": "vall"}
        ),
        Mistake("", None, "one capturing group, such as", {"group": "val/[0-9]"}),
        Mistake("", None, "got '(x': missing )", {"group": "(x"}),
        Mistake(
            "", None, "no class 'cta': expected one of cat, dog", {"classes": ["cta"]}
        ),
    )

    @classmethod
    def written(cls, root):
        for split, pets in PETS.items():
            names = [f"{split}/{number}.png" for number in range(len(pets))]
            for name in names:
                MediaFile.image(root / name)
            lines = [f"{name},{pet}\n" for name, pet in zip(names, pets, strict=True)]
            (root / f"{split}.csv").write_text("".join(["file,pet\n", *lines]))
        write_mask(root / "masks/val/0.png", (1, 2, 5, 7), (16, 12))

    def test_a_rule_on_paths_says_which_images_are_of_one_source(self):
        plain = self.open()
        assert {sample.group for sample in plain} == {None}
        assert "groups" not in plain.facts
        data = self.open(group=r"/([0-7])\.")
        assert [s.group for s in data] == [*"01234567", "val/8.png", "val/9.png"]
        assert data.facts["groups"] == (
            r"each of the 10 samples is a group by itself, by the rule '/([0-7])\.'; 2 samples "
            "without one count by themselves (val/8.png, val/9.png)"
        )
        assert self.open(group="(val)").facts["groups"] == (
            "1 of 10 samples, by the rule '(val)'; all are of 'val', so nothing can be said beyond "
            "it; 1 of several labels (val)"
        )
        assert data.fingerprint != plain.fingerprint
        assert data.split("train")[0].group == "0"

    def test_an_image_is_a_sample(self):
        data = self.open()
        assert data.facts == {"images": "10 of 2 classes, split val"}
        first, second = data[0], data[1]
        assert (first.key, first.label, first.choices) == (
            "val/0.png",
            "cat",
            ("cat", "dog"),
        )
        assert second.annotations == {"split": "val", "objects": ("dog",), "size": 3}
        assert (
            np.asarray(first.annotations["masks"]["cat"].load()).sum()
            == 4 * 5 * 3 * 255
        )
        assert data[-1].key == "val/9.png"

    def test_missing_images_are_left_out_and_said(self):
        with self.copy() as root:
            (root / "val" / "3.png").unlink()
            (root / "val" / "4.png").write_bytes(b"broken")
            (root / "masks" / "val" / "0.png").write_bytes(b"broken")
            data = self.open(root, max_missing=0.3)
            assert [sample.key for sample in data][:2] == ["val/1.png", "val/2.png"]
            assert data.facts == {
                "images": "7 of 2 classes, split val",
                "left out": "3 of 10 images (at most 30% may be): 2 images with an unreadable "
                "file: no image of a known format (val/0.png, val/4.png); 1 image with a missing "
                "file (val/3.png)",
            }
            with pytest.raises(
                BadDataError, match=r"3 of 10 images cannot.*at most 20%"
            ) as error:
                self.open(root, max_missing=0.2)
            assert str(error.value).endswith("accept it with -O data.max_missing=0.3")

    def test_only_what_is_wanted_is_opened(self, looks, tmp_path):
        context = Context(cache=tmp_path)

        def opened(**options):
            looks.clear()
            data = Pets(Pets.Options(path=self.tree, **options), context)
            return [sample.key.removeprefix("val/") for sample in data], sorted(looks)

        few = ["3.png", "7.png"]
        assert opened(classes=("dog",), per_class=2) == (few, few)
        dogs = [f"{number}.png" for number in (1, 3, 5, 7, 9)]
        assert opened(classes=("dog",)) == (dogs, ["1.png", "5.png", "9.png"])
        assert opened(classes=("dog",)) == (dogs, [])

    def test_classes_keep_the_order_of_the_labels(self):
        data = self.open(classes=["dog", "cat"])
        assert data.labels == ("cat", "dog")
        assert data.fingerprint == self.open().fingerprint

    def test_a_fingerprint_is_of_what_is_shown(self):
        first = self.open().fingerprint
        with self.copy() as root:
            assert self.open(root).fingerprint == first
            image = root / "val" / "3.png"
            stamp = image.stat().st_mtime_ns
            MediaFile.image(image, (15, 12))
            os.utime(image, ns=(stamp, stamp + 1))
            changed = self.open(root).fingerprint
            assert changed != first
            write_mask(root / "masks/val/0.png", (1, 2, 5, 8), (16, 12))
            assert self.open(root).fingerprint not in (first, changed)

    def test_an_image_stands_once_and_not_never(self):
        with self.copy() as root:
            (root / "val.csv").write_text("file,pet\nval/0.png,cat\nval/0.png,cat\n")
            assert "image 'val/0.png': expected it once, got it 2 times" in str(
                self.refusal(root)
            )
            (root / "val.csv").write_text("file,pet\nval/0.png,cat\n")
            said = str(self.refusal(root, classes=["dog"]))
            assert said == "pets: no images in split val"


@pytest.fixture
def looks(monkeypatch):
    """The names of the files that were opened for a look."""
    names = []

    def counted(paths, max_pixels):
        names.extend(path.name for path in paths)
        return probe_each(paths, max_pixels)

    monkeypatch.setattr(cuescope_sdk.data._media.survey, "probe_each", counted)
    return names


def items_of(*classes):
    return [ImageItem(str(n), None, of_image) for n, of_image in enumerate(classes)]


def test_so_many_of_each_class_are_spread_over_all():
    kept = sample_evenly(items_of(*[("a",)] * 10, *[("b",)] * 2), 3)
    assert [item.key for item in kept] == ["1", "5", "8", "10", "11"]
    assert len(sample_evenly(items_of(*[("a",)] * 10), 10)) == 10


def test_an_image_of_two_classes_is_kept_for_either():
    kept = sample_evenly(items_of(("a",), ("a", "b"), ("a",), ()), 1)
    assert [item.key for item in kept] == ["1", "3"]


def test_places_are_tried_in_turn(tmp_path):
    (tmp_path / "Anno").mkdir()
    (tmp_path / "Anno" / "table.txt").touch()
    assert (
        first_place(tmp_path, "table.txt", "Anno/table.txt")
        == tmp_path / "Anno" / "table.txt"
    )
    assert first_place(tmp_path, "table.txt") is None
    with pytest.raises(
        UserError,
        match=r"x: no tabel\.txt: expected Anno/tabel\.txt or tabel\.txt"
        r" in .*Did you mean 'table\.txt'\?",
    ):
        required_place(tmp_path, "x", "Anno/tabel.txt", "tabel.txt")
    with pytest.raises(UserError, match=r"no such folder: .*Did you mean 'Anno'\?"):
        required_place(tmp_path / "Ano", "x", "table.txt")
    with pytest.raises(UserError, match=r"no such folder"):
        required_place(tmp_path / "far" / "away", "x", "deep/table.txt")


def test_a_folder_is_listed_by_name(tmp_path):
    for name in ("b.JPEG", "a.png", ".c.png", "d.txt"):
        (tmp_path / name).touch()
    (tmp_path / "sub").mkdir()
    assert [path.name for path in MediaFolder(tmp_path).images()] == ["a.png", "b.JPEG"]
    assert [path.name for path in MediaFolder(tmp_path).folders()] == ["sub"]
    assert MediaFolder(tmp_path / "gone").images() == []


def test_a_mask_is_white_wherever_its_file_is_not_black(tmp_path):
    from PIL import Image

    Image.fromarray(np.array([[0, 1, 255]], np.uint8)).save(tmp_path / "m.png")
    frame = mask_frame(probe(tmp_path / "m.png", 100))
    assert np.asarray(frame.load()).tolist() == [[[0] * 3, [255] * 3, [255] * 3]]


class Zoo(BaseModel):
    pets: list[PetRow]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '{"pets": [{"file": "a", "pet": "b"}, {"file": 3, "pet": "b"}]}',
            "x: z.json 'pets' entry 2 'file': expected a valid string, got 3",
        ),
        ('{"pets": [}', "x: z.json is no JSON: got expected value at line 1 column 11"),
        ("[]", "x: z.json: expected an object, got []"),
    ],
)
def test_a_json_object_is_checked_entry_by_entry(tmp_path, text, said):
    (tmp_path / "z.json").write_text(text)
    with pytest.raises(UserError) as error:
        TextFile(tmp_path / "z.json", "x").json_object(Zoo)
    assert str(error.value) == said


def test_images_with_masks_keep_the_pixels_that_the_masks_are_of(tmp_path, monkeypatch):
    monkeypatch.setattr("cuescope_sdk.data._media.files.reads_heif", lambda: False)
    from PIL import Image

    exif = Image.Exif()
    exif[0x0112] = 6
    for name in ("a.jpg", "b.jpg"):
        Image.new("RGB", (20, 10)).save(tmp_path / name, exif=exif)
    write_mask(tmp_path / "masks" / "a.jpg", (0, 0, 5, 5), (20, 10))
    (tmp_path / "val.csv").write_text("file,pet\na.jpg,cat\nb.jpg,dog\n")
    (tmp_path / "c.heic").write_text("x")
    pets = Pets(Pets.Options(path=tmp_path), Context(cache=tmp_path / "cache"))
    with_mask, without = pets
    (mask,) = with_mask.annotations["masks"].values()
    assert with_mask.frames[0].load().size == mask.load().size == (20, 10)
    assert without.frames[0].load().size == (10, 20)
    assert pets.facts["not read"] == "1 .heic (pip install pillow-heif)"
