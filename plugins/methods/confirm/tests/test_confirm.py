"""The rule of the verdicts, and the effect beyond a placebo."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_confirm import asking
from cuescope_confirm.asking import says, stratified_gap
from cuescope_confirm.cases import Pair, PairMaker
from cuescope_confirm.locating.moments import ClipLook, Moment
from cuescope_confirm.locating.places import LocatedCue
from cuescope_confirm.options import ConfirmOptions
from cuescope_confirm.scores import (
    Decision,
    Effect,
    Ruling,
    correct,
    decide,
    effect_of,
    rule,
    samples_needed,
)
from cuescope_confirm.study import Cue
from cuescope_confirm.testimony import manipulation
from cuescope_confirm.testimony.manipulation import Recogniser
from cuescope_confirm.testimony.votes import Vote
from cuescope_confirm.verdicts.row import Row
from cuescope_confirm.verdicts.rulings import by_kinds
from cuescope_confirm.verdicts.sentences import how_many
from cuescope_confirm.verdicts.undecided import (
    HARD_TO_SEE,
    MORE_SAMPLES,
    NO_CHANGE,
    PART_ALONE,
    REGION,
    SECOND_CAUSE,
)
from cuescope_sdk import Feature, Frame, Sample
from cuescope_sdk.interventions import Case, Place
from cuescope_sdk.locating import Fitting, Linear, Training
from cuescope_sdk.statistics import Estimate, Groups

RNG = np.random.default_rng
YES: Decision = "confirms"
NO: Decision = "placebo does as much"
OPEN: Decision = "undecided"


@pytest.mark.parametrize(
    ("removing", "inserting", "verdict"),
    [
        ([YES], [], ("cannot tell", False, False)),
        ([], [YES], ("cannot tell", False, False)),
        ([YES, YES], [], ("causes", True, False)),
        ([YES], [YES], ("causes", True, True)),
        ([YES, YES, NO], [YES], ("causes", True, True)),
        ([YES, NO], [], ("cannot tell", False, False)),
        ([YES, NO, NO], [YES], ("causes", False, True)),
        ([YES, NO, NO], [], ("cannot tell", False, False)),
        ([NO, NO], [OPEN], ("accompanies", False, False)),
        ([NO], [OPEN, OPEN], ("cannot tell", False, False)),
        ([OPEN], [], ("cannot tell", False, False)),
        ([], [], ("cannot tell", False, False)),
    ],
)
def test_the_rule(
    removing: list[Decision], inserting: list[Decision], verdict: object
) -> None:
    ruling = rule(removing, inserting, located=True)
    assert (ruling.verdict, ruling.necessary, ruling.sufficient) == verdict
    assert (ruling.missing is None) == (ruling.verdict != "cannot tell")
    assert rule(removing, inserting, located=False).verdict == "cannot tell"


@pytest.mark.parametrize(
    ("removing", "coarse", "verdict"),
    [
        ([], [YES, YES], "cannot tell"),
        ([OPEN], [YES], "cannot tell"),
        ([], [NO, NO], "accompanies"),
        ([NO], [YES, YES], "accompanies"),
        ([YES, YES], [NO, NO], "causes"),
    ],
)
def test_whole_frames_show_that_nothing_moves_but_not_what_moves_it(
    removing: list[Decision], coarse: list[Decision], verdict: str
) -> None:
    ruling = rule(removing, [], coarse, located=True)
    assert ruling.verdict == verdict
    assert (ruling.missing == REGION) == (verdict == "cannot tell")


@pytest.mark.parametrize("partial", [[], [YES], [YES, YES]])
def test_what_leaves_some_of_a_cue_convicts_only_beside_another(
    partial: list[Decision],
) -> None:
    alone = rule([], [], (), partial, located=True)
    assert alone.verdict == "cannot tell"
    assert alone.missing == (PART_ALONE if partial else NO_CHANGE)
    beside = rule([YES], [], (), partial, located=True)
    assert beside.verdict == ("causes" if partial else "cannot tell")
    # words are where they stand: nobody had to find them
    assert rule([YES], [], (), partial, located=True, exact=True).verdict == "causes"


def test_sizes_are_pooled_with_their_disagreement() -> None:
    alike = [Estimate(0.3 + 0.01 * step, 0.2, 0.4) for step in range(3)]
    both = Estimate.pooled(alike, [True] * 3)
    assert both.value == pytest.approx(0.31)
    assert both.high - both.low == pytest.approx(0.2, abs=0.01)
    # what is put in is put into other samples
    assert Estimate.pooled(alike, [True, True, False]).low > both.low + 0.02
    unlike = [Estimate(0.0, -0.05, 0.05), Estimate(0.6, 0.55, 0.65)]
    apart = Estimate.pooled(unlike, [True] * 2)
    assert apart.low < 0 < 0.6 < apart.high
    # all surely above 0: they differ by a factor
    sure = [Estimate(0.1, 0.05, 0.15), Estimate(0.6, 0.55, 0.65)]
    assert 0 < Estimate.pooled(sure, [True] * 2).low < 0.1
    assert Estimate.pooled(alike[:1], [True]).low == pytest.approx(0.2)
    # one of them is far off: the middle is not
    outlier = [*alike, Estimate(0.9, 0.8, 1.0)]
    assert Estimate.pooled(outlier, [True] * 4).value < 0.4


def test_a_model_of_pictures_sees_whether_a_cue_went() -> None:
    """Half of the cue is taken by a blank of half of it; elsewhere nothing is taken."""
    rng = RNG(1)

    def picture(cue: float) -> Moment:
        pixels = rng.integers(60, 120, (32, 32, 3), np.uint8)
        pixels[: int(8 * cue), :8] = (250, 20, 20)
        return Moment((Frame.from_array(pixels),), 0)

    with_cue = [picture(1) for _ in range(40)]
    without = [picture(0) for _ in range(40)]
    look = ClipLook.learn([*with_cue, *without], rng)
    rows = look.read([*with_cue, *without])
    shows = np.arange(80) < 40
    data = Training(shows, np.full(80, "cup"), Groups.single(80))
    model = Linear.learn(rows, data, rng, Fitting.LOOKS)
    assert (model.auroc or 0) > 0.95
    ends = [float(np.median(model.scores(rows[side]))) for side in (shows, ~shows)]
    recogniser = Recogniser(look, model, *ends)
    shares = [
        recogniser.share_left([picture(cue) for _ in range(20)]) for cue in (1, 0.5, 0)
    ]
    assert shares[0].mean() > 0.9
    assert 0.2 < shares[1].mean() < 0.8
    assert shares[2].mean() < 0.1


@pytest.mark.parametrize(
    ("showing", "is_told"), [([-0.3, 0.18], False), ([0.9, 1.1], True)]
)
def test_pictures_that_do_not_tell_held_out_samples_recognise_nothing(
    monkeypatch: pytest.MonkeyPatch, showing: list[float], *, is_told: bool
) -> None:
    """Middles are apart, and means are not: what is taken would be divided by nothing."""
    scores = dict(enumerate([*showing, *[-1.134] * 15, *[1.0] * 15]))
    samples = {}
    for number in scores:
        frame = Frame.from_array(np.full((1, 1, 3), number, np.uint8))
        samples[str(number)] = Sample(key=str(number), frames=(frame,))
    keys = list(samples)
    target: Any = SimpleNamespace(
        cue=SimpleNamespace(feature=SimpleNamespace(occurrences=(1,))),
        located=LocatedCue(dict.fromkeys(keys[:2], Place()), set(keys[2:]), "told"),
        samples=samples,
    )
    look: Any = SimpleNamespace(
        read=lambda moments: np.array(
            [scores[moment.frame.load().getpixel((0, 0))[0]] for moment in moments]
        )
    )
    told: Any = SimpleNamespace(
        auroc=0.9, model=SimpleNamespace(scores=lambda rows: rows)
    )
    data: Any = SimpleNamespace(shows=np.array([True, False]))
    monkeypatch.setattr(manipulation, "training_frames", lambda *_: ([], data))
    monkeypatch.setattr(manipulation, "by_pictures", lambda *_: told)
    monkeypatch.setattr(manipulation, "look_of", lambda *_: look)
    study: Any = None
    recogniser = manipulation._learn_recogniser(study, target)
    assert (recogniser is not None) is is_told


def test_no_change_takes_more_than_all_of_a_cue(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However little sets held-out samples apart, by which what it takes is divided."""
    left = np.array([[0.0, 9.0], [0.0, 7.0]])
    monkeypatch.setattr(manipulation, "share_left", lambda *_: left)
    study: Any = None
    witness: Any = SimpleNamespace(plugin=SimpleNamespace(effect="removes"))
    assert manipulation.share_taken(study, witness) == 1.0


