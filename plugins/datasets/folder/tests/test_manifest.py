"""Manifests: the three formats agree, and each mistake is told in one line that names the line."""

import json

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image
from pyarrow import parquet

from cuescope_folder.cells import plain
from cuescope_sdk import PlantedCue, UserError

ROWS = [
    {
        "path": "x/1.png",
        "label": "cat",
        "split": "train",
        "question": "What is it?",
        "site": "A",
        "cues": {"grass": [True]},
    },
    {
        "path": "x/2.png",
        "label": "dog",
        "split": "val",
        "question": None,
        "site": "B",
        "cues": {"grass": [False]},
    },
    {
        "path": "x/1.png",
        "label": "dog",
        "split": "val",
        "question": "Is it?",
        "site": None,
        "cues": None,
    },
]


def write(data, form):
    file = data / f"manifest.{form}"
    if form == "jsonl":
        file.write_text("\n".join(json.dumps(row) for row in ROWS) + "\n\n")
    elif form == "csv":
        lines = ["path,label,split,question,site,cues"]
        for row in ROWS:
            cues = json.dumps(row["cues"]).replace('"', '""') if row["cues"] else ""
            cells = [
                row[c] or "" for c in ("path", "label", "split", "question", "site")
            ]
            lines.append(",".join([*cells, f'"{cues}"']))
        file.write_text("\ufeff" + "\n".join(lines), encoding="utf-8")
    else:
        parquet.write_table(pa.Table.from_pylist(ROWS), file)


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_formats_say_the_same(data, image, opened, form):
    image(data / "x" / "1.png", 10)
    image(data / "x" / "2.png", 20)
    write(data, form)
    folder = opened(answers="pooled")
    assert folder.labels == ("cat", "dog")
    assert [s.key for s in folder] == ["x/1.png", "x/2.png", "x/1.png#2"]
    assert [s.label for s in folder] == ["cat", "dog", "dog"]
    assert [s.question for s in folder] == ["What is it?", None, "Is it?"]
    assert [dict(s.annotations) for s in folder] == [
        {"path": "x/1.png", "site": "A", "cues": {"grass": (True,)}, "split": "train"},
        {"path": "x/2.png", "site": "B", "cues": {"grass": (False,)}, "split": "val"},
        {"path": "x/1.png", "split": "val"},
    ]
    assert folder[0].frames[0].key == folder[2].frames[0].key
    assert len(folder.split("val")) == 2


def test_answers_frame_folders_and_a_manifest_of_another_name(
    data, image, video, opened
):
    for number in range(4):
        image(data / "clip" / f"{number}.png", 10 * number)
    video(data / "v.mp4", 8)
    rows = [
        {"path": "clip", "answer": "yes", "cues": {"hand": [0, 1]}},
        {"path": "v.mp4", "answer": 2, "box": [1.5, float("inf")]},
    ]
    (data / "qa.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for folder in (
        opened(frames=2, manifest="qa.jsonl"),
        opened(frames=2, path=data / "qa.jsonl"),
    ):
        assert folder.labels == ("2", "yes")
        assert [len(sample.frames) for sample in folder] == [2, 2]
        assert folder[0].annotations["cues"] == {"hand": (False, True)}
        assert folder.planted_cues == (PlantedCue(key="hand", name="hand"),)
        assert folder[1].annotations["box"] == (1.5, None)


def test_label_goes_before_answer(data, image, opened):
    image(data / "1.png")
    (data / "manifest.csv").write_text("path,label,answer\n1.png,cat,a cat\n")
    sample = opened()[0]
    assert (sample.label, sample.annotations["answer"]) == ("cat", "a cat")


def test_missing_files_are_bad_data_not_errors(data, image, opened):
    image(data / "1.png")
    (data / "manifest.csv").write_text(
        "path,label\n1.png,a\ngone.png,b\nnotes.txt,b\nd,a\n"
    )
    (data / "d").mkdir()
    folder = opened(max_bad=0.75)
    assert [sample.key for sample in folder] == ["1.png"]
    assert folder.labels == ("a", "b")
    assert folder.facts["skipped"] == (
        "3 unreadable: gone.png (no such file); "
        "notes.txt ('.txt' is no image or video that is known here); "
        "d (no images in this folder)"
    )


