"""`cuescope bench covar` on CLIPs whose background dial is known, through the command line."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cuescope.cli import main

MODELS = ("dial 0", "dial 0.5", "dial 0.98")
DATA = '{"val": 24, "backgrounds": 3}'


def first(cell: Any) -> float:
    """56 of "56 [52, 59] few"."""
    return float(re.match(r"[+-]?\d+", str(cell))[0])  # type: ignore[index]


def ends(cell: Any) -> tuple[float, float]:
    """52 and 59 of "56 [52, 59]"."""
    low, high = re.search(r"\[([+-]?\d+), ([+-]?\d+)\]", str(cell)).groups()  # type: ignore[union-attr]
    return float(low), float(high)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Mapping[str, Any]]]:
    """Title -> name of the row -> row, of the command's JSON. Three CLIPs, each asked 900 images."""
    folder = tmp_path_factory.mktemp("covar")
    page = folder / "page.html"
    words = ["bench", "covar", "--data-options", DATA, "--errors", "8", "--html", str(page)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUESCOPE_CACHE", str(folder / "cache"))
        patch.chdir(folder)
        written: list[str] = []
        patch.setattr("cuescope.cli.bench.echo_json", written.append)
        with pytest.raises(SystemExit) as ended:
            main([*words, "--device", "cpu", "--json", "--quiet"])
    assert ended.value.code == 0
    items = [json.loads(text) for text in written]
    assert "All variants of a photo of" in page.read_text("utf-8")
    return {
        item["title"]: {str(row[item["columns"][0]]): row for row in item["rows"]}
        for item in items
        if "rows" in item
    }


def test_it_orders_the_models_by_how_far_the_background_told(tables: dict[str, Any]) -> None:
    drops = tables["What each subset costs, points of accuracy (Figure 7)"]
    cost = [drops[name]["Bg-varied against photos"] for name in MODELS]
    values = [first(cell) for cell in cost]
    assert values == sorted(values)
    assert values[-1] >= 40
    low, high = ends(cost[0])
    assert low <= 0 <= high  # dial 0: no effect
    assert "*" not in str(cost[0])
    assert str(cost[-1]).endswith("*")