def test_what_is_done_without_the_cue_too_is_no_cause() -> None:
    """A placebo that hurts by itself, with and without the cue: nothing is confirmed."""
    rng = RNG(0)
    change = rng.random(80) * 0.6
    groups = Groups.single(80)
    alone = effect_of(change, groups, {}, rng, 0.95)
    others = {"unfound cue": (rng.random(40) * 0.6, Groups.single(40))}
    beside = effect_of(change, groups, others, rng, 0.95)
    [first, second] = correct([alone, beside])
    assert decide(first, level=0.05, margin=0.1) == YES
    assert decide(second, level=0.05, margin=0.1) == OPEN
    assert second.value == first.value
    # the placebo alone moves them
    still = effect_of(change, groups, {}, rng, 0.95, np.zeros(80))
    assert decide(correct([still])[0], level=0.05, margin=0.1) == OPEN


def test_an_effect_that_is_surely_small_is_none() -> None:
    """Surely above 0, and surely below the margin."""
    small = RNG(0).random(900) * 0.1
    [effect] = correct([effect_of(small, Groups.single(900), {}, RNG(1), 0.95)])
    assert effect.corrected < 0.05
    assert decide(effect, level=0.05, margin=0.1) == NO


def test_a_part_of_what_is_claimed_is_neither_all_of_it_nor_nothing() -> None:
    part = 0.2 + RNG(0).random(900) * 0.1
    [effect] = correct([effect_of(part, Groups.single(900), {}, RNG(1), 0.95)])
    said = [
        decide(effect, level=0.05, margin=0.1, claimed=claimed)
        for claimed in (0.1, 0.5)
    ]
    assert said == [YES, OPEN]
    few = RNG(0).choice([0.0, 0.0, 0.0, 0.35], 60)  # 9 points, which may be 10
    [effect] = correct([effect_of(few, Groups.single(60), {}, RNG(1), 0.95)])
    assert effect.value < 0.1 < effect.high
    assert effect.corrected < 0.05
    assert decide(effect, level=0.05, margin=0.1) == OPEN


