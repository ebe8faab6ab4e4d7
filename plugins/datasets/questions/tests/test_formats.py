"""Each benchmark's own columns become samples; videos may be there or not."""

import base64
import json
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from cuescope_questions import (
    AI2D,
    MLVU,
    MMMU,
    MMRV,
    EgoSchema,
    ImplicitQA,
    LongVideoBench,
    LVBench,
    Minerva,
    MMBench,
    MMMUPro,
    MMStar,
    MVBench,
    Pope,
    RTVBench,
    ScienceQA,
    SEEDBench,
    TVBench,
    VideoHolmes,
    VideoMME,
    VSIBench,
)
from cuescope_sdk import Context, Sample, UserError
from cuescope_sdk.logs import split_options


def samples_of(plugin: Any, path: Path, **options: Any) -> list[Sample]:
    data = plugin(plugin.Options(path=path, **options), Context())
    return [data[index] for index in range(len(data))]


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def test_egoschema_has_numbers_and_letters_before_its_options(tmp_path: Path) -> None:
    row = {
        "question_idx": "00007",
        "question": "what does c do",
        "video_idx": "0074-f7",
        "option": ["A. C cooks.", "B. C sleeps."],
        "answer": "1",
    }
    [sample] = samples_of(EgoSchema, write_parquet(tmp_path / "e.parquet", [row]))
    assert sample.key == "00007"
    assert sample.group == "0074-f7"
    assert sample.choices == ("C cooks.", "C sleeps.")
    assert sample.label == "C sleeps."
    assert sample.frames == ()


def test_longvideobench_has_lists_in_texts(tmp_path: Path) -> None:
    row = {
        "id": "86Cx_0",
        "video_id": "86Cx",
        "question": "which subtitles",
        "candidates": "['it\\'s', \"run\"]",
        "correct_choice": "1",
        "question_category": "TOS",
    }
    (tmp_path / "lvb_val.json").write_text(json.dumps([row]))
    [sample] = samples_of(LongVideoBench, tmp_path)
    assert sample.choices == ("it's", "run")
    assert sample.label == "run"
    assert sample.annotations == {"video_id": "86Cx", "question_type": "TOS"}


@pytest.mark.parametrize("plugin", [MVBench, TVBench])
def test_mvbench_has_a_file_a_kind(plugin: Any, tmp_path: Path) -> None:
    row = {
        "video": "1.mp4",
        "question": "which way",
        "candidates": ["up", "down"],
        "answer": "up",
    }
    (tmp_path / "json").mkdir()
    for kind in ("object_count", "action_count"):
        (tmp_path / "json" / f"{kind}.json").write_text(json.dumps([row, row]))
    samples = samples_of(plugin, tmp_path)
    assert [sample.key for sample in samples] == [
        "action_count-00000",
        "action_count-00001",
        "object_count-00000",
        "object_count-00001",
    ]
    assert samples[0].annotations["question_type"] == "action_count"
    assert samples[0].group == "1.mp4"
    assert samples[0].label == "up"


def test_video_mme_has_letters(tmp_path: Path) -> None:
    row = {
        "question_id": "001-1",
        "videoID": "fFj",
        "task_type": "Counting Problem",
        "question": "which decoration",
        "options": ["A. Apples.", "B. Candles.", "C. Berries.", "D. None."],
        "answer": "C",
    }
    [sample] = samples_of(VideoMME, write_parquet(tmp_path / "v.parquet", [row]))
    assert sample.label == "Berries."
    assert sample.annotations["question_type"] == "Counting Problem"


def test_vsi_bench_leaves_out_questions_of_numbers(tmp_path: Path) -> None:
    row = {
        "id": 957,
        "scene_name": "4106",
        "question_type": "route_planning",
        "question": "where is the tv",
        "ground_truth": "B",
        "options": ["A. left", "B. right"],
    }
    number = {**row, "id": 958, "ground_truth": "4", "options": None}
    file = tmp_path / "test.jsonl"
    file.write_text("\n".join(map(json.dumps, [row, number])))
    data = VSIBench(VSIBench.Options(path=file), Context())
    assert [data[0].key, data[0].label] == ["957", "right"]
    assert data.facts["left out"] == "1 of 2 questions: 1 with fewer than two options"


