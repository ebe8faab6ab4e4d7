"""A name for what nobody has named, by what its pictures show."""

from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_confirm.merging import sights
from cuescope_confirm.merging.sights import with_sights
from cuescope_confirm.reasoning import names_of
from cuescope_confirm.study import Cue, Study
from cuescope_sdk import Feature, Frame, Occurrence, Sample

SIDE = 48
COUNT = 180
SEEN: Any = SimpleNamespace(name="blue mark")


def picture(rng: np.random.Generator, *, cue: bool) -> Frame:
    """Coarse noise; the cue is a blue square anywhere."""
    pixels = 90 + rng.normal(0, 12, (SIDE, SIDE, 3))
    top, left = rng.integers(0, SIDE - 12, 2)
    if cue:
        pixels[top : top + 12, left : left + 12] = (40, 60, 220)
    return Frame.from_array(pixels.clip(0, 255).astype(np.uint8))


def study_of() -> tuple[Study, Cue]:
    """A cluster of all that shows the blue square."""
    rng = np.random.default_rng(0)
    seen = {}
    listed = []
    for number in range(COUNT):
        key = f"{number:03}"
        label = ("cup", "plate", "fork")[number % 3]
        has_cue = bool(rng.random() < 0.5)
        if has_cue:
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
    return study, cue


@pytest.fixture(scope="module")
def told() -> tuple[Study, Cue]:
    """A cue that nobody has named."""
    return study_of()


def test_a_numbered_cue_is_named_by_what_its_pictures_show(
    told: tuple[Study, Cue],
) -> None:
    study, cue = told
    [named] = with_sights(study, [cue])
    assert named.name.startswith("blue ")
    assert named.name.endswith("(a guess)")


def test_two_cues_of_the_same_words_are_told_apart(
    told: tuple[Study, Cue],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study, cue = told
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
    study, cue = study_of()
    named = Cue(cue.feature, "tree", ("cup",), "trove", checked=checked)
    [kept] = with_sights(study, [named])
    assert kept == named
    # a page shows where it was found
    assert kept.sight is not None


def test_what_one_method_has_guessed_stays_until_others_find_it_too(
    told: tuple[Study, Cue],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study, cue = told
    alone = Cue(cue.feature, "failures of cup (a guess: area)", ("cup",), "domino")
    both = Cue(cue.feature, alone.name, ("cup",), "domino", members=(alone, cue))
    monkeypatch.setattr(sights, "look_at_features", lambda *_: [SEEN])
    assert with_sights(study, [alone])[0].name == "area (a guess)"
    assert with_sights(study, [both])[0].name == "blue mark (a guess)"


def test_a_plan_looks_at_no_picture_for_a_name(
    told: tuple[Study, Cue],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study, cue = told
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
