"""What goes with a cue: which of the two moves answers, and what a change moves."""

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_confirm import companions
from cuescope_confirm.analysis import (
    _as_they_are,
    _clearness_of,
    _correct_in_order,
    _least_said,
)
from cuescope_confirm.asking import Direction, RunAnswers
from cuescope_confirm.companions import (
    Discordant,
    companions_of,
    discordant,
    moved,
    unnamed,
)
from cuescope_confirm.companions.difficulty import Drawn
from cuescope_confirm.locating.moments import Moment
from cuescope_confirm.locating.places import LocatedCue
from cuescope_confirm.scores import NO_MORE, Decision, Effect, Ruling
from cuescope_confirm.study import Cue, Study
from cuescope_confirm.testimony.sizes import size_of
from cuescope_confirm.testimony.votes import INSIDE, Kind, Standing, Vote
from cuescope_confirm.testimony.witnesses import CHANGED, Answers, Witness
from cuescope_confirm.verdicts.row import Row
from cuescope_confirm.verdicts.rulings import (
    _both_ways,
    by_all_else,
    by_all_evidence,
    by_companion,
    by_embedding_alone,
    by_kinds,
)
from cuescope_confirm.verdicts.sentences import hanging_together
from cuescope_confirm.verdicts.undecided import SECOND_CAUSE, Undecided
from cuescope_sdk import Feature, Frame, Occurrence, Sample, Trial
from cuescope_sdk.interventions import Place
from cuescope_sdk.statistics import Estimate, PrognosticGap

COUNT = 400
OPTIONS: Any = SimpleNamespace(least=10, margin=0.1, pairs=None, confidence=0.95)


def picture(rng: np.random.Generator, *, cue: bool, companion: bool) -> Frame:
    """Noise; a cue is a bright band at the top, its companion a dark one at the bottom."""
    pixels = rng.integers(90, 170, (24, 24, 3))
    pixels[:6] += 80 * cue
    pixels[-6:] -= 80 * companion
    return Frame.from_array(pixels.clip(0, 255).astype(np.uint8))


class World:
    """Samples in which a cue and a companion are there together in a share."""

    def __init__(self, together: float, used: str) -> None:
        rng = np.random.default_rng(0)
        self.cue = rng.random(COUNT) < 0.5
        self.companion = np.where(rng.random(COUNT) < together, self.cue, ~self.cue)
        harm = self.cue if used == "cue" else self.companion
        self.probability = 0.8 - 0.3 * harm + rng.normal(0, 0.1, COUNT)
        self.samples = {}
        for number in range(COUNT):
            frame = picture(rng, cue=self.cue[number], companion=self.companion[number])
            key = f"{number:03}"
            notes = {"factors": {"light": "dim" if self.companion[number] else "day"}}
            self.samples[key] = Sample(
                key=key,
                frames=(frame,),
                label="cup" if number % 2 else "plate",
                choices=("cup", "plate"),
                annotations=notes,
            )
        listed = [
            key for key, shown in zip(self.samples, self.cue, strict=True) if shown
        ]
        occurrences = tuple(Occurrence(sample=key, frame=0) for key in listed)
        feature = Feature(key="c", kind="cluster", name="c", occurrences=occurrences)
        self.found = Cue(feature, "band", ("cup",), "trove")

    @property
    def study(self) -> Any:
        """As far as companions ask for it."""
        audit: Any = SimpleNamespace(
            once=lambda function, *given: function(*given),
            options=None,
            respond=list,
            rng=lambda *_: np.random.default_rng(1),
        )
        cues = (self.found,)
        return Study(audit, OPTIONS, cues, self.samples, {}, {}, {})

    @property
    def target(self) -> Any:
        """The finding, which harms."""
        direction = Direction(gap=-0.3, z=-5.0)
        return SimpleNamespace(cue=self.found, direction=direction, parts=())

    def beside_all_else(self, monkeypatch: pytest.MonkeyPatch) -> PrognosticGap | None:
        """What is left of the finding where all else in the pictures is held alike."""
        answers = self.answers()
        monkeypatch.setattr(unnamed, "run_answers", lambda *_: answers)
        monkeypatch.setattr(unnamed, "prepare", lambda *_: self.study)
        dossier: Any = SimpleNamespace(study=self.study, witnesses_of=lambda _: [])
        located = LocatedCue({}, frozenset(), "frames")
        target: Any = SimpleNamespace(
            **vars(self.target), by_label=False, located=located
        )
        *_, plain = unnamed.as_they_are(dossier, target)
        return unnamed.beside_all_else(self.study, target, plain)

    def compare(self, monkeypatch: pytest.MonkeyPatch) -> Discordant:
        """What the run's answers say of the one companion."""
        answers = self.answers()
        monkeypatch.setattr(companions, "run_answers", lambda *_: answers)
        [found] = discordant(self.study, self.target)
        return found

    def answers(self) -> RunAnswers:
        """The run's."""
        labels = np.array([sample.label for sample in self.samples.values()])
        outcomes: Any = [
            SimpleNamespace(
                trial=SimpleNamespace(sample=sample),
                response=SimpleNamespace(logits=None),
                prediction=sample.label,
            )
            for sample in self.samples.values()
        ]
        return RunAnswers(
            outcomes,
            present=self.cue,
            of_label=labels == "cup",
            right=(self.probability > 0.5).astype(float),
            probability=self.probability,
            labels=labels,
        )


