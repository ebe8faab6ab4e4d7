"""Where a cue is, by a model whose answers change when it is hidden."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pytest

from cuescope_core.conclusions import Feature, Occurrence, Score
from cuescope_sdk import (
    Audit,
    Capabilities,
    Context,
    Frame,
    Outcome,
    Response,
    Sample,
    Trial,
)
from cuescope_sdk.locating import attach_portraits, most_hidden, stretch
from cuescope_sdk.locating._hiding import (
    FEWEST,
    GRID,
    PICTURES,
    TRIALS,
    Mending,
    mend_by_hiding,
)
from cuescope_sdk.stills import Answers

SIDE = 60
LABELS = ("cow", "horse")
Reads = Callable[[np.ndarray], float]


def sees_colour(pixels: np.ndarray) -> float:
    """Sure of the wrong answer where something is of any strong colour."""
    strong = np.ptp(pixels.astype(int), axis=2) > 120
    return min(strong.sum() / 120, 1.0)


def sees_light(pixels: np.ndarray) -> float:
    """Wrong where all of the picture is light."""
    return float(pixels.mean() > 60)


def guesses(pixels: np.ndarray) -> float:
    """Each picture by its own, whatever it shows."""
    seed = int.from_bytes(pixels.tobytes()[:: pixels.size // 64], "little") % 2**32
    return float(np.random.default_rng(seed + int(pixels.sum())).random())


def as_one_thing(pixels: np.ndarray) -> np.ndarray:
    """Whatever its colour; and a little of all else."""
    rest = np.random.default_rng(int(pixels.sum())).normal(0, 0.02, 8)
    return np.array([sees_colour(pixels), *rest])


def as_many_things(pixels: np.ndarray) -> np.ndarray:
    """Each colour in a direction of its own."""
    strong = np.ptp(pixels.astype(int), axis=2) > 120
    row = np.zeros(1001)
    row[-1] = pixels.mean() / 255
    if strong.any():
        red, green, blue = (pixels[strong].mean(axis=0) // 26).astype(int).tolist()
        row[100 * red + 10 * green + blue] = sees_colour(pixels)
    return row


class Model:
    """Answers by what it reads in the first frame; counts what it is asked."""

    def __init__(
        self,
        reads: Reads,
        embeds: Callable[[np.ndarray], np.ndarray] = as_one_thing,
    ) -> None:
        self.reads = reads
        self.embeds = embeds
        self.asked = 0

    def respond(self, trials: Iterable[Trial]) -> Sequence[Outcome]:
        outcomes = []
        for trial in trials:
            self.asked += 1
            pixels = np.asarray(trial.sample.frames[0].load())
            wrong = 4 * self.reads(pixels) - 2
            logits = np.array([-wrong, wrong], np.float32)
            embedding = self.embeds(pixels).astype(np.float32)
            response = Response(logits=logits, embedding=embedding)
            outcomes.append(Outcome(trial, response))
        return outcomes


def pictures(
    count: int,
    *,
    shown: bool,
    seed: int = 0,
    size: tuple[int, int] = (14, 14),
    corner: tuple[int, int] | None = None,
    grey: int = 90,
) -> tuple[dict[str, Sample], dict[str, np.ndarray]]:
    """Cows on grey noise, with a thing of a colour and place of its own; and where it is.

    With a `corner` all things are there.
    """
    rng = np.random.default_rng((seed, shown))
    samples, masks = {}, {}
    for number in range(count):
        pixels = rng.integers(grey, grey + 40, (SIDE, SIDE, 1)).repeat(3, axis=2)
        height, width = size
        anywhere = rng.integers(0, (SIDE - height + 1, SIDE - width + 1)).tolist()
        top, left = corner or anywhere
        mask = np.zeros((SIDE, SIDE), bool)
        if shown:
            mask[top : top + height, left : left + width] = True
            # strong, and seldom the same
            pixels[mask] = rng.permutation([230, 20, int(rng.integers(20, 230))])
        key = f"{'with' if shown else 'without'}-{number:02}"
        frame = Frame.from_array(pixels.astype(np.uint8))
        samples[key] = Sample(key=key, frames=(frame,), label="cow", choices=LABELS)
        masks[key] = mask
    return samples, masks


def answers_of(model: Model, samples: Sequence[Sample]) -> Answers:
    """Those to pictures of one frame, as they are and as stills."""
    outcomes = model.respond([Trial(sample=sample) for sample in samples])
    row = {(sample.key, 0): number for number, sample in enumerate(samples)}
    nothing = np.empty((0, 0))
    return Answers(outcomes, outcomes, row, nothing, nothing)


def mend(model: Model, samples: dict[str, Sample]) -> Mending | None:
    """Of all of these."""
    answers = answers_of(model, [*samples.values()])
    model.asked = 0
    return mend_by_hiding(audit_of(model), answers, [(key, 0) for key in samples])


def audit_of(
    model: Model, samples: Sequence[Sample] = (), exposes: Iterable[str] = ()
) -> Audit:
    return Audit(
        labels=LABELS,
        options=None,
        respond=model.respond,
        context=Context(seed=0),
        capabilities=Capabilities(
            outputs=frozenset({"logits", "embedding"}), exposes=frozenset(exposes)
        ),
        samples=tuple(samples),
    )


@pytest.mark.parametrize(
    ("size", "mended"),
    [
        pytest.param((14, 14), 10, id="thing"),
        # without any square of it enough is left; two bands may each hide a half of it
        pytest.param((8, SIDE), 8, id="across"),
        pytest.param((SIDE, 8), 8, id="down"),
    ],
)
def test_a_thing_of_any_colour_at_any_place_is_found_by_what_hiding_it_does(
    size: tuple[int, int],
    mended: int,
) -> None:
    model = Model(sees_colour)
    samples, masks = pictures(12, shown=True, size=size)
    mending = mend(model, samples)
    assert mending is not None
    assert len(mending.masks) == PICTURES
    assert mending.mended >= mended
    assert mending.auroc >= mended / PICTURES
    overlaps = []
    for (key, _), place in mending.masks.items():
        there = stretch(place, (SIDE, SIDE))
        overlaps.append((there & masks[key]).sum() / (there | masks[key]).sum())
    assert np.mean(overlaps) > 0.4
    assert model.asked <= TRIALS
    told = f"hidden there, {mending.mended} of 10 wrong answers become right"
    assert mending.words == told


def test_one_place_is_found_though_some_pictures_err_for_another_reason() -> None:
    with_it, masks = pictures(7, shown=True, corner=(40, 6))
    others, _ = pictures(3, shown=False, grey=180)
    model = Model(lambda pixels: max(sees_colour(pixels), float(pixels.mean() > 150)))
    mending = mend(model, with_it | others)
    assert mending is not None
    assert (mending.mended, mending.tried) == (7, 10)
    [place] = {mask.tobytes(): mask for mask in mending.masks.values()}.values()
    there = stretch(place, (SIDE, SIDE))
    mask = masks["with-00"]
    assert (there & mask).sum() / (there | mask).sum() > 0.5
    assert model.asked <= TRIALS


@pytest.mark.parametrize("reads", [sees_light, guesses])
def test_what_no_place_does_has_none(reads: Reads) -> None:
    """Of many guesses some place seems to mend, until it is hidden in another way."""
    for seed in range(20):
        samples, _ = pictures(24, shown=False, seed=seed)
        assert mend(Model(reads), samples) is None


def test_what_is_another_thing_in_each_picture_is_no_cue() -> None:
    """Any wrong answer may be mended somewhere."""
    samples, _ = pictures(12, shown=True)
    assert mend(Model(sees_colour, as_many_things), samples) is None


def test_few_wrong_answers_say_nothing() -> None:
    samples, _ = pictures(FEWEST - 1, shown=True)
    samples |= pictures(6, shown=False)[0]
    model = Model(sees_colour)
    assert mend(model, samples) is None
    assert model.asked == 0


def test_who_repeats_answers_is_not_asked_about_changed_pictures() -> None:
    recorded = audit_of(Model(sees_colour), exposes=["recorded"])
    assert not Answers.can_ask_about_changes(recorded)
    assert most_hidden(recorded) == 0 < most_hidden(audit_of(Model(sees_colour)))


@pytest.mark.parametrize("hides", [True, False])
def test_a_finding_that_pictures_give_no_place_has_it_by_the_model(
    *, hides: bool
) -> None:
    with_it, _ = pictures(9, shown=True)
    samples = {**with_it, **pictures(30, shown=False)[0]}
    model = Model(sees_colour)
    audit = audit_of(model, [*samples.values()])
    occurrences = tuple(Occurrence(sample=key, frame=0) for key in with_it)
    feature = Feature(key="c", kind="cluster", occurrences=occurrences)
    score = Score(feature="c", label="cow", metric="loss", value=0.5, finding=True)
    answers = answers_of(model, audit.samples) if hides else None
    model.asked = 0
    attach_portraits(audit, [feature], [score], answers=answers)
    assert not audit.failures
    portraits: list[Any] = audit.attachments
    if not hides:
        assert model.asked == 0
        assert not any(portrait.outlines for portrait in portraits)
        return
    [portrait] = portraits
    assert "by the model itself: hidden there, 9 of 9 wrong" in portrait.sentence
    assert portrait.where.startswith("at changing places")
    assert len(portrait.outlines) == len(with_it)
    [mask] = {portrait.outlines[0].mask.shape}
    assert mask == (GRID, GRID)
