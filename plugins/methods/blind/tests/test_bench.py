"""The atlas has a row for each benchmark in a folder, and says what it could not read."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn_questions import draw_questions, prefer_longest

from cuescope_blind.bench import READERS, Atlas, AtlasOptions
from cuescope_sdk import Context, Table, UserError

pytest.importorskip("cuescope_questions", reason=f"needs {READERS}")


def write_mvbench(folder: Path) -> None:
    rng = np.random.default_rng(0)
    questions = draw_questions(60, rng)
    right = prefer_longest(questions, 0.6, rng)
    rows = []
    for number, options in enumerate(questions.options):
        rows.append(
            {
                "video": f"{number}.mp4",
                "question": questions.texts[number],
                "candidates": list(options),
                "answer": options[right[number]],
            }
        )
    folder.mkdir()
    (folder / "count.json").write_text(json.dumps(rows))


def atlas(tmp_path: Path, **options: Any) -> Atlas:
    given = AtlasOptions(data=tmp_path / "data", runs=tmp_path / "runs", redraws=0)
    return Atlas(given.model_copy(update=options), Context(cache=tmp_path / "cache"))


def test_a_row_a_benchmark_and_what_could_not_be_read(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    write_mvbench(data / "MVBench")
    (data / "video_mme.json").write_text("[]")
    (data / "notes.txt").write_text("no benchmark")
    [table] = atlas(tmp_path).run()
    assert isinstance(table, Table)
    [figures] = table.rows
    assert figures["benchmark"] == "MVBench"
    assert figures["questions"] == 60
    assert figures["guessing"] == pytest.approx(25)
    assert figures["gain"] == pytest.approx(figures["blind"] - 25)
    assert "video_mme.json: video-mme: video_mme.json: expected a row" in str(
        table.notes
    )
    [page] = (tmp_path / "runs").glob("*/report.html")
    assert "length" in page.read_text()


def test_a_folder_without_benchmarks_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with pytest.raises(UserError, match="no benchmark in"):
        list(atlas(tmp_path).run())
