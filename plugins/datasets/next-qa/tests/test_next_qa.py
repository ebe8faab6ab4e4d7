"""The authors' layout becomes samples, the ATP-hard list is of rows; mistakes are one line."""

import json
from pathlib import Path

from media_files import MediaFile

from cuescope_next_qa import NExTQA
from cuescope_sdk import HasBenchmark
from cuescope_testing import LayoutContract, Mistake

HEADER = "video,frame_count,width,height,question,answer,qid,type,a0,a1,a2,a3,a4"
ASKED = [
    'why does he run,2,0,CW,"hungry, tired",late,afraid,happy,bored',
    "what comes after,0,3,TN,sits,runs,jumps,sleeps,eats",
    "how many dogs,4,7,DC,one,two,three,four,five",
]
SPLITS = {"train": ["1", "2"], "val": ["33", "44"], "test": ["5"]}


TABLE, HARD = "dataset/nextqa/val.csv", "dataset/nextqa/atp-hard-ct4.txt"
SUBSET = {"subset": "atp-hard"}


class TestNExTQA(LayoutContract):
    plugin = NExTQA
    options = {"frames": 3}
    other_options = {"frames": 2}
    mistakes = (
        Mistake(TABLE, None, "no val.csv"),
        Mistake(
            TABLE, HEADER.replace("video", "video_id"), "val.csv has no column 'video'"
        ),
        Mistake(TABLE, HEADER.replace("video", "video_id"), "Did you mean 'video_id'?"),
        Mistake(
            TABLE,
            f"{HEADER}\n33,1,1,1,why,0,0,CW,a,b,c,d\n",
            "line 2: expected 13 cells, got fewer",
        ),
        Mistake(
            TABLE,
            f"{HEADER}\n33,1,1,1,why,0,0,CW,a,b,c,d,e\n33,1,1,1,why,5,1,CW,a,b,c,d,e\n",
            "val.csv line 3 'answer': expected less than or equal to 4, got '5'",
        ),
        Mistake(
            TABLE,
            f"{HEADER}\n33,1,1,1,why,0,0,XX,a,b,c,d,e\n",
            "2 'type': expected 'CW'",
        ),
        Mistake("", None, "no atp-hard-ct4.txt: expected it in", SUBSET),
        Mistake(
            HARD,
            "1\n6\n",
            "line 2: expected row numbers of val.csv, 0 to 5, got '6'",
            SUBSET,
        ),
        Mistake(
            HARD,
            "1\n\n33_3\n",
            "line 3: expected row numbers of val.csv, 0 to 5, got '33_3'",
            SUBSET,
        ),
        Mistake(
            HARD,
            "1\n",
            "subset=atp-hard: expected split=val, got split=test",
            {**SUBSET, "split": "test"},
        ),
    )

    @classmethod
    def written(cls, root: Path) -> None:
        """A clone of the authors' repository beside videos as VidOR has them."""
        dataset = root / "dataset" / "nextqa"
        dataset.mkdir(parents=True)
        places = {}
        for split, videos in SPLITS.items():
            lines = [
                f"{video},369,640,480,{asked}" for video in videos for asked in ASKED
            ]
            (dataset / f"{split}.csv").write_text("\n".join([HEADER, *lines]) + "\n")
            for number, video in enumerate(videos, start=4):
                places[video] = f"{number:04d}/{video}"
                MediaFile.video(root / "videos" / f"{places[video]}.mp4", number)
        (dataset / "map_vid_vidorID.json").write_text(json.dumps(places))

    def test_it_says_which_benchmark_it_is(self):
        assert isinstance(self.open(), HasBenchmark)
        assert self.open().benchmark == "NExT-QA"

    def test_a_question_is_a_sample(self):
        data = self.open(frames=2)
        assert [sample.key for sample in data] == [
            "33_0",
            "33_3",
            "33_7",
            "44_0",
            "44_3",
            "44_7",
        ]
        assert [sample.group for sample in data] == ["33"] * 3 + ["44"] * 3
        sample = data[0]
        assert sample.question == "why does he run"
        assert sample.choices == ("hungry, tired", "late", "afraid", "happy", "bored")
        assert sample.label == "afraid"
        assert sample.annotations == {
            "video_id": "33",
            "split": "val",
            "question_type": "Causal",
            "type_code": "CW",
        }
        assert [s.annotations["question_type"] for s in data][1:3] == [
            "Temporal",
            "Descriptive",
        ]
        assert MediaFile.grey_levels(sample.frames) == [1, 3]
        assert [sample.key for sample in data.split("test")] == ["5_0", "5_3", "5_7"]

    def test_atp_hard_is_a_list_of_rows(self):
        with self.copy() as root:
            (root / HARD).write_text("1\n3\n4\n")
            data, hard = self.open(root), self.open(root, **SUBSET)
            assert [sample.key for sample in hard] == ["33_3", "44_0", "44_3"]
            marked = [sample.key for sample in data if "subsets" in sample.annotations]
            assert marked == ["33_3", "44_0", "44_3"]
            assert data[1].annotations["subsets"] == ("atp-hard",)
            assert hard.fingerprint != data.fingerprint
            assert (data.benchmark, hard.benchmark) == ("NExT-QA", "ATP-Hard")

    def test_missing_and_empty_videos_are_left_out_and_said(self):
        with self.copy() as root:
            video = root / "videos" / "0005" / "44.mp4"
            video.unlink()
            assert self.open(root).facts["left out"] == (
                "3 of 6 questions (at most 50% may be): 1 video missing (44)"
            )
            MediaFile.video(video, 0)
            assert (
                "unreadable: no video stream (44)" in self.open(root).facts["left out"]
            )
            assert "expected at most 20%" in str(self.refusal(root, max_missing=0.2))
