"""The authors' layout becomes samples; each mistake in it is one line."""

import json
from pathlib import Path

import pytest
from media_files import MediaFile

from cuescope_msrvtt_qa import CATEGORIES, MSRVTTQA, question_type
from cuescope_sdk import HasBenchmark
from cuescope_testing import LayoutContract, Mistake

SPLITS = {"train": (0, 1), "val": (6513,), "test": (7010, 7011)}


class TestMSRVTTQA(LayoutContract):
    plugin = MSRVTTQA
    options = {"frames": 3}
    other_options = {"frames": 2}
    mistakes = (
        Mistake("test_qa.json", None, "no test_qa.json"),
        Mistake(
            "test_qa.json",
            '[\n{"answer": }]',
            "test_qa.json is no JSON: got expected value at line 2 column 12",
        ),
        Mistake(
            "test_qa.json",
            '[{"answer": "a", "category_id": 20, "id": 1, "question": "q", "video_id": 2}]',
            "test_qa.json entry 1 'category_id': expected less than 20, got 20",
        ),
        Mistake(
            "test_videodatainfo.json",
            '{"videos": [{"video_id": "video7010", "url": "a"}]}',
            "no upload of video7011: expected it in train_val_videodatainfo.json or test_video",
        ),
        Mistake("test_videodatainfo.json", "[]", "test_videodatainfo.json"),
        Mistake(
            "test_qa.json",
            '[{"answer": "a", "category_id": 2, "id": 1, "question": "q", "video_id": "video2"}]',
            "entry 1 'video_id': expected a valid integer",
        ),
    )

    @classmethod
    def written(cls, root: Path) -> None:
        """The question files beside the folders that the challenge's videos come in."""
        number = 0
        for split, videos in SPLITS.items():
            rows = []
            for video in videos:
                for question, answer in (
                    ("what is a man doing?", "sing"),
                    ("who sings?", "man"),
                ):
                    rows.append(
                        {
                            "answer": answer,
                            "category_id": 0,
                            "id": number,
                            "question": question,
                            "video_id": video,
                        }
                    )
                    number += 1
                folder = "TestVideo" if split == "test" else "TrainValVideo"
                MediaFile.video(root / folder / f"video{video}.mp4", 4 + video % 3)
            (root / f"{split}_qa.json").write_text(json.dumps(rows))

    def test_it_says_which_benchmark_it_is(self):
        data = self.open()
        assert isinstance(data, HasBenchmark)
        assert data.benchmark == "MSRVTT-QA"

    def test_a_question_is_a_sample(self):
        data = self.open(frames=2)
        assert [sample.key for sample in data] == ["q6", "q7", "q8", "q9"]
        sample = data[1]
        assert (sample.question, sample.label, sample.choices) == (
            "who sings?",
            "man",
            (),
        )
        assert sample.annotations == {
            "video_id": "video7010",
            "split": "test",
            "question_type": "Who",
            "category": "music",
        }
        assert MediaFile.grey_levels(sample.frames) == [1, 4]
        assert len(data.split("train")) == 4

    def test_clips_of_one_upload_are_a_group(self):
        data = self.open()
        assert [sample.group for sample in data] == ["video7010"] * 2 + [
            "video7011"
        ] * 2
        assert "a clip is a group" in data.facts["uploads"]
        upload = "https://www.youtube.com/watch?v=abc"
        videos = [
            {"video_id": f"video{number}", "url": upload} for number in SPLITS["test"]
        ]
        with self.copy() as root:
            (root / "test_videodatainfo.json").write_text(
                json.dumps({"videos": videos})
            )
            known = self.open(root)
        assert {sample.group for sample in known} == {upload}
        assert "uploads" not in known.facts
        assert known.fingerprint != data.fingerprint

    def test_missing_and_empty_videos_are_left_out_and_said(self):
        with self.copy() as root:
            (root / "TestVideo" / "video7011.mp4").unlink()
            data = self.open(root)
            assert data.facts["left out"].endswith("1 video missing (video7011)")
            assert len(data) == 2
            MediaFile.video(root / "TestVideo" / "video7011.mp4", 0)
            assert (
                "unreadable: no video stream (video7011)"
                in self.open(root).facts["left out"]
            )


def test_the_categories_are_the_twenty_of_msr_vtt():
    assert len(set(CATEGORIES)) == 20
    assert (CATEGORIES[3], CATEGORIES[17]) == ("sports/actions", "cooking")


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("what is a man doing?", "What"),
        ("Who is singing?", "Who"),
        ("how many people dance?", "How"),
        ("when does he jump?", "When"),
        ("where is the dog?", "Where"),
        ("what color is the car?", "Color"),
        ("which one wins?", "Other"),
        ("", "Other"),
    ],
)
def test_question_types(question, kind):
    assert question_type(question) == kind