def ruling(found: Discordant) -> Undecided | None:
    """What is missing for a cause, by this companion."""
    target: Any = SimpleNamespace(direction=Direction(gap=-0.3, z=-5.0))
    row = Row(target, [], [], [], Ruling("causes"), discordant=[found])
    study: Any = SimpleNamespace(options=OPTIONS)
    return by_companion(study, row)


def test_a_companion_is_named_with_how_often_it_is_there() -> None:
    world = World(0.85, "companion")
    [companion] = companions_of(world.study, world.found)
    assert companion.name == "light=dim"
    assert companion.with_cue == pytest.approx(0.85, abs=0.05)
    assert companion.without == pytest.approx(0.15, abs=0.05)
    assert not companions_of(World(0.5, "cue").study, world.found)


def test_where_they_come_apart_the_one_that_moves_answers_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decoy = World(0.8, "companion").compare(monkeypatch)
    assert decoy.vetoes(10, 0.1)
    assert "light=dim" in str(ruling(decoy))
    cause = World(0.8, "cue").compare(monkeypatch)
    assert ruling(cause) is None
    assert cause.of_cue is not None
    assert 0 < cause.of_cue.low < 0.3 < cause.of_cue.high


def test_where_they_never_come_apart_the_reader_is_told_what_to_collect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = World(0.99, "companion").compare(monkeypatch)
    assert ruling(found) is None
    about = SimpleNamespace(cue=SimpleNamespace(name="darker (a guess)"))
    row: Any = SimpleNamespace(target=about, discordant=[found])
    options: Any = OPTIONS
    [words] = hanging_together(row, options)
    assert "light=dim" in words
    assert "--pairs" in words
    # two of one guess are told by more than it
    twin = replace(found.companion, name="failures of cup (a guess: darker)")
    row.discordant = [replace(found, companion=twin)]
    [words] = hanging_together(row, options)
    assert words.startswith("It goes with another finding, which looks the same (in ")
    # a part of the cue, which most of its samples lack, is no company to be told from it
    part = replace(found.companion, with_cue=0.14)
    row = SimpleNamespace(discordant=[replace(found, companion=part)])
    assert not list(hanging_together(row, options))


