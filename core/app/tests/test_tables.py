"""Tables and pictures of a report: kept whole, and shown in terminal and page as they are."""

import io
import json
import re
from base64 import b64encode, urlsafe_b64decode
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from pydantic import ValidationError
from rich.console import Console

from cuescope.report.html import render
from cuescope.report.tables import beside, render_table
from cuescope.report.terminal import show
from cuescope_core.auditing import Audit
from cuescope_core.conclusions import Picture, Report, Table
from cuescope_core.context import Context

from ...engine.tests.reports import make_report
from .test_html_report import HOSTILE, Page, browser, probe

__all__ = ["browser"]  # a fixture

ROWS = (
    {"explainer": "cci", "deletion": 12.345, "insertion": 0.5, "images": 100},
    {"explainer": "random", "deletion": 40.0, "insertion": None, "images": 100},
    {"explainer": "mine", "deletion": 41.0, "images": "few"},
)
FAITHFULNESS = Table(
    title="Faithfulness, top-1",
    columns=("explainer", "deletion", "insertion", "images"),
    rows=ROWS,
    paper=(
        {"explainer": "cci", "deletion": 11.9},
        {"explainer": "grad-eclip", "insertion": 33.25, "images": 50},
    ),
    notes=("The paper's figures are of ImageNet.", "Lower deletion is better."),
    decimals=2,
)


def image(kind: str, size: tuple[int, int] = (90, 30)) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", size, (40, 90, 200)).save(stream, kind)
    return stream.getvalue()


def picture(kind: str = "PNG", size: tuple[int, int] = (90, 30)) -> Picture:
    return Picture(title="Errors", caption="image and map", image=image(kind, size))


def printed(table: Table, width: int, **console: object) -> str:
    out = io.StringIO()
    settings = {"width": width, "color_system": None, "highlight": False} | console
    Console(file=out, **settings).print(render_table(table))
    return out.getvalue()


# ---------------------------------------------------------------------------------------- kept


def test_tables_and_pictures_survive_json() -> None:
    every_byte = Picture(title="t", caption="c", image=bytes(range(256)))
    report = make_report(tables=(FAITHFULNESS,), pictures=(picture(), every_byte))
    written = report.model_dump_json()
    stored = json.loads(written)["pictures"][0]["image"]
    assert urlsafe_b64decode(stored) == image("PNG")
    again = Report.model_validate_json(written)
    assert again == report
    assert again.tables[0].rows[0] == {
        "explainer": "cci",
        "deletion": 12.345,
        "insertion": 0.5,
        "images": 100,
    }
    assert type(again.tables[0].rows[0]["images"]) is int


def test_the_hash_sees_tables_and_not_pictures() -> None:
    plain, tabled = make_report(), make_report(tables=(FAITHFULNESS,))
    moved = FAITHFULNESS.model_copy(update={"notes": ()})
    assert len({r.hash for r in (plain, tabled, make_report(tables=(moved,)))}) == 3
    assert (
        make_report(tables=(FAITHFULNESS,), pictures=(picture(),)).hash == tabled.hash
    )
    assert Report.model_validate_json(tabled.model_dump_json()).hash == tabled.hash


def test_what_is_shown_keeps_its_order() -> None:
    audit = Audit(labels=(), options=None, respond=lambda trials: [], context=Context())
    other = FAITHFULNESS.model_copy(update={"title": "other"})
    items = (FAITHFULNESS, picture(), other, picture("JPEG"))
    for item in items:
        audit.attach(item)
    assert audit.attachments == list(items)


# ------------------------------------------------------------------------------ side by side


def test_rows_of_one_name_stand_beside_each_other() -> None:
    assert list(beside(FAITHFULNESS)) == [
        ("cci", [("12.35", "11.90"), ("0.50", ""), ("100", "")]),
        ("random", [("40.00", ""), ("", ""), ("100", "")]),
        ("mine", [("41.00", ""), ("", ""), ("few", "")]),
        ("grad-eclip", [("", ""), ("", "33.25"), ("", "50")]),
    ]


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_no_cell_is_nan_or_infinite(number: float) -> None:
    with pytest.raises(ValidationError, match="finite"):
        Table(title="t", columns=("n", "x"), rows=({"n": "a", "x": number},))


