"""The official layout becomes samples; each mistake in it is one line."""

import json
import pickle
import time

import numpy as np
from media_files import MediaFile

from cuescope_coco import Coco
from cuescope_coco.layout import read_instances
from cuescope_sdk import Detection, HasBenchmark
from cuescope_sdk.data import TextFile
from cuescope_testing import LayoutContract, Mistake

CATEGORIES = [
    {"id": 1, "name": "person", "supercategory": "person"},
    {"id": 67, "name": "dining table", "supercategory": "furniture"},
    {"id": 62, "name": "chair", "supercategory": "furniture"},
    {"id": 80, "name": "toaster", "supercategory": "appliance"},
    {"id": 82, "name": "oven", "supercategory": "appliance"},
]
SIZE = (16, 12)
NAN = float("nan")
# (image, category, x, y, width, height)
BOXES = [
    (1, 80, 2, 1, 3, 4),
    (1, 67, 0, 6, 16, 6),
    (1, 80, 10, 1, 2, 2),
    (2, 82, 1, 1, 5, 5),
    (3, 62, 3, 3, 4, 4),
]
CROWD = [12 * 8, 12, 12 * 7]  # the ninth column
INSTANCES, CAPTIONS = (
    f"annotations/{name}_val2017.json" for name in ("instances", "captions")
)


def thing(number, image, category, x, y, width, height):
    corners = [x, y, x + width, y, x + width, y + height, x, y + height]
    return {
        "id": number,
        "image_id": image,
        "category_id": category,
        "iscrowd": 0,
        "bbox": [x, y, width, height],
        "area": width * height,
        "segmentation": [corners],
    }


def instances(split, **changes):
    """The file of a split; `changes` are of its first annotation."""
    images = [
        {
            "id": number,
            "file_name": f"{number:012d}.jpg",
            "width": SIZE[0],
            "height": SIZE[1],
        }
        for number in (1, 2, 3, 4)
    ]
    things = [thing(number, *box) for number, box in enumerate(BOXES, start=1)]
    things[0] |= changes
    outline = {"size": SIZE[::-1], "counts": CROWD}
    things.append(
        {
            "id": 9,
            "image_id": 3,
            "category_id": 1,
            "iscrowd": 1,
            "bbox": [8, 0, 1, 12],
            "segmentation": outline,
        }
    )
    return json.dumps(
        {"images": images, "annotations": things, "categories": CATEGORIES}
    )


def wrong(said, **changes):
    return Mistake(INSTANCES, instances("val2017", **changes), said)


