"""`cuescope dev bench`: a bench's tables, ours beside the paper's."""

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from cuescope.cli import app
from cuescope.cli.bench import free_options
from cuescope_sdk import Context, Options, Picture, Plugin, Table, UserError
from cuescope_testing import PluginShelf

Line = Callable[..., str]
PNG = b"\x89PNG..."


class FakeBench(Plugin):
    """As many rows as asked, the first beside a paper's."""

    class Options(Options):
        configs: int = 1

    def run(self) -> Iterator[Table]:
        rows = range(self.options.configs)
        yield Table(
            title="Table 1",
            columns=("cue", "P@10"),
            rows=tuple({"cue": f"cue {i}", "P@10": 50.0 + i} for i in rows),
            paper=({"cue": "cue 0", "P@10": 91.5}, {"cue": "theirs", "P@10": 7}),
            notes=(f"seed {self.context.seed}",),
        )
        yield Picture(title="Figure 2.", caption="rises <fast>", image=PNG)


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Line:
    shelf = PluginShelf({("bench", "fake"): FakeBench})
    monkeypatch.setattr(
        "cuescope_core.context.Context", partial(Context, registry=shelf)
    )

    def said(*words: str) -> str:
        app(["dev", "bench", *words], standalone_mode=False)
        return capsys.readouterr().out

    return said


def test_our_figures_stand_beside_the_papers(line: Line) -> None:
    said = line("fake", "--seed", "3", "--configs", "2")
    assert "Table 1" in said
    assert re.search(r"cue 0 +50\.0 \(91\.5\)", said)
    assert re.search(r"cue 1 +51\.0 *\n", said)
    assert re.search(r"theirs +\(7\)", said)
    assert "seed 3" in said


def test_json_has_the_rows_and_the_picture(line: Line) -> None:
    told = json.loads(line("fake", "--configs=1", "--json"))
    [table] = told["tables"]
    [picture] = told["pictures"]
    assert table["rows"] == [{"cue": "cue 0", "P@10": 50.0}]
    assert picture["image"] == b64encode(PNG).decode()


def test_a_terminal_says_where_the_picture_is_seen(line: Line) -> None:
    said = line("fake")
    assert re.search(r"Figure 2\..*--html FILE", said, re.DOTALL)


def test_the_page_has_tables_and_pictures(line: Line, tmp_path: Path) -> None:
    page = tmp_path / "new" / "bench.html"
    said = line("fake", "--seed", "3", "--html", str(page), "--configs", "2")
    assert "Table 1" in said
    assert "--html FILE" not in said
    written = page.read_text()
    assert f"data:image/png;base64,{b64encode(PNG).decode()}" in written
    assert re.search(r"cue 0</th><td[^>]*>50\.0 <span[^>]*>\(91\.5\)", written)
    assert "rises &lt;fast&gt;" in written
    assert "cuescope dev bench fake --seed 3 --configs 2" in written
    assert "http" not in re.sub(r"<meta[^>]*>", "", written)  # nothing is fetched


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("fak",), "no bench 'fak' .*Did you mean 'fake'"),
        (
            ("fake", "--configs", "x"),
            "option 'configs': expected a valid integer, got 'x'",
        ),
        (("fake", "--config", "3"), "no option 'config'.*Did you mean 'configs'"),
        (("fake", "many"), "bench: 'many': expected --option value"),
    ],
)
def test_mistakes_are_told(line: Line, words: tuple[str, ...], said: str) -> None:
    with pytest.raises(UserError, match=said):
        line(*words)


def test_free_options() -> None:
    words = ["--two-words", "2", "--key=a=b", "--flag"]
    assert free_options(words) == {"two_words": "2", "key": "a=b", "flag": "true"}
