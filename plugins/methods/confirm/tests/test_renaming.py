"""A feature that is asked for by the key of another run: the same thing is tested, or nothing."""

import pytest

from cuescope_confirm.command.renaming import keys_of_same
from cuescope_sdk import Feature, Occurrence, UserError

MEADOW = ("a", "b", "c", "d", "e", "f")
SKY = ("g", "h", "i")


def feature(key: str, samples: tuple[str, ...]) -> Feature:
    occurrences = tuple(Occurrence(sample=sample, frame=0) for sample in samples)
    return Feature(key=key, kind="cluster", occurrences=occurrences)


WHOLE = (
    feature("cluster-01", MEADOW),
    feature("cluster-00", SKY),
    feature("verdict", ()),
)


def test_a_cluster_is_known_by_its_frames_where_its_number_is_another() -> None:
    half = [feature("cluster-01", SKY[:2]), feature("cluster-07", MEADOW[:3])]
    assert keys_of_same(WHOLE, half, ["cluster-01@boat", "cluster-00"]) == [
        "cluster-07@boat",
        "cluster-01",
    ]


def test_what_has_no_frames_keeps_its_key_and_what_is_unknown_is_left() -> None:
    half = [feature("verdict", ())]
    assert keys_of_same(WHOLE, half, ["verdict", "green"]) == ["verdict", "green"]


def test_what_is_not_found_again_is_refused() -> None:
    half = [feature("cluster-01", SKY)]
    with pytest.raises(UserError, match="'cluster-01' is not found again"):
        keys_of_same(WHOLE, half, ["cluster-01"])
