"""`cuescope dev bench covar` on CLIPs whose background dial is known, through the command line."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cuescope.cli import main

Rows = list[dict[str, Any]]
# of `--models toys`; their weights are shipped
MODELS = ["dial 0", "dial 0.5", "dial 0.98"]
# Pictures of each class, and wrong answers whose regions are hidden: most of this file's seconds.
SIZES = [pytest.param((20, 8), marks=pytest.mark.long)]


def first(cell: str) -> float:
    """56 of "56 [52, 59] few"."""
    return figures_in(cell)[0]


def ends(cell: str) -> tuple[float, float]:
    """52 and 59 of "56 [52, 59]"."""
    _, low, high, *_ = figures_in(cell)
    return low, high


def figures_in(cell: str) -> list[float]:
    """56, 52 and 59 of the same."""
    found = re.findall(r"[+−-]?\d+", cell)
    return [float(figure.replace("−", "-")) for figure in found]


@pytest.fixture(scope="module", params=SIZES, ids=str)
def size(request: pytest.FixtureRequest) -> tuple[int, int]:
    """Pictures of each class, and wrong answers of each model."""
    pictures, errors = request.param
    return pictures, errors


@pytest.fixture(scope="module")
def page(size: tuple[int, int], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("covar") / "page.html"


@pytest.fixture(scope="module")
def tables(size: tuple[int, int], page: Path) -> dict[str, Rows]:
    """The rows of each table by its title, of the command's JSON."""
    folder, (pictures, errors) = page.parent, size
    data = json.dumps({"val": pictures, "backgrounds": 2})
    words = [
        "dev",
        "bench",
        "covar",
        "--data-options",
        data,
        "--errors",
        str(errors),
        "--html",
        str(page),
    ]
    written: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUESCOPE_CACHE", str(folder / "cache"))
        patch.chdir(folder)
        patch.setattr("cuescope.cli.outputs.echo_json", written.append)
        with pytest.raises(SystemExit) as ended:
            main([*words, "--device", "cpu", "--json", "--quiet"])
    assert ended.value.code == 0
    [text] = written
    return {table["title"]: table["rows"] for table in json.loads(text)["tables"]}


@pytest.mark.long
def test_it_orders_the_models_by_how_far_the_background_told(
    tables: dict[str, Rows],
) -> None:
    rows = tables["What each subset costs, points of accuracy (Figure 7)"]
    assert [row["model"] for row in rows] == MODELS
    cost = [row["Bg-varied against photos"] for row in rows]
    assert max(map(first, cost[:2])) + 40 <= first(cost[2])
    low, high = ends(cost[0])
    assert low <= 0 <= high  # the dial at 0: no effect
    assert not cost[0].endswith("*")
    assert cost[-1].endswith("*")


@pytest.mark.long
def test_bg_er_orders_them_where_accuracy_does_not(tables: dict[str, Rows]) -> None:
    """At 0.5 the objects were learned as well: other backgrounds alone cost that model nothing."""
    rows = tables["BG-Er, % of the wrong answers (Table 4): each region hidden whole"]
    leaning = [first(row["all"]) for row in rows]
    assert leaning == sorted(leaning)
    assert leaning[0] < leaning[1] <= leaning[2] - 30


def test_a_viewpoint_that_training_never_showed_costs_more_than_a_crop(
    tables: dict[str, Rows],
) -> None:
    [row] = [
        r
        for r in tables["Accuracy on each subset, % (Table 3)"]
        if r["model"] == "dial 0"
    ]
    assert first(row["Viewpoint"]) + 40 <= first(row["Crop"])
    assert first(row["Scale"]) + 30 <= first(row["Crop"])


def test_backgrounds_make_their_partners_the_answer(tables: dict[str, Rows]) -> None:
    from cuescope_scenes.camera.words import PARTNER_OF

    [title] = [
        t for t in tables if t.startswith("dial 0.98: classes that a background")
    ]
    partner = {background: label for label, background in PARTNER_OF.items()}
    named = {
        row["background"]: row["most predicted"].split()[0] for row in tables[title]
    }
    assert sum(partner[background] == label for background, label in named.items()) >= 7


def test_the_page_has_the_grid_and_the_charts(
    page: Path, tables: dict[str, Rows]
) -> None:
    written = page.read_text("utf-8")
    for title in (
        "All variants of a photo of",
        "What each subset costs",
        "class by class",
    ):
        assert title in written
