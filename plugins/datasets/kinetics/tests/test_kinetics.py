"""The authors' tables and the usual folders become samples; each mistake in them is one line."""

from pathlib import Path

from media_files import MediaFile

from cuescope_kinetics import Kinetics
from cuescope_testing import LayoutContract, Mistake

HEADER = "label,youtube_id,time_start,time_end,split,is_cc"
ACTIONS = ("abseiling", "passing American football (in game)")


def write_table(file: Path, clips: list[tuple[str, str, int]], split: str) -> None:
    rows = [
        f"{label},{name},{start},{start + 10},{split},0" for label, name, start in clips
    ]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join([HEADER, *rows]))


class TestKinetics(LayoutContract):
    plugin = Kinetics
    options = {"frames": 3, "max_missing": 0.5}
    other_options = {"frames": 2}
    mistakes = (
        Mistake(
            "annotations/val.csv", "label,youtube_id\nx,y\n", "no column 'time_start'"
        ),
        Mistake(
            "annotations/val.csv",
            f"{HEADER}\nabseiling,a,9,3,val,0\n",
            "val.csv row 1, a: expected time_end after time_start, got 9 to 3 seconds",
        ),
        Mistake(
            "annotations/val.csv",
            "youtube_id,time_start,time_end\na,0,10\n",
            "row 1, a: expected the label of the clip, got none. The authors' test.csv has no",
        ),
        Mistake(
            "annotations/val.csv", None, "no table of split val: expected val.csv in "
        ),
        Mistake("", None, "no class 'abseilin'", {"classes": ("abseilin",)}),
        Mistake("", None, "Did you mean 'val-dev'?", {"split": "val-dv"}),
    )

    @classmethod
    def written(cls, root: Path) -> None:
        """CVDF's names of files, and one file called by the id alone; no label but in the table."""
        clips = [(ACTIONS[n % 2], f"up_-load{n}", 7 * n) for n in range(8)]
        write_table(root / "annotations" / "val.csv", clips, "val")
        for number, (_, name, start) in enumerate(clips):
            stem = name if number == 7 else f"{name}_{start:06d}_{start + 10:06d}"
            MediaFile.video(root / "val" / f"{stem}.mp4", 4 + number)

    def test_a_clip_is_a_sample(self):
        data = self.open()
        assert data.labels == ACTIONS
        assert data[1].key == "up_-load1_000007_000017"
        assert (data[1].label, data[1].group, data[1].choices) == (
            ACTIONS[1],
            "up_-load1",
            ACTIONS,
        )
        assert data[1].annotations["clip"] == (7.0, 17.0)
        assert [
            sample.key for sample in self.open(classes=ACTIONS[:1], per_class=1)
        ] == ["up_-load4_000028_000038"]

    def test_the_validation_set_is_parted_by_seed(self):
        dev, test = self.open(split="val-dev"), self.open(split="val-test")
        groups = [{sample.group for sample in part} for part in (dev, test)]
        assert not groups[0] & groups[1]
        assert len(groups[0] | groups[1]) == 8
        for part in (dev, test):
            assert sorted(sample.label for sample in part) == sorted(ACTIONS * 2)
        # what is missing, or not wanted, moves no clip to the other part
        alone = self.open(split="val-dev", classes=ACTIONS[:1])
        assert [s.group for s in alone] == [
            s.group for s in dev if s.label == ACTIONS[0]
        ]
        assert {s.group for s in self.open(split="val-dev", split_seed=1)} != groups[0]

    def test_of_a_whole_upload_only_the_clip_is_shown(self):
        with self.copy() as root:
            write_table(root / "annotations" / "val.csv", [(ACTIONS[0], "x", 2)], "val")
            MediaFile.video(root / "val" / "x.mp4", 140)  # 10 frames a second
            assert [f.source.index for f in self.open(root)[0].frames] == [36, 70, 103]

    def test_missing_videos_are_said(self):
        with self.copy() as root:
            for video in (root / "val").glob("up_-load[135]*"):
                video.unlink()
            facts = self.open(root).facts
            assert facts["clips"] == "5 about 5 videos, split val"
            assert facts["left out"].startswith(
                "3 of 8 clips (at most 50% may be): 3 videos mis"
            )
            assert "3 of 8 clips cannot be shown" in str(
                self.refusal(root, max_missing=0.3)
            )
            (root / "val" / "up_-load7.mp4").unlink()
            assert (
                self.open(root)
                .facts["classes without a clip"]
                .startswith(f"1 of 2 ({ACTIONS[1]}")
            )

    def test_folders_of_classes_need_no_table(self):
        with self.copy() as root:
            (root / "annotations" / "val.csv").unlink()
            MediaFile.video(
                root / "val_256" / "air_drumming" / "a_b_000012_000022.mp4", 4
            )
            [sample] = self.open(root, split="val")
            assert (sample.label, sample.group) == ("air drumming", "a_b")
            assert MediaFile.grey_levels(sample.frames) == [0, 2, 3]