@pytest.mark.parametrize(
    "path",
    [
        "../secret.png",
        "/etc/secret.png",
        "C:\\\\secret.png",
        "x/../../secret.png",
        "link.png",
        "away/secret.png",
        "loop.png",
        "nul\\u0000.png",
    ],
)
def test_paths_that_leave_the_folder_are_refused(data, image, opened, tmp_path, path):
    image(tmp_path / "secret.png")
    (data / "link.png").symlink_to(tmp_path / "secret.png")
    (data / "away").symlink_to(tmp_path)
    (data / "loop.png").symlink_to(data / "loop.png")
    good = '{"path": "1.png", "label": "a"}\n'
    (data / "manifest.jsonl").write_text(good + f'{{"path": "{path}", "label": "a"}}\n')
    image(data / "1.png")
    with pytest.raises(
        UserError, match=r"manifest\.jsonl line 2 leads out of its folder"
    ):
        opened()


def test_paths_that_stay_inside_are_not_refused(data, image, opened):
    image(data / "x" / "1.png")
    (data / "same.png").symlink_to(data / "x" / "1.png")
    (data / "manifest.csv").write_text("path,label\nx/../x/1.png,a\nsame.png,a\n")
    assert len(opened()) == 2


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("manifest.csv", "path,label\n", "has no rows"),
        ("manifest.csv", "", "has no rows"),
        (
            "manifest.csv",
            "path,lable\n1.png,a\n",
            "no column 'label' or 'answer'.*Did you mean 'lable'",
        ),
        (
            "manifest.csv",
            "path,label\n1.png,a\n1.png,\n",
            "line 3: expected a label, got an empty",
        ),
        (
            "manifest.csv",
            "path,label\n1.png,a,b\n",
            "line 2 has more cells than the header",
        ),
        (
            "manifest.csv",
            "path,label,cues\n1.png,a,{\n",
            "line 2: column 'cues': expected JSON",
        ),
        (
            "manifest.jsonl",
            '{"path": "1.png", "label": "a"}\n{"path"\n',
            "line 2 is no JSON",
        ),
        ("manifest.jsonl", "\n[1]\n", "line 2: expected a JSON object"),
        ("manifest.jsonl", "[" * 9999, "line 1 is no JSON"),
        (
            "manifest.jsonl",
            '{"path": ["1.png"], "label": "a"}',
            r"line 1: expected a path, got \[",
        ),
        (
            "manifest.jsonl",
            '{"path": "1.png", "label": "a", "cues": {"c": [1, 0]}}',
            "line 1: cue 'c': expected one true or false for each of the 1 sampled frames, got 2",
        ),
        (
            "manifest.jsonl",
            '{"path": "1.png", "label": "a", "cues": {"c": ["x"]}}',
            "line 1: column 'cues'",
        ),
        ("manifest.parquet", "nonsense", "manifest.parquet is no Parquet"),
    ],
)
def test_mistakes_are_one_line(data, image, opened, name, text, message):
    image(data / "1.png")
    (data / name).write_text(text)
    with pytest.raises(UserError, match=message) as caught:
        opened()
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text(data, image, opened):
    image(data / "1.png")
    (data / "manifest.csv").write_bytes(b"path,label\n1.png,\xff\xfe\n")
    with pytest.raises(UserError, match=r"cannot read manifest\.csv"):
        opened()


def test_which_manifest(data, image, opened):
    image(data / "1.png")
    (data / "manifest.csv").write_text("path,label\n1.png,a\n")
    (data / "manifest.jsonl").write_text('{"path": "1.png", "label": "b"}\n')
    with pytest.raises(
        UserError, match=r"several manifests.*-O data.manifest=manifest\.csv"
    ):
        opened()
    assert opened(manifest="manifest.jsonl").labels == ("b",)
    with pytest.raises(UserError, match=r"no such manifest.*'manifest\.jsonl'\?"):
        opened(manifest="manifest.json")
    (data / "list.txt").write_text("")
    with pytest.raises(
        UserError,
        match=r"expected a file that ends in \.csv, \.tsv, \.jsonl, \.parquet",
    ):
        opened(manifest="list.txt")


def test_plain_values():
    assert plain({"a": [1, float("nan"), "\ud800"], 2: b"x"}) == {
        "a": (1, None, "\\ud800"),
        "2": "b'x'",
    }


def test_a_mask_is_a_frame_in_the_annotations(data, image, opened):
    image(data / "x" / "1.png", 10)
    image(data / "masks" / "1.png", 255)
    rows = [
        {
            "path": "x/1.png",
            "label": "cat",
            "mask": "masks/1.png",
            "factors": {"place": "sea"},
        }
    ]
    (data / "manifest.jsonl").write_text(json.dumps(rows[0]) + "\n")
    [sample] = opened()
    assert sample.annotations["foreground"].load().getpixel((0, 0)) == (255, 255, 255)
    assert sample.annotations["factors"] == {"place": "sea"}
    before = opened().fingerprint
    image(data / "masks" / "1.png", 0)
    assert opened().fingerprint != before