@pytest.mark.parametrize("decimals", [0, 1, 3])
def test_figures_have_the_decimals_asked_for_and_counts_none(decimals: int) -> None:
    table = FAITHFULNESS.model_copy(update={"decimals": decimals})
    _, [(ours, paper), _, (count, _)] = next(iter(beside(table)))
    assert (ours, paper, count) == (
        f"{12.345:.{decimals}f}",
        f"{11.9:.{decimals}f}",
        "100",
    )


# ------------------------------------------------------------------------------------ terminal


def test_a_minus_is_a_minus_and_a_p_value_is_never_0() -> None:
    rows = (
        {"cue": "red", "gap": -2.71, "q": 0.00004},
        {"cue": "blue", "gap": -0.04, "q": 0.0312},
        {"cue": "green", "gap": 12.0, "q": None},
    )
    table = Table(title="Gaps", columns=("cue", "gap", "q"), rows=rows)
    words = [[ours for ours, _ in cells] for _, cells in beside(table)]
    assert words == [["−2.7", "<.001"], ["0.0", "0.031"], ["12.0", ""]]


@pytest.mark.parametrize("width", [80, 60])
def test_nothing_of_a_table_is_wider_than_the_terminal_or_lost(width: int) -> None:
    columns = (
        "explainer",
        "deletion",
        "insertion",
        "images",
        *(f"recall at {k}" for k in (1, 5)),
    )
    rows = (
        {**row, "explainer": f"{row['explainer']}-without-any-lambda"} for row in ROWS
    )
    table = FAITHFULNESS.model_copy(update={"columns": columns, "rows": tuple(rows)})
    said = printed(table, width)
    assert max(map(len, said.splitlines())) <= width
    assert "…" not in said
    for words in ("12.35", "(11.90)", "(33.25)", "0.50", *table.notes):
        assert words in said


def test_long_words_are_folded_and_not_cut() -> None:
    table = Table(
        title="t", columns=("n", "x" * 70), rows=({"n": "y" * 70, "x" * 70: "z" * 70},)
    )
    said = printed(table, 60)
    assert [said.count(letter) for letter in "xyz"] == [70, 70, 70]


def test_the_papers_figures_are_faint_and_in_brackets() -> None:
    said = printed(FAITHFULNESS, 80)
    assert re.search(r"cci +12\.35 \(11\.90\) +0\.50 +100", said)
    assert re.search(r"random +40\.00 +- +100", said)
    assert re.search(r"grad-eclip +- +\(33\.25\) +\(50\)", said)
    assert said.index("The paper's figures") < said.index("Lower deletion")
    coloured = printed(FAITHFULNESS, 80, force_terminal=True, color_system="standard")
    assert "\x1b[2m (11.90)\x1b[0m" in coloured
    assert "\x1b[2mLower deletion is better.\x1b[0m" in coloured


def test_markup_in_a_table_stays_text() -> None:
    words = "[bold]b[/bold]"
    row = {words: words, "n": words}
    table = Table(title="t", columns=(words, "n"), rows=(row,), notes=(words,))
    assert printed(table, 80).count(words) == 4


def test_the_report_shows_its_tables_before_the_checks() -> None:
    out = io.StringIO()
    report = make_report(tables=(FAITHFULNESS,), pictures=(picture(),))
    console = Console(file=out, width=80, color_system=None, highlight=False)
    show(report, console, detail=1)
    said = out.getvalue()
    heads = "Ranked cues", "Faithfulness, top-1", "\nChecks\n"
    places = [said.index(words) for words in heads]
    assert places == sorted(places)
    assert "12.35 (11.90)" in said


# ---------------------------------------------------------------------------------------- page


def test_the_page_shows_tables_and_pictures() -> None:
    report = make_report(
        tables=(FAITHFULNESS,), pictures=(picture("PNG"), picture("JPEG"))
    )
    page = Page(render(report, {}))
    assert "cci 12.35 (11.90) 0.50 100" in page.text
    assert "random 40.00 – 100" in page.text
    assert "grad-eclip – (33.25) (50)" in page.text
    assert "Lower deletion is better." in page.text
    shown = [a for tag, a in page.elements if tag == "img"]
    assert [a["alt"] for a in shown] == ["Errors: image and map"] * 2
    assert [a["src"] for a in shown] == [
        f"data:image/{kind};base64,{b64encode(image(kind)).decode()}"
        for kind in ("png", "jpeg")
    ]


def test_without_them_no_section_is_empty() -> None:
    page = Page(render(make_report(), {}))
    assert not {"wide-table", "cells", "plate"} & set(page.having("class"))
    assert "pictures" not in page.having("id")


