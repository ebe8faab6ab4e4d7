"""Each benchmark's own columns become samples; videos may be there or not."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cuescope_questions import (
    EgoSchema,
    LongVideoBench,
    MVBench,
    TVBench,
    VideoMME,
    VSIBench,
)
from cuescope_sdk import Context, Sample


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
