"""Moments of clips: what is seen, what moves, and places that a few samples tell."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_confirm.locating import learned
from cuescope_confirm.locating.moments import ClipLook, Moment, moments_of
from cuescope_confirm.study import Study
from cuescope_sdk import Feature, Frame, Occurrence, Sample
from cuescope_sdk.locating import Fitting, Linear, Training
from cuescope_sdk.statistics import Groups

SIDE = 32
LENGTH = 5
RNG = np.random.default_rng


def clip(rng: np.random.Generator, *, backwards: bool) -> tuple[Frame, ...]:
    """A dot on noise that stands still; it goes to the right, or the same the other way."""
    ground = rng.integers(60, 120, (SIDE, SIDE, 3), np.uint8)
    row, col = rng.integers(4, 10, 2).tolist()
    frames = []
    for number in range(LENGTH):
        pixels = ground.copy()
        pixels[row : row + 5, col + 3 * number : col + 3 * number + 5] = 230
        frames.append(Frame.from_array(pixels))
    return tuple(reversed(frames) if backwards else frames)


@pytest.mark.parametrize(
    ("with_motion", "lowest", "highest"), [(True, 0.9, 1), (False, 0, 0.75)]
)
def test_what_runs_backwards_is_told_by_what_moves_alone(
    with_motion: bool, lowest: float, highest: float
) -> None:
    rng = RNG(0)
    shows = np.arange(60) < 30
    clips = [clip(rng, backwards=bool(shown)) for shown in shows]
    moments = [Moment(frames, 0) for frames in clips]
    look = replace(ClipLook.learn(moments, rng), lasts=True)
    if not with_motion:
        look = ClipLook(look.stills, lasts=True)
    data = Training(shows, np.full(60, "east"), Groups.single(60))
    model = Linear.learn(look.read(moments), data, rng, Fitting.LOOKS)
    assert lowest <= (model.auroc or 0.0) <= highest


def test_of_stills_nothing_moves() -> None:
    stills = [Moment((frame,), 0) for frame in clip(RNG(0), backwards=False)]
    look = ClipLook.learn(stills, RNG(0))
    assert look.motion is None
    assert (
        look.read(stills) == look.stills.read([each.frame for each in stills])
    ).all()


def test_beyond_the_ends_of_a_clip_nothing_moves() -> None:
    frames = clip(RNG(0), backwards=False)
    first = np.asarray(Moment(frames, 0).motion.load(), int)
    assert (first[..., 0] == 127).all()
    assert (first[..., 2] != 127).any()
    # the pictures beside it may have other sizes, as of a question about several
    small = Frame.from_array(np.zeros((4, 6, 3), np.uint8))
    assert Moment((small, frames[0]), 1).motion.load().size == (SIDE, SIDE)


@pytest.mark.parametrize(
    ("length", "numbers"),
    [
        (1, [0]),
        (2, [0, 1]),
        (4, [0, 2, 3]),
        (8, [1, 3, 5, 7]),
        (64, [8, 24, 40, 56]),
    ],
)
def test_some_moments_stand_for_a_clip(length: int, numbers: list[int]) -> None:
    frames = [Frame.from_array(np.full((2, 2, 3), n, np.uint8)) for n in range(length)]
    assert [moment.number for moment in moments_of(frames)] == numbers


def study_of(samples: dict[str, Sample]) -> Any:
    """As much of a study as tells where a cue is."""
    options = SimpleNamespace(samples=60)
    study = SimpleNamespace(
        seen=samples, cues=(), rng=lambda *names: RNG(len(names)), options=options
    )
    study.frames_of = lambda cue: Study.frames_of(study, cue)
    study.lasts = lambda cue: Study.lasts(study, cue)
    study.audit = SimpleNamespace(
        once=lambda make, *given, **named: make(*given, **named),
        capabilities=SimpleNamespace(exposes=(), outputs=frozenset()),
    )
    return study


def cue_in(occurrences: list[Occurrence]) -> Any:
    feature = Feature(key="c", kind="cluster", occurrences=tuple(occurrences))
    return SimpleNamespace(
        id="c",
        feature=feature,
        label="cup",
        labels=("cup",),
        is_object=False,
        foreign=False,
    )


@pytest.mark.parametrize(
    ("frames", "lasts"), [([None], True), ([0, 1, 2, 3, 4], True), ([0, 1], False)]
)
def test_a_cue_lasts_that_is_listed_in_nearly_all_frames(
    frames: list[int | None], lasts: bool
) -> None:
    sample = Sample(key="a", frames=clip(RNG(0), backwards=False), label="cup")
    cue = cue_in([Occurrence(sample="a", frame=number) for number in frames])
    study = study_of({"a": sample})
    assert study.lasts(cue) is lasts
    assert len(study.frames_of(cue)) == (LENGTH if lasts else 2)


def test_a_still_does_not_last() -> None:
    sample = Sample(key="a", frames=clip(RNG(0), backwards=False)[:1], label="cup")
    assert not study_of({"a": sample}).lasts(cue_in([Occurrence(sample="a", frame=0)]))


def pictures(
    prefix: str,
    count: int,
    *,
    marked: int,
    rng: RNG,
    clear: float = 1.0,
    stands: bool = True,
) -> dict[str, Sample]:
    """Noise, darker above or not; the first of them have a blue mark, more or less clear."""
    samples = {}
    for number in range(count):
        pixels = rng.integers(40, 200, (48, 48, 3), np.uint8)
        pixels[:24] //= int(rng.integers(1, 4))
        if number < marked:
            top, left = (36, 34) if stands else rng.integers(2, 36, 2)
            place = pixels[top : top + 8, left : left + 12]
            place[:] = (1 - clear) * place + clear * np.array((30, 60, 190))
        key = f"{prefix}{number:02}"
        frames = (Frame.from_array(pixels),)
        samples[key] = Sample(key=key, frames=frames, label="cup")
    return samples


def cue_of(samples: dict[str, Sample], count: int) -> Any:
    """Listed in the first of these samples."""
    return cue_in([Occurrence(sample=key, frame=0) for key in list(samples)[:count]])


def test_a_fold_with_few_samples_has_the_patches_that_all_folds_show() -> None:
    rng = RNG(0)
    seen, others, pool = (
        pictures(prefix, count, marked=marked, rng=rng, clear=0.45, stands=False)
        for prefix, count, marked in (("s", 48, 4), ("t", 48, 10), ("p", 40, 5))
    )
    cue = cue_of(seen, 4)
    alone = learned.locate_learned(study_of(seen), cue, pool)
    listed = cue_of({**dict(list(seen.items())[:4]), **others}, 14)
    in_all = learned.Listed(study_of({**seen, **others}), listed)
    located = learned.locate_learned(study_of(seen), cue, pool, in_all)
    assert alone.area is None
    # what shows it the fold tells alone, and where it is all do
    assert located.places.keys() == alone.places.keys()
    found = []
    for key in list(pool)[:5]:
        [mask] = located.places[key].masks
        pixels = np.asarray(pool[key].frames[0].load(), float)
        found.append(pixels[mask].mean(axis=0))
    red, _, blue = np.mean(found, axis=0)
    assert blue > red + 40