def test_a_part_of_a_cue_that_does_its_part_confirms() -> None:
    """Six points by 0.4 of the cue: all of it would do 15."""
    change = 0.06 + RNG(0).normal(0, 0.01, 80)
    [effect] = correct([effect_of(change, Groups.single(80), {}, RNG(1), 0.95)])
    assert decide(effect, level=0.05, margin=0.1) == NO
    assert decide(effect, level=0.05, margin=0.1, part=0.4) == YES
    # and 15 are surely less than is claimed of it
    assert decide(effect, level=0.05, margin=0.1, claimed=0.2, part=0.4) == OPEN


def test_an_effect_is_held_against_all_that_a_cause_would_not_do() -> None:
    """Beyond the placebo by 30 points, of which 25 come on other labels too."""
    change, groups = np.full(40, 0.3), Groups.single(40)
    controls: Any = {"other labels": (np.full(20, 0.25), Groups.single(20))}
    effect = effect_of(change, groups, controls, RNG(0), 0.95, np.full(40, 0.2))
    assert effect.value == pytest.approx(0.3)
    assert effect.least == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("cluster-03, looks like: tree (0.31 vs 0.12 elsewhere)", "tree"),
        ("cluster-03", "the feature's own name"),
    ],
)
def test_a_guess_is_looked_for_by_its_word_alone(name: str, word: str) -> None:
    feature = Feature(key="cluster-03", kind="cluster", name="the feature's own name")
    assert Cue(feature, name).word == word


def test_a_finding_about_a_label_is_not_about_other_questions() -> None:
    cue = Cue(Feature(key="c", kind="cluster"), "c", ("left",))
    side, whether = (
        Sample(
            key="a",
            frames=(),
            question="Where?",
            choices=("left", "right"),
            label="right",
        ),
        Sample(
            key="b", frames=(), question="Is it?", choices=("yes", "no"), label="no"
        ),
    )
    assert [asking.view_of(cue, sample) for sample in (side, whether)] == [side, None]
    assert not asking.is_of_label(cue, side)
    # an object's name: it is asked for
    cue = Cue(Feature(key="c", kind="recognition"), "c", ("cup",))
    view = asking.view_of(
        cue, Sample(key="c", frames=(), annotations={"objects": ("cup",)})
    )
    assert view is not None
    assert (view.question, view.label) == ("Is there a cup in the image?", "yes")


