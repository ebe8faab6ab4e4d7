"""A cue's direction in an embedding: erased in closed form, patched from the nearest sample."""

from contextlib import nullcontext
from dataclasses import replace
from itertools import compress
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_confirm.asking import Direction
from cuescope_confirm.cases import inside
from cuescope_confirm.cases.inside import Axis, Learned, pairs_inside
from cuescope_confirm.locating.places import LocatedCue
from cuescope_confirm.scores import Effect, Ruling
from cuescope_confirm.testimony.votes import Vote, jointly_telling, kinds_of
from cuescope_confirm.trials import SEEN, _witnesses_of
from cuescope_confirm.verdicts.row import Row
from cuescope_confirm.verdicts.rulings import by_kinds
from cuescope_confirm.verify import evidence
from cuescope_core.conclusions import with_doubts
from cuescope_sdk import Feature, Occurrence, Sample, Score
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


def vote(decision: Any, effect: str, needs: str = "inside") -> Vote:
    plugin = SimpleNamespace(effect=effect, needs=needs, changes=None)
    witness: Any = SimpleNamespace(plugin=plugin)
    standing: Any = "inside" if needs == "inside" else "full"
    return Vote(
        standing,
        [witness],
        1.0,
        effect=Effect(0.2, 0.1, 0.3, 40, 0.001),
        decision=decision,
    )


@pytest.mark.parametrize(
    ("votes", "verdict"),
    [
        (["confirms removes", "confirms inserts"], "causes"),
        (["confirms removes", "undecided inserts"], "cannot tell"),
        (["confirms removes", "confirms removes"], "cannot tell"),
        (["placebo removes", "placebo inserts"], "cannot tell"),
        (["confirms removes", "confirms inserts", "placebo still"], "cannot tell"),
    ],
)
def test_an_embedding_convicts_both_ways_and_never_against_pictures(
    votes: list[str], verdict: str
) -> None:
    cast = []
    for words in votes:
        said, effect = words.split()
        decision = "placebo does as much" if said == "placebo" else said
        needs = "still" if effect == "still" else "inside"
        cast.append(
            vote(decision, "inserts" if effect == "inserts" else "removes", needs)
        )
    given: Any = target()
    given.direction = Direction(gap=-0.3, z=-5.0)
    assert by_kinds(Row(given, [], [], cast), 0.1).verdict == verdict


def test_the_inside_is_asked_where_no_picture_loses_the_cue() -> None:
    asked: list[str] = []

    def spec(name: str, needs: str) -> Any:
        traits = {"effect": "removes", "placebo": "other donor", "partial": False}
        return SimpleNamespace(name=name, needs=needs, changes=None, **traits)

    plugins: Any = {"blank": spec("blank", "still"), "erase": spec("erase", "inside")}
    for share in (0.8, 0.3):
        asked.clear()
        made = _asked(plugins, share)
        reasons = {witness.spec: witness.reason for witness in made}
        assert (reasons["erase"] == SEEN) is (share == 0.8)


@pytest.mark.parametrize("needs", ["inside", "still"])
def test_what_the_embedding_alone_tells_is_not_erased_there(needs: str) -> None:
    """Wrong answers have a direction in any embedding: to erase it mends them."""
    from cuescope_confirm import trials
    from cuescope_confirm.testimony.witnesses import Answers, Witness

    about = target()
    about.has_place, about.reason = False, None
    about.located = replace(about.located, is_seen=False)
    plugin: Any = SimpleNamespace(
        needs=needs,
        effect="removes",
        placebo="other direction",
        why_not=lambda *_: None,
    )
    study: Any = SimpleNamespace(audit=SimpleNamespace(capabilities=None, tools=()))
    witness = Witness(about, "erase", plugin, answers=Answers.unknown())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trials, "is_placed", lambda _: True)
        patch.setattr(trials, "sort_of", lambda _: ("sort",))
        patch.setattr(trials, "nothing_to_do", lambda *_: "no pair")
        for make in ("pairs_inside", "pairs_of"):
            patch.setattr(trials, make, lambda *_: [])
        reason = trials._ready(study, witness, {}).reason
    assert reason == (trials.UNSEEN if needs == "inside" else "no pair")


