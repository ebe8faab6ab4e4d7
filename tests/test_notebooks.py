"""The notebooks of the site run as they stand, and find what their pages show."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
METHODS = {"cci", "quag", "saliency", "spurlens", "step-grounding", "trove"}
QUICK = "trove"  # the notebook that `make test` runs
RUN = [
    pytest.param(
        path, marks=[] if path.stem == QUICK else pytest.mark.long, id=path.stem
    )
    for path in NOTEBOOKS
]


def outputs(book: Any) -> list[dict[str, Any]]:
    """What each code cell shows at its end, and what it printed."""
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    return [output for cell in cells for output in cell.outputs]


def sentences(book: Any) -> list[str]:
    """The lines of each printed report, without the path of its page."""
    words = [output.get("data", {}).get("text/plain", "") for output in outputs(book)]
    reports = [text for text in words if "\npage: " in text]
    return [
        line
        for text in reports
        for line in text.splitlines()
        if not line.startswith("page:")
    ]


def test_there_is_a_notebook_for_each_method_and_a_link_to_each_notebook() -> None:
    assert {path.stem for path in NOTEBOOKS} == METHODS
    page = (ROOT / "docs" / "python.md").read_text()
    linked = set(re.findall(r"\(notebooks/([\w-]+)\.ipynb\)", page))
    assert linked == METHODS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_stored_notebook_is_light_and_names_no_machine(path: Path) -> None:
    text = path.read_text()
    assert len(text) < 400_000
    book = nbformat.reads(text, 4)
    assert any("text/html" in output.get("data", {}) for output in outputs(book))
    streams = [output for output in outputs(book) if output.output_type == "stream"]
    assert not [stream for stream in streams if stream.name == "stderr"]


@pytest.mark.long
@pytest.mark.parametrize("path", RUN)
def test_a_notebook_runs_and_finds_what_its_page_shows(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    # a copy: what is stored stays as it is
    book = nbformat.reads(path.read_text(), 4)
    stored = sentences(book)
    folder = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(
        book, timeout=600, kernel_name="python3", resources=folder
    ).execute()
    if os.environ.get("CUESCOPE_NOTEBOOKS"):  # writes what the pages show
        keep(book)
        nbformat.write(book, path)
        stored = sentences(book)
    assert stored
    assert without_figures(sentences(book)) == without_figures(stored)


def without_figures(lines: list[str]) -> list[str]:
    """What was found, in any order: a network that is trained on another processor is another one.

    Its figures move by a few points, and clusters of nearly one rank change places.
    """
    return sorted(re.sub(r"\d+", "0", line) for line in lines)


def keep(book: Any) -> None:
    """Without what changes from run to run, and what other libraries print to standard error."""
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.metadata.pop("execution", None)
            cell.outputs = [
                output
                for output in cell.outputs
                if output.get("name") != "stderr"
                and output.get("data") != {"text/plain": ""}
            ]
