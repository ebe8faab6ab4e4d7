"""A cue's direction in an embedding: erased in closed form, patched from the nearest sample."""

from itertools import compress
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_confirm.cases import inside
from cuescope_confirm.cases.inside import Axis, Learned, pairs_inside
from cuescope_confirm.locating.places import LocatedCue
from cuescope_sdk import Feature, Occurrence, Sample
from cuescope_sdk.interventions import Place

COUNT, DIM = 400, 6
SHOWN = np.arange(COUNT) % 2 == 0
LABELS = np.array(["cup", "plate"])[np.arange(COUNT) % 4 // 2].tolist()
CUE = np.array([2.0, 0.0, 1.0, 0.0, 0.0, 0.0])
SOMEWHERE = (Occurrence(sample="000"),)


def embeddings(shown: np.ndarray = SHOWN) -> np.ndarray:
    """Of two labels, correlated, with a cue in every second one."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(len(shown), DIM)) @ rng.normal(size=(DIM, DIM))
    of_label = np.array([name == "plate" for name in LABELS[: len(shown)]])
    rows[:, 3] += 5.0 * of_label
    rows += shown[:, None] * CUE
    return rows


def test_what_is_erased_is_what_the_paper_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """LEACE, theorem 4.2: x less S_xz (S_zx S_xx^-1 S_xz)^-1 S_zx S_xx^-1 (x - mean)."""
    monkeypatch.setattr(inside, "ledoit_wolf_shrinkage", lambda *_, **__: 0.0)
    rows = embeddings()
    axis = Axis.learn(rows, SHOWN, ["one label"] * COUNT)
    assert axis is not None
    centred = rows - rows.mean(axis=0)
    covariance = centred.T @ centred / COUNT
    cross = centred.T @ (SHOWN - SHOWN.mean()) / COUNT
    towards = np.linalg.solve(covariance, cross)
    erased = rows - np.outer(centred @ towards, cross) / (cross @ towards)
    own = axis.erase(rows, ["one label"] * COUNT)
    # a constant apart: ours is as without the cue, and not as the mean of all
    apart = own - erased
    assert np.allclose(apart, apart[0], atol=1e-3)
    assert not np.allclose(apart[0], 0, atol=0.1)


def test_no_linear_model_tells_an_erased_cue_within_a_label() -> None:
    rows = embeddings()
    axis = Axis.learn(rows, SHOWN, LABELS)
    assert axis is not None
    erased = axis.erase(rows, LABELS)
    for name in ("cup", "plate"):
        of_label = np.array([label == name for label in LABELS])
        with_cue = erased[of_label & SHOWN].mean(axis=0)
        without = erased[of_label & ~SHOWN].mean(axis=0)
        # labels differ by chance, and one step is learned of both
        assert np.abs(with_cue - without).max() < 0.5
        assert np.allclose(without, rows[of_label & ~SHOWN].mean(axis=0))
    # of a linear head it takes what the cue gives
    head = np.arange(DIM)
    taken = ((rows - erased) @ head)[SHOWN].mean()
    assert taken == pytest.approx(CUE @ head, abs=1.0)
    assert Axis.learn(rows, np.ones(COUNT, bool), LABELS) is None
    constant = Axis.learn(rows, np.array([name == "cup" for name in LABELS]), LABELS)
    assert constant is None


def target() -> Any:
    samples = {
        f"{number:03}": Sample(key=f"{number:03}", frames=(), label=LABELS[number])
        for number in range(COUNT)
    }
    shown = {key: Place() for key in samples if int(key) % 2 == 0}
    located = LocatedCue(shown, samples.keys() - shown.keys(), "learned", auroc=0.9)
    return SimpleNamespace(
        samples=samples,
        located=located,
        cue=SimpleNamespace(id="cue"),
        role="finding",
        parts=(),
        is_judged=lambda _: True,
    )


@pytest.mark.parametrize("effect", ["removes", "inserts"])
def test_a_placebo_moves_as_far_and_tells_no_cue(
    effect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = embeddings()
    axis = Axis.learn(rows, SHOWN, LABELS)
    assert axis is not None
    origins = np.array([axis.origins[label] for label in LABELS])
    learned = Learned(axis, axis.erase(rows, LABELS) - origins, [np.eye(DIM)[5]])
    monkeypatch.setattr(
        inside,
        "_embeddings",
        lambda _, samples: rows[[int(sample.key) for sample in samples]],
    )
    study: Any = SimpleNamespace(
        audit=SimpleNamespace(once=lambda *_: learned),
        options=SimpleNamespace(samples=60),
        rng=lambda *_: np.random.default_rng(1),
    )
    plugin: Any = SimpleNamespace(effect=effect)
    pairs = pairs_inside(study, target(), plugin)
    assert len(pairs) == 60
    along = []
    for pair in pairs:
        shift, beside = pair.case.shift, pair.placebo.shift
        assert np.linalg.norm(shift) == pytest.approx(np.linalg.norm(beside))
        row = rows[int(pair.case.sample.key)]
        assert pair.case.norm == pytest.approx(np.linalg.norm(row))
        assert (int(pair.case.sample.key) % 2 == 0) == (effect == "removes")
        [reached] = axis.along((row + shift)[None], [pair.case.sample.label])
        along.append(reached)
    aim = 0.0 if effect == "removes" else 1.0
    assert np.mean(along) == pytest.approx(aim, abs=0.3)
    directions = [pair.placebo.shift for pair in pairs]
    assert np.allclose(np.abs(directions[0]).argmax(), 5)
    # every second one is random
    lengths = [np.linalg.norm(one) for one in directions[1::2]]
    told = np.abs(np.array(directions[1::2]) @ axis.reader) / lengths
    assert told.max() < 1e-6


def test_each_label_loses_what_the_cue_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The cue moves cups one way and plates another; of bowls there are too few to know."""
    is_cup = np.array([name == "cup" for name in LABELS])
    of_plates = np.array([0.0, 0.0, 0.0, 0.0, 2.0, 1.0])
    rows = embeddings() + (SHOWN & ~is_cup)[:, None] * (of_plates - CUE)
    labels = np.where(np.arange(COUNT) < 12, "bowl", LABELS)
    found = target()
    keys = list(found.samples)
    seen = {
        key: Sample(key=key, frames=(), label=label)
        for key, label in zip(keys, labels.tolist(), strict=True)
    }
    listed = set(compress(keys, SHOWN))
    found.cue.feature = Feature(key="c", kind="cluster", occurrences=SOMEWHERE)
    found.cue.samples_with_cue = lambda _: listed
    monkeypatch.setattr(
        inside, "training_frames", lambda *_: ([(key, 0) for key in keys], None)
    )
    monkeypatch.setattr(inside, "_shown_of_others", lambda *_: iter([]))
    monkeypatch.setattr(inside, "_embeddings", lambda *_: rows)
    study: Any = SimpleNamespace(seen=seen, options=SimpleNamespace(least=10))
    learned = inside._learn(study, found)
    assert learned is not None
    for label, step in {"cup": CUE, "plate": of_plates}.items():
        of_label = SHOWN & (labels == label)
        names = [label] * of_label.sum()
        without = rows[of_label] - step
        own, of_all = (
            np.linalg.norm((axis.erase(rows[of_label], names) - without).mean(axis=0))
            for axis in (learned.axis_of(label), learned.axis)
        )
        assert own < of_all / 2
    assert learned.axis_of("bowl") is learned.axis


def test_where_no_sample_is_judged_there_is_no_pair() -> None:
    learned = SimpleNamespace(axis=None, directions=lambda _: iter(()))
    study: Any = SimpleNamespace(
        audit=SimpleNamespace(once=lambda *_: learned),
        options=SimpleNamespace(samples=60),
        rng=lambda *_: np.random.default_rng(1),
    )
    unjudged = target()
    unjudged.is_judged = lambda _: False
    plugin: Any = SimpleNamespace(effect="removes")
    assert pairs_inside(study, unjudged, plugin) == []