def _asked(plugins: Any, share: float) -> Any:
    from cuescope_confirm import trials
    from cuescope_confirm.testimony.witnesses import Answers, Witness

    pair: Any = SimpleNamespace(control=False)
    nothing: Any = (None, None, None)
    answers = Answers.unknown([pair] * 20, [nothing] * 20)
    given: Any = target()

    def make(_: Any, some: Any, about: Any) -> Any:
        return [
            Witness(about, name, one, answers=answers) for name, one in some.items()
        ]

    study: Any = SimpleNamespace(
        audit=SimpleNamespace(once=lambda *_: share), options=SimpleNamespace(least=10)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trials, "_witnesses", make)
        patch.setattr(trials, "_one_of_each_kind", lambda _, some: some)
        patch.setattr(trials, "_of_cue_alone", lambda _, one: one)
        return _witnesses_of(study, plugins, given, is_free=True)


def _witness_by(needs: str, effect: str) -> Any:
    plugin = SimpleNamespace(
        needs=needs,
        effect=effect,
        placebo="other direction",
        partial=False,
        changes=None,
    )
    return type("W", (SimpleNamespace,), {"__hash__": object.__hash__})(
        plugin=plugin, edits_model=True
    )


@pytest.mark.parametrize(
    ("effects", "told_by"),
    [(["removes", "inserts"], "partial"), (["removes"], "inside")],
)
def test_whole_pictures_that_are_changed_both_ways_tell_more_than_an_embedding(
    effects: list[str], told_by: str
) -> None:
    inside = [_witness_by("inside", effect) for effect in ("removes", "inserts")]
    stills = [_witness_by("still", effect) for effect in effects]
    shares = dict.fromkeys(inside, None) | dict.fromkeys(stills, 0.4)
    kinds = kinds_of([*inside, *stills], shares)
    assert [kind.standing for kind in jointly_telling(kinds)] == [told_by] * 2


def test_two_ways_inside_are_tested_together_where_no_picture_loses_the_cue() -> None:
    erase, patch = _witness_by("inside", "removes"), _witness_by("inside", "inserts")
    blank = _witness_by("region", "removes")
    kinds = kinds_of([erase, patch], {erase: None, patch: None})
    assert [kind.standing for kind in jointly_telling(kinds)] == ["inside"] * 2
    kinds = kinds_of([blank, erase, patch], {blank: 0.9, erase: None, patch: None})
    assert not jointly_telling(kinds)


@pytest.mark.parametrize("is_inside", [True, False])
def test_a_cause_told_by_the_embedding_alone_has_no_star(is_inside: bool) -> None:
    """It may be the cue's company, which samples as they are tell no better."""
    feature = SimpleNamespace(key="red")
    cue = SimpleNamespace(feature=feature, label="top")
    about: Any = SimpleNamespace(cue=cue, located=None)
    ruling = Ruling("causes", necessary=True, sufficient=True, inside=is_inside)
    audit = SimpleNamespace(spare=lambda part: nullcontext())
    row = Row(about, [], [], [], ruling)
    results: Any = SimpleNamespace(
        study=SimpleNamespace(audit=audit), rows=[row], name_of=lambda row: "red"
    )
    found = Score(feature="red", label="top", metric="effect", value=0.2, finding=True)
    [score] = with_doubts([found], evidence(results))
    assert bool(score.doubt) is is_inside
    assert score.finding


@pytest.mark.parametrize(
    ("needs", "shown"), [("inside", "erase"), ("region", "transplant")]
)
def test_pictures_of_an_edit_of_the_embedding_show_the_cue(
    needs: str, shown: str
) -> None:
    """What is put in goes into samples without it, and the pictures stay as they are."""

    def witness(spec: str, p_value: float, *, removes: bool) -> Any:
        return SimpleNamespace(
            spec=spec,
            removes=removes,
            is_inside=needs == "inside",
            plugin=SimpleNamespace(needs=needs),
            effect=Effect(0.2, 0.1, 0.3, 40, p_value, corrected=p_value),
        )

    measured = [
        witness("erase", 0.04, removes=True),
        witness("transplant", 0.001, removes=False),
    ]
    pictured = Row(target(), measured, [], []).pictured
    assert pictured is not None
    assert pictured.spec == shown