class TestCoco(LayoutContract):
    plugin = Coco
    other_options = {"classes": ["toaster"]}
    mistakes = (
        Mistake(
            INSTANCES,
            None,
            "no instances_val2017.json: expected annotations/instances_val20",
        ),
        Mistake(
            INSTANCES, '{"images": [}', "val2017.json is no JSON: got expected value"
        ),
        Mistake(
            INSTANCES,
            '{"images": []}',
            "json 'annotations': expected a value, got none",
        ),
        wrong(
            "json 'annotations' entry 1 'bbox' entry 4: expected a value",
            bbox=[1, 2, 3],
        ),
        wrong(
            "'annotations' entry 1: expected the id of one image of this f", image_id=7
        ),
        wrong(
            "entry 1: expected the id of one category of this file, got 7",
            category_id=7,
        ),
        wrong(
            "entry 1: expected polygons of three points", segmentation=[[1, 2, 3, 4]]
        ),
        wrong(
            "entry 1: expected run lengths of 12 x 16 pixels, got 9 pixels of size (12, 16)",
            segmentation={"size": [12, 16], "counts": [4, 5]},
        ),
        wrong(
            "entry 1: expected run lengths, got ' ' in run lengths",
            segmentation={"size": [12, 16], "counts": "1 2"},
        ),
        wrong("expected a finite number, got nan", segmentation=[[1, 1, NAN, 1, 9, 9]]),
        wrong("expected a finite number, got nan", bbox=[NAN, 1, 2, 2]),
        wrong("expected less than or equal to 1000000", bbox=[1e308, 1, 1e308, 2]),
        wrong("expected greater than or equal to 0", bbox=[1, 1, -5, 2]),
        Mistake(
            INSTANCES,
            instances("val2017").replace('"width": 16', '"width": 60000000'),
            "'images' entry 1: got 60,000,000 x 12 pixels, more than any image",
        ),
        Mistake(
            CAPTIONS,
            '{"annotations": [{"image_id": "cat"}]}',
            "captions_val2017.json 'annotations' entry 1 'image_id': expected a valid integer",
        ),
        Mistake("", None, "no class 'toster'", {"classes": ["toster"]}),
        Mistake("", None, "Did you mean 'toaster'?", {"exclude": ["toster"]}),
    )

    @classmethod
    def written(cls, root):
        (root / "annotations").mkdir()
        for split in ("train2017", "val2017"):
            (root / f"annotations/instances_{split}.json").write_text(instances(split))
            for number in (1, 2, 3, 4):
                MediaFile.image(root / split / f"{number:012d}.jpg", SIZE)
        said = [
            {"id": n, "image_id": 1, "caption": text}
            for n, text in enumerate(["A toaster.\n", "Toast  on a table."])
        ]
        (root / CAPTIONS).write_text(json.dumps({"annotations": said}))

    def test_it_says_which_benchmark_it_is(self):
        data = self.open()
        assert isinstance(data, HasBenchmark)
        assert data.benchmark == "COCO"

    def test_an_image_is_a_sample(self):
        data = self.open()
        assert [sample.key for sample in data] == [
            f"val2017/{n:012d}.jpg" for n in (1, 2, 3, 4)
        ]
        first = data[0]
        assert (first.label, first.choices, first.question) == (None, (), None)
        known = dict(first.annotations)
        masks = known.pop("masks")
        assert known == {
            "split": "val2017",
            "image_id": 1,
            "objects": ("dining table", "toaster"),
            "supercategories": ("furniture", "appliance"),
            "crowds": (),
            "captions": ("A toaster.", "Toast on a table."),
            "boxes": (
                Detection(name="toaster", score=1.0, box=(2, 1, 5, 5)),
                Detection(name="dining table", score=1.0, box=(0, 6, 16, 12)),
                Detection(name="toaster", score=1.0, box=(10, 1, 12, 3)),
            ),
        }
        assert list(masks) == ["dining table", "toaster"]
        assert data[3].annotations["objects"] == ()

    def test_a_mask_is_of_all_objects_of_its_name_and_of_crowds(self):
        first, _, third, _ = self.open()
        shown = np.asarray(first.annotations["masks"]["toaster"].load())
        expected = np.zeros((12, 16, 3), np.uint8)
        expected[1:5, 2:5] = expected[1:3, 10:12] = 255
        np.testing.assert_array_equal(shown, expected)
        crowd = np.asarray(third.annotations["masks"]["person"].load()).any(axis=2)
        assert crowd[:, 8].all()
        assert crowd.sum() == 12
        assert third.annotations["crowds"] == ("person",)

    def test_a_mask_is_picklable_and_keyed_by_its_outlines(self):
        def masks(data):
            return data[0].annotations["masks"]

        one = masks(self.open())
        again = pickle.loads(pickle.dumps(one["toaster"]))
        np.testing.assert_array_equal(again.load(), one["toaster"].load())
        with self.copy() as root:
            (root / INSTANCES).write_text(instances("val2017", bbox=[2, 1, 3, 5]))
            assert masks(self.open(root))["toaster"].key == one["toaster"].key
            outline = [[2, 1, 5, 1, 5, 6]]
            (root / INSTANCES).write_text(instances("val2017", segmentation=outline))
            other = masks(self.open(root))
        assert other["toaster"].key != one["toaster"].key
        assert other["dining table"].key == one["dining table"].key

    def test_unreliable_classes_are_annotated_but_no_labels(self):
        data = self.open()
        assert data.labels == ("person", "chair", "toaster", "oven")
        assert data.facts["excluded"].startswith("dining table (")
        assert self.open(exclude="").labels[2] == "dining table"
        assert self.open(exclude=["person"]).labels == (
            "chair",
            "dining table",
            "toaster",
            "oven",
        )
        assert self.open(classes=["dining table"]).labels == ("dining table",)

    def test_chosen_classes_open_their_supercategories_alone(self):
        data = self.open(classes=["toaster"])
        assert data.labels == ("toaster",)
        assert [sample.annotations["image_id"] for sample in data] == [1, 2]
        assert data[0].annotations["objects"] == ("dining table", "toaster")

    def test_captions_may_be_absent(self):
        data = self.open().split("train")
        assert data.options.split == "train2017"
        assert data[0].annotations["captions"] == ()
        assert data.facts["captions"].endswith(
            "there is no annotations/captions_train2017.json"
        )

    def test_the_fingerprint_is_of_outlines_too(self):
        with self.copy() as root:
            (root / INSTANCES).write_text(
                instances("val2017", segmentation=[[2, 1, 5, 1, 5, 6]])
            )
            assert self.open(root).fingerprint != self.open().fingerprint

    def test_images_may_be_a_folder_below(self):
        with self.copy() as root:
            (root / "images").mkdir()
            (root / "val2017").rename(root / "images" / "val2017")
            assert self.open(root).fingerprint == self.open().fingerprint


def test_things_without_end_are_read_in_a_moment(tmp_path):
    """Each was added to a copy of all before it: 150,000 in one image took minutes."""
    content = json.loads(instances("val2017"))
    content["annotations"] += [content["annotations"][0]] * 20_000
    file = tmp_path / "instances.json"
    file.write_text(json.dumps(content))
    started = time.monotonic()
    _, _, things = read_instances(TextFile(file, "coco"))
    assert len(things[1]) == 20_003
    assert time.monotonic() - started < 1.5


def test_boxes_and_masks_are_of_the_stored_pixels(tmp_path):
    """As pycocotools and torchvision read them, whatever EXIF says of how to hold the camera."""
    from PIL import Image

    from cuescope_sdk import Context

    for name, text in ((INSTANCES, instances("val2017")),):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    exif = Image.Exif()
    exif[0x0112] = 6
    for number in (1, 2, 3, 4):
        path = MediaFile.image(tmp_path / "val2017" / f"{number:012d}.jpg", SIZE)
        Image.open(path).save(path, exif=exif)
    data = Coco(Coco.Options(path=tmp_path), Context(cache=tmp_path / "cache"))
    for sample in data:
        for mask in sample.annotations["masks"].values():
            assert sample.frames[0].load().size == mask.load().size == SIZE
