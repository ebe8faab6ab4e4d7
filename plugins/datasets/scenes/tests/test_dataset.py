"""The data set: the dial, the balance, the annotations, the splits, the options."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from cuescope_scenes import Scenes
from cuescope_scenes.composition import draw_backgrounds, draw_labels
from cuescope_scenes.words import BACKGROUNDS, FAMILIES, LABELS, PARTNER_OF
from cuescope_sdk import Context, HasPlantedCues, Sample, UserError

SMALL = {"train": 160, "val": 160, "test": 80}


def build(arg: str = "0.95", **options: Any) -> Scenes:
    made = Context().build("dataset", f"scenes:{arg}", SMALL | options)
    assert isinstance(made, Scenes)
    return made


def every(data: Scenes) -> list[Sample]:
    return [data[index] for index in range(len(data))]


def test_every_picture_is_a_group_of_its_own() -> None:
    assert all(sample.group == sample.key for sample in every(build()))


@pytest.mark.parametrize("dial", [0.0, 0.5, 0.95, 1.0])
def test_the_dial_is_the_share_of_partners_beyond_chance(dial: float) -> None:
    label = draw_labels(16_000, "train", 0)
    background = draw_backgrounds(label, dial, "train", 0)
    expected = dial + (1 - dial) / 8
    assert (label == background).mean() == pytest.approx(expected, abs=0.012)
    table = np.zeros((8, 8))
    np.add.at(table, (label, background), 1)
    others = table[~np.eye(8, dtype=bool)] / 2000
    assert others == pytest.approx((1 - dial) / 8, abs=0.03)


def test_at_zero_background_is_independent_of_label() -> None:
    label = draw_labels(16_000, "val", 0)
    background = draw_backgrounds(label, 0.0, "val", 0)
    table = np.zeros((8, 8))
    np.add.at(table, (label, background), 1)
    expected = table.sum(1, keepdims=True) * table.sum(0) / table.sum()
    statistic = ((table - expected) ** 2 / expected).sum()
    assert statistic < 49 + 4 * np.sqrt(2 * 49)
    assert np.bincount(label).tolist() == [2000] * 8


def test_training_leans_and_the_audit_does_not_unless_asked() -> None:
    def own(data: Scenes) -> float:
        return float((data.targets == data.backgrounds).mean())

    data = build(val=800)
    assert own(data.split("train")) > 0.9
    assert own(data) < 0.2
    assert own(build(val=800, audit_dial=0.9)) > 0.85
    assert data.facts["own background"].startswith(f"{own(data):.1%} of the pictures")


def test_another_dial_moves_no_object() -> None:
    leaning, balanced = build().split("train"), build("0").split("train")
    assert leaning.fingerprint != balanced.fingerprint
    for one, other in zip(every(leaning)[:40], every(balanced)[:40], strict=True):
        assert one.label == other.label
        np.testing.assert_array_equal(
            one.annotations["foreground"], other.annotations["foreground"]
        )


def test_annotations_agree_with_each_other() -> None:
    for sample in every(build()):
        notes, factors = sample.annotations, sample.annotations["factors"]
        said = notes["caption"].split()
        assert sample.choices == LABELS
        assert sample.label in FAMILIES[notes["family"]]
        assert sample.label in said
        assert {
            factors["background"],
            factors["size"],
            factors["object colour"],
        } <= set(said)
        assert (said.count("with") + said.count("and")) == int(factors["distractors"])
        assert sample.label not in factors.values()
        shown = [name for name, present in notes["cues"].items() if present == (True,)]
        owner = LABELS[BACKGROUNDS.index(factors["background"])]
        assert shown == [f"background of {owner}"]
        assert PARTNER_OF[owner] == factors["background"]
        assert notes["foreground"].dtype == bool
        assert notes["foreground"].shape == sample.frames[0].load().size[::-1]


def test_it_says_which_background_gives_a_label_away() -> None:
    data = build()
    assert isinstance(data, HasPlantedCues)
    assert {cue.labels: cue.name for cue in data.planted_cues} == {
        (label,): background for label, background in PARTNER_OF.items()
    }
    assert [cue.key for cue in data.planted_cues] == list(data[0].annotations["cues"])


def test_factors_take_every_value() -> None:
    seen: dict[str, set[str]] = {}
    for sample in every(build(val=400)):
        for name, value in sample.annotations["factors"].items():
            seen.setdefault(name, set()).add(value)
    assert seen["background"] == set(BACKGROUNDS)
    assert seen["size"] == {"small", "medium", "large"}
    assert seen["distractors"] == {"0", "1", "2"}
    assert seen["focus"] == {"sharp", "blurred"}
    assert len(seen["object colour"]) == 6


def test_no_picture_is_in_two_splits_or_seeds() -> None:
    data = build()
    groups = [
        {sample.frames[0].load().tobytes() for sample in every(part)}
        for part in (data.split("train"), data, data.split("test"), build(seed=1))
    ]
    assert [len(group) for group in groups] == [160, 160, 80, 160]
    assert not any(one & other for one, other in combinations(groups, 2))


def test_fingerprint_follows_whatever_changes_a_pixel_and_nothing_else() -> None:
    changes: list[dict[str, Any]] = [
        {},
        {"seed": 1},
        {"val": 168},
        {"audit_dial": 0.5},
        {"split": "test"},
    ]
    prints = [build(**change).fingerprint for change in changes]
    assert len(set(prints)) == len(prints)
    assert build(train=800).fingerprint == prints[0]
    assert build("0.5").fingerprint == prints[0]
    train = build().split("train").fingerprint
    assert build(audit_dial=0.5, val=80).split("train").fingerprint == train


@pytest.mark.parametrize(
    ("arg", "options", "line"),
    [
        ("1.2", {}, "dial"),
        ("0.9", {"split": "vall"}, "Did you mean 'val'"),
        ("0.9", {"noize": 1}, "no option 'noize'"),
        ("0.9", {"val": 0}, "val"),
    ],
)
def test_a_bad_option_is_told_in_one_line(
    arg: str, options: dict[str, Any], line: str
) -> None:
    with pytest.raises(UserError, match=line) as caught:
        build(arg, **options)
    assert "\n" not in str(caught.value)
