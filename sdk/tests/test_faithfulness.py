"""Deletion and insertion against brute force, closed forms, and a model that is a sum of pixels."""

import pickle
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from cuescope_core.respond import trial_key
from cuescope_sdk import (
    Audit,
    Context,
    Frame,
    Outcome,
    Response,
    Sample,
    Trial,
    UserError,
    generator,
)
from cuescope_sdk.explain import _curves as curving
from cuescope_sdk.explain._curves import Perturbation, is_recalled
from cuescope_sdk.explain._perturbation import FilledImage, Ranking, perturb_image
from cuescope_sdk.statistics import Groups

SIDE = 20
LABELS = ("red", "green", "blue")
INSERTION = Perturbation("insertion", steps=10)


def pixels_of(frame: Frame) -> np.ndarray:
    return np.asarray(frame.load())


@pytest.fixture
def pixels() -> np.ndarray:
    return np.random.default_rng(0).integers(1, 255, (SIDE, SIDE, 3), dtype=np.uint8)


@pytest.fixture
def ranking() -> Ranking:
    return Ranking.of(
        np.random.default_rng(1).random((5, 5)), (SIDE, SIDE), generator(0, "ties")
    )


class Asked:
    """`respond` of a model that is a function of the mean colour, and what it was asked."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.largest = 0

    def __call__(self, trials: Iterable[Trial]) -> list[Outcome]:
        asked = list(trials)
        self.largest = max(self.largest, len(asked))
        self.keys += [trial_key("model", trial) for trial in asked]
        return [Outcome(trial, self.answer(trial)) for trial in asked]

    def answer(self, trial: Trial) -> Response:
        choices = len(trial.sample.choices)
        return Response(
            logits=pixels_of(trial.sample.frames[0]).mean(axis=(0, 1))[:choices]
        )


def auditing(respond: Asked) -> Audit:
    return Audit(LABELS, None, respond, Context())


def painted(
    colours: Sequence[int], covered: int = 40
) -> tuple[list[Sample], list[np.ndarray]]:
    """Black images, of which `covered` pixels have the label's colour; and where those are."""
    samples, truth = [], []
    for index, colour in enumerate(colours):
        place = np.random.default_rng(index).permutation(SIDE * SIDE)[:covered]
        pixels = np.zeros((SIDE * SIDE, 3), dtype=np.uint8)
        pixels[place, colour] = 255
        truth.append((pixels.max(axis=1) > 0).astype(float).reshape(SIDE, SIDE))
        frame = Frame.from_array(pixels.reshape(SIDE, SIDE, 3))
        samples.append(
            Sample(
                key=f"s{index}", frames=(frame,), choices=LABELS, label=LABELS[colour]
            )
        )
    return samples, truth


# ------------------------------------------------------------------------------------ schedules


def test_the_papers_schedule_ends_at_half_of_the_pixels() -> None:
    counts = Perturbation().counts(224 * 224)
    assert len(counts) == 101
    assert counts[0] == 0
    assert counts[-1] == 224 * 224 // 2
    assert set(np.diff(counts)) == {250, 251}


def test_fills_of_both_directions() -> None:
    deletion, insertion = Perturbation().both
    assert (deletion.direction, insertion.direction) == ("deletion", "insertion")
    assert (deletion.fill, insertion.fill) == ("noise", "black")


# ------------------------------------------------------------------------------ perturbed images


@pytest.mark.parametrize("count", [1, 57, SIDE * SIDE - 1])
def test_deletion_and_insertion_pixel_by_pixel(
    pixels: np.ndarray, ranking: Ranking, count: int
) -> None:
    black = FilledImage.of(Frame.from_array(pixels), "black", 0)
    deleted, inserted = pixels.copy(), np.zeros_like(pixels)
    for row, col in np.ndindex(SIDE, SIDE):
        if ranking.rank[row, col] < count:
            deleted[row, col] = 0
            inserted[row, col] = pixels[row, col]
    assert np.array_equal(
        pixels_of(perturb_image(black, ranking, "deletion", count)), deleted
    )
    assert np.array_equal(
        pixels_of(perturb_image(black, ranking, "insertion", count)), inserted
    )


def test_the_ranking_falls_with_importance_and_breaks_ties_by_the_seed() -> None:
    importance = np.repeat([[3.0, 1.0, 2.0]], 3, axis=0)
    first, again, other = (
        Ranking.of(importance, (3, 3), generator(seed, "ties")) for seed in (0, 0, 1)
    )
    by_column = [sorted(first.rank[:, col].tolist()) for col in range(3)]
    assert by_column == [[0, 1, 2], [6, 7, 8], [3, 4, 5]]
    assert np.array_equal(first.rank, again.rank)
    assert first.key == again.key != other.key