LETTERED = {"A": "up", "B": "down", "C": "left"}
# reader: file, what stands in it, and the question that comes of it
FORMATS: list[tuple[Any, str, Any, dict[str, Any]]] = [
    (
        ImplicitQA,
        "ImplicitQAv0.1.2.jsonl",
        {
            "video_id": "01Gf_f7",
            "video_url": "https://watch/01Gf",
            "question_id": "1be0",
            "question_text": "which way",
            # in another order: the letter counts
            "options": {"C": "left", "A": "up", "B": "down"},
            "answer_text": "left",
            "answer_choice": "C",
            "category": "Motion",
        },
        {
            "key": "1be0",
            "group": "https://watch/01Gf",
            "label": "left",
            "kind": "Motion",
        },
    ),
    (
        LVBench,
        "video_info.meta.jsonl",
        {
            "key": "Cm73",
            "qa": [
                {
                    "uid": "55",
                    "question": "which way\n(A) up\n(B) down\n(C) left",
                    "answer": "C",
                    "question_type": ["event understanding", "reasoning"],
                }
            ],
        },
        {
            "key": "55",
            "group": "Cm73",
            "label": "left",
            "kind": "event understanding, reasoning",
        },
    ),
    (
        Minerva,
        "minerva.json",
        [
            {
                "key": "--C2:07d6",
                "video_id": "--C2",
                "question": "which way",
                **dict(
                    zip(
                        [f"answer_choice_{number}" for number in range(5)],
                        ["up", "down", "left", "right", "back"],
                        strict=True,
                    )
                ),
                "answer_id": 2,
                "answer": "left",
                "question_type": "Counting",
            }
        ],
        {"key": "--C2:07d6", "group": "--C2", "label": "left", "kind": "Counting"},
    ),
    (
        MLVU,
        "test_mcq_gt.json",
        [
            {
                "video": "27.mp4",
                "question": "which way",
                "candidates": ["up", "down", "left"],
                "answer": "left",
                "question_type": "anomaly_reco",
            }
        ],
        {
            "key": "test_mcq_gt-00000",
            "group": "27.mp4",
            "label": "left",
            "kind": "anomaly_reco",
        },
    ),
    (
        MMRV,
        "test-00000-of-00001.parquet",
        [
            {
                "video": "House.mp4",
                "question": "which way",
                # the authors left D out
                "options": ["(A) up", "(B) down", "(C) left", "(E) right", "(F) back"],
                "correctAnswer": "(E)",
                "abilityType_L2": "Metaphor",
                "question_idx": 4,
            }
        ],
        {"key": "4", "group": "House.mp4", "label": "right", "kind": "Metaphor"},
    ),
    (
        RTVBench,
        "QA.json",
        [
            {
                "video": "S.mp4",
                "questionID": "q-group-0",
                "type": "Event-IA",
                "question": "which way",
                "options": LETTERED,
                "answer": "C",
            }
        ],
        {"key": "q-group-0", "group": "S.mp4", "label": "left", "kind": "Event-IA"},
    ),
    (
        VideoHolmes,
        "test_Video-Holmes.json",
        [
            {
                "video ID": "fH6b",
                "Question ID": 1,
                "Question Type": "SR",
                "Question": "which way",
                "Options": LETTERED,
                "Answer": "C",
            }
        ],
        {"key": "1", "group": "fH6b", "label": "left", "kind": "SR"},
    ),
    (
        Pope,
        "coco_pope_random.json",
        {
            "question_id": 1,
            "image": "COCO_1.jpg",
            "text": "which way",
            "label": "no",
        },
        {
            "key": "coco_pope_random-00000",
            "group": "COCO_1.jpg",
            "label": "no",
            "kind": "coco_pope_random",
        },
    ),
    (
        SEEDBench,
        "SEED-Bench.json",
        {
            "questions": [
                {
                    "answer": "C",
                    "choice_a": "up",
                    "choice_b": "down",
                    "choice_c": "left",
                    "choice_d": "right",
                    "data_id": ["a.png", "b.png"],
                    "question": "which way",
                    "question_id": "17_0",
                    "question_type_id": 17,
                }
            ],
            "question_type": {"Difference Spotting": 17},
        },
        {"key": "17_0", "group": "a.png, b.png", "label": "left", "kind": "17"},
    ),
    (
        ScienceQA,
        "problems.json",
        {
            "7": {
                "question": "which way",
                "choices": ["up", "down", "left"],
                "answer": 2,
                "image": "image.png",
                "topic": "geography",
            }
        },
        {"key": "7", "group": None, "label": "left", "kind": "geography"},
    ),
    (
        AI2D,
        "0.png.json",
        {
            "imageName": "0.png",
            "questions": {
                "which way": {
                    "answerTexts": ["up", "down", "left"],
                    "correctAnswer": 2,
                    "questionId": "0.png-0",
                }
            },
        },
        {"key": "0.png-0", "group": "0.png", "label": "left", "kind": None},
    ),
    (
        MMMU,
        "validation-00000-of-00001.parquet",
        [
            {
                "id": "validation_Art_1",
                "question": "which way",
                "options": "['up', 'down', 'left']",
                "answer": "C",
                "subfield": "Drawing",
                # an open question, and one of the test set
                "image_1": {"bytes": b"1", "path": None},
            },
            {"id": "o", "question": "how", "options": "[]", "answer": "x"},
            {"id": "t", "question": "how", "options": "['a', 'b']", "answer": "?"},
        ],
        {
            "key": "validation_Art_1",
            "group": None,
            "label": "left",
            "kind": "Drawing",
        },
    ),
    (
        MMMUPro,
        "standard (10 options)/test-00000.parquet",
        [
            {
                "id": "test_Art_1",
                "question": "which way",
                "options": "['up', 'down', 'left']",
                "answer": "C",
                "subject": "Art",
            }
        ],
        {"key": "test_Art_1", "group": None, "label": "left", "kind": "Art"},
    ),
]


