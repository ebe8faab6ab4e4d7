"""A feature that is asked for by the key of another run: the same thing is tested, or nothing."""

import pytest

from cuescope_confirm.command.renaming import keys_of_same
from cuescope_sdk import Feature, Occurrence, UserError

MEADOW = ("a", "b", "c", "d", "e", "f")
SKY = ("g", "h", "i")


def feature(key: str, samples: tuple[str, ...]) -> Feature:
    occurrences = tuple(Occurrence(sample=sample, frame=0) for sample in samples)
    return Feature(key=key, kind="cluster", occurrences=occurrences)


BOATS = dict.fromkeys([*MEADOW, *SKY], "boat")
WHOLE = (
    feature("cluster-01", MEADOW),
    feature("cluster-00", SKY),
    feature("verdict", ()),
)


def test_a_cluster_is_known_by_its_frames_where_its_number_is_another() -> None:
    half = [feature("cluster-01", SKY[:2]), feature("cluster-07", MEADOW[:3])]
    assert keys_of_same(WHOLE, half, ["cluster-01@boat", "cluster-00"], BOATS) == [
        "cluster-07@boat",
        "cluster-01",
    ]


def test_what_has_no_frames_keeps_its_key_and_what_is_unknown_is_left() -> None:
    half = [feature("verdict", ())]
    assert keys_of_same(WHOLE, half, ["verdict", "green"], {}) == [
        "verdict",
        "green",
    ]


def test_what_is_not_found_again_is_refused() -> None:
    half = [feature("cluster-01", SKY)]
    with pytest.raises(UserError, match="'cluster-01' is not found again"):
        keys_of_same(WHOLE, half, ["cluster-01"], {})


def test_a_finding_of_a_label_is_known_by_the_frames_of_its_label() -> None:
    # the meadow is one cluster with the birds on it, and boats elsewhere are another
    birds = tuple("pqrstuvw")
    half = [
        feature("cluster-00", (*MEADOW, *birds)),
        feature("cluster-03", (*MEADOW[:4], *SKY[:2])),
    ]
    whole = [feature("cluster-07", MEADOW), feature("cluster-01", (*birds, *SKY))]
    labels = BOATS | dict.fromkeys(birds, "bird")
    asked = ["cluster-07@boat"]
    assert keys_of_same(whole, half, asked, labels) == ["cluster-00@boat"]