def test_noise_is_seeded_and_stays_the_same_from_step_to_step(
    pixels: np.ndarray, ranking: Ranking
) -> None:
    frame = Frame.from_array(pixels)
    few, many = (
        pixels_of(
            perturb_image(FilledImage.of(frame, "noise", 0), ranking, "deletion", count)
        )
        for count in (100, 300)
    )
    gone = ranking.rank < 100
    assert np.array_equal(few[gone], many[gone])
    assert np.array_equal(few[~gone], pixels[~gone])
    assert (few[gone] == pixels[gone]).mean() < 0.05
    other = perturb_image(FilledImage.of(frame, "noise", 1), ranking, "deletion", 100)
    assert not np.array_equal(pixels_of(other), few)
    assert (
        other.key
        != perturb_image(
            FilledImage.of(frame, "noise", 0), ranking, "deletion", 100
        ).key
    )


def test_ends_do_not_depend_on_the_ranking(
    pixels: np.ndarray, ranking: Ranking
) -> None:
    frame = Frame.from_array(pixels)
    ground, whole = FilledImage.of(frame, "black", 0), SIDE * SIDE
    assert perturb_image(ground, ranking, "deletion", 0) is frame
    assert perturb_image(ground, ranking, "insertion", whole) is frame
    ends = [
        perturb_image(ground, ranking, "insertion", 0),
        perturb_image(ground, ranking, "deletion", whole),
    ]
    assert ends[0].key == ends[1].key
    assert not any(pixels_of(end).any() for end in ends)


def test_equal_keys_are_equal_pixels(pixels: np.ndarray, ranking: Ranking) -> None:
    other = Ranking.of(
        1 - ranking.rank / ranking.rank.size, (SIDE, SIDE), generator(0, "ties")
    )
    frames = {}
    for fill in ("noise", "black"):
        ground = FilledImage.of(Frame.from_array(pixels), fill, 0)  # type: ignore[arg-type]
        for order in (ranking, other):
            for direction in ("deletion", "insertion"):
                for count in (0, 1, 30, 200, SIDE * SIDE):
                    frame = perturb_image(ground, order, direction, count)
                    shown = pixels_of(frame).tobytes()
                    assert frames.setdefault(frame.key, shown) == shown
    assert len(set(frames.values())) == len(frames)


def test_frames_travel(pixels: np.ndarray, ranking: Ranking) -> None:
    ground = FilledImage.of(Frame.from_array(pixels), "noise", 3)
    for count in (7, SIDE * SIDE):
        frame = perturb_image(ground, ranking, "deletion", count)
        back = pickle.loads(pickle.dumps(frame))
        assert back.key == frame.key
        assert np.array_equal(pixels_of(back), pixels_of(frame))


def test_an_image_is_loaded_once_and_not_once_a_step(
    pixels: np.ndarray, ranking: Ranking
) -> None:
    loads = []
    original = Frame.from_array(pixels)

    def load() -> object:
        loads.append(1)
        return original.load()

    ground = FilledImage.of(Frame("counted", load), "noise", 0)  # type: ignore[arg-type]
    for count in range(1, 50):
        perturb_image(ground, ranking, "deletion", count).load()
    assert len(loads) == 1


# --------------------------------------------------------------------------------------- curves


def test_the_right_map_is_the_best_and_its_reverse_the_worst() -> None:
    samples, truth = painted([1, 2] * 4)
    audit = auditing(Asked())

    def area(maps: list[np.ndarray]) -> float:
        curves = INSERTION.classification_curves(audit, samples, maps, (1,))
        return INSERTION.auc(curves[1])

    reverse = [1 - one for one in truth]
    # 40 of 400 pixels tell, of which half come at the first of ten steps; ties go to "red"
    assert area(truth) == pytest.approx(0.95)
    assert area(reverse) == 0
    _, black = Perturbation(steps=5).both
    first = black.classification_curves(audit, samples, truth, (1,))[1]
    assert first.tolist() == [[False] + [True] * 5] * len(samples)
    last = black.classification_curves(audit, samples, reverse, (1,))[1]
    assert not last.any()


def test_top_k_is_that_of_the_outcomes() -> None:
    samples, truth = painted([0, 1, 2])
    curves = INSERTION.classification_curves(
        auditing(Asked()), samples, truth, (1, 2, 3)
    )
    # without any colour all logits are equal, and the first of equals come first
    assert [curves[k][:, 0].tolist() for k in (1, 2, 3)] == [
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]
    assert all(curves[k][:, -1].all() for k in curves)


def test_the_unchanged_image_is_the_same_trial_for_every_map() -> None:
    samples, truth = painted([0, 1])
    keys = []
    for maps in (truth, [1 - one for one in truth]):
        respond = Asked()
        Perturbation(steps=4).classification_curves(auditing(respond), samples, maps)
        keys.append(respond.keys)
    shared = {trial_key("model", Trial(sample=sample)) for sample in samples}
    assert set(keys[0]) & set(keys[1]) == shared


def test_trials_are_made_a_part_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    samples, truth = painted([0, 1, 2, 1, 2])
    captions = [[label] for label in ("a", "b", "c", "d", "e")]
    whole = Asked()
    expected = INSERTION.classification_curves(auditing(whole), samples, truth)
    monkeypatch.setattr(curving, "TRIALS_AT_ONCE", 25)
    part = Asked()
    found = INSERTION.classification_curves(auditing(part), samples, truth)
    assert all(np.array_equal(found[k], expected[k]) for k in expected)
    assert part.keys == whole.keys
    assert (whole.largest, part.largest) == (55, 22)

    by_step = Embedding({label: [1.0, 0, 0] for label in "abcde"})
    INSERTION.retrieval_curves(auditing(by_step), samples, captions, truth)
    assert by_step.largest == 25


