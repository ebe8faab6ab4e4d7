"""The authors' layout becomes annotated videos; each mistake in it is one line."""

from pathlib import Path

import pytest

from cuescope_charades_sta import CharadesSTA
from cuescope_sdk import BadDataError, Context, UserError
from cuescope_sdk.testing import DatasetContract
from cuescope_sdk.testing.videos import grey_levels, write_video

HEADER = "id,subject,scene,quality,relevance,verified,script,objects,descriptions,actions,length"
CLASSES = "c000 Holding some clothes\nc001 Putting clothes somewhere\nc008 Opening a door\n"
SPLITS = {"train": ("AAAAA", "BBBBB"), "test": ("CCCCC", "DDDDD")}


def row(video: str) -> str:
    return (
        f'{video},HR43,Kitchen,6,7,Yes,"A person, running.",clothes;door,He runs.;He stops.,'
        "c008 11.90 21.20;c000 0.00 12.60,31.00"
    )


def write_release(root: Path) -> Path:
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
            write_video(root / "Charades_v1_480" / f"{video}.mp4", number)
    return root


class TestContract(DatasetContract):
    plugin = CharadesSTA

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _release(cls, tmp_path_factory: pytest.TempPathFactory) -> None:
        root = write_release(tmp_path_factory.mktemp("charades"))
        cls.options = {"path": root, "frames": 3}
        cls.other_options = {"path": root, "frames": 2}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return write_release(tmp_path / "data")


@pytest.fixture
def opened(root, tmp_path):
    def opened(**options):
        return CharadesSTA(
            CharadesSTA.Options(**{"path": root, **options}), Context(cache=tmp_path / "cache")
        )

    return opened


def test_a_video_is_a_sample_that_asks_nothing(opened):
    data = opened(frames=2)
    assert [sample.key for sample in data] == ["CCCCC", "DDDDD"]
    sample = data[0]
    assert (sample.question, sample.label, sample.choices) == (None, None, ())
    assert sample.annotations == {
        "video_id": "CCCCC",
        "split": "test",
        "moments": (("a person # holds clothes.", 0.0, 6.9), ("person opens a door.", 24.3, 30.4)),
        "timed_actions": (("Holding some clothes", 0.0, 12.6), ("Opening a door", 11.9, 21.2)),
        "duration": 31.0,
        "scene": "Kitchen",
        "objects": ("clothes", "door"),
        "script": "A person, running.",
        "descriptions": ("He runs.", "He stops."),
    }
    assert grey_levels(sample.frames) == [1, 3]
    assert [sample.key for sample in data.split("train")] == ["AAAAA", "BBBBB"]


def test_a_video_may_have_no_actions(opened, root):
    file = root / "Charades" / "Charades_v1_test.csv"
    file.write_text(file.read_text().replace("c008 11.90 21.20;c000 0.00 12.60", ""))
    assert opened()[0].annotations["timed_actions"] == ()


def test_there_is_no_split_val(opened):
    with pytest.raises(UserError, match=r"no split 'val': expected one of train, test"):
        opened().split("val")


def test_missing_and_empty_videos_are_left_out_and_said(opened, root):
    video = root / "Charades_v1_480" / "DDDDD.mp4"
    video.unlink()
    assert opened().facts["left out"].endswith("1 video missing (DDDDD)")
    write_video(video, 0)
    assert "unreadable: no video stream (DDDDD)" in opened().facts["left out"]
    with pytest.raises(BadDataError, match="expected at most 20%"):
        opened(max_missing=0.2)


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("charades_sta_test.txt", None, r"no charades_sta_test\.txt"),
        ("charades_sta_test.txt", "CCCCC 0.0 6.9##runs\n\nDDDDD 0.0 runs\n",
         r"charades_sta_test\.txt line 3: expected 'VIDEO START END##sentence', got 'DDDDD 0\.0"),
        ("charades_sta_test.txt", "ZZZZZ 0.0 6.9##runs\n",
         r"Charades_v1_test\.csv has no video 'ZZZZZ'"),
        ("Charades/Charades_v1_test.csv", None, r"no Charades_v1_test\.csv"),
        ("Charades/Charades_v1_test.csv", "id,scene\n", r"no column 'script'"),
        ("Charades/Charades_v1_test.csv", f"{HEADER}\n{row('CCCCC').replace('31.00', 'long')}\n",
         r"Charades_v1_test\.csv line 2 'length': expected a valid number.* got 'long'"),
        ("Charades/Charades_v1_test.csv", f"{HEADER}\n{row('CCCCC').replace(' 21.20', '')}\n",
         r"video CCCCC: expected actions 'c092 11\.90 21\.20', got 'c008 11\.90'"),
        ("Charades/Charades_v1_test.csv", f"{HEADER}\n{row('CCCCC').replace('c008', 'c009')}\n",
         r"video CCCCC: no action class 'c009'\. Did you mean"),
        ("Charades/Charades_v1_classes.txt", "c000\n", r"classes\.txt line 1: expected 'c000 Name"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(opened, root, file, text, message):
    (root / file).unlink()
    if text is not None:
        (root / file).write_text(text)
    with pytest.raises(UserError, match=message) as caught:
        opened()
    assert str(caught.value).startswith("charades-sta: ")
    assert "\n" not in str(caught.value)
