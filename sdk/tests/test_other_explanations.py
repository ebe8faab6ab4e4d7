"""A finding holds among samples that are alike in what else may explain it, or it is none."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageFilter

from cuescope_sdk import Audit, Context, Detection, Evidence, Frame, Options, Sample
from cuescope_sdk.data import Comparison, other_explanations, picture_quality
from cuescope_sdk.data._conditions import QUALITY, object_size
from cuescope_sdk.data._other_explanations import quality_of_files
from cuescope_sdk.statistics import Groups
from cuescope_sdk.statistics._held_alike import HeldAlike, gap_held_alike

LABELS = ("cat", "dog")
N = 300


def world(kind: str, seed: int) -> tuple[Any, Any, Any]:
    """Right answers, which samples show something, and a condition: (sample,) each."""
    rng = np.random.default_rng(seed)
    condition = rng.normal(size=N)
    cue = rng.random(N) < 0.3
    chance = 0.85 - 0.35 * cue
    if kind == "cue beside a condition":
        chance = np.clip(chance + 0.1 * condition, 0, 1)
    if kind.startswith("condition"):
        cue = condition + 0.8 * rng.normal(size=N) < -0.6
        chance = 1 / (1 + np.exp(-1.2 * condition - 1))
    if kind == "condition, of which a third is noise":
        condition = condition + 0.7 * rng.normal(size=N)
    if kind == "sorted by the cue":
        condition = np.arange(N) + 0.0
        cue = condition < 90
        chance = 0.85 - 0.35 * cue
    return (rng.random(N) < chance).astype(float), cue, condition


@pytest.mark.parametrize(
    ("kind", "least", "most"),
    [
        ("cue", 0, 1),
        ("cue beside a condition", 0, 1),
        ("condition", 29, 30),
        ("condition, of which a third is noise", 28, 30),
    ],
)
def test_conditions_explain_what_they_made(kind: str, least: int, most: int) -> None:
    explained = 0
    for seed in range(30):
        values, shows, condition = world(kind, seed)
        held = gap_held_alike(values, shows, condition[:, None], Groups.single(N))
        explained += held.explains
    assert least <= explained <= most


def held_of_few(seed: int, made_by: str) -> HeldAlike:
    """Fourteen of 64 samples show something; a condition matters, whatever makes the gap."""
    rng = np.random.default_rng(seed)
    condition = rng.normal(size=64)
    extreme = np.abs(condition) if made_by.endswith("low") else condition
    is_cause = made_by == "the cue"
    place = rng.normal(size=64) if is_cause else extreme + 0.3 * rng.normal(size=64)
    shows = place >= np.sort(place)[-14]
    chance = 0.95 - 0.5 * shows * is_cause - 0.4 * (extreme > 1)
    values = (rng.random(64) < chance).astype(float)
    return gap_held_alike(values, shows, condition[:, None], Groups.single(64))


def test_of_few_samples_a_cue_stays_beside_what_knows_nothing_of_it() -> None:
    assert sum(held_of_few(seed, "the cue").explains for seed in range(40)) <= 4


@pytest.mark.parametrize("shape", ["high", "high and low"])
def test_a_condition_that_makes_a_gap_goes_along_with_it(shape: str) -> None:
    assert all(held_of_few(seed, shape).goes_along for seed in range(40))


def test_groups_count_once() -> None:
    """Copies of each sample make nothing surer."""
    values, shows, condition = world("cue", 3)
    once = gap_held_alike(values, shows, condition[:, None], Groups.single(N))
    codes = np.repeat(np.arange(N), 5)
    groups = Groups(codes, N, declared=True)
    copied = (array.repeat(5) for array in (values, shows, condition))
    values, shows, condition = copied
    again = gap_held_alike(values, shows, condition[:, None], groups)
    assert again.left == pytest.approx(once.left)
    assert again.p_value == pytest.approx(once.p_value)


def comparison(kind: str, **annotated: Callable[[int, float], Any]) -> Comparison:
    values, shows, condition = world(kind, 1)
    samples = []
    for number, size in enumerate(np.exp(condition)):
        # frames of their own, which tell their number
        pixels = np.full((4, 4, 3), (number // 256, number % 256, 0), np.uint8)
        annotations = {key: make(number, size) for key, make in annotated.items()}
        sample = Sample(
            key=f"{number:03d}",
            frames=(Frame.from_array(pixels),),
            choices=LABELS,
            label="cat",
            annotations=annotations,
        )
        samples.append(sample)
    return Comparison("kitchen", "cat", samples, shows, values, answers=["dog"])


def box(name: str, side: float) -> Detection:
    return Detection(name=name, score=1.0, box=(0.0, 0.0, side, side))


def audit_of(about: Comparison, tmp_path: Path, **tools: Any) -> Audit:
    def respond(trials: object) -> list[object]:
        raise AssertionError("a model call")

    return Audit(
        respond=respond,  # type: ignore[arg-type]
        samples=tuple(about.samples),
        labels=LABELS,
        options=Options(),
        context=Context(cache=tmp_path),
        tools=tools,
    )


def checked(about: Comparison, tmp_path: Path, **tools: Any) -> list[Evidence]:
    return list(other_explanations(audit_of(about, tmp_path, **tools), [about]))


def test_small_objects_take_the_star(tmp_path: Path) -> None:
    about = comparison("condition", boxes=lambda _, size: (box("cat", size),))
    (evidence,) = checked(about, tmp_path)
    assert evidence.verdict == "refuted"
    assert str(evidence.doubt).startswith(
        "But the size of the labelled object may be the reason"
    )
    assert (evidence.feature, evidence.label) == ("kitchen", "cat")


def test_a_cue_among_alike_objects_stays(tmp_path: Path) -> None:
    about = comparison("cue", boxes=lambda _, size: (box("cat", size),))
    (evidence,) = checked(about, tmp_path)
    assert (evidence.verdict, evidence.doubt) == ("supported", None)


def test_what_is_not_known_is_said_and_casts_no_doubt(tmp_path: Path) -> None:
    (evidence,) = checked(comparison("cue"), tmp_path)
    assert evidence.verdict == "inconclusive"
    assert "Not known: the size of the labelled object" in evidence.detail
    assert evidence.doubt is None


@pytest.mark.parametrize(
    ("label", "question", "is_answer"),
    [
        ("yes", "", True),
        ("No", "", True),
        ("B", "Which is it?", True),
        ("B", "", False),
        ("cat", "Which is it?", False),
    ],
)
def test_an_answer_is_no_object(
    tmp_path: Path, label: str, question: str, is_answer: bool
) -> None:
    """A letter that answers no question may be what is seen."""
    about = comparison("cue")
    samples = [replace(sample, question=question) for sample in about.samples]
    about = replace(about, samples=samples, label=label, answers=())
    (evidence,) = checked(about, tmp_path)
    assert ("the size of the labelled object" not in evidence.detail) is is_answer


class Finder:
    """Sees a cat in each frame, and a dog where the finding is."""

    def __init__(self, shows: np.ndarray) -> None:
        self.shows = shows

    def detect(
        self, frames: Sequence[Frame], names: Sequence[str]
    ) -> list[tuple[Detection, ...]]:
        assert list(names) == list(LABELS)
        numbers = [np.asarray(frame.load())[0, 0].tolist() for frame in frames]
        return [
            (box("cat", 2.0), box("dog", 1.0))[: 1 + self.shows[256 * high + low]]
            for high, low, _ in numbers
        ]


@pytest.mark.parametrize("told_by", ["boxes", "a detector"])
def test_an_answer_that_is_on_screen_too(tmp_path: Path, told_by: str) -> None:
    tools = {}
    about = comparison("cue")
    if told_by == "boxes":
        both = box("cat", 2.0), box("dog", 1.0)
        shows = about.shows
        about = comparison("cue", boxes=lambda number, _: both[: 1 + shows[number]])
    else:
        tools["detector"] = Finder(about.shows)
    (evidence,) = checked(about, tmp_path, **tools)
    assert evidence.verdict == "refuted"
    assert str(evidence.doubt).startswith("But 'dog' may be on screen in them too")


def test_data_that_are_sorted_by_a_cue_keep_it(tmp_path: Path) -> None:
    about = comparison(
        "sorted by the cue", object_size=lambda number, _: 1.0 + number % 7
    )
    (evidence,) = checked(about, tmp_path)
    assert evidence.verdict != "refuted"


def test_a_site_takes_the_star(tmp_path: Path) -> None:
    about = comparison(
        "condition", site=lambda _, size: "AB"[int(size > 1)], boxes=lambda *_: ()
    )
    evidence = checked(about, tmp_path)[0]
    assert evidence.verdict == "refuted"
    assert "the site" in evidence.detail


# --------------------------------------------------------------------------------- picture quality


def photo(rng: np.random.Generator) -> np.ndarray:
    """Smooth noise, as light and as busy as it happens."""
    coarse = rng.integers(20, 160, (12, 12), dtype=np.uint8)
    smooth = Image.fromarray(coarse).resize((96, 96), Image.Resampling.BICUBIC)
    grain = rng.normal(0, 4, (96, 96))
    return np.clip(np.asarray(smooth) + grain, 0, 255)


def with_poster(grey: np.ndarray, share: float) -> np.ndarray:
    """A bright poster with lines covers this share of it, from the corner."""
    side = round(96 * share**0.5)
    poster = np.full((side, side), 250.0)
    poster[::4] = 10
    return np.block([[poster, grey[:side, side:]], [grey[side:]]])


def frame_of(grey: np.ndarray) -> Frame:
    return Frame.from_array(np.repeat(grey[..., None], 3, axis=2).astype(np.uint8))


@pytest.mark.parametrize("share", [0.05, 0.25, 0.6])
def test_a_large_bright_thing_is_no_quality(share: float) -> None:
    """Beside its box a picture is as it was; with it, it would be brighter and sharper."""
    rng = np.random.default_rng(0)
    side = round(96 * share**0.5)
    plain = [photo(rng) for _ in range(30)]
    frames = [frame_of(with_poster(grey, share)) for grey in plain]
    before = picture_quality([frame_of(grey) for grey in plain], [None] * 30)
    beside = picture_quality(frames, [(0.0, 0.0, float(side), float(side))] * 30)
    for name in QUALITY[:3]:
        change = beside[name].mean() - before[name].mean()
        assert abs(change) < 0.5 * before[name].std() + 1
    with_thing = picture_quality(frames, [None] * 30)
    brightness = with_thing[QUALITY[1]] - before[QUALITY[1]]
    assert brightness.mean() > 0


def test_quality_is_told_from_files(tmp_path: Path) -> None:
    """Blur, darkness and coarse storage are measured; a drawn frame has no compression."""
    rng = np.random.default_rng(1)
    picture = frame_of(photo(rng)).load()
    good, blurred, dark = (tmp_path / f"{number}.jpg" for number in range(3))
    picture.save(good, quality=95)
    picture.filter(ImageFilter.GaussianBlur(2)).save(blurred, quality=95)
    picture.point(lambda value: value // 3).save(dark, quality=20)
    frames = [Frame.from_file(path) for path in (good, blurred, dark)]
    quality = picture_quality([*frames, frame_of(photo(rng))], [None] * 4)
    sharpness, brightness, _, compression = quality.values()
    assert sharpness[0] > 2 * sharpness[1]
    assert brightness[0] > 2 * brightness[2]
    assert compression[0] == compression[1] < compression[2]
    assert np.isnan(compression[3])


def test_nothing_is_told_where_a_thing_is_everywhere() -> None:
    frame = frame_of(photo(np.random.default_rng(2)))
    quality = picture_quality([frame], [(0.0, 0.0, 96.0, 96.0)])
    assert np.isnan(list(quality.values())).all()


def test_quality_that_tells_nothing_leaves_a_cue_its_star(tmp_path: Path) -> None:
    """Four measures are four chances to look telling: together they are held to one."""
    lost = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        shows = rng.permutation(100) < 50
        values = (rng.random(100) < np.where(shows, 0.9, 0.55)).astype(float)
        samples = [Sample(key=str(number), frames=()) for number in range(100)]
        quality = dict(zip(QUALITY, rng.normal(size=(4, 100)), strict=True))
        about = Comparison("lamp", None, samples, shows, values, measured=quality)
        lost += checked(about, tmp_path)[0].verdict == "refuted"
    assert lost <= 12


def test_what_a_cue_may_change_of_a_picture_is_left_to_an_intervention(
    tmp_path: Path,
) -> None:
    """Fog takes contrast away: a model that errs in fog errs where there is less of it."""
    rng = np.random.default_rng(0)
    samples = []
    shows = rng.permutation(80) < 24
    for number, is_foggy in enumerate(shows.tolist()):
        grey = photo(rng)
        strength = rng.uniform(0.2, 0.9) if is_foggy else rng.uniform(0, 0.3)
        foggy = (1 - strength) * grey + strength * 200
        picture = tmp_path / f"{number}.png"
        Image.fromarray(foggy.astype(np.uint8)).save(picture)
        frames = (Frame.from_file(picture),)
        samples.append(Sample(key=str(number), frames=frames))
    values = (rng.random(80) < np.where(shows, 0.4, 0.9)).astype(float)
    (evidence,) = checked(Comparison("fog", None, samples, shows, values), tmp_path)
    assert evidence.verdict == "inconclusive"
    assert "of the picture may be the reason" in str(evidence.doubt)
    assert "may itself change this" in str(evidence.detail)
    # beside a thing it is no part of it
    quality = quality_of_files(samples)
    about = Comparison("lamp", None, samples, shows, values, measured=quality)
    (evidence,) = checked(about, tmp_path)
    assert evidence.verdict == "refuted"


HALF_WHITE = np.repeat(np.uint8([[[0], [255]]]), 3, axis=2)


def named_box(name: str, corners: tuple[float, float, float, float]) -> Detection:
    return Detection(name=name, score=1.0, box=corners)


@pytest.mark.parametrize(
    ("annotations", "size"),
    [
        ({"object_size": 3}, 3.0),
        ({"size": (480, 640)}, None),
        (
            {
                "masks": {
                    "Dog": np.eye(4, dtype=bool),
                    "cat": np.ones((4, 4), dtype=bool),
                }
            },
            0.25,
        ),
        ({"masks": {"dog": Frame.from_array(HALF_WHITE)}}, 0.5),
        (
            {"boxes": (named_box("dog", (0, 0, 2, 3)), named_box("cat", (0, 0, 9, 9)))},
            6.0,
        ),
        ({"boxes": (named_box("disc", (0, 0, 2, 3)),)}, 6.0),
        (
            {"boxes": (named_box("cat", (0, 0, 2, 3)), named_box("cow", (0, 0, 1, 1)))},
            None,
        ),
        ({}, None),
    ],
)
def test_the_size_of_the_labelled_object(
    annotations: dict[str, Any], size: float | None
) -> None:
    sample = Sample(key="a", frames=(), label="dog", annotations=annotations)
    assert object_size(sample, str(sample.label)) == size
