"""CLAVI on the timed clips of another data set."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from media_files import MediaFile

from cuescope_clavi import Clavi, ClaviOptions
from cuescope_clavi.samples import clip_footage
from cuescope_sdk import Context, Frame, Sample, UserError
from cuescope_testing import DatasetContract

SMALL = {"actions": 2, "train": 40, "val": 12, "test": 8}
BEFORE = {"beginning": 0, "end": 1}


class TestContract(DatasetContract):
    plugin = Clavi
    options = {"source": "moving-shapes", "source_options": SMALL}
    other_options = {**options, "seed": 1}


def build(source_options: dict[str, Any] | None = None, **options: Any) -> Clavi:
    shapes = {**SMALL, **(source_options or {})}
    given = {"source": "moving-shapes", "source_options": shapes, **options}
    return Clavi(ClaviOptions(**given), Context())


def all_of(data: Clavi) -> list[Sample]:
    return [data[index] for index in range(len(data))]


def directions(sample: Sample) -> list[str]:
    """The movements that are seen, in order: where the red square lies, by the pixels."""
    seen: list[str] = []
    for frame in sample.frames:
        red = np.argwhere((np.asarray(frame.load()) == (255, 0, 0)).all(axis=-1))
        if not len(red):
            continue
        (top, left), (bottom, right) = red.min(axis=0), red.max(axis=0)
        edges = {
            "north": top == 0,
            "south": bottom == 59,
            "west": left == 0,
            "east": right == 59,
        }
        (name,) = (name for name, touches in edges.items() if touches)
        if f"moving {name}" not in seen[-1:]:
            seen.append(f"moving {name}")
    return seen


def truth(question: str, seen: list[str]) -> bool:
    """The right answer, from the words and what is seen in the pixels."""
    words = question.removesuffix("?").split()
    named = [
        f"moving {word}" for word in words if word in ("north", "south", "east", "west")
    ]
    if not set(named) <= set(seen):
        return False
    if "at" in words:
        return seen.index(named[0]) == BEFORE[words[-1]]
    if "happen" in words:
        return (seen.index(named[0]) < seen.index(named[1])) == ("before" in words)
    return True


def test_every_answer_is_what_the_pixels_show() -> None:
    for sample in all_of(build()):
        seen = directions(sample)
        assert len(seen) == 2
        assert sample.question is not None
        assert sample.label == ("yes" if truth(sample.question, seen) else "no"), (
            sample.question
        )
        assert [name for name, _, _ in sample.annotations["actions"]] == seen


def test_nineteen_questions_a_video_six_of_them_yes() -> None:
    samples = all_of(build())
    assert len(samples) == 12 * 2 * 19
    by_video = Counter(
        (s.annotations["video_id"], s.annotations["video"]) for s in samples
    )
    assert set(by_video.values()) == {19}
    answers = Counter(sample.label for sample in samples)
    assert answers["yes"] * 13 == answers["no"] * 6


def test_counterparts_are_mutual_and_differ_in_one_thing() -> None:
    samples = {sample.key: sample for sample in all_of(build())}
    for sample in samples.values():
        for kind, key in sample.annotations["counterparts"].items():
            other = samples[key]
            assert other.annotations["counterparts"][kind] == sample.key
            assert (other.question == sample.question) == (kind == "video")
            same = [a.key for a in other.frames] == [b.key for b in sample.frames]
            assert same == (kind == "text")
            flips = other.label != sample.label
            assert flips == (sample.annotations["subset"] == "complement")
    pairs = {
        (complement, sample.annotations["subset"], frozenset((sample.key, other)))
        for sample in samples.values()
        for complement, other in sample.annotations["counterparts"].items()
        if other in samples
    }
    kinds = Counter((complement, subset) for complement, subset, _ in pairs)
    assert kinds == {
        ("video", "control"): 12 * 11,
        ("video", "complement"): 12 * 8,
        ("text", "control"): 12 * 8,
        ("text", "complement"): 12 * 8,
    }


def test_the_complement_reorders_what_the_original_shows() -> None:
    data = build(frames=64)
    for shown in range(12):
        original, swapped = (data[38 * shown + offset] for offset in (0, 19))
        keys = [frame.key for frame in original.frames]
        assert {frame.key for frame in swapped.frames} == set(keys)
        assert keys != [frame.key for frame in swapped.frames]
        source = Context().build("dataset", "moving-shapes", SMALL)[shown]
        # a rest looks alike
        order = list(dict.fromkeys(frame.key for frame in source.frames))
        places = [order.index(key) for key in dict.fromkeys(keys)]
        assert places == list(range(places[0], places[-1] + 1)), (
            "one piece of the source"
        )


def test_three_actions_give_three_pairs() -> None:
    data = build({"actions": 3})
    assert len(data) == 12 * 3 * 38


def test_splits_follow_the_source_and_share_no_video() -> None:
    data = build()
    assert {s.annotations["split"] for s in all_of(data)} == {"val"}
    ids = [
        {s.annotations["video_id"] for s in all_of(data.split(name))}
        for name in ("train", "val", "test")
    ]
    assert [len(videos) for videos in ids] == [40, 12, 8]
    assert all(s.group == s.annotations["video_id"] for s in all_of(data))
    assert len(set.union(*ids)) == 60


def test_the_default_source_needs_no_options() -> None:
    data = Clavi(ClaviOptions(source="moving-shapes"), Context())
    assert len(data) == 60 * 38
    assert data.benchmark is None, "the paper's figures are of Charades"
    assert (
        data.facts["segments"] == "60 of 60 videos, each with its complement, split val"
    )


def test_a_folder_of_clips_with_timed_actions(tmp_path: Path) -> None:
    folder = tmp_path / "clips"
    names = ("waving a hand", "opening a door", "eating a sandwich")
    rows = []
    for clip, (one, other) in enumerate([names[:2], names[1:]]):
        MediaFile.video(folder / f"{clip}.mp4", 12)  # 10 frames a second
        actions = [[one, 0.2, 0.5], [other, 0.7, 1.1]]
        rows.append({"path": f"{clip}.mp4", "actions": actions, "group": "one film"})
    (folder / "manifest.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    given = {"source": f"folder:{folder}", "source_options": {"frames": 12}}
    options = ClaviOptions(**given, frames=9, shortest=3, extension=0)
    data = Clavi(options, Context(cache=tmp_path))
    assert len(data) == 2 * 38
    assert {sample.group for sample in all_of(data)} == {"one film"}
    assert MediaFile.grey_levels(data[0].frames) == [2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert MediaFile.grey_levels(data[19].frames) == [7, 8, 9, 10, 5, 6, 2, 3, 4]
    assert data[2].question == "Was someone eating a sandwich?"
    assert data[38 + 2].question == "Was someone waving a hand?"


def test_without_timed_actions_there_is_nothing_to_ask() -> None:
    with pytest.raises(UserError, match="no sample of moving-shapes has timed actions"):
        build({"actions": 1, "cue": "none"})
    with pytest.raises(
        UserError, match=r"no segment can be cut from moving-shapes.*shortest"
    ):
        build(shortest=6)
    with pytest.raises(UserError, match="an annotation is of Charades"):
        build(annotation="published")
    with pytest.raises(
        UserError, match=r"no dataset 'moving-shape'.*moving-shapes|Did you mean"
    ):
        Clavi(ClaviOptions(source="moving-shape"), Context())
    with pytest.raises(UserError, match="no such folder: expected a Charades folder"):
        Clavi(ClaviOptions(source="./no-charades"), Context())


def test_own_clips_are_told_to_be_named_as_a_folder(tmp_path: Path) -> None:
    acts = tmp_path / "acts"
    MediaFile.video(acts / "1.mp4", 12)
    (acts / "manifest.csv").write_text("path,label\n1.mp4,waving\n")
    for source in (acts, acts / "manifest.csv"):
        for options in ({}, {"split": "test"}):
            with pytest.raises(UserError, match=f"write clavi:folder:{source}$"):
                Clavi(
                    ClaviOptions(source=str(source), **options), Context(cache=tmp_path)
                )
    with pytest.raises(
        UserError, match=r"no sample of folder:.* column 'actions' times them in s"
    ):
        Clavi(ClaviOptions(source=f"folder:{acts}"), Context(cache=tmp_path))


def test_actions_must_lie_within_their_clip() -> None:
    frame = Frame.from_array(np.zeros((2, 2, 3), np.uint8))
    for actions in ((("a", 0, 3),), (("a", 1, 0),), (("a", 0.5, 1),), ("a",)):
        sample = Sample(key="s", frames=(frame,) * 2, annotations={"actions": actions})
        with pytest.raises(
            UserError, match=r"an action of s: expected .* within 2 frames"
        ):
            clip_footage([sample])