def test_false_alarms_are_as_rare_as_promised() -> None:
    """Twelve witnesses of nothing, many times over: any confirmed one is rare."""
    rng, alarms = RNG(1), 0
    for _ in range(100):
        effects = [
            effect_of(
                rng.choice([-1.0, 0, 0, 0, 1], 40), Groups.single(40), {}, rng, 0.95
            )
            for _ in range(12)
        ]
        decided = [decide(e, level=0.05, margin=0.1) for e in correct(effects)]
        alarms += YES in decided
    assert alarms <= 10


def test_enough_is_enough() -> None:
    """As many samples as are called enough show the effect in about four runs of five."""
    rng, tests = RNG(2), 8
    n, found = samples_needed(0.25, tests, level=0.05), 0
    for _ in range(200):
        change = (rng.random(n) < 0.25) * 1.0
        effect = effect_of(change, Groups.single(n), {}, rng, 0.95)
        found += effect.p_value <= 0.05 / tests
    assert found >= 150
    assert n < 100


def test_a_gap_is_told_within_labels() -> None:
    """The label that the cue goes with is the easier one; within labels nothing differs."""
    labels = np.repeat(["a", "b"], 100)
    present = np.r_[np.arange(100) < 90, np.arange(100) < 10]
    values = np.r_[np.ones(100), np.zeros(100)]
    gap, _ = stratified_gap(values, present, labels, np.full(200, True))
    assert gap == 0


@pytest.mark.parametrize(
    ("text", "answer", "right"),
    [
        ("north", "north", True),
        ("Northern", "north", False),
        ("Step 1: it goes south. Answer: north", "north", True),
        ("Step 1: it goes north. Answer: south.", "north", False),
        ("Yes, there is a cup.", "yes", True),
        (None, "yes", False),
    ],
)
def test_a_text_is_an_answer(text: str | None, answer: str, right: bool) -> None:
    assert says(text, answer) == right


@pytest.mark.parametrize(("wrong", "verdict"), [(0.0, "cannot tell"), (0.6, "causes")])
def test_where_answers_are_alike_nothing_is_caused(
    monkeypatch: pytest.MonkeyPatch, wrong: float, verdict: str
) -> None:
    """The same intervention confirms; only with a gap in the run there is something to explain."""
    present = np.arange(200) % 2 == 0
    right = np.where(present & (np.arange(200) < 200 * wrong), 0.0, 1.0)
    right[-3:] = 0  # a few errors, with the cue and without
    answers = asking.RunAnswers(
        (), present, np.ones(200, bool), right, right, np.full(200, "cup")
    )
    monkeypatch.setattr(asking, "run_answers", lambda *_: answers)
    cue = Cue(Feature(key="c", kind="cluster"), "c", ("cup",))
    study: Any = None
    direction = asking.direction_of(study, cue)
    located = LocatedCue({}, frozenset(), "annotated")
    target: Any = SimpleNamespace(located=located, direction=direction)
    votes = [
        Vote(
            "full", [_witness(effect)], 1, Effect(0.5, 0.4, 0.6, 50, 0.001), "confirms"
        )
        for effect in ("removes", "inserts")
    ]
    assert by_kinds(Row(target, [], [], votes), 0.1).verdict == verdict


def test_what_may_be_a_cause_stands_before_what_something_else_explains() -> None:
    """The larger figure is of pictures that are hard to see, and its sentence says so."""

    def row(ruling: Ruling, effect: float, corrected: float) -> Row:
        measured = Effect(effect, 0, 1, 50, corrected, corrected=corrected)
        vote = Vote("full", [_witness("removes")], 1, measured, "undecided")
        size = Estimate(effect, 0.0, 1.0)
        return Row(anything, [], [], [vote], ruling, effect=size)

    anything: Any = None
    cause = row(Ruling("causes"), 0.1, 0.01)
    may_be_one = row(Ruling("cannot tell", missing=PART_ALONE), 0.2, 0.01)
    hard_to_see = row(Ruling("cannot tell", missing=HARD_TO_SEE), 0.4, 0.01)
    unmoved = row(Ruling("cannot tell", missing=PART_ALONE), 0.3, 0.5)
    company = row(Ruling("accompanies"), 0.05, 0.5)
    rows = [company, unmoved, hard_to_see, may_be_one, cause]
    rows.sort(key=lambda row: row.rank(0.05))
    assert rows == [cause, may_be_one, hard_to_see, unmoved, company]


def _witness(effect: str) -> Any:
    return SimpleNamespace(plugin=SimpleNamespace(needs="region", effect=effect))


