"""The authors' layout becomes samples; each mistake in it is one line."""

import json
from pathlib import Path
from typing import Any

import pytest

from cuescope_activitynet_qa import TYPES, ActivityNetQA
from cuescope_sdk import BadDataError, Context, UserError
from cuescope_sdk.testing import DatasetContract
from cuescope_sdk.testing.videos import grey_levels, write_video

ASKED = [("is the man outdoors", "yes", 3), ("what is in his hand", "a ball", 5)]


def write_split(root: Path, split: str, videos: list[str]) -> None:
    questions: list[dict[str, Any]] = []
    answers: list[dict[str, Any]] = []
    for video in videos:
        for turn, (question, answer, kind) in enumerate(ASKED):
            key = f"v_{video}_{turn}"
            questions.append({"video_name": video, "question": question, "question_id": key})
            answers.append({"answer": answer, "type": kind, "question_id": key})
    (root / "dataset").mkdir(exist_ok=True)
    (root / "dataset" / f"{split}_q.json").write_text(json.dumps(questions))
    (root / "dataset" / f"{split}_a.json").write_text(json.dumps(answers[::-1]))


def write_release(root: Path) -> Path:
    """A clone of the authors' repository beside ActivityNet's videos."""
    for split, videos in {"train": ["aaa"], "val": ["bbb"], "test": ["-c_c", "ddd"]}.items():
        write_split(root, split, videos)
    write_video(root / "videos" / "v_aaa.mp4", 4)
    write_video(root / "videos" / "v_bbb.mkv", 5)
    write_video(root / "videos" / "part" / "v_-c_c.mp4", 6)
    write_video(root / "videos" / "ddd.webm", 7, "libvpx-vp9")
    return root


class TestContract(DatasetContract):
    plugin = ActivityNetQA

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _release(cls, tmp_path_factory: pytest.TempPathFactory) -> None:
        root = write_release(tmp_path_factory.mktemp("activitynet"))
        cls.options = {"path": root, "frames": 3}
        cls.other_options = {"path": root, "frames": 2}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return write_release(tmp_path / "data")


@pytest.fixture
def opened(root, tmp_path):
    def opened(**options):
        return ActivityNetQA(
            ActivityNetQA.Options(**{"path": root, **options}), Context(cache=tmp_path / "cache")
        )

    return opened


def test_a_question_is_a_sample(opened):
    data = opened(frames=2)
    assert [sample.key for sample in data] == ["v_-c_c_0", "v_-c_c_1", "v_ddd_0", "v_ddd_1"]
    first, second = data[0], data[1]
    assert (first.question, first.label, first.choices) == ("is the man outdoors", "yes", ())
    assert first.annotations == {"video_id": "-c_c", "split": "test", "question_type": "Yes/No"}
    assert (second.label, second.annotations["question_type"]) == ("a ball", "Object")
    assert grey_levels(first.frames) == [1, 4]
    assert data.labels == ()
    assert data.split("val")[0].annotations["video_id"] == "bbb"


def test_types_are_numbered_as_by_the_authors():
    assert [TYPES.index(name) for name in ("Motion", "Temporal", "Yes/No", "Other")] == [0, 2, 3, 8]


def test_missing_videos_are_left_out_and_said(opened, root):
    (root / "videos" / "ddd.webm").unlink()
    assert opened().facts == {
        "questions": "2 about 1 video, split test",
        "left out": "2 of 4 questions (at most 50% may be): 1 video missing (ddd)",
    }
    with pytest.raises(BadDataError, match="2 of 4 questions cannot be shown"):
        opened(max_missing=0.1)


def test_a_video_without_frames_is_left_out(opened, root):
    (root / "videos" / "ddd.webm").unlink()
    write_video(root / "videos" / "ddd.mp4", 0)
    assert "1 video unreadable: no video stream (ddd)" in opened().facts["left out"]
    (root / "videos" / "v_bbb.mkv").write_bytes(b"")
    with pytest.raises(BadDataError, match=r"2 of 2 .*1 video unreadable"):
        opened(split="val")


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("test_q.json", None, r"no test_q\.json: expected it in .*'test_a\.json'\?"),
        ("test_a.json", None, r"no test_a\.json"),
        ("test_a.json", '[{"answer": "yes",\n"type": 3 "question_id": "x"}]',
         r"test_a\.json line 2 column 11 is no JSON"),
        ("test_a.json", '[{"answer": "yes", "type": 9, "question_id": "x"}]',
         r"test_a\.json entry 1 'type': expected less than 9, got 9"),
        ("test_a.json", '[{"answer": "yes", "type": 3, "question_id": "x"}]',
         r"test_a\.json has no answer to question 'v_-c_c_0'"),
        ("test_q.json", '[{"question": "why", "question_id": "x"}]',
         r"test_q\.json entry 1 'video_name': expected a value, got none"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(opened, root, file, text, message):
    path = root / "dataset" / file
    path.unlink()
    if text is not None:
        path.write_text(text)
    with pytest.raises(UserError, match=message) as caught:
        opened()
    assert str(caught.value).startswith("activitynet-qa: ")
    assert "\n" not in str(caught.value)