def write_format(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        write_parquet(path, content)
    else:
        path.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("plugin", "file", "content", "expected"),
    FORMATS,
    ids=[plugin.title for plugin, *_ in FORMATS],
)
def test_authors_columns_become_a_question(
    plugin: Any,
    file: str,
    content: Any,
    expected: dict[str, Any],
    tmp_path: Path,
) -> None:
    write_format(tmp_path / file, content)
    [sample] = samples_of(plugin, tmp_path)
    assert sample.question == "which way"
    assert expected == {
        "key": sample.key,
        "group": sample.group,
        "label": sample.label,
        "kind": sample.annotations.get("question_type"),
    }


def test_pictures_in_cells_are_groups(tmp_path: Path) -> None:
    rows = []
    for number, picture in enumerate([b"one", b"one", b"two"]):
        rows.append(
            {
                "index": number,
                "question": "which way\nOptions: A: up, B: down, again., C: left",
                "answer": "B",
                "category": "math",
                "image": {"bytes": picture, "path": None},
            }
        )
    samples = samples_of(MMStar, write_parquet(tmp_path / "mmstar.parquet", rows))
    assert samples[0].choices == ("up", "down, again.", "left")
    assert samples[0].label == "down, again."
    assert samples[0].group == samples[1].group != samples[2].group


def test_turned_copies_of_mmbench_share_their_picture(tmp_path: Path) -> None:
    picture = "iVBOR" * 50_000  # longer than what Python's csv reads by itself
    lines = ["index\tquestion\tA\tB\tC\tD\tanswer\tcategory\timage"]
    lines.append(f"1\twhich way\tup\tdown\tnan\tnan\tA\tocr\t{picture}")
    lines.append("1000001\twhich way\tdown\tup\tnan\tnan\tB\tocr\t1")
    (tmp_path / "dev.tsv").write_text("\n".join(lines) + "\n")
    first, second = samples_of(MMBench, tmp_path)
    assert first.group == second.group
    assert first.label == second.label == "up"
    assert first.choices == ("up", "down")


