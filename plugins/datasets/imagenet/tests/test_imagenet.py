"""The official layouts become the same samples; each mistake in them is one line."""

import json
import shutil

import numpy as np
import pytest
from media_files import MediaFile
from scipy.io import savemat

from cuescope_imagenet import ImageNet
from cuescope_imagenet.layout import labels_of, read_names
from cuescope_sdk import Detection, HasBenchmark
from cuescope_sdk.data import TextFile
from cuescope_testing import LayoutContract, Mistake

NAMES = {
    "n01440764": "tench, Tinca tinca",
    "n02012849": "crane",
    "n03126707": "crane",
    "n04442312": "toaster",
}
MAPPING, TRUTH = "LOC_synset_mapping.txt", "ILSVRC2012_validation_ground_truth.txt"
SOLUTION = "LOC_val_solution.csv"


def mapping(space=" "):
    return "".join(f"{wnid}{space}{names}\n" for wnid, names in NAMES.items())


def flatten(root):
    """The validation images as they are unpacked; the wnid of each in the order of their names."""
    wnids = {path.name: path.parent.name for path in (root / "val").glob("*/*")}
    for path in [*(root / "val").glob("*/*")]:
        path.rename(root / "val" / path.name)
    for wnid in NAMES:
        (root / "val" / wnid).rmdir()
    return [wnids[name] for name in sorted(wnids)]


def write_devkit(folder, wnids):
    """Numbers of classes that are in no order."""
    numbers = dict(zip(NAMES, (3, 1, 4, 2), strict=True))
    folder.mkdir(parents=True)
    (folder / TRUTH).write_text("".join(f"{numbers[wnid]}\n" for wnid in wnids))
    rows = [(number, wnid) for wnid, number in numbers.items()]
    kinds = [("ILSVRC2012_ID", object), ("WNID", object)]
    savemat(folder / "meta.mat", {"synsets": np.array(rows, kinds).reshape(-1, 1)})


