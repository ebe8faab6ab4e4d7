"""A stored run asked for again by a plugin that has changed since."""

from types import SimpleNamespace
from typing import Any

import pytest

from cuescope.rerun import options_of
from cuescope_core.conclusions import PluginStamp
from cuescope_core.plugin import Options


class Today(Options):
    """What is left of them."""

    top: int = 5
    names: tuple[str, ...] = ()


def registry() -> Any:
    plugin = SimpleNamespace(Options=Today)
    return SimpleNamespace(find=lambda *_: None, load=lambda _: plugin)


def stamp(**options: Any) -> PluginStamp:
    return PluginStamp(
        spec="finder", dist="finder", version="1", fingerprint="f", options=options
    )


def test_what_is_a_default_need_not_be_asked_for() -> None:
    assert options_of(registry(), "method", stamp(top=5, names=[])) == {}
    assert options_of(registry(), "method", stamp(top=7, names=[])) == {"top": 7}


def test_an_option_that_is_gone_is_left_out_and_told() -> None:
    with pytest.warns(
        UserWarning, match=r"finder has no option 'hide' any more .* True"
    ):
        assert options_of(registry(), "method", stamp(hide=True, top=7)) == {"top": 7}
