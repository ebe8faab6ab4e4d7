"""Every data set that is installed says what its groups are; groups are put into words."""

import pytest

from cuescope_core.registry import Registry
from cuescope_sdk import UserError
from cuescope_sdk.data import Grouping
from cuescope_sdk.data._groups import groups_across, groups_by_rule


def test_every_data_set_says_what_a_group_is() -> None:
    registry = Registry()
    ours = [
        each
        for each in registry.of_kind("dataset")
        if each.dist.startswith("cuescope-")
    ]
    plugins = {entry.name: registry.load(entry) for entry in ours}
    silent = [name for name, plugin in plugins.items() if "group" not in plugin.__doc__]
    assert not silent
    assert len(plugins) >= 19


def test_a_rule_finds_the_source_anywhere_in_a_path() -> None:
    names = [
        "a/film1_0.jpg",
        "b/film2_0.jpg",
        "b/film1_7.jpg",
        "b/still.jpg",
        "b/ _9.jpg",
    ]
    assert groups_by_rule(r"(film\d+)", names, "x") == [
        "film1",
        "film2",
        "film1",
        None,
        None,
    ]
    assert groups_by_rule(r"(?:^|/)([^/]*)_\d", names, "x")[:3] == [
        "film1",
        "film2",
        "film1",
    ]
    assert groups_by_rule(r"([^/]*)_\d", names, "x")[4] is None, "blanks name nothing"
    assert groups_by_rule("(film1)|still", names, "x")[3] is None
    assert groups_by_rule("(no)", [], "x") == []


@pytest.mark.parametrize(
    "rule", ["(a", "a", "(a)(b)", "", "(?P<n>a)(?P=m)", "[", "(a){99999999999}"]
)
def test_a_wrong_rule_says_what_was_expected(rule: str) -> None:
    with pytest.raises(
        UserError, match="x: group: expected a regular expression with one captur"
    ):
        groups_by_rule(rule, ["a"], "x")


def test_groups_in_words() -> None:
    groups = ["a"] * 3 + ["b", "c", "d"]
    assert Grouping(groups, "film").describe([None] * 6) == (
        "4 of 6 samples, by film; the largest has 3"
    )
    alone = "each of the 4 samples is a group by itself, by film"
    assert Grouping(groups[2:], "film").describe(["x"] * 4) == alone
    assert groups_across(groups, ["x", "y", "y", "x", "x", None]) == ["a"]
    many = [f"g{number // 2}" for number in range(12)]
    assert "6 of several labels (g0, g1, g2, ...)" in Grouping(many, "film").describe(
        ["x", "y"] * 6
    )
