"""Recorded traces in place of a model."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cuescope_sdk import Context, Report, Sample, UserError
from cuescope_step_grounding import StepGrounding
from cuescope_testing import Setup

pytest.importorskip("cuescope_traces")

TRUE, FALSE = "At frame 1, there is a red cup.", "At frame 2, there is a green dog."


def audited(rooms: Any, file: Path, samples: int = 4) -> Report:
    from cuescope_traces import Traces

    return Setup(
        StepGrounding,
        Traces,
        rooms,
        {"also": ("lite",)},
        model_options={"file": file},
        data_options={"samples": samples},
    ).report()


def test_recorded_traces_are_judged_and_nothing_more_is_asked(
    rooms: Any, tmp_path: Path
) -> None:
    data = rooms(rooms.Options(samples=4), Context())
    lines = [
        {"sample": data[0].key, "trace": [TRUE, FALSE], "answer": data[0].label},
        {
            "sample": data[1].key,
            "trace": [TRUE],
            "answer": "left" * (data[1].label == "right"),
        },
        {"sample": data[2].key, "trace": f"- {FALSE}"},
    ]
    file = tmp_path / "traces.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    report = audited(rooms, file)
    values = {s.metric: s.value for s in report.scores if s.feature == "reasoning"}
    table = next(t for t in report.tables if t.title.startswith("How well"))
    assert table.rows[0]["SGR"] == pytest.approx(100 * (0.5 + 1 + 0) / 3)
    assert table.rows[0]["HR"] == pytest.approx(100 * (0.5 + 0 + 1) / 3)
    # the sample without a trace has no part
    assert values["accuracy"] == pytest.approx(1 / 3)
    assert report.notes["traces"].startswith("3 of 4 ")
    assert "recorded" not in report.notes  # the model tells it
    assert (
        report.notes["questions"]
        == "none: the traces of 4 samples are read from the recording"
    )
    assert report.notes["changed videos"].endswith("VRS is not measured")
    assert report.cost.trials == 4


def test_without_a_question_no_answer_is_right_or_wrong(
    rooms: Any, tmp_path: Path
) -> None:
    """As of videos in class folders, of which the class is the only choice."""

    class Clips(rooms):  # type: ignore[misc]
        def __getitem__(self, index: int) -> Sample:
            update = {"question": None, "choices": ("cooking",), "label": "cooking"}
            return replace(super().__getitem__(index), **update)

    file = tmp_path / "traces.jsonl"
    lines = [
        {"sample": f"room-00{i}", "trace": [TRUE], "answer": "a cup"} for i in range(4)
    ]
    file.write_text("\n".join(map(json.dumps, lines)))
    report = audited(Clips, file)
    assert not [score for score in report.scores if score.metric == "accuracy"]
    assert "answers" not in {score.feature for score in report.scores}
    assert (
        report.notes["traces"]
        == "4 of 4 samples, with 1.0 steps on average (numbered 4)"
    )
    assert report.tables[0].rows[0]["Acc"] is None


def test_a_file_of_other_samples_is_refused(rooms: Any, tmp_path: Path) -> None:
    file = tmp_path / "traces.jsonl"
    file.write_text(json.dumps({"sample": "room-0", "trace": TRUE}))
    with pytest.raises(UserError, match="no trace of any sample"):
        audited(rooms, file)