def test_without_the_cue_is_where_the_localiser_would_see_it() -> None:
    def corner(row: int) -> Place:
        mask = np.zeros((8, 8), bool)
        mask[row : row + 2, :2] = True
        return Place(masks=(mask,))

    frame = Frame.from_array(np.zeros((8, 8, 3), np.uint8))
    with_cue, plain = (
        Sample(key=key, frames=(frame,), label="cup") for key in ("a", "b")
    )
    located = LocatedCue(
        places={"a": corner(0)},
        without=frozenset("b"),
        by="learned",
        objects={"a": (), "b": ()},
        likest={"b": corner(6)},
    )
    target: Any = SimpleNamespace(
        samples={"a": with_cue, "b": plain}, is_judged=lambda _: True
    )
    kind: Any = SimpleNamespace(needs="region", effect="removes", placebo="elsewhere")
    maker = PairMaker(target, located, kind, np.random.default_rng(0))
    [control] = maker.controls([Pair(Case(with_cue, corner(0)), None)])
    assert control.case.sample.key == "b"
    assert np.array_equal(control.case.place.masks[0], corner(6).masks[0])


@pytest.mark.parametrize(("placebo", "made"), [("none", 1), ("elsewhere", 0)])
def test_a_cue_that_fills_the_frame_is_changed_where_no_placebo_is_wanted(
    placebo: str, made: int
) -> None:
    frame = Frame.from_array(np.zeros((8, 8, 3), np.uint8))
    sample = Sample(key="a", frames=(frame,), label="cup")
    everywhere = Place(masks=(np.ones((8, 8), bool),))
    located = LocatedCue({"a": everywhere}, frozenset(), "annotated", objects={"a": ()})
    target: Any = SimpleNamespace(samples={"a": sample}, is_judged=lambda _: True)
    kind: Any = SimpleNamespace(needs="region", effect="removes", placebo=placebo)
    maker = PairMaker(target, located, kind, np.random.default_rng(0))
    assert len(list(maker.pairs())) == made


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [(-0.02, 0.18, "about 63"), (-0.09, 0.13, "about 76"), (-0.01, 0.05, "")],
)
def test_more_samples_are_counted_by_what_they_have_to_tell(
    low: float, high: float, said: str
) -> None:
    """Beside 0 for an effect that looks like one, beside the margin for one that does not."""
    vote: Any = SimpleNamespace(effect=SimpleNamespace(n=40))
    row: Any = SimpleNamespace(
        ruling=Ruling("cannot tell", missing=MORE_SAMPLES),
        effect=Estimate((low + high) / 2, low, high),
        fullest=[vote],
    )
    words = how_many(row, ConfirmOptions(run=Path("run"), margin=0.1))
    assert said in words
    assert bool(words) == bool(said)


def test_a_second_change_that_had_too_few_samples_is_named() -> None:
    counts = {"swap": 9, "blank": 0, "transplant": 24}
    witnesses = []
    for spec, count in counts.items():
        answers = SimpleNamespace(with_cue=np.ones(count, bool))
        witnesses.append(SimpleNamespace(spec=spec, answers=answers))
    row: Any = SimpleNamespace(
        ruling=Ruling("cannot tell", missing=SECOND_CAUSE), unmeasured=witnesses
    )
    words = how_many(row, ConfirmOptions(run=Path("run")))
    assert words.endswith("could be changed: 9 by swap; 10 are needed)")


@pytest.mark.parametrize(
    ("elsewhere", "decision"), [(-0.3, OPEN), (0.0, NO), (0.3, NO)]
)
def test_damage_where_no_cue_is_does_not_acquit(
    elsewhere: float, decision: Decision
) -> None:
    """What a change breaks in any sample may hide what it does by taking the cue."""
    effect = Effect(
        -0.06, -0.15, 0.03, 84, 1.0, {"without the cue": elsewhere}, alone=0.0
    )
    assert decide(effect, level=0.05, margin=0.1) == decision


@pytest.mark.parametrize(
    ("in_run", "low", "shown"),
    [(True, -0.1, True), (False, 0.02, True), (False, -0.01, False)],
)
def test_samples_held_out_show_a_difference_too(
    in_run: bool, low: float, shown: bool
) -> None:
    target: Any = SimpleNamespace(direction=asking.Direction(shown=in_run))
    beside: Any = SimpleNamespace(plain=Estimate(0.1, low, 0.2))
    assert Row(target, [], [], [], beside=beside).is_shown is shown
    assert Row(target, [], [], []).is_shown is in_run
