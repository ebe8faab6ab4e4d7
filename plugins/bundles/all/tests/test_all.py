"""The bundle brings every package of the project."""

from importlib.metadata import requires

from packaging.requirements import Requirement

from cuescope.installing import own_dists, with_needs


def names(dist: str) -> set[str]:
    return {Requirement(line).name for line in requires(dist) or ()}


def test_every_package_comes_with_it_or_with_the_start() -> None:
    brought = names("cuescope-all") | names("cuescope-start")
    # contract suites come with what tests a plugin
    others = {"cuescope", "cuescope-core", "cuescope-all", "cuescope-testing"}
    assert brought | others == own_dists().keys()


def test_none_is_named_in_both_bundles() -> None:
    assert not names("cuescope-all") & names("cuescope-start")


def test_a_clone_gives_all_of_them() -> None:
    """`cuescope plugins install cuescope-all` names each folder."""
    assert with_needs(["cuescope-all"]).keys() == own_dists().keys()
