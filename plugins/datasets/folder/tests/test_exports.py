"""Layouts of others: each is read with its boxes, masks and splits, or refused by its name."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cuescope_sdk import Context, UserError

NAMES = ("cat", "dog")
SIZE = (48, 32)
BOX = (4.0, 8.0, 20.0, 24.0)


def shot(path: Path, number: int = 0, *, turned: bool = False) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(number)
    pixels = rng.integers(0, 255, (SIZE[1], SIZE[0], 3), dtype=np.uint8)
    exif = Image.Exif()
    if turned:
        exif[0x0112] = 6
    Image.fromarray(pixels).save(path, exif=exif)
    return path


def data_of(path: Path, **options: Any) -> Any:
    return Context().build("dataset", f"folder:{path}", options)


def voc(root: Path, turned: bool = False) -> Path:
    (root / "Annotations").mkdir(parents=True)
    (root / "SegmentationClass").mkdir()
    (root / "ImageSets" / "Main").mkdir(parents=True)
    for number in range(4):
        stem = f"2012_{number:06}"
        shot(root / "JPEGImages" / f"{stem}.jpg", number, turned=turned)
        left, top, right, bottom = map(int, BOX)
        (root / "Annotations" / f"{stem}.xml").write_text(
            f"<annotation><filename>{stem}.jpg</filename><size><width>48</width>"
            f"<height>32</height></size><object><name>{NAMES[number % 2]}</name><bndbox>"
            f"<xmin>{left}</xmin><ymin>{top}</ymin><xmax>{right}</xmax><ymax>{bottom}</ymax>"
            "</bndbox></object></annotation>"
        )
        mask = Image.new("P", SIZE)
        mask.putpalette([0, 0, 0, 128, 0, 0])
        mask.paste(1, (4, 8, 20, 24))
        mask.save(root / "SegmentationClass" / f"{stem}.png")
    (root / "ImageSets" / "Main" / "train.txt").write_text("2012_000000\n2012_000001\n")
    (root / "ImageSets" / "Main" / "val.txt").write_text("2012_000002\n2012_000003\n")
    return root


def coco_document(names: list[str]) -> dict[str, Any]:
    left, top, right, bottom = BOX
    return {
        "images": [
            {"id": n, "file_name": name, "width": 48, "height": 32}
            for n, name in enumerate(names)
        ],
        "annotations": [
            {
                "id": n,
                "image_id": n,
                "category_id": 1 + n % 2,
                "bbox": [left, top, right - left, bottom - top],
            }
            for n in range(len(names))
        ],
        "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
    }


def coco(root: Path, turned: bool = False) -> Path:
    for split in ("train2017", "val2017"):
        names = [
            shot(root / "images" / split / f"{n}.jpg", n, turned=turned).name
            for n in range(2)
        ]
        file = root / "annotations" / f"instances_{split}.json"
        file.parent.mkdir(exist_ok=True)
        # names alone, which both splits have: the pictures lie in a folder of the split
        document = coco_document([f"images/{split}/{name}" for name in names])
        file.write_text(json.dumps(document))
    return root


def roboflow(root: Path, turned: bool = False) -> Path:
    for split in ("train", "valid"):
        names = [
            shot(root / split / f"{n}_jpg.rf.abc.jpg", n, turned=turned).name
            for n in range(2)
        ]
        (root / split / "_annotations.coco.json").write_text(
            json.dumps(coco_document(names))
        )
    return root


def yolo(root: Path, turned: bool = False) -> Path:
    for split in ("train", "val"):
        for number in range(2):
            shot(root / "images" / split / f"{number}.jpg", number, turned=turned)
            labels = root / "labels" / split / f"{number}.txt"
            labels.parent.mkdir(parents=True, exist_ok=True)
            # of the picture as it is shown
            width, height = SIZE[::-1] if turned else SIZE
            left, top, right, bottom = (8, 4, 24, 20) if turned else BOX
            centre = ((left + right) / 2 / width, (top + bottom) / 2 / height)
            sides = ((right - left) / width, (bottom - top) / height)
            labels.write_text(f"{number % 2} {' '.join(map(str, centre + sides))}\n")
    (root / "data.yaml").write_text("train: images/train\nnc: 2\nnames: [cat, dog]\n")
    return root


def cvat(root: Path, turned: bool = False) -> Path:
    images = []
    left, top, right, bottom = BOX
    for number in range(4):
        shot(root / "images" / f"{number}.jpg", number, turned=turned)
        images.append(
            f'<image id="{number}" name="{number}.jpg" width="48" height="32"><box '
            f'label="{NAMES[number % 2]}" xtl="{left}" ytl="{top}" xbr="{right}" ybr="{bottom}"/>'
            "</image>"
        )
    (root / "annotations.xml").write_text(
        f"<annotations>{''.join(images)}</annotations>"
    )
    return root


def label_me(root: Path, turned: bool = False) -> Path:
    left, top, right, bottom = BOX
    for number in range(4):
        shot(root / f"{number}.jpg", number, turned=turned)
        shape = {"label": NAMES[number % 2], "shape_type": "rectangle"}
        shape["points"] = [[right, bottom], [left, top]]
        document = {
            "version": "5",
            "flags": {},
            "shapes": [shape],
            "imagePath": f"{number}.jpg",
        }
        document |= {"imageWidth": 48, "imageHeight": 32, "imageData": None}
        (root / f"{number}.json").write_text(json.dumps(document))
    return root


def via(root: Path, turned: bool = False) -> Path:
    left, top, right, bottom = BOX
    entries = {}
    for number in range(4):
        shot(root / f"{number}.jpg", number, turned=turned)
        shape = {
            "name": "rect",
            "x": left,
            "y": top,
            "width": right - left,
            "height": bottom - top,
        }
        region = {
            "shape_attributes": shape,
            "region_attributes": {"kind": NAMES[number % 2]},
        }
        entries[f"{number}.jpg123"] = {
            "filename": f"{number}.jpg",
            "size": 123,
            "regions": [region],
        }
    (root / "via_project.json").write_text(json.dumps({"_via_img_metadata": entries}))
    return root


def label_studio(root: Path, turned: bool = False) -> Path:
    left, top, right, bottom = BOX
    tasks = []
    for number in range(4):
        shot(root / "media" / f"4f2a-Straße_{number}.jpg", number, turned=turned)
        value = {"x": left / 0.48, "y": top / 0.32, "width": (right - left) / 0.48}
        value |= {
            "height": (bottom - top) / 0.32,
            "rectanglelabels": [NAMES[number % 2]],
        }
        result = {"type": "rectanglelabels", "value": value}
        result |= {"original_width": 48, "original_height": 32}
        address = f"/data/upload/3/4f2a-Stra%C3%9Fe_{number}.jpg"
        annotations = [{"id": 9, "result": [result]}]
        tasks.append(
            {"id": number, "data": {"image": address}, "annotations": annotations}
        )
    (root / "project-3-at-2026.json").write_text(json.dumps(tasks))
    return root


def datumaro(root: Path, turned: bool = False) -> Path:
    left, top, right, bottom = BOX
    items = []
    for number in range(4):
        name = shot(
            root / "images" / "train" / f"{number}.jpg", number, turned=turned
        ).name
        box = {
            "type": "bbox",
            "label_id": number % 2,
            "bbox": [left, top, right - left, bottom - top],
        }
        image = {"path": name, "size": [32, 48]}
        items.append({"id": str(number), "annotations": [box], "image": image})
    labels = {"label": {"labels": [{"name": name} for name in NAMES]}}
    (root / "annotations").mkdir()
    document = json.dumps({"categories": labels, "items": items})
    (root / "annotations" / "train.json").write_text(document)
    return root


def web_label_me(root: Path, turned: bool = False) -> Path:
    """The older one, whose XML has outlines."""
    left, top, right, bottom = BOX
    points = ((left, top), (right, top), (right, bottom), (left, bottom))
    outline = "".join(f"<pt><x>{x}</x><y>{y}</y></pt>" for x, y in points)
    (root / "Annotations").mkdir()
    for number in range(4):
        shot(root / "Images" / f"{number}.jpg", number, turned=turned)
        (root / "Annotations" / f"{number}.xml").write_text(
            f"<annotation><filename>{number}.jpg</filename><imagesize><nrows>32</nrows><ncols>48"
            f"</ncols></imagesize><object><name>{NAMES[number % 2]}</name><polygon>{outline}"
            "</polygon></object></annotation>"
        )
    return root


def darknet(root: Path, turned: bool = False) -> Path:
    """YOLO with its text beside each picture."""
    root = yolo(root, turned)
    for split in ("train", "val"):
        (root / "labels" / split).rename(root / f"obj_{split}_data")
        for picture in sorted((root / "images" / split).iterdir()):
            picture.rename(root / f"obj_{split}_data" / picture.name)
    (root / "data.yaml").unlink()
    (root / "obj.names").write_text("cat\ndog\n")
    return root


LAYOUTS = {
    "Pascal VOC": voc,
    "COCO": coco,
    "COCO of Roboflow": roboflow,
    "YOLO": yolo,
    "CVAT": cvat,
    "LabelMe": label_me,
    "VIA": via,
    "Label Studio": label_studio,
    "Datumaro": datumaro,
    "LabelMe of the web": web_label_me,
    "YOLO of darknet": darknet,
}
SPLIT = {"Pascal VOC", "COCO", "COCO of Roboflow", "YOLO", "YOLO of darknet"}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_is_read(layout: str, tmp_path: Path) -> None:
    tmp_path.joinpath("data").mkdir()
    data = data_of(LAYOUTS[layout](tmp_path / "data"))
    assert data.facts["layout"].startswith(layout.partition(" of ")[0])
    assert data.labels == NAMES
    assert len(data) == 4
    for sample in data:
        (box,) = sample.annotations["boxes"]
        assert box.name == sample.label
        assert box.box == pytest.approx(BOX)
    if layout in SPLIT:
        assert len(data.split("val")) == 2
    if layout == "Pascal VOC":
        mask = np.asarray(data[0].annotations["foreground"].load()).any(axis=2)
        assert mask[8:24, 4:20].all()
        assert mask.sum() == 16 * 16


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "VIA"])
def test_boxes_of_turned_photos_are_turned_with_them(
    layout: str, tmp_path: Path
) -> None:
    """An export that states the stored size counts stored pixels; YOLO's trainers turn first."""
    tmp_path.joinpath("data").mkdir()
    data = data_of(LAYOUTS[layout](tmp_path / "data", turned=True))
    (box,) = data[0].annotations["boxes"]
    assert data[0].frames[0].load().size == (32, 48)
    assert box.box == pytest.approx((8, 4, 24, 20))