def test_hostile_words_in_tables_and_captions_stay_words() -> None:
    def structured(words: str) -> Page:
        row = {f"name{words}": words, f"n{words}": words}
        table = Table(
            title=words, columns=tuple(row), rows=(row,), paper=(row,), notes=(words,)
        )
        plate = Picture(title=words, caption=words, image=image("PNG"))
        return Page(render(make_report(tables=(table,), pictures=(plate,)), {}))

    hostile = structured(HOSTILE)
    assert hostile.structure == structured("x").structure
    # the attributes' are not text
    assert hostile.text.count("document.title='taken'") == 9


def test_what_is_no_picture_is_no_script() -> None:
    plate = Picture(title="t", caption="c", image=b'"><script>alert(1)</script>')
    page = Page(render(make_report(pictures=(plate,)), {}))
    assert [tag for tag, _ in page.elements].count("script") == 1


@pytest.mark.browser
@pytest.mark.parametrize("width", [pytest.param(1200, marks=pytest.mark.long), 500])
def test_wide_tables_scroll_in_their_box_and_pictures_keep_their_size(
    browser: str, tmp_path: Path, width: int
) -> None:
    columns = ("explainer", *(f"column {i} of many" for i in range(20)))
    row = dict.fromkeys(columns, 12.5) | {"explainer": "cci"}
    tables = (FAITHFULNESS, Table(title="Wide", columns=columns, rows=(row,)))
    plates = (picture(size=(90, 30)), picture(size=(2400, 400)))
    script = """
      const boxes = [...document.querySelectorAll(".wide-table")];
      boxes[1].scrollLeft = 300;
      return {
        overflows: boxes.map((box) => box.scrollWidth > box.clientWidth),
        scrolled: boxes[1].scrollLeft,
        name: boxes[1].querySelector("tbody th").getBoundingClientRect().left
              - boxes[1].getBoundingClientRect().left,
        page: document.documentElement.scrollWidth - innerWidth,
        heads: boxes[0].querySelector("thead").getBoundingClientRect().height,
        line: new Set([...boxes[0].querySelectorAll("tbody tr:first-child > *")]
              .map((cell) => cell.getBoundingClientRect().top)).size,
        widths: [...document.querySelectorAll(".plate img")].map((i) => i.width / i.naturalWidth),
        shapes: [...document.querySelectorAll(".plate img")].map((i) => i.width / i.height),
      };
    """
    page = render(make_report(tables=tables, pictures=plates), {})
    seen = probe(browser, page, script, tmp_path, width=width)
    assert (seen["errors"], seen["blocked"], seen["fetched"]) == ([], [], [])
    assert seen["overflows"] == [False, True]
    assert (seen["scrolled"], seen["name"]) == (300, 0)  # the names stay in sight
    assert seen["page"] <= 0
    assert seen["heads"] > 10
    assert seen["line"] == 1  # a row is a row, on a phone too
    small, large = seen["widths"]
    assert small == 1
    assert large < 0.5
    assert seen["shapes"] == pytest.approx([3, 6], rel=0.02)


def test_a_long_name_of_several_rows_stands_above_them() -> None:
    name = "brighter at the left and more contrast"
    rows = [
        {"cue": name, "intervention": "swap", "samples": 34},
        {"cue": name, "intervention": "heal", "samples": 50},
        {"cue": "a red corner", "intervention": "swap", "samples": 8},
    ]
    columns = ("cue", "intervention", "samples")
    words = printed(Table(title="Each", columns=columns, rows=tuple(rows)), 60)
    assert words.count(name) == 1
    lines = [line.split() for line in words.splitlines() if line.strip()]
    assert lines[0] == name.split()
    assert lines[1] == ["intervention", "samples"]
    assert ["swap", "34"] in lines
    assert lines.index(["a", "red", "corner"]) == len(lines) - 4
    # short names stay beside their figures
    short = tuple(row | {"cue": "red"} for row in rows)
    assert (
        printed(Table(title="Each", columns=columns, rows=short), 60).count("red") == 3
    )
    # nor does one stand above each row where names take turns, or where there is nothing else
    turns = Table(title="Each", columns=columns, rows=(rows[0], rows[2], rows[1]))
    assert printed(turns, 60).count("intervention") == 1
    alone = Table(title="Each", columns=("cue",), rows=({"cue": name}, {"cue": name}))
    assert printed(alone, 60).count(name) == 2
