"""The authors' layout becomes samples; each mistake in it is one line."""

import json
from pathlib import Path
from typing import Any

from media_files import MediaFile

from cuescope_activitynet_qa import TYPES, ActivityNetQA
from cuescope_sdk import HasBenchmark
from cuescope_testing import LayoutContract, Mistake

ASKED = [("is the man outdoors", "yes", 3), ("what is in his hand", "a ball", 5)]


def write_split(root: Path, split: str, videos: list[str]) -> None:
    questions: list[dict[str, Any]] = []
    answers: list[dict[str, Any]] = []
    for video in videos:
        for turn, (question, answer, kind) in enumerate(ASKED):
            key = f"v_{video}_{turn}"
            questions.append(
                {"video_name": video, "question": question, "question_id": key}
            )
            answers.append({"answer": answer, "type": kind, "question_id": key})
    (root / "dataset").mkdir(exist_ok=True)
    (root / "dataset" / f"{split}_q.json").write_text(json.dumps(questions))
    (root / "dataset" / f"{split}_a.json").write_text(json.dumps(answers[::-1]))


class TestActivityNetQA(LayoutContract):
    plugin = ActivityNetQA
    options = {"frames": 3}
    other_options = {"frames": 2}
    mistakes = (
        Mistake("dataset/test_q.json", None, "no test_q.json: expected it in "),
        Mistake("dataset/test_q.json", None, "Did you mean 'test_a.json'?"),
        Mistake("dataset/test_a.json", None, "no test_a.json"),
        Mistake(
            "dataset/test_a.json",
            '[{"answer": "yes",\n"type": 3 "question_id": "x"}]',
            "test_a.json is no JSON: got expected `,` or `}` at line 2 column 11",
        ),
        Mistake(
            "dataset/test_a.json",
            '[{"answer": "yes", "type": 9, "question_id": "x"}]',
            "test_a.json entry 1 'type': expected less than 9, got 9",
        ),
        Mistake(
            "dataset/test_a.json",
            '[{"answer": "yes", "type": 3, "question_id": "x"}]',
            "test_a.json has no answer to question 'v_-c_c_0'",
        ),
        Mistake(
            "dataset/test_q.json",
            '[{"question": "why", "question_id": "x"}]',
            "test_q.json entry 1 'video_name': expected a value, got none",
        ),
    )

    @classmethod
    def written(cls, root: Path) -> None:
        """A clone of the authors' repository beside ActivityNet's videos."""
        for split, videos in {
            "train": ["aaa"],
            "val": ["bbb"],
            "test": ["-c_c", "ddd"],
        }.items():
            write_split(root, split, videos)
        MediaFile.video(root / "videos" / "v_aaa.mp4", 4)
        MediaFile.video(root / "videos" / "v_bbb.mkv", 5)
        MediaFile.video(root / "videos" / "part" / "v_-c_c.mp4", 6)
        MediaFile.video(root / "videos" / "ddd.webm", 7, "libvpx-vp9")

    def test_it_says_which_benchmark_it_is(self):
        data = self.open()
        assert isinstance(data, HasBenchmark)
        assert data.benchmark == "ActivityNet-QA"

    def test_a_question_is_a_sample(self):
        data = self.open(frames=2)
        assert [sample.key for sample in data] == [
            "v_-c_c_0",
            "v_-c_c_1",
            "v_ddd_0",
            "v_ddd_1",
        ]
        assert [sample.group for sample in data] == ["-c_c", "-c_c", "ddd", "ddd"]
        first, second = data[0], data[1]
        assert (first.question, first.label, first.choices) == (
            "is the man outdoors",
            "yes",
            (),
        )
        assert first.annotations == {
            "video_id": "-c_c",
            "split": "test",
            "question_type": "Yes/No",
        }
        assert (second.label, second.annotations["question_type"]) == (
            "a ball",
            "Object",
        )
        assert MediaFile.grey_levels(first.frames) == [1, 4]
        assert data.labels == ()
        assert data.split("val")[0].annotations["video_id"] == "bbb"

    def test_missing_and_empty_videos_are_left_out_and_said(self):
        with self.copy() as root:
            (root / "videos" / "ddd.webm").unlink()
            assert self.open(root).facts == {
                "questions": "2 about 1 video, split test",
                "left out": "2 of 4 questions (at most 50% may be): 1 video missing (ddd)",
            }
            MediaFile.video(root / "videos" / "ddd.mp4", 0)
            said = str(self.refusal(root, max_missing=0.1))
            assert "2 of 4 questions cannot be shown" in said
            assert "1 video unreadable: no video stream (ddd)" in said


def test_types_are_numbered_as_by_the_authors():
    assert [
        TYPES.index(name) for name in ("Motion", "Temporal", "Yes/No", "Other")
    ] == [0, 2, 3, 8]
