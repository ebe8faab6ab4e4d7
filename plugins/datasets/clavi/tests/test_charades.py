"""CLAVI on a tiny Charades folder in the authors' layout, curated and as published."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from media_files import MediaFile

from cuescope_clavi import Clavi, ClaviOptions
from cuescope_clavi.bench import ClaviBench, ClaviBenchOptions
from cuescope_clavi.layout import authors_split, in_split, phrase_of, read_questions
from cuescope_clavi.questions import segment_questions
from cuescope_sdk import BadDataError, Context, HasBenchmark, Sample, UserError
from cuescope_testing import DatasetContract

HEADER = "id,subject,scene,quality,relevance,verified,script,objects,descriptions,actions,length\n"
CLASSES = {
    "c000": "Holding some clothes",
    "c001": "Putting clothes somewhere",
    "c063": "Taking food from somewhere",
    "c095": "Washing a mirror",
    "c149": "Someone is laughing",
}
OBJECTS = {
    "c000": "o009 v009",
    "c001": "o009 v014",
    "c063": "o018 v022",
    "c095": "o023 v027",
    "c149": "o000 v010",
}
# Of 1.2 s at 10 frames a second: frame i is on screen from i / 10 s.
VIDEOS = {
    "AAAAA": "c000 0.20 0.50;c063 0.70 1.10",
    "BBBBB": "c063 0.00 0.40;c000 0.80 1.20;c149 0.10 0.90",
    "CCCCC": "c000 0.00 1.20",
    "DDDDD": "",
}
FINE = {"shortest": 0.2, "extension": 0.2}


def write_charades(
    root: Path, videos: Mapping[str, str] = VIDEOS, mapping: bool = True
) -> Path:
    notes = root / "Charades"
    notes.mkdir(parents=True, exist_ok=True)
    for split in ("train", "test"):
        rows = [
            f'{name},S,Room,6,6,Yes,"a, b",x;y,"c","{acts}",1.2\n'
            for name, acts in videos.items()
        ]
        (notes / f"Charades_v1_{split}.csv").write_text(HEADER + "".join(rows), "utf-8")
    (notes / "Charades_v1_classes.txt").write_text(_lines(CLASSES), "utf-8")
    if mapping:
        (notes / "Charades_v1_mapping.txt").write_text(_lines(OBJECTS), "utf-8")
    for name in videos:
        MediaFile.video(root / "Charades_v1_480" / f"{name}.mp4", 12)
    return root


def _lines(entries: Mapping[str, str]) -> str:
    return "".join(f"{code} {text}\n" for code, text in entries.items())


@pytest.fixture(scope="session")
def charades(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_charades(tmp_path_factory.mktemp("charades"))


@pytest.fixture
def own(charades: Path, tmp_path: Path) -> Path:
    """A copy to spoil."""
    return Path(shutil.copytree(charades, tmp_path / "own"))


def build(root: Path, cache: Path, **options: Any) -> Clavi:
    return Clavi(
        ClaviOptions(**{"source": str(root), **FINE, **options}), Context(cache=cache)
    )


def by_video(data: Clavi) -> dict[tuple[str, str], list[Sample]]:
    found: dict[tuple[str, str], list[Sample]] = {}
    for sample in (data[index] for index in range(len(data))):
        key = sample.annotations["video_id"], sample.annotations["video"]
        found.setdefault(key, []).append(sample)
    return found


class TestContract(DatasetContract):
    plugin = Clavi
    # the tiny one has no videos left for the others to differ in
    split_names = ("test",)

    @pytest.fixture(autouse=True)
    @classmethod
    def _folder(cls, charades: Path) -> None:
        cls.options = {"source": str(charades), **FINE}
        cls.other_options = {**cls.options, "frames": 4}


def test_segments_are_cut_and_swapped_without_writing_a_video(
    charades: Path, tmp_path: Path
) -> None:
    data = build(charades, tmp_path, extension=0, frames=9)
    videos = by_video(data)
    assert {name for name, _ in videos} == {"AAAAA", "BBBBB"}
    for (
        name,
        _,
    ), samples in videos.items():  # a complement is of the group of its original
        assert {sample.group for sample in samples} == {name}
    first, second = videos["AAAAA", "original"][0], videos["AAAAA", "complement"][0]
    assert MediaFile.grey_levels(first.frames) == [2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert MediaFile.grey_levels(second.frames) == [7, 8, 9, 10, 5, 6, 2, 3, 4]
    assert first.annotations["actions"] == (
        ("holding some clothes", 0, 3),
        ("taking food from somewhere", 5, 9),
    )
    assert second.annotations["actions"] == (
        ("taking food from somewhere", 0, 4),
        ("holding some clothes", 6, 9),
    )
    assert (
        data.facts["segments"] == "2 of 2 videos, each with its complement, split test"
    )
    assert isinstance(data, HasBenchmark)
    assert data.benchmark == "CLAVI"


def test_questions_use_the_class_names_and_a_negative_control_unlike_the_video(
    charades: Path, tmp_path: Path
) -> None:
    names = "holding some clothes", "taking food from somewhere"
    for seed in range(5):
        videos = by_video(build(charades, tmp_path, seed=seed))
        asked = [(s.question, s.label) for s in videos["BBBBB", "original"]]
        # Laughing is in that video, and putting clothes has its object in common with it.
        expected = segment_questions(*names[::-1], "washing a mirror")
        assert asked == [(q.text, q.answer(complement=False)) for q in expected]
    # laughing has no object: nothing is asked of it
    negatives = {
        by_video(build(charades, tmp_path, seed=seed))["AAAAA", "original"][2].question
        for seed in range(12)
    }
    assert negatives == {"Was someone washing a mirror?"}


def test_without_the_mapping_words_tell_what_actions_share(
    own: Path, tmp_path: Path
) -> None:
    (own / "Charades" / "Charades_v1_mapping.txt").unlink()
    asked = by_video(build(own, tmp_path))["BBBBB", "original"][2].question
    assert asked == "Was someone washing a mirror?"


def test_names_and_splits() -> None:
    assert phrase_of("Someone is laughing") == "laughing"
    assert phrase_of("Holding a phone/camera") == "holding a phone/camera"
    ids = [f"V{index:04d}" for index in range(2000)]
    train, val = ([v for v in ids if in_split(v, split)] for split in ("train", "val"))
    assert sorted(train + val) == ids
    assert 150 < len(val) < 250
    assert authors_split("val") == "train"


# --------------------------------------------------------------------- as the authors publish it


def published(root: Path, **changes: Any) -> Path:
    segment = {
        "vid_id": "AAAAA",
        "vid_len": "1.20",
        "start_time": "0.20",
        "end_time": "1.10",
        "subject": "S",
        "info": [["c000", "0.20", "0.50"], ["c063", "0.70", "1.10"]],
        "other_actions": [],
        "ext": {"out_a": "0.1", "out_b": "1.1", "in_a": "0.6", "in_b": "0.7"},
    }
    folder = root / "json_files"
    folder.mkdir(exist_ok=True)
    text = json.dumps({"c4fc409a": {**segment, **changes}})
    (folder / "test_annotations.json").write_text(text, "utf-8")
    return folder


def ask(folder: Path, records: list[tuple[str, str, str, int]]) -> None:
    questions = [
        {"question_id": str(i), "video_name": name, "question": text}
        for i, (name, text, _, _) in enumerate(records)
    ]
    answers = [
        {"question_id": str(i), "answer": answer, "type": kind}
        for i, (_, _, answer, kind) in enumerate(records)
    ]
    (folder / "test_q.json").write_text(json.dumps(questions), "utf-8")
    (folder / "test_a.json").write_text(json.dumps(answers), "utf-8")


def test_published_cuts_are_taken_as_they_are(charades: Path, tmp_path: Path) -> None:
    data = build(charades, tmp_path, annotation=published(tmp_path), frames=10)
    first, second = data[0], data[19]
    assert first.key == "c4fc409a_1-00"
    assert second.key == "c4fc409a_2-00"
    assert MediaFile.grey_levels(first.frames) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert MediaFile.grey_levels(second.frames) == [7, 8, 9, 10, 6, 1, 2, 3, 4, 5]
    assert len(data) == 38


def test_published_questions_are_read_with_their_complements(
    charades: Path, tmp_path: Path
) -> None:
    folder = published(tmp_path)
    before = "Did holding clothes happen before taking food?"
    after = "Did holding clothes happen after taking food?"
    ask(
        folder,
        [
            ("c4fc409a_1", "Was someone holding clothes?", "yes", 0),
            ("c4fc409a_1", before, "yes", 8),
            ("c4fc409a_1", after, "no", 9),
            ("c4fc409a_2", before, "no", 24),
            ("c4fc409a_2", after, "yes", 25),
            ("c4fc409a_2", "Did washing mirror happen after taking food?", "no", 26),
        ],
    )
    data = build(charades, tmp_path, annotation=folder)
    asked = [data[index] for index in range(len(data))]
    assert [(s.key[9], s.question, s.label) for s in asked[1:5]] == [
        ("1", before, "yes"),
        ("1", after, "no"),
        ("2", before, "no"),
        ("2", after, "yes"),
    ]
    kinds = [s.annotations["question_type"] for s in asked]
    assert kinds == ["E", "BA", "BA", "BA", "BA", "BA-NC"]
    assert asked[1].annotations["counterparts"] == {
        "video": "c4fc409a_2-00",
        "text": "c4fc409a_1-02",
    }
    assert asked[0].annotations["counterparts"] == {}
    forms = [s.annotations.get("question_form") for s in asked]
    assert forms == [None, "Q", "Q'", "Q", "Q'", None]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {"ext": {"out_a": "0.1"}},
            "'c4fc409a' 'ext' 'in_a': expected a value, got none",
        ),
        (
            {"info": [["c999", "0", "1"], ["c000", "2", "3"]]},
            "expected a class of Charades",
        ),
    ],
)
def test_a_published_segment_in_another_layout(
    changes: dict[str, Any], line: str, charades: Path, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=line):
        build(charades, tmp_path, annotation=published(tmp_path, **changes))


def test_published_questions_of_an_unknown_kind(charades: Path, tmp_path: Path) -> None:
    folder = published(tmp_path)
    ask(folder, [("c4fc409a_1", "Was it?", "yes", 3)])
    with pytest.raises(
        UserError, match=r"test_q.json: question 0: .* got type 3, 'c4fc409a_1'"
    ):
        build(charades, tmp_path, annotation=folder)


# ----------------------------------------------------------------------------- clips as files


def test_clips_are_written_and_shown_in_place_of_segments(
    charades: Path, tmp_path: Path
) -> None:
    options = {"source": str(charades), **FINE, "extension": 0}
    context = Context(cache=tmp_path / "cache")
    bench = ClaviBench(ClaviBenchOptions(**options, write=tmp_path / "clips"), context)
    lengths, classes, *pictures = bench.run()
    assert lengths.paper
    assert [row["different"] for row in classes.rows] == [2, 2, 2]
    assert len(pictures) == 6  # figures 6 and 7
    plain = build(charades, tmp_path / "cache", extension=0, frames=9)
    data = build(
        charades, tmp_path / "cache", extension=0, frames=9, clips=tmp_path / "clips"
    )
    assert len(data) == len(plain)
    assert data.fingerprint != plain.fingerprint
    for index in (0, 19):  # of the original and of the complement
        assert MediaFile.grey_levels(data[index].frames) == MediaFile.grey_levels(
            plain[index].frames
        )
        source = data[index].frames[0].source
        assert source is not None
        assert source.path.name == f"{data[index].key[:-3]}.mp4"
        assert source.segment is None  # so that features of the clip are its own
    # the questions beside the clips are in the authors' layout
    pairs = read_questions(tmp_path / "clips", "test")
    assert pairs is not None
    assert [list(qs) for qs in pairs[data.entries[0].key]] == [
        list(qs) for qs in data.entries[0].questions
    ]
    (tmp_path / "clips" / "AAAAA-0_2.mp4").unlink()
    with pytest.raises(UserError, match="1 of 4 clips are not in clips"):
        build(charades, tmp_path / "cache", extension=0, clips=tmp_path / "clips")


# ------------------------------------------------------------------------------------- bad input


def test_missing_and_unreadable_videos_are_left_out_and_named(
    own: Path, tmp_path: Path
) -> None:
    (own / "Charades_v1_480" / "AAAAA.mp4").unlink()
    data = build(own, tmp_path)
    assert {name for name, _ in by_video(data)} == {"BBBBB"}
    assert data.facts["left out"] == "38 of 76 questions: 1 video missing (AAAAA)"
    with pytest.raises(
        BadDataError, match="38 of 76 questions cannot be shown: expected at most 40%"
    ):
        build(own, tmp_path, max_missing=0.4)
    MediaFile.video(own / "Charades_v1_480" / "BBBBB.mp4", 0)
    with pytest.raises(
        BadDataError, match=r"missing \(AAAAA\); .*no video stream \(BBBBB\)"
    ):
        build(own, tmp_path, max_missing=1)


@pytest.mark.parametrize(
    ("acts", "line"),
    [
        (
            "c000 0.20",
            r"Charades_v1_test.csv video AAAAA: expected actions .*got 'c000 0.20'",
        ),
        ("c777 0 1", r"video AAAAA: no action class 'c777'"),
        ("c000 0 x", "got 'c000 0 x'"),
    ],
)
def test_bad_actions(acts: str, line: str, tmp_path: Path) -> None:
    root = write_charades(tmp_path / "root", {"AAAAA": acts})
    with pytest.raises(UserError, match=line):
        build(root, tmp_path)


def test_missing_files_and_splits(own: Path, tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match="split: expected one of train, val, test, got 'dev'"
    ):
        build(own, tmp_path, split="dev")
    with pytest.raises(
        UserError, match="source_options: expected none with a Charades folder"
    ):
        build(own, tmp_path, source_options={"a": 1})
    with pytest.raises(UserError, match=r"no test_annotations\.json"):
        build(own, tmp_path, annotation=own)
    mapping = own / "Charades" / "Charades_v1_mapping.txt"
    mapping.write_text(mapping.read_text("utf-8").replace("c095", "c094"), "utf-8")
    with pytest.raises(
        UserError, match="object and verb of every action class, got none of c095"
    ):
        build(own, tmp_path)
    (own / "Charades" / "Charades_v1_classes.txt").unlink()
    with pytest.raises(UserError, match=r"no Charades_v1_classes\.txt"):
        build(own, tmp_path)