@pytest.mark.parametrize("takes_both", [True, False])
def test_a_change_that_moves_the_companion_too_is_no_witness(
    takes_both: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(0.8, "companion")
    world.compare(monkeypatch)
    rng = np.random.default_rng(2)
    changed = [picture(rng, cue=False, companion=not takes_both) for _ in range(40)]
    placebos = [picture(rng, cue=True, companion=True) for _ in range(40)]
    pairs = [
        (Moment((after,), 0), Moment((placebo,), 0))
        for after, placebo in zip(changed, placebos, strict=True)
    ]
    monkeypatch.setattr(moved, "changed_moments", lambda _: pairs)
    monkeypatch.setattr(moved, "by_fold", lambda study, one: [(study, one)])
    plugin = SimpleNamespace(needs="still", effect="removes")
    witness: Any = SimpleNamespace(
        edits_model=False, plugin=plugin, target=world.target
    )
    said = moved.moved_companion(world.study, witness)
    assert said == ("light=dim" if takes_both else None)


def test_what_goes_with_a_cue_and_has_no_name_is_set_aside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decoy = World(0.8, "companion").beside_all_else(monkeypatch)
    assert decoy is not None
    assert decoy.plain.low > 0.1
    assert decoy.alike.value < decoy.plain.value / 3
    cause = World(0.8, "cue").beside_all_else(monkeypatch)
    assert cause is not None
    assert cause.alike.low > 0.1
    assert cause.alike.low < 0.3 < cause.alike.high


def test_what_pictures_do_not_tell_is_not_held_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World(0.8, "cue")
    shuffled = np.random.default_rng(5).permutation(COUNT)
    world.cue = world.cue[shuffled]
    assert world.beside_all_else(monkeypatch) is None


@pytest.mark.parametrize(("auroc", "both"), [(0.8, True), (0.9, False)])
def test_pictures_say_which_samples_show_a_cue_and_the_list_too_where_they_are_unsure(
    monkeypatch: pytest.MonkeyPatch, auroc: float, *, both: bool
) -> None:
    """A list may have chosen samples by their answers, and pictures may see the company."""
    world = World(0.8, "cue")
    answers = world.answers()
    half = np.arange(COUNT) % 2 == 0
    eye: Any = SimpleNamespace(
        model=SimpleNamespace(auroc=auroc),
        rows=np.zeros((COUNT, 2)),
        shows=np.where(half, answers.present, ~answers.present),
    )
    monkeypatch.setattr(unnamed, "run_answers", lambda *_: answers)
    monkeypatch.setattr(unnamed, "prepare", lambda *_: world.study)
    monkeypatch.setattr(unnamed, "_learn_eye", lambda *_: eye)
    monkeypatch.setattr(unnamed, "held_out_answers", lambda *_: ([], []))
    target: Any = SimpleNamespace(**vars(world.target), by_label=False, located=None)
    dossier: Any = SimpleNamespace(study=world.study)
    *by_list, by_pictures = unnamed.as_they_are(dossier, target)
    assert by_pictures.known.all()
    assert (by_pictures.answers.present == eye.shows).all()
    assert len(by_list) == both
    assert all(view.answers is answers for view in by_list)
    # without pictures the answers are there all the same
    monkeypatch.setattr(unnamed, "_learn_eye", lambda *_: None)
    [plain] = unnamed.as_they_are(dossier, target)
    assert plain.answers is answers
    assert unnamed.beside_all_else(world.study, world.target, plain) is None


def test_of_folds_the_runs_samples_are_known_where_pictures_agree_with_the_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whole pictures tell a small cue badly, and its place well: the eye takes half of all here."""
    world = World(0.8, "cue")
    answers = world.answers()
    shows = answers.present | (np.arange(COUNT) % 2 == 0)
    eye: Any = SimpleNamespace(
        model=SimpleNamespace(auroc=0.9), rows=np.zeros((COUNT, 2)), shows=shows
    )
    monkeypatch.setattr(unnamed, "run_answers", lambda *_: answers)
    monkeypatch.setattr(unnamed, "prepare", lambda *_: world.study)
    monkeypatch.setattr(unnamed, "_learn_eye", lambda *_: eye)
    monkeypatch.setattr(unnamed, "held_out_answers", lambda *_: ([], []))
    keys = [outcome.trial.sample.key for outcome in answers.outcomes]
    with_cue = {
        key for key, is_there in zip(keys, answers.present, strict=True) if is_there
    }
    # of the last sample it is not told whether it shows the cue
    without = frozenset(set(keys[:-1]) - with_cue)
    located = LocatedCue(dict.fromkeys(with_cue, Place()), without, "frames")
    given = {**vars(world.target), "located": located, "parts": ("a", "b")}
    target: Any = SimpleNamespace(**given, by_label=False)
    dossier: Any = SimpleNamespace(study=world.study)
    [view] = unnamed.as_they_are(dossier, target)
    assert (view.known[:-1] == (shows == answers.present)[:-1]).all()
    assert not view.known[-1] or keys[-1] in with_cue
    assert (view.answers.present[view.known] == answers.present[view.known]).all()


def test_of_two_views_the_one_that_says_less_counts() -> None:
    much, little = said(0.2, 0.1, 0.3), said(0.15, 0.02, 0.3)
    assert _least_said([much, little]) is little
    assert _least_said([much]) is much
    assert _least_said([much, None]) is None
    assert _least_said([]) is None


def said(value: float, low: float, high: float) -> PrognosticGap:
    """By samples as they are."""
    return PrognosticGap(Estimate(0.2, 0.15, 0.25), Estimate(value, low, high))


SURE = said(0.2, 0.1, 0.3)


def one_vote(
    standing: Standing, *, removes: bool = True, p_value: float = 0.001
) -> Vote:
    effect = "removes" if removes else "inserts"
    witness: Any = SimpleNamespace(
        plugin=SimpleNamespace(effect=effect, needs="region")
    )
    measured = Effect(0.2, 0.1, 0.3, 40, p_value, corrected=p_value)
    return Vote(standing, [witness], 1.0, effect=measured, decision="undecided")


def undecided(
    votes: list[Vote], beside: PrognosticGap | None, *, has_place: bool = True
) -> tuple[Any, Row]:
    """A study, and a row of it to which something is missing."""
    target: Any = SimpleNamespace(
        direction=Direction(gap=-0.3, z=-5.0), has_place=has_place, located=None
    )
    ruling = Ruling("cannot tell", missing=SECOND_CAUSE)
    study: Any = SimpleNamespace(options=OPTIONS)
    return study, Row(target, [], [], votes, ruling, beside=beside)


LARGE = Estimate(0.2, 0.1, 0.3)


@pytest.mark.parametrize(
    ("votes", "beside", "effect", "verdict"),
    [
        # samples as they are are the second of two witnesses
        ([one_vote("full")], SURE, LARGE, "causes"),
        ([one_vote("partial")], SURE, LARGE, "causes"),
        ([one_vote("full")], None, LARGE, "cannot tell"),
        # what is not sure of a change is not made so by them
        ([one_vote("full", p_value=0.2)], SURE, LARGE, "cannot tell"),
        # one direction of the embedding may be that of its company
        ([one_vote("inside")], SURE, LARGE, "cannot tell"),
        (
            [one_vote("inside"), one_vote("inside", removes=False)],
            SURE,
            LARGE,
            "causes",
        ),
        # all of the frame may be that of its company, too
        ([one_vote("coarse")], SURE, LARGE, "cannot tell"),
        # two kinds of change without them
        ([one_vote("full"), one_vote("partial")], None, LARGE, "causes"),
        ([one_vote("partial"), one_vote("partial")], None, LARGE, "cannot tell"),
        # too small, and too unlike
        ([one_vote("full")], SURE, Estimate(0.09, 0.05, 0.13), "cannot tell"),
        ([one_vote("full")], SURE, Estimate(0.2, -0.1, 0.5), "cannot tell"),
    ],
)
def test_all_evidence_together_makes_a_cause(
    votes: list[Vote],
    beside: PrognosticGap | None,
    effect: Estimate[float],
    verdict: str,
) -> None:
    study, row = undecided(votes, beside)
    if len(votes) > 1:
        row = replace(row, together=votes[0].effect)
    row = replace(row, effect=effect)
    assert by_all_evidence(study, row).verdict == verdict


@pytest.mark.parametrize(
    ("inserted", "decision", "sufficient"),
    [
        ("partial", "confirms", True),
        ("partial", "undecided", False),
        # where all of it can be put in, a part of it tells nothing
        ("full", NO_MORE, False),
    ],
)
def test_a_part_tells_the_way_in_which_all_of_a_cue_cannot_be_changed(
    inserted: Standing, decision: Decision, *, sufficient: bool
) -> None:
    taken_out = replace(one_vote("full"), decision="confirms")
    put_in = replace(one_vote(inserted, removes=False), decision=decision)
    told = _both_ways(Ruling("causes", necessary=True), [taken_out, put_in])
    assert (told.necessary, told.sufficient) == (True, sufficient)


@pytest.mark.parametrize(
    ("share", "low", "is_cause"),
    [
        (0.9, 0.08, True),
        (0.9, 0.04, False),
        # one of several: what it has beyond the others, a half of it, has to be as much
        (0.4, 0.11, True),
        (0.4, 0.09, False),
        (0.25, 0.2, False),
    ],
)
def test_one_answer_in_samples_of_all_labels_seconds_the_embedding(
    share: float, low: float, *, is_cause: bool
) -> None:
    study, row = undecided([one_vote("inside")], said(0.1, -0.02, 0.22))
    row = replace(row, drawn=Drawn("plate", share, 4, 80, Estimate(0.2, low, 0.3)))
    ruling = by_all_evidence(study, replace(row, effect=LARGE))
    assert (ruling.verdict == "causes") is is_cause
    row = replace(row, ruling=Ruling("causes", inside=True))
    # a cause both ways is held against them as well
    assert (by_embedding_alone(row, OPTIONS.margin) is None) is is_cause
    assert (by_all_else(study, row) is None) is is_cause


def test_samples_as_they_are_make_an_edit_of_the_embedding_no_larger() -> None:
    small = Effect(0.07, 0.04, 0.1, 40, 0.001, corrected=0.001)
    seconded = Drawn("plate", 0.9, 4, 80, Estimate(0.2, 0.1, 0.3))
    for standing, is_cause in {"inside": False, "partial": True}.items():
        kind: Any = standing
        vote = replace(one_vote(kind), effect=small, part=0.8)
        study, row = undecided([vote], SURE)
        row = replace(row, drawn=seconded, effect=LARGE)
        ruling = by_all_evidence(study, row)
        assert (ruling.verdict == "causes") is is_cause


def test_what_is_tested_together_gives_the_size_too() -> None:
    parts = [one_vote("partial"), one_vote("partial", removes=False)]
    for vote in parts:
        vote.party[0].plugin.needs = "still"
    inside = [one_vote("inside"), one_vote("inside", removes=False)]
    _, row = undecided([*inside, *parts], None)
    assert row.telling == row.fullest == parts
    _, row = undecided([*inside, parts[0]], None)
    assert row.telling == row.fullest == inside


@pytest.mark.parametrize(
    ("beside", "has_place", "is_cause"),
    [
        (SURE, True, True),
        (said(0.02, -0.03, 0.07), True, False),
        (said(0.1, -0.02, 0.22), True, True),
        # all over the frame the company is changed with it
        (said(0.1, -0.02, 0.22), False, False),
        (SURE, False, True),
        (None, False, True),
    ],
)
def test_what_all_else_explains_is_no_cause(
    beside: PrognosticGap | None, has_place: bool, is_cause: bool
) -> None:
    study, row = undecided([], beside, has_place=has_place)
    assert (by_all_else(study, row) is None) is is_cause


@pytest.mark.parametrize(("low", "is_cause"), [(0.04, False), (0.06, True)])
def test_what_the_embedding_alone_tells_has_to_be_said_by_samples_as_they_are(
    low: float, *, is_cause: bool
) -> None:
    study, row = undecided([], said(0.1, low, 0.22), has_place=True)
    row = replace(row, ruling=Ruling("causes", inside=True))
    assert (by_all_else(study, row) is None) is is_cause


@pytest.mark.parametrize("is_shown", [True, False])
def test_what_moves_answers_the_other_way_is_not_acquitted(is_shown: bool) -> None:
    votes = []
    for removes in (True, False):
        vote = one_vote("full", removes=removes)
        effect = Effect(-0.2, -0.3, -0.1, 40, 1.0)
        votes.append(replace(vote, effect=effect, decision=NO_MORE))
    target: Any = SimpleNamespace(
        direction=Direction(gap=-0.03, z=-0.5, shown=is_shown),
        located=SimpleNamespace(is_sure=True, auroc=None),
    )
    verdict = by_kinds(Row(target, [], [], votes), 0.1).verdict
    assert verdict == ("accompanies" if is_shown else "cannot tell")


def test_pairs_of_the_users_own_are_not_mixed_with_samples_as_they_are() -> None:
    options = SimpleNamespace(pairs="folder")
    # nothing else of the study is looked at
    dossier: Any = SimpleNamespace(study=SimpleNamespace(options=options))
    target: Any = SimpleNamespace()
    assert _as_they_are(dossier, target) == (None, None)


def test_kinds_cost_the_test_of_all_together_no_power() -> None:
    effects = {}
    for p_value in (0.01, 0.30, 0.03):
        kind = Kind("full", [], 1.0)
        effects[kind] = Effect(0.2, 0.1, 0.3, 40, p_value)
    first, second, _ = effects
    # of one finding two are tested together, the third is of another
    joint = {(first, second): Effect(0.2, 0.1, 0.3, 40, 0.02)}
    corrected, together = _correct_in_order(effects, joint)
    # two findings, each with its first test
    assert together[first, second].corrected == pytest.approx(0.04)
    # no kind is surer than all of them; a second kind that does nothing stays so
    assert [effect.corrected for effect in corrected.values()] == pytest.approx(
        [0.04, 0.3, 0.04]
    )


def test_the_property_that_moves_answers_most_clearly_is_taken() -> None:
    kinds = [Kind("full", [], 1.0) for _ in range(3)]
    p_values = (0.2, 0.3, 0.1)
    of_kinds = {
        kind: Effect(0.2, 0.1, 0.3, 40, p_value, corrected=p_value)
        for kind, p_value in zip(kinds, p_values, strict=True)
    }
    both, alone = tuple(kinds[:2]), tuple(kinds[2:])
    for p_value, clearest in ((0.01, both), (0.4, alone)):
        joint = Effect(0.2, 0.1, 0.3, 40, p_value, corrected=p_value)
        told = {
            case: _clearness_of(case, of_kinds, {both: joint}) for case in (both, alone)
        }
        assert min(told, key=told.__getitem__) == clearest


def size_by(
    needs: str,
    change: Sequence[float],
    standing: Standing = "full",
    purity: float = 1.0,
    part: float = 1.0,
    alike: Estimate[float] | None = None,
) -> Estimate[float]:
    """Of an effect by one change, which moves each sample by so much."""
    pairs: Any = [
        SimpleNamespace(
            control=False,
            case=SimpleNamespace(sample=SimpleNamespace(key=str(row), group=None)),
        )
        for row in range(len(change))
    ]
    values = np.full((len(change), 3), 0.5)
    values[:, CHANGED] += change
    answers = Answers(pairs, [], values, values, {})
    plugin: Any = SimpleNamespace(needs=needs, placebo="donor", effect="removes")
    target: Any = SimpleNamespace(
        direction=Direction(), located=SimpleNamespace(purity=purity)
    )
    witness = Witness(target, "change", plugin, answers=answers)
    effect = Effect(0, 0, 0, 1, 1)
    vote = Vote(standing, [witness], part, effect=effect, decision="undecided")
    study: Any = SimpleNamespace(options=OPTIONS)
    return size_of([vote], study, alike)


def test_samples_that_do_not_show_the_cue_dilute_its_effect() -> None:
    # 30 points in three of four samples, none in the others
    change = [0.3] * 150 + [0.0] * 50
    assert size_by("region", change, purity=0.75).value == pytest.approx(0.3)
    # of pairs of the user's own each shows it
    assert size_by("pair", change, purity=0.75).value == pytest.approx(0.225)


def test_no_more_answers_are_moved_than_there_are() -> None:
    # as they are, half of the probability is right: changes take 45 points, and samples say 5
    change = [0.45] * 100
    alone = size_by("region", change)
    beside = size_by("region", change, alike=Estimate(0.05, 0.01, 0.09))
    assert alone.value == pytest.approx(0.45)
    assert beside.high == pytest.approx(0.5)


def test_what_an_embedding_loses_is_a_part_of_the_cue() -> None:
    change = [0.05, 0.07] * 50
    inside = size_by("inside", change, "inside", part=INSIDE)
    # between all of the cue and two thirds of it
    assert inside.low < 0.06 < inside.value < 0.09 < inside.high
    assert size_by("still", change).value == pytest.approx(0.06)


def test_an_interval_holds_what_changes_do_wrong_alike() -> None:
    change = [0.19, 0.21] * 50
    given = size_by("pair", change)
    changed = size_by("region", change)
    assert changed.low < 0.14 < given.low < given.high < 0.26 < changed.high


def test_a_sample_that_the_cue_is_put_into_is_one_without_it() -> None:
    samples = [Sample(key=key, frames=(), label="cup") for key in ("a", "b", "seen")]
    answers = SimpleNamespace(trials=[(Trial(sample=one),) for one in samples])
    audit = SimpleNamespace(respond=lambda trials: trials)
    dossier: Any = SimpleNamespace(
        study=SimpleNamespace(audit=audit, seen={"seen": samples[2]}),
        witnesses_of=lambda _: [SimpleNamespace(answers=answers)],
    )
    located = LocatedCue({"a": Place()}, frozenset({"b"}), "frames")
    target: Any = SimpleNamespace(located=located)
    trials: Any
    trials, shows = unnamed.held_out_answers(dossier, target)
    assert [trial.sample.key for trial in trials] == ["a", "b"]
    assert shows == [True, False]