def test_a_single_file_of_a_tool_is_read_beside_its_pictures(tmp_path: Path) -> None:
    label_studio(tmp_path)
    file = tmp_path / "project-3-at-2026.json"
    assert data_of(file).labels == NAMES
    assert len(data_of(tmp_path / "media", manifest=str(file))) == 4
    rows = ["annotation_id,annotator,choice,image,lead_time"]
    rows += [
        f"9,1,{NAMES[number % 2]},/data/upload/3/4f2a-Stra%C3%9Fe_{number}.jpg,2.5"
        for number in range(4)
    ]
    table = tmp_path / "project.csv"
    table.write_text("\n".join(rows))
    assert data_of(table).labels == NAMES
    table.write_text("\n".join(rows).replace("lead_time", "seconds"))
    with pytest.raises(UserError, match=r"-O data\.label=COLUMN"):
        data_of(table)
    assert data_of(table, label="choice").labels == NAMES


def test_columns_and_fields_of_fields_are_named(tmp_path: Path) -> None:
    lines = []
    for number in range(4):
        shot(tmp_path / "x" / f"{number}.jpg", number)
        about = {
            "file": {"name": f"x/{number}.jpg"},
            "marks": [{"kind": NAMES[number % 2]}],
        }
        lines.append(json.dumps(about | {"owner": {"id": f"p{number // 2}"}}))
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    names = {"image": "file.name", "label": "marks.0.kind", "group": "owner.id"}
    data = data_of(tmp_path / "rows.jsonl", **names)
    assert data.labels == NAMES
    assert [sample.group for sample in data] == ["p0", "p0", "p1", "p1"]
    with pytest.raises(UserError, match=r"no column 'marks\.0\.kin'"):
        data_of(tmp_path / "rows.jsonl", **{**names, "label": "marks.0.kin"})


