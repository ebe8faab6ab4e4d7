"""The authors' layout becomes annotated videos; each mistake in it is one line."""

from pathlib import Path

from media_files import MediaFile

from cuescope_charades_sta import CharadesSTA
from cuescope_sdk import HasBenchmark
from cuescope_testing import LayoutContract, Mistake

HEADER = "id,subject,scene,quality,relevance,verified,script,objects,descriptions,actions,length"
CLASSES = (
    "c000 Holding some clothes\nc001 Putting clothes somewhere\nc008 Opening a door\n"
)
SPLITS = {"train": ("AAAAA", "BBBBB"), "test": ("CCCCC", "DDDDD")}


def row(video: str) -> str:
    return (
        f'{video},HR43,Kitchen,6,7,Yes,"A person, running.",clothes;door,He runs.;He stops.,'
        "c008 11.90 21.20;c000 0.00 12.60,31.00"
    )


TABLE, MOMENTS = "Charades/Charades_v1_test.csv", "charades_sta_test.txt"


class TestCharadesSTA(LayoutContract):
    plugin = CharadesSTA
    options = {"frames": 3}
    other_options = {"frames": 2}
    mistakes = (
        Mistake(
            "", None, "no split 'val': expected one of train, test", {"split": "val"}
        ),
        Mistake(MOMENTS, None, "no charades_sta_test.txt"),
        Mistake(
            MOMENTS,
            "CCCCC 0.0 6.9##runs\n\nDDDDD 0.0 runs\n",
            "test.txt line 3: expected 'VIDEO START END##sentence', got 'DDDDD 0.0",
        ),
        Mistake(
            MOMENTS,
            "ZZZZZ 0.0 6.9##runs\n",
            "Charades_v1_test.csv has no video 'ZZZZZ'",
        ),
        Mistake(TABLE, None, "no Charades_v1_test.csv"),
        Mistake(TABLE, "id,scene\n", "no column 'script'"),
        Mistake(
            TABLE,
            f"{HEADER}\n{row('CCCCC').replace('31.00', 'long')}\n",
            "Charades_v1_test.csv line 2 'length': expected a valid number",
        ),
        Mistake(
            TABLE,
            f"{HEADER}\n{row('CCCCC').replace(' 21.20', '')}\n",
            "video CCCCC: expected actions 'c092 11.90 21.20', got 'c008 11.90'",
        ),
        Mistake(
            TABLE,
            f"{HEADER}\n{row('CCCCC').replace('c008', 'c009')}\n",
            "video CCCCC: no action class 'c009'. Did you mean",
        ),
        Mistake(
            "Charades/Charades_v1_classes.txt",
            "c000\n",
            "classes.txt line 1: expected a code and a name",
        ),
    )

    @classmethod
    def written(cls, root: Path) -> None:
        """Charades' annotation folder, its videos, and the two files of Charades-STA."""
        charades = root / "Charades"
        charades.mkdir()
        (charades / "Charades_v1_classes.txt").write_text(CLASSES)
        for split, videos in SPLITS.items():
            lines = [HEADER, *map(row, videos), row(f"X{split}")]
            (charades / f"Charades_v1_{split}.csv").write_text("\n".join(lines) + "\n")
            moments = [f"{v} 24.3 30.4##person opens a door." for v in videos]
            moments += [f"{v} 0.0 6.9##a person # holds clothes." for v in videos]
            (root / f"charades_sta_{split}.txt").write_text("\n".join(moments) + "\n")
            for number, video in enumerate(videos, start=4):
                MediaFile.video(root / "Charades_v1_480" / f"{video}.mp4", number)

    def test_it_says_which_benchmark_it_is(self):
        data = self.open()
        assert isinstance(data, HasBenchmark)
        assert data.benchmark == "Charades-STA"

    def test_a_video_is_a_sample_that_asks_nothing(self):
        data = self.open(frames=2)
        assert [sample.key for sample in data] == ["CCCCC", "DDDDD"]
        assert [sample.group for sample in data] == ["CCCCC", "DDDDD"]
        sample = data[0]
        assert (sample.question, sample.label, sample.choices) == (None, None, ())
        assert sample.annotations == {
            "video_id": "CCCCC",
            "split": "test",
            "moments": (
                ("a person # holds clothes.", 0.0, 6.9),
                ("person opens a door.", 24.3, 30.4),
            ),
            "timed_actions": (
                ("Holding some clothes", 0.0, 12.6),
                ("Opening a door", 11.9, 21.2),
            ),
            "duration": 31.0,
            "scene": "Kitchen",
            "objects": ("clothes", "door"),
            "script": "A person, running.",
            "descriptions": ("He runs.", "He stops."),
        }
        assert MediaFile.grey_levels(sample.frames) == [1, 3]
        assert [sample.key for sample in data.split("train")] == ["AAAAA", "BBBBB"]

    def test_a_video_may_have_no_actions(self):
        with self.copy() as root:
            text = (root / TABLE).read_text()
            (root / TABLE).write_text(
                text.replace("c008 11.90 21.20;c000 0.00 12.60", "")
            )
            assert self.open(root)[0].annotations["timed_actions"] == ()

    def test_missing_and_empty_videos_are_left_out_and_said(self):
        with self.copy() as root:
            video = root / "Charades_v1_480" / "DDDDD.mp4"
            video.unlink()
            assert self.open(root).facts["left out"].endswith("1 video missing (DDDDD)")
            MediaFile.video(video, 0)
            assert (
                "unreadable: no video stream (DDDDD)"
                in self.open(root).facts["left out"]
            )
            assert "expected at most 20%" in str(self.refusal(root, max_missing=0.2))
