"""Nouns of captions, and how strong a bond counts show."""

from math import log, sqrt

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats.contingency import odds_ratio

from cuescope_proposers.captions import nouns
from cuescope_proposers.co_occurrence import Counts, bond


@pytest.mark.parametrize(
    ("caption", "wanted"),
    [
        (
            "A man riding a wave on his white surf board.",
            {"man", "wave", "board", "surf board"},
        ),
        (
            "Two dogs are sitting on a large wooden bench, near trees",
            {"dog", "bench", "tree"},
        ),
        ("the building has many windows", {"building", "window"}),
        ("A stop sign in front of parked cars", {"stop sign", "sign", "car"}),
        ("A bed with red sheets and a clock", {"bed", "sheet", "clock"}),
        ("A group of people.", {"people"}),
        ("past a child's chair", {"child", "chair"}),
        ("A cup and a boat with a table and a tree.", {"cup", "boat", "table", "tree"}),
        ("", set()),
        ("It is very nice!", set()),
    ],
)
def test_nouns_of_captions(caption: str, wanted: set[str]) -> None:
    assert nouns(caption) == wanted


def test_the_bond_by_hand() -> None:
    """8 of 10 images of the class show the name, 20 of the other 90."""
    cells = 8.5, 2.5, 20.5, 70.5
    ratio = log(8.5 * 70.5 / (2.5 * 20.5))
    error = sqrt(sum(1 / cell for cell in cells))
    assert bond(8, 10, 28, 100) == pytest.approx(ratio - norm.isf(0.025) * error)


def test_the_bond_of_many_images_is_the_log_odds_ratio() -> None:
    table = np.array([[6000, 4000], [3000, 87000]])
    found = odds_ratio(table, kind="sample").statistic
    assert bond(6000, 10_000, 9000, 100_000) == pytest.approx(log(found), abs=0.06)
    assert bond(1000, 10_000, 10_000, 100_000) == pytest.approx(0, abs=0.08), "no bond"


def test_more_images_make_a_stronger_bond_and_empty_cells_none_that_is_endless() -> (
    None
):
    assert bond(1, 10, 1, 100) < bond(5, 10, 5, 100) < bond(50, 100, 50, 1000)
    for both, of_class, of_name, images in (
        (5, 5, 5, 5),
        (0, 5, 5, 10),
        (5, 5, 10, 10),
    ):
        assert np.isfinite(bond(both, of_class, of_name, images))


def test_a_planted_cue_is_first_and_a_rare_name_is_not() -> None:
    """The cue is beside 60% of a class and 10% of the others; sky is everywhere."""
    rng = np.random.default_rng(0)
    counts = Counts()
    for _ in range(2000):
        cup = rng.random() < 0.3
        shown = {"sky", "cup" if cup else "boat"}
        shown |= {"table"} if rng.random() < (0.6 if cup else 0.1) else set()
        shown |= {"fence"} if rng.random() < 0.3 else set()
        counts.add({name for name in shown if name in ("cup", "boat")}, shown)
    counts.add({"cup"}, {"cup", "unicorn"})
    assert counts.rank("cup", 5)[0] == "table"
    assert set(counts.rank("cup", 5)) == {"table", "fence", "sky"}
    assert "unicorn" in counts.rank("cup", 1)
    assert counts.rank("cup", 1)[0] == "table"
    assert counts.rank("boat", 5)[-1] == "table"
