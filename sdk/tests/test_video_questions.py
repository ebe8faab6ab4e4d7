"""Questions about videos: found wherever they lie, left out with a word, refused where too many."""

import json
import os

import pytest
from media_files import MediaFile
from pydantic import BaseModel

from cuescope_sdk import BadDataError, Context, UserError
from cuescope_sdk.data._text_files import TextFile
from cuescope_sdk.data._video_questions import (
    Question,
    VideoQuestionOptions,
    VideoQuestions,
    find_videos,
    parse_timed_actions,
)
from cuescope_testing import DatasetContract


class Row(BaseModel):
    id: str
    video: str
    answer: int


class Quiz(VideoQuestions):
    """How many frames has the video?"""

    title = "quiz"
    split_names = ("train", "test")

    def read(self, split):
        for row in self.file(f"{split}.json").json_rows(Row):
            yield Question(row.id, row.video, "how many?", label=str(row.answer))

    def file_names(self, video):
        return (video, f"v_{video}")


def write_quiz(root, split="test", videos=("one", "two", "three", "four")):
    rows = [
        {"id": f"{split}-{video}-{turn}", "video": video, "answer": turn}
        for video in videos
        for turn in range(2)
    ]
    (root / f"{split}.json").write_text(json.dumps(rows))


@pytest.fixture
def root(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    write_quiz(data)
    MediaFile.video(data / "one.mp4", 4)
    MediaFile.video(data / "videos" / "v_two.mkv", 8)
    MediaFile.video(data / "videos" / "deep" / "er" / "three.webm", 5, "libvpx-vp9")
    MediaFile.video(data / "four.avi", 6)
    return data


@pytest.fixture
def quiz(root, tmp_path):
    def quiz(**options):
        return Quiz(
            VideoQuestionOptions(**{"path": root, **options}), Context(cache=tmp_path)
        )

    return quiz


class TestContract(DatasetContract):
    plugin = Quiz

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _tree(cls, tmp_path_factory):
        root = tmp_path_factory.mktemp("quiz")
        for split, videos in {"train": ("a", "b"), "test": ("c",)}.items():
            write_quiz(root, split, videos)
            for number, video in enumerate(videos, start=3):
                MediaFile.video(root / split / f"{video}.mp4", number)
        cls.options = {"path": root, "frames": 3}
        cls.other_options = {"path": root, "frames": 2}


def test_videos_are_found_in_any_folder_by_any_of_their_names(quiz):
    data = quiz(frames=2)
    assert [sample.key for sample in data][:3] == [
        "test-one-0",
        "test-one-1",
        "test-two-0",
    ]
    assert [MediaFile.grey_levels(sample.frames) for sample in data][::2] == [
        [1, 3],
        [2, 6],
        [1, 3],
        [1, 4],
    ]
    assert data[1].label == "1"
    assert data[-1].annotations == {"video_id": "four", "split": "test"}
    assert data.facts == {"questions": "8 about 4 videos, split test"}


def test_what_is_missing_or_unreadable_is_said_and_left_out(quiz, root):
    (root / "videos" / "v_two.mkv").unlink()
    MediaFile.video(root / "four.avi", 0)
    data = quiz()
    assert [sample.key for sample in data][::2] == ["test-one-0", "test-three-0"]
    assert data.facts["questions"] == "4 about 2 videos, split test"
    left_out = data.facts["left out"]
    assert left_out.startswith(
        "4 of 8 questions (at most 50% may be): 1 video missing (two); 1 video unreadable:"
    )
    assert left_out.endswith("(four)")
    with pytest.raises(
        BadDataError, match=r"4 of 8 .*: expected at most 40%.*max_missing=0\.5$"
    ):
        quiz(max_missing=0.4)


def test_nothing_to_show_is_an_error_whatever_is_accepted(quiz, root, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        BadDataError, match=r"8 of 8 .*4 videos missing \(one, two, three, \.\.\.\)"
    ) as e:
        quiz(max_missing=1, videos=tmp_path / "empty")
    assert "max_missing=" not in str(e.value)
    assert "\n" not in str(e.value)


def test_a_broken_video_counts_as_missing(quiz, root):
    (root / "one.mp4").write_bytes(b"no video")
    assert "1 video unreadable: " in quiz().facts["left out"]
    assert len(quiz()) == 6


def test_a_folder_of_videos_must_be_there(quiz, root):
    with pytest.raises(
        UserError, match=r"no such folder: .*vidoes'\. Did you mean 'videos'\?"
    ):
        quiz(videos=root / "vidoes")


def test_a_split_without_questions_is_an_error(quiz, monkeypatch):
    monkeypatch.setattr(Quiz, "read", lambda self, split: ())
    with pytest.raises(UserError, match="quiz: no questions in split test"):
        quiz()


def test_two_files_of_a_video_are_not_guessed_between(quiz, root):
    MediaFile.video(root / "small" / "one.mp4", 4)
    with pytest.raises(
        UserError, match=r"two files of video 'one'.* one\.mp4 and small/one\.mp4"
    ):
        quiz()
    assert len(quiz(videos=root / "small", max_missing=0.9)) == 2


def test_links_are_followed_once(tmp_path):
    data = tmp_path / "data"
    MediaFile.video(data / ".kept" / "a.mp4", 2)
    (data / "videos").symlink_to(data / ".kept")
    (data / ".kept" / "up").symlink_to(data)
    (data / ".b.mp4").write_bytes(b"")
    found = find_videos(data, {"a": ("a",), "b": (".b",)}, "quiz")
    assert found == {"a": data / "videos" / "a.mp4"}


@pytest.mark.parametrize("link", ["videos", "a.mp4"])
def test_links_that_lead_out_are_refused(tmp_path, link):
    MediaFile.video(tmp_path / "elsewhere" / "a.mp4", 2)
    (tmp_path / "data").mkdir()
    target = tmp_path / "elsewhere" / ("" if link == "videos" else link)
    (tmp_path / "data" / link).symlink_to(target)
    with pytest.raises(
        UserError, match=r"leads out of its folder.*a link to .*elsewhere"
    ):
        find_videos(tmp_path / "data", {"a": ("a",)}, "quiz")


def test_a_fingerprint_is_of_questions_and_pixels(quiz, root, tmp_path):
    first = quiz().fingerprint
    assert quiz().fingerprint == first
    assert quiz(frames=4).fingerprint != first
    stamp = (root / "one.mp4").stat().st_mtime_ns
    MediaFile.video(root / "one.mp4", 5)
    os.utime(root / "one.mp4", ns=(stamp, stamp + 1))
    changed = quiz().fingerprint
    assert changed != first
    root.rename(tmp_path / "moved")
    assert quiz(path=tmp_path / "moved").fingerprint == changed
    write_quiz(tmp_path / "moved", videos=("one", "two", "three"))
    assert quiz(path=tmp_path / "moved").fingerprint != changed


def test_splits_are_checked(quiz, root):
    with pytest.raises(
        UserError, match=r"no split 'tset'.*one of train, test.*'test'\?"
    ):
        quiz(split="tset")
    with pytest.raises(UserError, match=r"quiz: no train\.json: .*Did you mean"):
        quiz().split("train")
    (root / "train.json").write_text((root / "test.json").read_text())
    assert quiz().split("train")[0].annotations["split"] == "train"


def test_a_question_stands_once(quiz, root):
    row = {"id": "x", "video": "one", "answer": 1}
    (root / "test.json").write_text(json.dumps([row, row]))
    with pytest.raises(
        UserError, match="question 'x': expected it once, got it 2 times"
    ):
        quiz()


def test_the_question_file_is_found_below_in_any_case(quiz, root):
    (root / "repo" / "dataset").mkdir(parents=True)
    (root / "test.json").rename(root / "repo" / "dataset" / "Test.JSON")
    assert len(quiz()) == 8
    (root / "repo" / "other").mkdir()
    (root / "repo" / "other" / "test.json").write_text("[]")
    with pytest.raises(
        UserError, match=r"several test\.json: expected one, got repo/dataset/Test"
    ):
        quiz()
    with pytest.raises(
        UserError, match=r"no such folder: expected a folder with test\.json"
    ):
        quiz(path=root / "gone")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[{"id": "x"\n"video"}]',
            "test.json is no JSON: got expected `,` or `}` at line 2 column 1",
        ),
        ('{"id": "x"}', "expected a valid array, got {"),
        ("[" * 99999, "no JSON"),
        ("[]", "expected a row or more, got none"),
        ("[3]", "test.json entry 1: expected"),
        ('[{"id": "x", "video": "y"}]', "entry 1 'answer': expected a value, got none"),
        (
            '[{"id": "x", "video": 3, "answer": 2}]',
            "'video': expected a valid string, got 3",
        ),
    ],
)
def test_json_mistakes_are_one_line(quiz, root, text, message):
    (root / "test.json").write_text(text)
    with pytest.raises(UserError, match=r"^quiz: test\.json") as caught:
        quiz()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no column 'id': expected id, video, answer, got an empty file"),
        ("id,video,answer\n", "a row or more"),
        ("id,vidoe,answer\nx,y,1\n", "no column 'video'"),
        ("id,vidoe,answer\nx,y,1\n", "Did you mean 'vidoe'?"),
        ("id,video,answer\nx,y,1\nx,y\n", "line 3: expected 3 cells, got fewer"),
        ('id,video,answer\n"x\nx",y,1,2\n', "line 3: expected 3 cells, got more"),
        ("id,video,answer\nx,y,one\n", "line 2 'answer': expected a valid integer"),
        ("id,video,answer\nx,\xff,1\n", "cannot read t.csv: expected UTF-8 text"),
    ],
)
def test_csv_mistakes_are_one_line(tmp_path, text, message):
    (tmp_path / "t.csv").write_bytes(text.encode("latin-1"))
    with pytest.raises(UserError, match=r"^quiz: ") as caught:
        TextFile(tmp_path / "t.csv", "quiz").csv_rows(Row)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_tables_may_have_more_columns_quotes_and_a_mark_of_their_order(tmp_path):
    text = '\ufeffid,video,answer,note\nx,"a, b",1,\n"line\u2028two",c,2,n\n'
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    rows = TextFile(tmp_path / "t.csv", "quiz").csv_rows(Row)
    assert rows == [
        Row(id="x", video="a, b", answer=1),
        Row(id="line\u2028two", video="c", answer=2),
    ]