def test_pictures_with_masks_beside_them(tmp_path: Path) -> None:
    for number in range(3):
        shot(tmp_path / "images" / f"{number}.jpg", number)
        mask = Image.new("L", SIZE)
        mask.paste(255, (4, 8, 20, 24))
        (tmp_path / "masks").mkdir(exist_ok=True)
        mask.save(tmp_path / "masks" / f"{number}.png")
    data = data_of(tmp_path)
    assert [sample.label for sample in data] == [None] * 3
    assert np.asarray(data[0].annotations["foreground"].load()).any(axis=2).sum() == 256


def test_pictures_of_several_classes_have_no_label(tmp_path: Path) -> None:
    names = [shot(tmp_path / "images" / f"{n}.jpg", n).name for n in range(2)]
    document = coco_document(names)
    document["annotations"][1]["image_id"] = 0
    (tmp_path / "coco.json").write_text(json.dumps(document))
    data = data_of(tmp_path)
    assert [sample.label for sample in data] == [None, None]
    assert data[0].annotations["objects"] == NAMES
    assert "1 of several classes" in data.facts["layout"]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("images/1.png", "labelTxt/1.txt"), "looks like DOTA"),
        (("leftImg8bit/a/1.png", "gtFine/a/1.png"), "looks like Cityscapes"),
        (
            ("images/1.png", "labels/1.txt"),
            "'images', which are no classes, with 1.txt",
        ),
        (
            ("frames/1.png", "annotations/1.xml2.csv"),
            "which are no classes, with 1.xml2.csv",
        ),
        (("gt/gt.txt", "img1/1.png"), "looks like MOT"),
    ],
)
def test_a_layout_without_a_reader_is_refused_by_name(
    names: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    for name in names:
        if name.endswith(".png"):
            shot(tmp_path / name)
        else:
            (tmp_path / name).parent.mkdir()
            (tmp_path / name).write_text("Car 0 0 0")
    with pytest.raises(UserError, match=said) as refused:
        data_of(tmp_path)
    assert "path, label and boxes will do (-O data.manifest=FILE)" in str(refused.value)


def test_class_folders_with_somebodys_notes_stay_class_folders(tmp_path: Path) -> None:
    for number in range(4):
        shot(tmp_path / NAMES[number % 2] / f"{number}.jpg", number)
    (tmp_path / "notes.json").write_text('{"made": "by hand"}')
    (tmp_path / "broken.json").write_text("{")
    shape = {"label": "ear", "points": [[1, 1], [5, 5]]}
    one = {"shapes": [shape], "imagePath": "0.jpg"}
    (tmp_path / "cat" / "0.json").write_text(json.dumps(one))
    assert data_of(tmp_path).labels == NAMES


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('<!DOCTYPE a [<!ENTITY a "b">]><annotations/>', "without entities"),
        ("<annotations", "is no XML"),
        (
            '<annotations><image name="1.jpg"><box label="cat" xtl="9" ytl="0" xbr="1" ybr="5"/>'
            "</image></annotations>",
            "right is beyond its left",
        ),
    ],
)
def test_xml_of_strangers_is_one_line(text: str, said: str, tmp_path: Path) -> None:
    shot(tmp_path / "1.jpg")
    (tmp_path / "annotations.xml").write_text(text)
    with pytest.raises(UserError, match=said):
        data_of(tmp_path)