@pytest.mark.parametrize(
    ("mask", "said"),
    [("gone.png", "gone.png: no such file"), ("../x.png", "leads out of its folder")],
)
def test_a_mask_that_cannot_be_read_is_told(data, image, opened, mask, said):
    image(data / "x" / "1.png", 10)
    row = {"path": "x/1.png", "label": "cat", "mask": mask}
    (data / "manifest.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(UserError, match=said):
        opened()


def test_boxes_are_what_an_image_shows(data, image, opened):
    image(data / "x" / "1.png", 10)
    image(data / "x" / "2.png", 20)
    rows = [
        {
            "path": "x/1.png",
            "label": "cat",
            "boxes": [["tree", 1, 2, 5, 9.5], ["cat", 0, 0, 3, 3]],
        },
        {"path": "x/2.png", "label": "dog", "boxes": '[["dog", 0, 1, 2, 3]]'},
    ]
    (data / "manifest.jsonl").write_text("\n".join(map(json.dumps, rows)))
    first, second = opened()
    assert [(box.name, box.box) for box in first.annotations["boxes"]] == [
        ("tree", (1, 2, 5, 9.5)),
        ("cat", (0, 0, 3, 3)),
    ]
    assert [box.name for box in second.annotations["boxes"]] == ["dog"]


@pytest.mark.parametrize(
    "boxes",
    [
        "tree",
        [["tree", 1, 2, 5]],
        [["tree", 5, 2, 1, 9]],
        [["", 1, 2, 5, 9]],
        [{"a": 1}],
        3,
    ],
)
def test_boxes_that_are_none(data, image, opened, boxes):
    image(data / "x" / "1.png", 10)
    row = {"path": "x/1.png", "label": "cat", "boxes": boxes}
    (data / "manifest.jsonl").write_text(json.dumps(row))
    with pytest.raises(UserError, match=r"column 'boxes'.*left, top, right and bottom"):
        opened()


def test_timed_actions_become_frames_of_the_sampled_clip(data, video, opened):
    video(data / "v.mp4", 12)  # 10 frames a second
    rows = [
        {"path": "v.mp4", "actions": [["waving", 0.2, 0.5], ["sitting", 0.55, 9]]},
        {"path": "v.mp4", "label": "cat", "actions": '[["blinking", 0.51, 0.55]]'},
        {"path": "v.mp4", "label": "dog"},
    ]
    (data / "manifest.jsonl").write_text("\n".join(map(json.dumps, rows)))
    every, seldom = opened(frames=12), opened(frames=4)
    assert every[0].annotations["actions"] == (("waving", 2, 5), ("sitting", 6, 12))
    # 1, 4, 7, 10
    assert seldom[0].annotations["actions"] == (("waving", 1, 2), ("sitting", 2, 4))
    assert every[1].annotations["actions"] == ()
    assert "actions" not in every[2].annotations
    assert seldom[0].annotations["times"] == (0.1, 0.4, 0.7, 1.0)
    assert "times" not in every[2].annotations
    assert [sample.label for sample in every] == [None, "cat", "dog"]
    assert every.labels == ("cat", "dog")


def test_times_of_an_uneven_clip_are_those_of_what_is_shown(data, opened):
    frames = [Image.new("L", (16, 12), 20 * level) for level in range(4)]
    others, lasts = frames[1:], [100, 700, 100, 100]
    frames[0].save(data / "a.gif", save_all=True, append_images=others, duration=lasts)
    row = {"path": "a.gif", "actions": [["waving", 0.1, 0.8], ["late", 0.85, 1]]}
    (data / "manifest.jsonl").write_text(json.dumps(row))
    [clip] = opened(frames=4)
    levels = [np.asarray(frame.load()).mean() for frame in clip.frames]
    assert levels == [20, 20, 20, 60]
    assert clip.annotations["times"] == (0.1, 0.1, 0.1, 0.9)
    assert clip.annotations["actions"] == (("waving", 0, 3), ("late", 3, 4))


@pytest.mark.parametrize(
    "cells",
    [
        {"actions": [["waving", 2, 1]]},
        {"actions": [["waving", 1]]},
        {"actions": "waving"},
        {"actions": [["", 1, 2]]},
        {"path": "x.png", "actions": [["waving", 1, 2]]},
    ],
)
def test_actions_that_are_none(data, video, image, opened, cells):
    video(data / "v.mp4", 3)
    image(data / "x.png")
    (data / "manifest.jsonl").write_text(json.dumps({"path": "v.mp4", **cells}))
    with pytest.raises(
        UserError, match="line 1: column 'actions': expected actions of a video"
    ):
        opened()
