"""The authors' layout becomes samples, the ATP-hard list is of rows; mistakes are one line."""

import json
from pathlib import Path

import pytest

from cuescope_next_qa import NExTQA
from cuescope_sdk import BadDataError, Context, UserError
from cuescope_sdk.testing import DatasetContract
from cuescope_sdk.testing.videos import grey_levels, write_video

HEADER = "video,frame_count,width,height,question,answer,qid,type,a0,a1,a2,a3,a4"
ASKED = [
    'why does he run,2,0,CW,"hungry, tired",late,afraid,happy,bored',
    "what comes after,0,3,TN,sits,runs,jumps,sleeps,eats",
    "how many dogs,4,7,DC,one,two,three,four,five",
]
SPLITS = {"train": ["1", "2"], "val": ["33", "44"], "test": ["5"]}


def write_release(root: Path) -> Path:
    """A clone of the authors' repository beside videos as VidOR has them."""
    dataset = root / "dataset" / "nextqa"
    dataset.mkdir(parents=True)
    places = {}
    for split, videos in SPLITS.items():
        lines = [f"{video},369,640,480,{asked}" for video in videos for asked in ASKED]
        (dataset / f"{split}.csv").write_text("\n".join([HEADER, *lines]) + "\n")
        for number, video in enumerate(videos, start=4):
            places[video] = f"{number:04d}/{video}"
            write_video(root / "videos" / f"{places[video]}.mp4", number)
    (dataset / "map_vid_vidorID.json").write_text(json.dumps(places))
    return root


class TestContract(DatasetContract):
    plugin = NExTQA

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _release(cls, tmp_path_factory: pytest.TempPathFactory) -> None:
        root = write_release(tmp_path_factory.mktemp("next"))
        cls.options = {"path": root, "frames": 3}
        cls.other_options = {"path": root, "frames": 2}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return write_release(tmp_path / "data")


@pytest.fixture
def hard(root):
    return root / "dataset" / "nextqa" / "atp-hard-ct4.txt"


@pytest.fixture
def opened(root, tmp_path):
    def opened(**options):
        return NExTQA(
            NExTQA.Options(**{"path": root, **options}), Context(cache=tmp_path / "cache")
        )

    return opened


def test_a_question_is_a_sample(opened):
    data = opened(frames=2)
    assert [sample.key for sample in data] == ["33_0", "33_3", "33_7", "44_0", "44_3", "44_7"]
    sample = data[0]
    assert sample.question == "why does he run"
    assert sample.choices == ("hungry, tired", "late", "afraid", "happy", "bored")
    assert sample.label == "afraid"
    assert sample.annotations == {
        "video_id": "33", "split": "val", "question_type": "Causal", "type_code": "CW",
    }  # fmt: skip
    assert [s.annotations["question_type"] for s in data][1:3] == ["Temporal", "Descriptive"]
    assert grey_levels(sample.frames) == [1, 3]
    assert [sample.key for sample in data.split("test")] == ["5_0", "5_3", "5_7"]


def test_atp_hard_is_a_list_of_rows(opened, hard):
    hard.write_text("1\n3\n4\n")
    assert [sample.key for sample in opened(subset="atp-hard")] == ["33_3", "44_0", "44_3"]
    marked = [sample.key for sample in opened() if "subsets" in sample.annotations]
    assert marked == ["33_3", "44_0", "44_3"]
    assert opened()[1].annotations["subsets"] == ("atp-hard",)
    assert opened(subset="atp-hard").fingerprint != opened().fingerprint


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (None, {}, r"no atp-hard-ct4\.txt: expected it in"),
        ("1\n6\n", {}, r"ct4\.txt line 2: expected row numbers of val\.csv, 0 to 5, got '6'"),
        ("1\n\n33_3\n", {}, r"line 3: expected row numbers.* got '33_3'"),
        ("1\n", {"split": "test"}, r"subset=atp-hard: expected split=val, got split=test"),
    ],
)  # fmt: skip
def test_a_list_that_cannot_be_used(opened, hard, text, options, message):
    if text is not None:
        hard.write_text(text)
    with pytest.raises(UserError, match=message):
        opened(subset="atp-hard", **options)


def test_missing_and_empty_videos_are_left_out_and_said(opened, root):
    video = root / "videos" / "0005" / "44.mp4"
    video.unlink()
    assert opened().facts["left out"] == (
        "3 of 6 questions (at most 50% may be): 1 video missing (44)"
    )
    write_video(video, 0)
    assert "unreadable: no video stream (44)" in opened().facts["left out"]
    with pytest.raises(BadDataError, match="expected at most 20%"):
        opened(max_missing=0.2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, r"no val\.csv"),
        (HEADER.replace("video", "video_id"), r"val\.csv has no column 'video'.*'video_id'"),
        (f"{HEADER}\n33,1,1,1,why,0,0,CW,a,b,c,d\n", r"line 2: expected 13 cells, got fewer"),
        (f"{HEADER}\n33,1,1,1,why,0,0,CW,a,b,c,d,e\n33,1,1,1,why,5,1,CW,a,b,c,d,e\n",
         r"val\.csv line 3 'answer': expected less than or equal to 4, got '5'"),
        (f"{HEADER}\n33,1,1,1,why,0,0,XX,a,b,c,d,e\n", r"line 2 'type': expected .*'CW'"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(opened, root, text, message):
    file = root / "dataset" / "nextqa" / "val.csv"
    file.unlink()
    if text is not None:
        file.write_text(text)
    with pytest.raises(UserError, match=message) as caught:
        opened()
    assert str(caught.value).startswith("next-qa: ")
    assert "\n" not in str(caught.value)
