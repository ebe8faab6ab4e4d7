"""What several runs found, each without one fold: one cue, each fold with its own places."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_confirm.asking import Direction
from cuescope_confirm.locating import Part, Target
from cuescope_confirm.locating.folds import join
from cuescope_confirm.locating.places import LocatedCue
from cuescope_confirm.merging.folds import match
from cuescope_confirm.study import Cue
from cuescope_sdk import Feature, Occurrence, Sample
from cuescope_sdk.interventions import Place


def cue_of(key: str, name: str, *samples: str, label: str = "cow") -> Cue:
    shown = tuple(Occurrence(sample=sample) for sample in samples)
    feature = Feature(key=key, kind="object", name=name, occurrences=shown)
    return Cue(feature, name, labels=(label,), run="trove")


def study_of(*parts: dict[str, None]) -> Any:
    def frames_of(cue: Cue) -> dict[tuple[str, int], list[Occurrence]]:
        return {(met.sample, 0): [met] for met in cue.feature.occurrences}

    folds = [SimpleNamespace(frames_of=frames_of, seen=seen) for seen in parts]
    return SimpleNamespace(folds=folds)


def test_findings_of_folds_that_a_check_gave_one_name_are_one_cue() -> None:
    found = [
        [cue_of("cluster-1", "a mark", "a", "b"), cue_of("cluster-2", "grass", "c")],
        [],
        [cue_of("cluster-1", "grass", "d"), cue_of("cluster-7", "a mark", "b", "e")],
        [cue_of("cluster-3", "a mark", "a", "e")],
    ]
    for cues in found:
        for number, cue in enumerate(cues):
            # by name, as a check gave it: no frame has to be looked at
            cues[number] = Cue(**{**vars(cue), "checked": cue.name})
    mark, grass = match(study_of({}, {}, {}, {}), found)
    assert [number for number, _ in mark.folds] == [0, 2, 3]
    assert [cue.feature.key for _, cue in mark.folds] == [
        "cluster-1",
        "cluster-7",
        "cluster-3",
    ]
    assert [seen.sample for seen in mark.feature.occurrences] == ["a", "b", "e"]
    assert [number for number, _ in grass.folds] == [0, 2]
    assert {mark.feature.key, grass.feature.key} == {"cluster-1", "cluster-2"}


def test_one_key_of_two_runs_is_not_one_cue() -> None:
    cues = [cue_of("cluster-1", name, "a") for name in ("a mark", "grass")]
    found = [[Cue(**{**vars(cue), "checked": cue.name})] for cue in cues]
    keys = [cue.feature.key for cue in match(study_of({}, {}), found)]
    assert keys == ["cluster-1, without part 1", "cluster-1, without part 2"]


def test_findings_that_list_the_same_frames_are_one_cue() -> None:
    seen = [dict.fromkeys("abcdgh"), dict.fromkeys("abefgh")]
    found = [
        [
            cue_of("cluster-1", "cluster-1", *"abcg"),
            cue_of("cluster-2", "cluster-2", "h"),
        ],
        [cue_of("cluster-5", "cluster-5", *"abef")],
    ]
    # of what both runs looked at: a, b and g against a and b
    joined, alone = match(study_of(*seen), found)
    assert [cue.feature.key for _, cue in joined.folds] == ["cluster-1", "cluster-5"]
    assert [cue.feature.key for _, cue in alone.folds] == ["cluster-2"]


def test_what_most_runs_do_not_list_is_not_the_cue_s() -> None:
    seen = [dict.fromkeys("abcdxy"), dict.fromkeys("abcdx"), dict.fromkeys("abd")]
    found = [
        [cue_of("cluster-1", "cluster-1", *"abxy")],
        [cue_of("cluster-2", "cluster-2", *"abc")],
        [cue_of("cluster-3", "cluster-3", *"abd")],
    ]
    [joined] = match(study_of(*seen), found)
    # of three runs that saw d one lists it, of two that saw c or x one, and y only one has seen
    assert [met.sample for met in joined.feature.occurrences] == [*"abxyc"]
    of_folds = [
        "".join(met.sample for met in cue.feature.occurrences)
        for _, cue in joined.folds
    ]
    assert of_folds == ["abxyc", "abxc", "ab"]


def test_what_runs_find_for_several_labels_is_one_cue_about_all_of_them() -> None:
    found = [
        [cue_of("one", "one", *"ab", label="cow")],
        [cue_of("two", "two", *"abc", label="car")],
        [cue_of("else", "else", "d", label="cat")],
    ]
    badge, other = match(study_of(*[dict.fromkeys("abcd")] * 3), found)
    assert badge.labels == ("car", "cow")
    assert [cue.labels for _, cue in badge.folds] == [("cow",), ("car",)]
    assert other.labels == ("cat",)


def test_two_findings_of_one_run_alone_are_two_cues() -> None:
    found = [[cue_of("first", "first", "a"), cue_of("second", "second", "b")], []]
    assert len(match(study_of({}, {}), found)) == 2


def part(
    *shown: str,
    without: str = "",
    auroc: float = 0.9,
    sign: int = 1,
) -> Part:
    cue = cue_of("cluster-1", "a mark")
    samples = {
        key: Sample(key=key, frames=(), label="cow") for key in [*shown, *without]
    }
    located = LocatedCue({key: Place() for key in shown}, set(without), "frames", auroc)
    direction = Direction(sign=sign, gap=-0.3)
    study: Any = SimpleNamespace(held=samples, options=SimpleNamespace(least=2))
    return Part(study, Target(cue, direction, samples, located))


def test_a_pull_is_to_the_label_that_most_folds_agree_on() -> None:
    """A cue may be about several labels: without one there is no answer to ask for."""
    parts = []
    for key, label in (("a", "car"), ("b", "cow"), ("c", "car")):
        one = part(key)
        target = replace(
            one.target,
            cue=replace(one.target.cue, labels=(label,)),
            direction=Direction("the label", sign=-1, gap=0.9),
        )
        parts.append(replace(one, target=target))
    whole = replace(cue_of("joined", "a mark"), labels=("car", "cow"))
    target = join(whole, parts)
    assert target.answer(Sample(key="a", frames=(), label="cow"), "dog") == "car"
    assert [kept.target.cue.label for kept in target.parts] == ["car", "car"]


def test_each_sample_has_the_place_of_its_own_fold() -> None:
    cue = cue_of("joined", "a mark")
    parts = [part("a", "b", without="cd"), part("e", without="f", auroc=0.8)]
    target = join(cue, parts)
    assert target.cue is cue
    assert target.located is not None
    assert set(target.located.places) == {"a", "b", "e"}
    assert target.located.without == {"c", "d", "f"}
    # no surer than the least sure fold, for the folds share most of what tells it
    assert target.located.auroc == 0.8
    assert list(target.samples) == list("abcdef")
    assert [kept.study for kept in target.parts] == [kept.study for kept in parts]


@pytest.mark.parametrize(
    "other", [part("x", auroc=0.6), part("x", sign=-1)], ids=["unsure", "other way"]
)
def test_a_fold_that_knows_no_better_is_left_out(other: Part) -> None:
    target = join(cue_of("joined", "a mark"), [part("a"), other, part("b")])
    assert target.located is not None
    assert set(target.located.places) == {"a", "b"}


@pytest.mark.parametrize("placed", ["a", "ab"])
def test_regions_of_fewer_samples_than_a_test_needs_are_none(placed: str) -> None:
    """What changes a region would have too few samples, and whole pictures the others."""
    found = part(*placed)
    assert found.target.located is not None
    region = Place(masks=(np.ones((2, 2), bool),))
    places = dict.fromkeys(placed, region)
    located = replace(found.target.located, places=places)
    found = Part(found.study, replace(found.target, located=located))
    target = join(cue_of("joined", "a mark"), [found, part("c", "d")])
    assert target.located is not None
    assert set(target.located.places) == {*placed, "c", "d"}
    has_region = any(place.masks for place in target.located.places.values())
    assert has_region is (len(placed) == 2)


def test_a_cue_without_a_place_in_any_fold_says_why() -> None:
    lost = Target(cue_of("c", "a mark"), Direction(), {}, reason="nothing locates it")
    study: Any = SimpleNamespace(options=SimpleNamespace(least=2))
    target = join(cue_of("joined", "a mark"), [Part(study, lost)])
    assert target.located is None
    assert target.reason == "nothing locates it"