def test_bad_samples_are_named() -> None:
    samples, truth = painted([0])
    audit = auditing(Asked())
    twice = samples[0].with_frames(samples[0].frames * 2, "twice")
    with pytest.raises(UserError, match=r"s0/twice.*expected one frame.*got 2 frames"):
        INSERTION.classification_curves(audit, [twice], truth)
    unknown = replace(samples[0], label=None)
    with pytest.raises(UserError, match="s0: expected a label, got none"):
        INSERTION.classification_curves(audit, [unknown], truth)
    with pytest.raises(UserError, match="s0: expected a caption, got none"):
        INSERTION.retrieval_curves(audit, samples, [[]], truth)


# ------------------------------------------------------------------------------------ retrieval


class Embedding(Asked):
    """Captions have vectors; an image's similarity is the dot product with its mean colour."""

    def __init__(self, vectors: dict[str, list[float]]) -> None:
        super().__init__()
        self.vectors = vectors

    def answer(self, trial: Trial) -> Response:
        rows = np.array([self.vectors[choice] for choice in trial.sample.choices])
        return Response(
            logits=rows @ pixels_of(trial.sample.frames[0]).mean(axis=(0, 1))
        )


def test_recalled_ranks_by_hand() -> None:
    similarity = np.array([[0.9, 0.8, 0.1], [0.5, 0.5, 0.4], [0.1, 0.2, 0.3]])
    owns = np.array([[False, True, False], [False, True, False], [True, False, True]])
    # the tie is lost
    assert is_recalled(similarity, owns, 1).tolist() == [False, False, True]
    assert is_recalled(similarity, owns, 2).tolist() == [True, True, True]


def test_retrieval_against_a_computation_by_hand() -> None:
    samples, truth = painted([0, 1, 2])
    vectors = {"r": [1, 0, 0], "also r": [1, 1.5, 0], "g": [0, 1, 0], "b": [0, 0, 1.0]}
    captions = [["r", "also r"], ["g"], ["b"]]
    perturbation = Perturbation("insertion", steps=2)
    audit = auditing(Embedding(vectors))
    curves = perturbation.retrieval_curves(audit, samples, captions, truth)
    # nothing shows, every similarity is 0; then "also r" finds the green image first and the red
    # one second, and the green image "also r" first and "g" second
    assert curves["IR@1"].tolist() == [[0, 0.5, 0.5], [0, 1, 1], [0, 1, 1]]
    assert curves["IR@5"].tolist() == [[1, 1, 1]] * 3
    assert curves["TR@1"].tolist() == [[0, 1, 1], [0, 0, 0], [0, 1, 1]]
    assert curves["TR@5"].tolist() == [[1, 1, 1]] * 3


def test_a_caption_of_two_images_is_found_by_either() -> None:
    samples, truth = painted([0, 0, 1])
    vectors = {"r": [1.0, 0, 0], "g": [0, 1.0, 0]}
    audit = auditing(Embedding(vectors))
    captions = [["r"], ["r"], ["g"]]
    curves = Perturbation(steps=1).retrieval_curves(audit, samples, captions, truth)
    assert curves["IR@1"][:, 0].tolist() == [1, 1, 1]
    assert curves["TR@1"][:, 0].tolist() == [1, 1, 1]


# ---------------------------------------------------------------------------------------- areas


def test_areas_in_closed_form() -> None:
    steps = np.linspace(0, 1, 101)
    curves = np.stack([np.full(101, 0.7), steps, 1 - steps])
    assert Perturbation().areas(curves) == pytest.approx([0.7, 0.5, 0.5])
    falls = (np.arange(101) < 20)[None]
    area = np.trapezoid(falls[0].astype(float), steps)
    assert Perturbation().auc(falls) == pytest.approx(area)


def test_the_area_of_the_mean_curve_is_the_mean_area() -> None:
    curves = np.random.default_rng(0).random((30, 11))
    mean = curves.mean(axis=0)
    assert INSERTION.auc(curves) == pytest.approx(np.trapezoid(mean, dx=0.1))


def test_pairs_see_what_means_hide() -> None:
    rng = np.random.default_rng(0)
    first = rng.random((40, 1)) * np.ones((40, 6))
    second = first - 0.05 - 0.01 * rng.random((40, 1))
    groups = Groups.single(40)
    deletion, insertion = Perturbation(steps=5).both
    found = insertion.gain(first, second, groups)
    assert found.sign == 1
    assert 0.03 <= found.low <= found.value <= found.high <= 0.08
    assert deletion.gain(first, second, groups).sign == -1
    assert deletion.gain(second, first, groups) == found
    shuffled = insertion.gain(first, first[::-1], groups)
    assert shuffled.sign == 0
    with pytest.raises((ValueError, TypeError), match=r"same images|image=40"):
        insertion.gain(first, second[:3], groups)
