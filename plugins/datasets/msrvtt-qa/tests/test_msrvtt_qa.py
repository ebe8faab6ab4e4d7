"""The authors' layout becomes samples; each mistake in it is one line."""

import json
from pathlib import Path

import pytest

from cuescope_msrvtt_qa import CATEGORIES, MSRVTTQA, question_type
from cuescope_sdk import BadDataError, Context, UserError
from cuescope_sdk.testing import DatasetContract
from cuescope_sdk.testing.videos import grey_levels, write_video

SPLITS = {"train": (0, 1), "val": (6513,), "test": (7010, 7011)}


def write_release(root: Path) -> Path:
    """The question files beside the folders that the challenge's videos come in."""
    number = 0
    for split, videos in SPLITS.items():
        rows = []
        for video in videos:
            for question, answer in (("what is a man doing?", "sing"), ("who sings?", "man")):
                rows.append(
                    {"answer": answer, "category_id": 0, "id": number, "question": question,
                     "video_id": video}
                )  # fmt: skip
                number += 1
            folder = "TestVideo" if split == "test" else "TrainValVideo"
            write_video(root / folder / f"video{video}.mp4", 4 + video % 3)
        (root / f"{split}_qa.json").write_text(json.dumps(rows))
    return root


class TestContract(DatasetContract):
    plugin = MSRVTTQA

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _release(cls, tmp_path_factory: pytest.TempPathFactory) -> None:
        root = write_release(tmp_path_factory.mktemp("msrvtt"))
        cls.options = {"path": root, "frames": 3}
        cls.other_options = {"path": root, "frames": 2}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return write_release(tmp_path / "data")


@pytest.fixture
def opened(root, tmp_path):
    def opened(**options):
        return MSRVTTQA(
            MSRVTTQA.Options(**{"path": root, **options}), Context(cache=tmp_path / "cache")
        )

    return opened


def test_a_question_is_a_sample(opened):
    data = opened(frames=2)
    assert [sample.key for sample in data] == ["q6", "q7", "q8", "q9"]
    sample = data[1]
    assert (sample.question, sample.label, sample.choices) == ("who sings?", "man", ())
    assert sample.annotations == {
        "video_id": "video7010", "split": "test", "question_type": "Who", "category": "music",
    }  # fmt: skip
    assert grey_levels(sample.frames) == [1, 4]
    assert len(data.split("train")) == 4


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


def test_missing_and_empty_videos_are_left_out_and_said(opened, root):
    (root / "TestVideo" / "video7011.mp4").unlink()
    assert opened().facts["left out"].endswith("1 video missing (video7011)")
    assert len(opened()) == 2
    write_video(root / "TestVideo" / "video7011.mp4", 0)
    assert "unreadable: no video stream (video7011)" in opened().facts["left out"]
    (root / "TestVideo" / "video7010.mp4").unlink()
    with pytest.raises(BadDataError, match=r"msrvtt-qa: 4 of 4 questions cannot be shown"):
        opened()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, r"no test_qa\.json"),
        ('[\n{"answer": }]', r"test_qa\.json line 2 column 12 is no JSON"),
        ('[{"answer": "a", "category_id": 20, "id": 1, "question": "q", "video_id": 2}]',
         r"test_qa\.json entry 1 'category_id': expected less than 20, got 20"),
        ('[{"answer": "a", "category_id": 2, "id": 1, "question": "q", "video_id": "video2"}]',
         r"entry 1 'video_id': expected a valid integer.* got 'video2'"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(opened, root, text, message):
    (root / "test_qa.json").unlink()
    if text is not None:
        (root / "test_qa.json").write_text(text)
    with pytest.raises(UserError, match=message) as caught:
        opened()
    assert str(caught.value).startswith("msrvtt-qa: ")
    assert "\n" not in str(caught.value)
