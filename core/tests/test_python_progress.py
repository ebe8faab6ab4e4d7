"""Progress in a notebook: one line, written again, and gone at the end."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from cuescope.python.progress import NotebookBars, bar_line, in_notebook


class Line:
    """What IPython gives for a display that can be changed."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def display(self, data: dict[str, str], *, raw: bool, display_id: bool) -> "Line":
        assert raw
        assert display_id
        self.texts.append(data["text/plain"])
        return self

    def update(self, data: dict[str, str], *, raw: bool) -> None:
        assert raw
        self.texts.append(data["text/plain"])


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> Line:
    line, module = Line(), ModuleType("IPython.display")
    module.display = line.display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    return line


def test_a_bar_is_one_line_that_ends_full_and_goes(line: Line) -> None:
    bars: Any = NotebookBars()
    with bars("reading the images", 1000) as advance:
        for _ in range(1000):
            advance(1)
    bars.responses_progressed(
        audit=None, done=40, total=40, cached=40, inputs=0, all_inputs=0
    )
    bars.clear()
    # a message for each step would drown the browser
    assert len(line.texts) < 20
    assert line.texts[0].startswith("reading the images [ ")
    assert f"reading the images [{'#' * 30}] 1,000/1,000" in line.texts
    assert line.texts[-1] == ""


def test_the_time_that_remains_is_told_of_fresh_answers() -> None:
    assert (
        bar_line("x", 60, 120, 40, 100, 8.0) == f"x [{'#' * 15:<30}] 60/120, 12 s left"
    )
    assert bar_line("x", 20, 120, 0, 100, 0.1).endswith("20/120")
    assert bar_line("x", 0, 0, 0, 0, 0.0).endswith("0/0")


def test_a_notebook_is_known_by_its_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    for shell, known in (
        (None, False),
        (SimpleNamespace(), False),
        (SimpleNamespace(kernel=1), True),
    ):
        module = SimpleNamespace(get_ipython=lambda shell=shell: shell)
        monkeypatch.setitem(sys.modules, "IPython", module)  # type: ignore[arg-type]
        assert in_notebook() == known
