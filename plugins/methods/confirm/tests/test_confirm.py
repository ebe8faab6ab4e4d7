"""What is asked about a cue, the dose of a change, and where it is made."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_confirm import asking
from cuescope_confirm.asking import says, stratified_gap
from cuescope_confirm.cases import Pair, PairMaker
from cuescope_confirm.experiment import doses
from cuescope_confirm.experiment.doses import Recogniser
from cuescope_confirm.locating.moments import ClipLook, Moment
from cuescope_confirm.locating.places import LocatedCue
from cuescope_confirm.study import Cue
from cuescope_sdk import Feature, Frame, Sample
from cuescope_sdk.interventions import Case, Place
from cuescope_sdk.locating import Fitting, Linear, Training
from cuescope_sdk.statistics import Groups

RNG = np.random.default_rng


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
    monkeypatch.setattr(doses, "training_frames", lambda *_: ([], data))
    monkeypatch.setattr(doses, "by_pictures", lambda *_: told)
    monkeypatch.setattr(doses, "look_of", lambda *_: look)
    study: Any = SimpleNamespace(options=SimpleNamespace(samples=60))
    recogniser = doses._learn_recogniser(study, target)
    assert (recogniser is not None) is is_told


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


def test_no_change_takes_more_than_all_of_a_cue(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However little sets held-out samples apart, by which what it takes is divided."""
    left = np.array([[0.0, 9.0], [0.0, 7.0]])
    monkeypatch.setattr(doses, "share_left", lambda *_: left)
    arm: Any = SimpleNamespace(removes=True, is_exact=False)
    study: Any = None
    dose = doses.dose_of(study, arm)
    assert dose is not None
    assert dose.share == 1.0
