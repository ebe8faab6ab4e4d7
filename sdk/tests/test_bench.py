"""`cuescope bench`: a bench's tables, ours beside the paper's."""

import json
import re
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from cuescope_sdk import Context, Options, Plugin, Table, UserError
from cuescope_sdk.bench import bench, free_options
from cuescope_sdk.testing import PluginShelf

Line = Callable[..., str]


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


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Line:
    shelf = PluginShelf({("bench", "fake"): FakeBench})
    monkeypatch.setattr("cuescope_sdk.bench.Context", partial(Context, registry=shelf))

    def said(*words: str) -> str:
        bench(list(words), standalone_mode=False)
        return capsys.readouterr().out

    return said


def test_our_figures_stand_beside_the_papers(line: Line) -> None:
    said = line("fake", "--seed", "3", "--configs", "2")
    assert "Table 1" in said
    assert re.search(r"cue 0 +50\.0 \(91\.5\)", said)
    assert re.search(r"cue 1 +51\.0 *\n", said)
    assert re.search(r"theirs +\(7\)", said)
    assert "seed 3" in said


def test_json_has_the_rows(line: Line) -> None:
    table = json.loads(line("fake", "--configs=1", "--json"))
    assert table["rows"] == [{"cue": "cue 0", "P@10": 50.0}]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("fak",), "no bench 'fak' .*Did you mean 'fake'"),
        (("fake", "--configs", "x"), "option 'configs': expected a valid integer, got 'x'"),
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
