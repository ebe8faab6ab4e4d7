"""What draws answers to a label: its examples, and a name for what nobody has named."""

from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_confirm import merging
from cuescope_confirm.asking import Direction
from cuescope_confirm.companions.difficulty import Drawn
from cuescope_confirm.merging import examples, sights
from cuescope_confirm.merging.examples import without_own_label
from cuescope_confirm.merging.sights import with_sights
from cuescope_confirm.reasoning import names_of
from cuescope_confirm.study import Cue, Study
from cuescope_sdk import Feature, Frame, Occurrence, Sample

SIDE = 48
COUNT = 180
SEEN: Any = SimpleNamespace(name="blue mark")
PULLS = Direction("the label", sign=-1, gap=0.5, z=9.0)


def picture(rng: np.random.Generator, *, cue: bool) -> Frame:
    """Coarse noise; the cue is a blue square anywhere."""
    pixels = 90 + rng.normal(0, 12, (SIDE, SIDE, 3))
    top, left = rng.integers(0, SIDE - 12, 2)
    if cue:
        pixels[top : top + 12, left : left + 12] = (40, 60, 220)
    return Frame.from_array(pixels.clip(0, 255).astype(np.uint8))


def study_of(*, goes_with_label: bool) -> tuple[Study, Cue, set[str]]:
    """A cluster of what is answered 'cup': all cups, and all else that shows the blue square."""
    rng = np.random.default_rng(0)
    seen = {}
    shown = set()
    listed = []
    for number in range(COUNT):
        key = f"{number:03}"
        label = ("cup", "plate", "fork")[number % 3]
        has_cue = bool(rng.random() < 0.5)
        if goes_with_label and label == "cup":
            has_cue = True
        if has_cue:
            shown.add(key)
        if has_cue or label == "cup":
            listed.append(Occurrence(sample=key, frame=0))
        frames = (picture(rng, cue=has_cue),)
        seen[key] = Sample(
            key=key, frames=frames, label=label, choices=("cup", "plate", "fork")
        )
    audit: Any = SimpleNamespace(
        once=lambda function, *given: function(*given),
        rng=lambda *names: np.random.default_rng(len("".join(names))),
        attachments=(),
        spare=lambda _: nullcontext(),
        context=SimpleNamespace(
            planning=False, progress=lambda *_: nullcontext(lambda _: None)
        ),
    )
    options: Any = SimpleNamespace(least=10)
    feature = Feature(key="cluster-00", kind="cluster", occurrences=tuple(listed))
    cue = Cue(feature, "pictures that look alike (1 of 5)", ("cup",), "answers")
    study = Study(audit, options, (cue,), seen, {}, {}, {})
    return study, cue, shown


def keys_of(cue: Cue) -> set[str]:
    return {occurrence.sample for occurrence in cue.feature.occurrences}


@pytest.fixture(scope="module")
def told() -> tuple[Study, Cue, set[str]]:
    """The examples of the square where it goes with no label."""
    study, cue, shown = study_of(goes_with_label=False)
    return study, without_own_label(study, cue, "cup"), shown


def test_samples_of_its_own_label_stay_where_they_show_it(
    told: tuple[Study, Cue, set[str]],
) -> None:
    """A cup is answered 'cup' with the blue square and without it."""
    study, cue, shown = told
    before = keys_of(study.cues[0])
    kept = keys_of(cue)
    assert len(before & shown) < 0.8 * len(before)
    assert len(kept & shown) > 0.95 * len(kept)
    assert len(kept & shown) > 0.9 * len(shown)


def test_a_cue_that_goes_with_its_label_loses_few_examples() -> None:
    study, cue, _ = study_of(goes_with_label=True)
    kept = keys_of(without_own_label(study, cue, "cup"))
    assert len(kept) > 0.9 * len(keys_of(cue))