class TestImageNet(LayoutContract):
    plugin = ImageNet
    other_options = {"per_class": 1}
    mistakes = (
        Mistake(
            MAPPING,
            None,
            "no LOC_synset_mapping.txt: expected LOC_synset_mapping.txt or syn",
        ),
        Mistake(
            MAPPING,
            "n01440764 tench\n\ncrane n02012849\n",
            "LOC_synset_mapping.txt line 3: expected 'n01440764 tench, Tinca tinca', got",
        ),
        Mistake(
            MAPPING,
            "n01440764 tench\nn02012848 crane\n",
            "imagenet: no name for n02012849. Did you mean 'n02012848'?",
        ),
        Mistake(
            "",
            None,
            "no class 'toster': expected one of tench, crane (n02012849), crane (n0",
            {"classes": ["toster"]},
        ),
        Mistake("", None, "Did you mean 'toaster'?", {"classes": ["toster"]}),
    )

    @classmethod
    def written(cls, root):
        (root / MAPPING).write_text(mapping())
        for number, wnid in enumerate([*NAMES] * 3):
            MediaFile.image(root / "train" / wnid / f"{wnid}_{number}.JPEG")
            MediaFile.image(root / "val" / wnid / f"ILSVRC2012_val_{number:08d}.JPEG")

    def test_it_says_which_benchmark_it_is(self):
        data = self.open()
        assert isinstance(data, HasBenchmark)
        assert data.benchmark == "ImageNet"

    def test_an_image_is_a_sample(self):
        data = self.open()
        assert data.labels == (
            "tench",
            "crane (n02012849)",
            "crane (n03126707)",
            "toaster",
        )
        assert len(data) == 12
        assert data[0].key == "val/n01440764/ILSVRC2012_val_00000000.JPEG"
        assert (data[0].label, data[0].choices) == ("tench", data.labels)
        assert data[0].annotations == {
            "split": "val",
            "objects": ("tench",),
            "wnid": "n01440764",
            "synonyms": ("tench", "Tinca tinca"),
        }
        assert self.open(split="train")[11].key == "train/n04442312/n04442312_7.JPEG"

    def test_classes_and_so_many_of_each(self):
        data = self.open(classes=["toaster", "tench"], per_class=1)
        assert [sample.label for sample in data] == ["tench", "toaster"]
        assert data.labels == data[0].choices == ("tench", "toaster")
        assert data[0].key.endswith("00000004.JPEG"), "the middle one of three"

    def test_the_development_kit_labels_a_flat_folder(self):
        labels = {s.key.rpartition("/")[2]: s.label for s in self.open()}
        with self.copy() as root:
            write_devkit(root / "ILSVRC2012_devkit_t12" / "data", flatten(root))
            data = self.open(root)
            assert {s.key.removeprefix("val/"): s.label for s in data} == labels
            (root / "val" / "ILSVRC2012_val_00000003.JPEG").unlink()
            assert (
                "ground_truth.txt has 12 lines: expected one an image, got 11 images"
                in str(self.refusal(root))
            )

    @pytest.mark.parametrize(
        ("file", "text", "said"),
        [
            ("meta.mat", "no matrix", "meta.mat is not the development kit's"),
            (
                "meta.mat",
                None,
                "no meta.mat: expected ILSVRC2012_devkit_t12/data/meta.mat or",
            ),
            (
                TRUTH,
                "1\n5\n",
                f"{TRUTH} line 2: expected the number of a class of meta.mat",
            ),
            (TRUTH, None, f"no {TRUTH}"),
        ],
    )
    def test_mistakes_of_the_development_kit(self, file, text, said):
        with self.copy() as root:
            write_devkit(root / "data", flatten(root))
            Mistake(f"data/{file}", text, said).damage(root)
            assert said in str(self.refusal(root))

    def test_the_table_of_the_competition_has_boxes(self):
        with self.copy() as root:
            wnids = flatten(root)
            rows = [
                f"ILSVRC2012_val_{n:08d},{w} 1 2 9 8 {w} 3 4 5 6 \n"
                for n, w in enumerate(wnids)
            ]
            (root / SOLUTION).write_text("".join(["ImageId,PredictionString\n", *rows]))
            inner = root / "ILSVRC" / "Data" / "CLS-LOC"
            inner.mkdir(parents=True)
            shutil.move(root / "val", inner / "val")
            data = self.open(root)
            assert data[1].label == "crane (n02012849)"
            assert data[1].annotations["boxes"] == tuple(
                Detection(name=data[1].label, score=1.0, box=box)
                for box in ((1, 2, 9, 8), (3, 4, 5, 6))
            )
            (root / SOLUTION).write_text(
                f"ImageId,PredictionString\nx,{wnids[0]} 1 2 9\n"
            )
            assert "LOC_val_solution.csv line 2: expected a wnid and four" in str(
                self.refusal(root)
            )

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("words.txt", mapping("\t")),
            ("classes.json", json.dumps(NAMES)),
            (
                "index.json",
                json.dumps({str(n): pair for n, pair in enumerate(NAMES.items())}),
            ),
        ],
    )
    def test_names_come_in_other_files(self, tmp_path, name, text):
        (tmp_path / name).write_text(text)
        assert self.open(names=tmp_path / name).labels == self.open().labels

    @pytest.mark.parametrize("text", ["[3]", '{"0": 3}', '{"tench": "tench"}', "{"])
    def test_names_that_cannot_be_read(self, tmp_path, text):
        (tmp_path / "names.json").write_text(text)
        assert "names.json" in str(
            self.refusal(self.tree, names=tmp_path / "names.json")
        )


def test_labels_are_first_names_and_distinct():
    names = {"n1": ("crane",), "n2": ("crane", "lift"), "n3": ("toaster", "oven")}
    assert labels_of(names) == {"n1": "crane (n1)", "n2": "crane (n2)", "n3": "toaster"}


def test_names_of_one_class_are_kept_in_order(tmp_path):
    (tmp_path / "n.txt").write_text("n01440764 tench,  Tinca_tinca, tench\n")
    assert read_names(TextFile(tmp_path / "n.txt", "x")) == {
        "n01440764": ("tench", "Tinca tinca")
    }
