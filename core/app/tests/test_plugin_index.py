"""The list of everybody's plugins: what ships is whole."""

import re

import pytest

from cuescope.cli import main
from cuescope.plugin_index import shipped_index
from cuescope_core.registry import KINDS


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["plugins", "search", *words])
    assert ended.value.code == code
    output = capsys.readouterr()
    return output.out + output.err


def test_each_line_that_ships_is_whole_and_sorted() -> None:
    index = shipped_index()
    names = [(plugin.kind, plugin.name) for plugin in index]
    assert names == sorted(set(names))
    assert {plugin.kind for plugin in index} <= set(KINDS)
    assert all(plugin.finds for plugin in index)
    # a command to install it is copied into a shell
    dist = r"[A-Za-z0-9][\w.-]*(\[[\w.,-]+\])?"
    assert all(re.fullmatch(dist, plugin.dist) for plugin in index)


def test_all_words_must_be_there(capsys: pytest.CaptureFixture[str]) -> None:
    told = said(capsys, "backgrounds", "CLIP", "--kind", "method")
    assert told.startswith("method cci (cuescope-cci): Backgrounds")
    assert "saliency" not in told
    assert "None of" in said(capsys, "backgrounds", "zebra")