def test_what_stands_for_one_answer_loses_them_whatever_is_tested(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of two claims the one about right answers costs more, and is tested."""
    study, pull, shown = study_of(goes_with_label=False)
    loss = replace(pull, labels=())
    study = replace(study, cues=(pull, loss))
    monkeypatch.setattr(
        merging, "direction_of", lambda _, cue: PULLS if cue.labels else Direction()
    )
    costs = {"the label": 1.0, "the right answer": 2.0}
    monkeypatch.setattr(
        merging, "_answers_moved", lambda _study, _cue, way: costs[way.toward]
    )
    merged = merging._merge(study, [pull, loss], set())
    assert merged.labels == ()
    assert keys_of(merged) == keys_of(without_own_label(study, pull, "cup"))
    assert len(keys_of(merged) - shown) < len(keys_of(pull) - shown) / 2


@pytest.mark.parametrize(
    ("share", "z", "answer"), [(1.0, 3.0, "cup"), (0.3, 3.0, None), (1.0, 1.0, None)]
)
def test_a_cue_stands_for_the_answer_that_it_surely_brings_most(
    monkeypatch: pytest.MonkeyPatch, share: float, z: float, answer: str | None
) -> None:
    study, cue, _ = study_of(goes_with_label=False)
    answers = SimpleNamespace(
        labels=np.array(["cup", "fork"]),
        probability_of=lambda _: np.zeros(2),
        gap=lambda among, _: (0.3, z if among.tolist() == [False, True] else 0.0),
    )
    monkeypatch.setattr(examples, "run_answers", lambda _study, _cue: answers)
    monkeypatch.setattr(examples, "drawn_in", lambda _: Drawn("cup", share, 3, 40))
    assert examples.stands_for(study, cue) == answer


def test_of_too_few_nothing_is_learned_and_what_is_rightly_answered_so_is_left_out() -> (
    None
):
    study, cue, _ = study_of(goes_with_label=False)
    listed = cue.feature.occurrences
    others = [one for one in listed if study.seen[one.sample].label != "cup"][:5]
    own = [one for one in listed if study.seen[one.sample].label == "cup"]
    update = {"occurrences": (*others, *own)}
    cue = replace(cue, feature=cue.feature.model_copy(update=update))
    kept = keys_of(without_own_label(study, cue, "cup"))
    assert kept == {one.sample for one in others}


def test_other_labels_lose_no_examples() -> None:
    study, cue, _ = study_of(goes_with_label=False)
    assert without_own_label(study, cue, "spoon") is cue


def test_a_numbered_cue_is_named_by_what_its_pictures_show(
    told: tuple[Study, Cue, set[str]],
) -> None:
    study, cue, _ = told
    [named] = with_sights(study, [cue])
    assert named.name.startswith("blue ")
    assert named.name.endswith("(a guess)")


def test_two_cues_of_the_same_words_are_told_apart(
    told: tuple[Study, Cue, set[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study, cue, _ = told
    feature = cue.feature.model_copy(update={"key": "slice-1"})
    other = Cue(feature, "slice 1", ("cup",), "domino")
    monkeypatch.setattr(sights, "look_at_features", lambda *_: [SEEN, SEEN])
    both = with_sights(study, [cue, other])
    assert [named.sight for named in both] == [SEEN, SEEN]
    assert [named.name for named in both] == [
        "blue mark (a guess, 1 of 2)",
        "blue mark (a guess, 2 of 2)",
    ]


@pytest.mark.parametrize("checked", ["tree", None])
def test_a_name_that_somebody_gave_stays(checked: str | None) -> None:
    """By a check, or by the method itself."""
    study, cue, _ = study_of(goes_with_label=False)
    named = Cue(cue.feature, "tree", ("cup",), "trove", checked=checked)
    [kept] = with_sights(study, [named])
    assert kept == named
    # a page shows where it was found
    assert kept.sight is not None


def test_what_one_method_has_guessed_stays_until_others_find_it_too(
    told: tuple[Study, Cue, set[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study, cue, _ = told
    alone = Cue(cue.feature, "failures of cup (a guess: area)", ("cup",), "domino")
    both = Cue(cue.feature, alone.name, ("cup",), "domino", members=(alone, cue))
    monkeypatch.setattr(sights, "look_at_features", lambda *_: [SEEN])
    assert with_sights(study, [alone])[0].name == "area (a guess)"
    assert with_sights(study, [both])[0].name == "blue mark (a guess)"


def test_a_plan_looks_at_no_picture_for_a_name(
    told: tuple[Study, Cue, set[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study, cue, _ = told
    monkeypatch.setattr(study.audit.context, "planning", True)
    monkeypatch.setattr(sights, "look_at_features", lambda *_: [SEEN])
    assert with_sights(study, [cue]) == [cue]


def test_a_guess_by_pictures_is_not_looked_for_in_reasoning() -> None:
    """No step says "blue mark, top right (a guess)": it would be counted as silent."""
    occurrences = (Occurrence(sample="0", frame=0),)
    feature = Feature(key="cluster-00", kind="cluster", occurrences=occurrences)
    failures = Cue(feature, "failures of cup (a guess: blue mark, right)", ("cup",))
    numbered = Cue(feature, "pictures that look alike (1 of 5)", ("cup",))
    cue = replace(numbered, name="blue mark, right (a guess)")
    assert names_of(replace(cue, members=(failures, numbered))) == ()
    assert names_of(replace(cue, name="blue ribbon")) == ("blue ribbon",)