def test_slips_of_authors_are_left_out_and_wrong_columns_are_not(
    tmp_path: Path,
) -> None:
    row = {"video": "v", "question": "why", "options": LETTERED, "answer": "A"}
    rows = [{**row, "questionID": f"q{number}"} for number in range(100)]
    rows[7]["answer"] = "D"
    write_format(tmp_path / "QA.json", rows)
    assert len(samples_of(RTVBench, tmp_path)) == 99
    for number in (8, 9):
        rows[number]["answer"] = "D"
    write_format(tmp_path / "QA.json", rows)
    with pytest.raises(UserError, match="letter of one of 3 options, got 'D'"):
        samples_of(RTVBench, tmp_path)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("who\n(A) x\n(B) y", ["x", "y"]),
        ("see (A) in it, who?\n(A) x\n(B) y", ["x", "y"]),
        ("who? Options: A: x, B: y, C: z", ["x", "y", "z"]),
        ("who?\nA. x\nB. y", ["x", "y"]),
        ("who?\n(A) x\n(C) y", []),
        ("who?", []),
    ],
)
def test_options_in_a_question_are_found(text: str, options: list[str]) -> None:
    assert split_options(text)[1] == options


def picture(shade: int) -> bytes:
    buffer = BytesIO()
    Image.new("RGB", (6, 4), (shade, 0, 0)).save(buffer, "PNG")
    # a cell of base64 is told from a name by its length
    return buffer.getvalue() + bytes(400)


def shades(sample: Sample) -> list[int]:
    return [np.asarray(frame.load())[0, 0, 0] for frame in sample.frames]


def test_pictures_in_cells_are_shown_where_they_are_asked_for(tmp_path: Path) -> None:
    rows = []
    for number in range(3):
        question = "Which?\nOptions: A: red, B: blue"
        cell = {"bytes": picture(number % 2), "path": None}
        rows.append(
            {"index": number, "question": question, "answer": "A", "image": cell}
        )
    file = write_parquet(tmp_path / "mmstar.parquet", rows)
    assert all(not sample.frames for sample in samples_of(MMStar, file))
    samples = samples_of(MMStar, file, embedded=True)
    assert [shades(sample) for sample in samples] == [[0], [1], [0]]
    assert samples[0].group == samples[2].group != samples[1].group


def test_a_copy_that_names_a_row_shows_its_picture(tmp_path: Path) -> None:
    text = base64.b64encode(picture(7)).decode()
    lines = ["index\tquestion\tA\tB\tC\tD\tanswer\timage"]
    lines += [f"0\tq\tx\ty\t\t\tA\t{text}", "1000000\tq\ty\tx\t\t\tB\t0"]
    file = tmp_path / "mmbench.tsv"
    file.write_text("\n".join(lines))
    assert [shades(s) for s in samples_of(MMBench, file, embedded=True)] == [[7], [7]]


def test_several_pictures_are_shown_in_their_order(tmp_path: Path) -> None:
    row = {
        "id": "a",
        "question": "<image 1> or <image 2>?",
        "options": "['x', 'y']",
        "answer": "A",
        "image_1": {"bytes": picture(1), "path": "a.png"},
        "image_2": {"bytes": picture(2), "path": "b.png"},
        "image_3": None,
    }
    file = write_parquet(tmp_path / "validation-0.parquet", [row])
    [sample] = samples_of(MMMU, file, embedded=True)
    assert shades(sample) == [1, 2]


def test_pictures_in_a_folder_are_found_by_name(tmp_path: Path) -> None:
    folder = tmp_path / "val2014"
    (folder / "below").mkdir(parents=True)
    (folder / "a.png").write_bytes(picture(3))
    (folder / "below" / "b.png").write_bytes(picture(4))
    lines = []
    for number, name in enumerate(("a.png", "b.png", "gone.png")):
        row = {"question_id": number, "image": name, "text": "A cat?", "label": "yes"}
        lines.append(json.dumps(row))
    file = tmp_path / "coco_pope_random.json"
    file.write_text("\n".join(lines))
    samples = samples_of(Pope, file, images=folder)
    assert [shades(sample) for sample in samples] == [[3], [4], []]


def test_a_file_without_pictures_says_so(tmp_path: Path) -> None:
    row = {"id": "a", "question": "q", "options": "['x', 'y']", "answer": "A"}
    file = write_parquet(tmp_path / "validation-0.parquet", [row])
    with pytest.raises(UserError, match="no picture of 'validation-0"):
        samples_of(MMMU, file, embedded=True)
