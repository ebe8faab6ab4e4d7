"""Where a cue is by parts of frames, each shown to the model alone."""

import colorsys
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_confirm.locating import learned
from cuescope_confirm.locating.learned import _best_region, _to_mark, training
from cuescope_confirm.locating.patches import Cells, seen_crops
from cuescope_sdk import Frame, Outcome, Response, Sample, Trial
from cuescope_sdk.locating import Region
from cuescope_sdk.stills import CROPS, Answers

SIDE = 64
THING = 18  # pixels along its side


def drawn(rng: np.random.Generator, *, shows: bool) -> tuple[Frame, np.ndarray]:
    """Grey noise, with a square of some colour somewhere; and where it is."""
    pixels = np.repeat(rng.integers(90, 160, (SIDE, SIDE, 1)), 3, axis=-1)
    is_there = np.zeros((SIDE, SIDE), bool)
    if shows:
        top, left = rng.integers(0, SIDE - THING, 2)
        is_there[top : top + THING, left : left + THING] = True
        colour = colorsys.hsv_to_rgb(rng.random(), 1.0, 0.8)
        pixels[is_there] = 255 * np.array(colour)
    return Frame.from_array(pixels.astype(np.uint8)), is_there


class Asked:
    """An audit of a model that knows colourful from grey, and shows no patches."""

    def __init__(self, outputs: frozenset[str], exposes: tuple[str, ...] = ()) -> None:
        self.capabilities = SimpleNamespace(outputs=outputs, exposes=exposes)
        self.trials: list[Trial] = []

    def respond(self, trials: Sequence[Trial]) -> list[Outcome]:
        """Embeddings alone."""
        self.trials += trials
        outcomes = []
        for trial in trials:
            pixels = np.asarray(trial.sample.frames[0].load(), float)
            colourful = np.ptp(pixels, axis=-1).mean()
            row = np.array([colourful, pixels.mean(), pixels.std()])
            outcomes.append(Outcome(trial=trial, response=Response(embedding=row)))
        return outcomes


def test_crops_tell_where_a_thing_of_any_colour_is() -> None:
    rng = np.random.default_rng(0)
    shows = np.arange(60) < 30
    frames, places = zip(*(drawn(rng, shows=show) for show in shows), strict=True)
    samples = {
        str(row): Sample(key=str(row), frames=(frame,) * 2, label="cow")
        for row, frame in enumerate(frames)
    }
    audit: Any = Asked(Answers.outputs)
    crops = seen_crops(audit)
    assert crops is not None
    every = [(key, number) for key in samples for number in range(2)]
    grids = crops(samples, every)
    # both frames of a clip are told by one
    assert len(audit.trials) == len(samples) * CROPS**2
    assert all((grids[row] == grids[row + 1]).all() for row in range(0, len(grids), 2))
    assert {trial.sample.frames[0].load().size for trial in audit.trials} == {(64, 64)}
    of_clips = grids[::2]
    region = Region.learn(of_clips, training(samples, every[::2], shows), rng)
    assert region is not None
    assert not region.is_everywhere
    covered = [
        np.kron(region.mask(of_clips[row]), np.ones((SIDE // CROPS,) * 2))[places[row]]
        for row in range(30)
    ]
    assert np.mean([place.mean() for place in covered]) > 0.8
    assert region.area < 0.4


@pytest.mark.parametrize(
    ("outputs", "exposes"),
    [
        pytest.param(frozenset({"logits", "text"}), (), id="no embedding"),
        pytest.param(Answers.outputs, ("recorded",), id="a log"),
    ],
)
def test_who_cannot_embed_a_crop_is_not_asked_to(
    outputs: frozenset[str], exposes: tuple[str, ...]
) -> None:
    audit: Any = Asked(outputs, exposes)
    assert seen_crops(audit) is None


def test_of_many_samples_that_show_a_cue_some_are_marked_by_crops() -> None:
    """Those of its label first: they are what is changed."""
    samples = {
        str(row): Sample(key=str(row), frames=(), label="cow" if row % 3 else "horse")
        for row in range(300)
    }
    showing = [(key, number) for key in samples for number in range(2)]
    study: Any = SimpleNamespace(rng=lambda *_: np.random.default_rng(0))
    cue: Any = SimpleNamespace(
        id="c", label="cow", labels=("cow",), is_object=False, foreign=False
    )
    few = Cells("crops", lambda *_: [], marked=50)
    marked = _to_mark(study, cue, samples, showing, few)
    assert len(marked) == 100
    assert {samples[key].label for key, _ in marked} == {"cow"}
    every = Cells("pixels", lambda *_: [])
    assert _to_mark(study, cue, samples, showing, every) == showing


@pytest.mark.parametrize(
    ("by_pixels", "is_everywhere", "allowed", "by"),
    [
        pytest.param(0.6, True, True, "crops", id="pictures do not tell it"),
        pytest.param(0.9, True, True, "pixels", id="all over the frame"),
        pytest.param(0.95, False, True, "pixels", id="pictures give a place"),
        pytest.param(0.6, True, False, "pixels", id="not wanted"),
    ],
)
def test_crops_are_asked_about_where_pictures_tell_no_place(
    monkeypatch: pytest.MonkeyPatch,
    by_pixels: float,
    is_everywhere: bool,
    allowed: bool,
    by: str,
) -> None:
    rng = np.random.default_rng(0)
    shows = np.arange(12) < 6
    samples = {
        str(row): Sample(key=str(row), frames=(drawn(rng, shows=show)[0],), label="cow")
        for row, show in enumerate(shows)
    }
    frames = [(key, 0) for key in samples]
    of_pixels = SimpleNamespace(auroc=by_pixels, is_everywhere=is_everywhere, area=0.1)
    of_crops = SimpleNamespace(auroc=0.9, is_everywhere=False, area=0.1)
    learned_one = iter([of_pixels, of_crops])
    data = training(samples, frames, shows)
    monkeypatch.setattr(learned, "training_frames", lambda *_: (frames, data))
    monkeypatch.setattr(learned.Region, "learn", lambda *_: next(learned_one))
    audit = Asked(Answers.outputs)
    study: Any = SimpleNamespace(
        seen=samples,
        audit=audit,
        options=SimpleNamespace(crops=allowed),
        rng=lambda *_: np.random.default_rng(0),
    )
    cue: Any = SimpleNamespace(id="c")
    _, cells = _best_region(study, cue, 0.9, by_crops=True)
    assert cells.by == by
    assert len(audit.trials) == (12 * CROPS**2 if by == "crops" else 0)