def test_lines_know_their_place(tmp_path):
    file = TextFile(tmp_path / "t.txt", "quiz")
    file.path.write_text("one\n\n  two\n")
    lines = list(file.lines())
    assert lines == [("quiz: t.txt line 1", "one"), ("quiz: t.txt line 3", "two")]
    file.path.write_text("\n")
    with pytest.raises(UserError, match="a row or more"):
        list(file.lines())


def test_charades_actions_are_triplets_of_known_classes(tmp_path):
    (tmp_path / "classes.txt").write_text(
        "c000 Holding some clothes\nc008 Opening a door\n"
    )
    classes = TextFile(tmp_path / "classes.txt", "quiz").codes()
    text = "c008 11.90 21.20;c000 0.00 12.60"
    assert parse_timed_actions(text, classes, "here") == (
        ("Opening a door", 11.9, 21.2),
        ("Holding some clothes", 0.0, 12.6),
    )
    assert parse_timed_actions("", classes, "here") == ()
    with pytest.raises(
        UserError, match=r"^here: expected actions 'c092 .*, got 'c008 11\.90'"
    ):
        parse_timed_actions("c000 0.00 12.60;c008 11.90", classes, "here")
    with pytest.raises(UserError, match=r"^here: no action class 'c00'\. Did you mean"):
        parse_timed_actions("c00 0.00 12.60", classes, "here")
