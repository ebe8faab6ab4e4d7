"""What pictures share that wrongly get one answer, where the embedding keeps nothing of it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator

from cuescope_sdk import (
    Audit,
    Capabilities,
    Frame,
    Plugin,
    Report,
    Response,
    Sample,
    Trial,
)
from cuescope_sdk.statistics import Groups
from cuescope_sdk.testing import run_audit
from cuescope_trove import TRoVe
from cuescope_trove.candidates import foretold

LABELS = ("ant", "bee", "cat")
SIDE = 24
SUM = 300
BLOCK = 7  # pixels along its side
FILLED = 0.35  # of a picture


def has_strip(index: int) -> bool:
    return index % 3 != 2 and (index // 3) % 3 == 0


class Marked(Plugin):
    """Clips of two noisy pictures; every third ant and bee has a pale strip at the bottom."""

    labels = LABELS
    facts: dict[str, str] = {}
    fingerprint = "marked"

    def __len__(self) -> int:
        return 150

    def __getitem__(self, index: int) -> Sample:
        rng = np.random.default_rng(index)
        pictures = rng.integers(40, 160, (2, SIDE, SIDE, 3))
        if has_strip(index):
            pictures[:, -4:] = (230, 230, 210)
        # which clip it is, for the model
        pictures[:, 0, 0] = (index, index, index)
        frames = tuple(map(Frame.from_array, pictures.astype(np.uint8)))
        label = LABELS[index % 3]
        return Sample(
            key=f"{index:03d}",
            group=f"{index:03d}",
            frames=frames,
            choices=LABELS,
            label=label,
        )


class Blindfolded(Plugin):
    """Answers "cat" where the strip is, and tells nothing of it in its embedding."""

    capabilities = Capabilities(outputs=frozenset({"logits", "embedding"}))
    facts: dict[str, str] = {}
    fingerprint = "blindfolded"
    lean = 3.0

    def respond(self, trials: Any) -> list[Response]:
        return [self.answer(trial) for trial in trials]

    def answer(self, trial: Trial) -> Response:
        pixels = np.asarray(trial.sample.frames[0].load())
        index = int(pixels[0, 0, 0])
        rng = np.random.default_rng(index)
        # one in eight answers is wrong by chance
        best = (index + (rng.random() < 1 / 8)) % 3
        logits = 1.5 * (np.arange(3) == best) + rng.normal(0, 0.1, 3)
        logits[2] += self.lean * (pixels[-1].min() >= 210)
        return Response(logits=logits, embedding=rng.normal(size=8))


class Even(Blindfolded):
    """The same, and the strip is nothing to it."""

    lean = 0.0
    fingerprint = "even"


class Mislabelled(Marked):
    """Every cat has a strip, and one ant and one bee in twelve are cats that were called so."""

    fingerprint = "mislabelled"

    def __getitem__(self, index: int) -> Sample:
        sample = super().__getitem__(index)
        pixels = np.array(sample.frames[0].load())
        is_cat = index % 3 == 2 or index // 3 % 12 == 0
        pixels[-4:] = (230, 230, 210) if is_cat else pixels[4:8]
        frame = Frame.from_array(pixels)
        return replace(sample, frames=(frame, frame))


class Seer(Blindfolded):
    """Whatever has a strip is a cat to it."""

    fingerprint = "seer"

    def answer(self, trial: Trial) -> Response:
        pixels = np.asarray(trial.sample.frames[0].load())
        index = int(pixels[0, 0, 0])
        rng = np.random.default_rng(index)
        truly = 2 if pixels[-1].min() >= 210 else index % 3
        best = (truly + (rng.random() < 1 / 8)) % 3
        logits = 3 * (np.arange(3) == best) + rng.normal(0, 0.3, 3)
        return Response(logits=logits, embedding=rng.normal(size=8))


class Things(Marked):
    """Where a strip would be, a block at a changing place: red, green and blue sum to `SUM`."""

    fingerprint = "things"

    def __getitem__(self, index: int) -> Sample:
        sample = super().__getitem__(index)
        rng = np.random.default_rng([1, index])
        pixels = rng.integers(40, 160, (SIDE, SIDE, 3))
        if has_strip(index):
            top, left = rng.integers(1, SIDE - BLOCK, 2)
            block = pixels[top : top + BLOCK, left : left + BLOCK]
            block[..., :2] = rng.integers(70, 130, (BLOCK, BLOCK, 2))
            block[..., 2] = SUM - block[..., 0] - block[..., 1]
        pixels[0, 0] = index
        frame = Frame.from_array(pixels.astype(np.uint8))
        return replace(sample, frames=(frame, frame))


class NearSighted(Blindfolded):
    """Answers "cat" where the block is, which its embedding tells where it fills a picture."""

    fingerprint = "near-sighted"

    def answer(self, trial: Trial) -> Response:
        pixels = np.asarray(trial.sample.frames[0].load()).astype(int)
        is_block = np.abs(pixels.sum(axis=-1) - SUM) <= 6
        index = int(pixels[0, 0, 0])
        rng = np.random.default_rng(pixels.sum())
        best = (index + (rng.random() < 1 / 8)) % 3
        logits = 1.5 * (np.arange(3) == best) + rng.normal(0, 0.1, 3)
        logits[2] += self.lean * has_strip(index)
        embedding = rng.normal(size=8)
        embedding[0] += 20 * (is_block.mean() > FILLED)
        return Response(logits=logits, embedding=embedding)


def audit(model: type[Plugin], data: type[Plugin] = Marked, **options: Any) -> Report:
    return run_audit(TRoVe, model, data, null_shuffles=0, **options)


def test_what_the_embedding_does_not_keep_is_told_by_pictures() -> None:
    report = audit(Blindfolded)
    assert {finding.label for finding in report.findings} == {"ant", "bee"}
    [key] = {finding.feature for finding in report.findings}
    [feature] = [feature for feature in report.features if feature.key == key]
    strip = [has_strip(int(place.sample)) for place in feature.occurrences]
    assert np.mean(strip) > 0.9
    said = str(report.findings[0].statement)
    assert "those that are wrongly taken for 'cat' have it in common" in said
    assert "for 2 wrong answers what their pictures share" in report.notes["clusters"]


def test_what_no_small_patch_tells_is_told_by_crops(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def tell_nothing(_: Audit, read: np.ndarray, rng: Generator) -> np.ndarray:
        return rng.normal(size=(len(read), 20))

    monkeypatch.setattr(foretold, "_look", tell_nothing)
    assert not audit(NearSighted, Things, crops=False).findings
    report = audit(NearSighted, Things)
    assert {finding.label for finding in report.findings} == {"ant", "bee"}
    [key] = {finding.feature for finding in report.findings}
    [feature] = [feature for feature in report.features if feature.key == key]
    shown = [has_strip(int(place.sample)) for place in feature.occurrences]
    assert np.mean(shown) > 0.9


@pytest.mark.parametrize(("told", "gain"), [(4.0, 0.15), (0.0, -0.03)])
def test_what_pictures_tell_is_told_again_by_an_embedding_that_knows_of_it(
    told: float, gain: float
) -> None:
    rng = np.random.default_rng(3)
    label = np.arange(600) % 3
    shows = rng.random(600) < 0.25
    picture = rng.normal(size=(600, 5))
    picture[:, 0] += 2 * shows
    embedding = rng.normal(size=(600, 16))
    embedding[:, 0] += told * shows
    every = np.arange(600)
    pictures, model = (
        foretold.View.of(rows, every, label, Groups.single(600), rng)
        for rows in (picture, embedding)
    )
    taken = (shows ^ (rng.random(600) < 0.1)).astype(float)[:, None]
    by_pictures = pictures.scores(taken - taken.mean())
    count = int(shows.sum())
    counts = np.array([count])
    by_both = model.agree(by_pictures, counts, np.ones(600, dtype=bool))
    purity, before = (
        shows[np.argsort(-scores[:, 0])[:count]].mean()
        for scores in (by_both, by_pictures)
    )
    assert purity > before + gain


@pytest.mark.parametrize(("few", "views"), [(256, 1), (100, 2)])
def test_the_embedding_of_many_samples_alone_says_which_frames_are_listed(
    monkeypatch: pytest.MonkeyPatch, few: int, views: int
) -> None:
    made = []
    learn = foretold.View.of

    def count(*given: Any) -> foretold.View:
        made.append(learn(*given))
        return made[-1]

    def agree(_: foretold.View, scores: np.ndarray, *__: Any) -> np.ndarray:
        # as an embedding would that knows better
        return -scores

    monkeypatch.setattr(foretold, "SEEN", few)
    monkeypatch.setattr(foretold.View, "of", count)
    monkeypatch.setattr(foretold.View, "agree", agree)
    report = audit(Blindfolded)
    assert len(made) == views
    assert bool(report.findings) == (views == 1)


def test_the_answers_own_label_teaches_nothing_of_what_leads_there() -> None:
    """A mark that others share with it is no sign there: what has it is rightly answered so."""
    rng = np.random.default_rng(0)
    label = np.arange(60) % 3
    rows, values = rng.normal(size=(60, 5)), rng.normal(size=(60, 1))
    of_own = np.where((label == 0)[:, None], rng.normal(size=(60, 1)), values)
    view = foretold.View.of(rows, np.arange(60), label, Groups.single(60), rng)
    assert not np.allclose(view.scores(values), view.scores(of_own))
    besides = view.besides(0)
    scores = besides.scores(values)
    assert scores.all()  # its own frames are told as well
    assert np.array_equal(scores, besides.scores(of_own))


def test_frames_of_the_answers_own_label_are_seen_beside_the_others() -> None:
    """Whatever was taken from them: of few frames it is the mean of all, and one label has none."""
    rng = np.random.default_rng(0)
    label = np.array([0] * 20 + [1] * 20 + [3] * 2)
    rows = rng.normal(size=(42, 4)) + label[:, None]
    view = foretold.View.of(rows, np.arange(42), label, Groups.single(42), rng)
    others = (rows[:20].mean(axis=0) + rows[20:40].mean(axis=0)) / 2
    np.testing.assert_allclose(view.besides(3).rows[40:], rows[40:] - others)
    np.testing.assert_allclose(view.besides(3).rows[:40], view.rows[:40])


def test_pictures_of_wrong_labels_are_no_cue() -> None:
    """What leads to an answer is as common among samples of that label: they look so."""
    assert not audit(Seer, Mislabelled).findings


def test_of_two_parts_no_picture_is_read() -> None:
    report = audit(Blindfolded, discover=0.3)
    assert not report.findings
    assert "pictures" not in report.notes["clusters"]


def test_without_pictures_nothing_of_it_is_found() -> None:
    assert not audit(Blindfolded, by_pictures=False).findings
    assert not audit(Blindfolded, paper=True).findings


def test_a_model_that_does_not_lean_on_it_has_no_finding() -> None:
    assert not audit(Even).findings


def test_of_too_many_samples_no_picture_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(foretold, "READ", 100)
    report = audit(Blindfolded)
    assert not report.findings
    assert "pictures" not in report.notes["clusters"]


def test_of_long_clips_evenly_spaced_frames_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(foretold, "READ", 6)
    frame_sample = np.repeat([0, 1], [9, 2])
    assert foretold._some_frames(frame_sample).tolist() == [0, 4, 8, 9, 10]


@pytest.mark.parametrize(
    # the binomial 99.9th percentile of those with a finding at 5%
    ("audits", "most"),
    [(8, 3), pytest.param(100, 13, marks=pytest.mark.long)],
)
@pytest.mark.parametrize("few", [256, pytest.param(100, marks=pytest.mark.long)])
def test_answers_that_know_nothing_of_pictures_are_as_rare_as_promised(
    monkeypatch: pytest.MonkeyPatch, few: int, audits: int, most: int
) -> None:
    # of more samples an embedding tells too
    monkeypatch.setattr(foretold, "SEEN", few)
    found = 0
    for number in range(audits):

        class Dice(Even):
            """Throws dice for each clip, and a still is answered as its clip."""

            fingerprint = f"dice-{number}"
            throw = number

            def answer(self, trial: Trial) -> Response:
                index = int(np.asarray(trial.sample.frames[0].load())[0, 0, 0])
                rng = np.random.default_rng([self.throw, index])
                logits = rng.normal(0, 1, 3) + 1.5 * (np.arange(3) == index % 3)
                return Response(logits=logits, embedding=rng.normal(size=8))

        report = audit(Dice, min_error_contribution=0, above_chance=False)
        found += bool(report.findings)
    assert found <= most
