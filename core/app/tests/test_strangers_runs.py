"""The folder of a run that came by mail: links that lead out of it, and pictures of any kind."""

import io
import os
import struct
import zlib
from pathlib import Path
from typing import get_args

import pytest
from PIL import Image
from pydantic import ValidationError
from rich.console import Console

from cuescope.cue_names import read_names
from cuescope.python.figure import draw
from cuescope.python.notebook import fragment
from cuescope.report.html import render
from cuescope.report.pictures import MOST_PIXELS, stored_picture
from cuescope.report.terminal import show
from cuescope.rerun import beside
from cuescope_core.checksummed_files import LARGEST_WORDS, write_sealed
from cuescope_core.conclusions import Portrait, Report, Table
from cuescope_core.errors import BadDataError, UserError
from cuescope_core.runs import RunFolder, load_report
from cuescope_core.stored_run import StoredRun

from ...conftest import Line
from ...engine.tests.reports import make_pictures, make_report
from .test_cli import AUDIT


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """One without a signature, with a folder of somebody else beside it."""
    (tmp_path / "outside").mkdir()
    folder = RunFolder(tmp_path / "run")
    folder.prepare()
    folder.save(make_report(), make_pictures(make_report()))
    return folder.path


@pytest.mark.parametrize("link", ["export-a", "export-a/data", "export-a/b/data"])
def test_a_place_in_a_run_leads_nowhere_else(run: Path, link: str) -> None:
    assert StoredRun(run).place("export-a") == run / "export-a"
    (run / link).parent.mkdir(parents=True, exist_ok=True)
    (run / link).symlink_to(run.parent / "outside")
    with pytest.raises(UserError, match=f"{link} leads out of .*name another place"):
        StoredRun(run).place("export-a")
    # within the run a link may lead where it likes
    (run / link).unlink()
    (run / "own").mkdir()
    (run / link).symlink_to(run / "own")
    assert StoredRun(run).place("export-a") == run / "export-a"


def test_a_place_in_a_run_waits_for_no_pipe(run: Path) -> None:
    (run / "export-a").mkdir()
    os.mkfifo(run / "export-a" / "data.json")
    with pytest.raises(UserError, match="a pipe or a device"):
        StoredRun(run).place("export-a")


@pytest.mark.parametrize("link", ["run-confirmed", "run-confirmed/found"])
def test_what_is_written_beside_a_run_follows_no_link(run: Path, link: str) -> None:
    """Whoever mails a run may mail a link beside it, with the name that a command gives."""
    assert beside(run, "confirmed") == run.with_name("run-confirmed")
    place = run.parent / link
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(run.parent / "outside")
    with pytest.raises(UserError, match="name another place: --out"):
        beside(run, "confirmed")


def test_names_of_many_megabytes_are_none(run: Path) -> None:
    """Their seal fits, which whoever mails them can compute."""
    names = b'{"cue": "red"}'
    write_sealed(run / "names.json", names)
    assert read_names(run) == {"cue": "red"}
    write_sealed(run / "names.json", names + b" " * LARGEST_WORDS)
    with pytest.warns(UserWarning, match="too large"):
        assert read_names(run) == {}


@pytest.mark.parametrize("is_own", [False, True])
def test_files_of_a_stranger_have_a_limit(
    run: Path, monkeypatch: pytest.MonkeyPatch, *, is_own: bool
) -> None:
    """A hole in a file takes no room in a mail, and all of the memory."""
    report = make_report()
    RunFolder(run).save(report, make_pictures(report), page="p" * 99, own=is_own)
    monkeypatch.setattr("cuescope_core.runs.MOST_OF_STRANGERS", 10)
    if is_own:
        assert RunFolder(run).read("report.html") == b"p" * 99
        assert RunFolder(run).pictures(report)
        return
    with pytest.raises(UserError, match="too large"):
        RunFolder(run).read("report.html")
    with pytest.warns(UserWarning, match="too large"):
        assert not RunFolder(run).pictures(report)


def test_no_file_of_a_run_is_read_through_a_link_out_of_it(
    line: Line, run: Path
) -> None:
    """Nor by a name: a stranger's report says which files it has."""
    report = make_report()
    RunFolder(run).save(report, make_pictures(report), page="page")
    write_sealed(run / "names.json", b'{"cue": "red"}')
    files = [file for file in run.rglob("*") if file.is_file()]
    assert len(files) > 4
    for file in files:
        moved = run.parent / "outside" / file.name
        file.rename(moved)
        file.symlink_to(moved)
    with pytest.raises(UserError, match=r"leads out of its folder.*Copy what it names"):
        load_report(run)
    with pytest.warns(UserWarning, match="leads out of its folder"):
        assert read_names(run) == {}
    (run / "report.json").unlink()
    (run.parent / "outside" / "report.json").rename(run / "report.json")
    with pytest.raises(UserError, match="leads out of its folder"):
        RunFolder(run).read("report.html")
    with pytest.warns(UserWarning, match="leads out of its folder"):
        assert RunFolder(run).pictures(report) == {}
    with pytest.raises(UserError, match="leads out of its folder"):
        RunFolder(run).read("../outside/report.html")
    assert "leads out of its folder" in line("show", "--page", run, code=2)


@pytest.mark.parametrize("link", ["pictures", "answers.parquet"])
def test_a_folder_that_was_prepared_writes_nothing_elsewhere(
    line: Line, tmp_path: Path, link: str
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / link).symlink_to(tmp_path / "outside" / link)
    assert "leads out of" in line(*AUDIT, "--out", "out", code=2)
    with pytest.raises(UserError, match="leads out of"):
        RunFolder(tmp_path / "out").prepare()
    assert not list((tmp_path / "outside").iterdir())


def test_a_folder_in_the_place_of_a_file_is_told_at_once(
    line: Line, tmp_path: Path
) -> None:
    (tmp_path / "out" / "answers.parquet").mkdir(parents=True)
    said = line(*AUDIT, "--out", "out", code=2)
    assert "out/answers.parquet is a folder" in said


def test_a_long_title_begins_no_line_but_its_first(run: Path) -> None:
    """A screen breaks it between words, which a stranger chooses."""
    file = io.StringIO()
    rule = "─" * 76
    forged = f"Points of accuracy {rule} Next {rule} report 4730a8dfa2b1"
    report = make_report()
    table = Table.of(forged, ("a",), [("b",)])
    shown = Console(file=file, width=80)
    show(report.model_copy(update={"tables": (table,)}), shown, detail=1)
    lines = [line.rstrip() for line in file.getvalue().splitlines()]
    assert "Points of accuracy" in lines
    assert lines.count("Next") == 1
    assert "  Next" in lines
    assert "report 4730a8dfa2b1" not in lines


def drawn(kind: str, size: tuple[int, int] = (8, 8)) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, "red").save(file, kind)
    return file.getvalue()


def claiming(width: int, height: int) -> bytes:
    """A PNG of a few bytes whose header claims any size."""
    chunk = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    length, check = struct.pack(">I", 13), struct.pack(">I", zlib.crc32(chunk))
    return b"\x89PNG\r\n\x1a\n" + length + chunk + check


@pytest.mark.parametrize(
    "content",
    [
        # Pillow hands it to a program
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EOF\n",
        drawn("TIFF"),
        drawn("GIF"),
        claiming(60_000, 60_000),
        claiming(2**31 - 1, 2**31 - 1),
        claiming(MOST_PIXELS + 1, 1),
        b"<script>",
        b"",
    ],
)
def test_a_picture_that_is_none_of_ours_is_left_out(
    line: Line, run: Path, content: bytes
) -> None:
    with pytest.raises(BadDataError, match="the picture"):
        stored_picture(content)
    report = make_report()
    RunFolder(run).save(report, dict.fromkeys(make_pictures(report), content))
    line("show", run, "--html", run.parent / "page.html")
    assert "data:image" not in (run.parent / "page.html").read_text()


def test_a_picture_that_ends_early_is_told_where_it_is_decoded() -> None:
    with pytest.raises(BadDataError, match="cannot be read"):
        stored_picture(drawn("PNG")[:48])


def test_a_sentence_does_not_unfold_without_end() -> None:
    """A million places for a name of a million letters."""
    report = make_report(1)
    [feature] = report.features
    named = feature.model_copy(update={"name": "x" * 10**6})
    score = report.scores[0].model_copy(update={"statement": "{feature} " * 10**6})
    forged = report.model_copy(update={"features": (named,), "scores": (score,)})
    assert len(forged.sentence(score) or "") < 10**7 + 10**5
    # in each row of a table, too
    assert len(forged.names[feature.key]) < 1000
    assert report.names == {feature.key: feature.name}


@pytest.mark.timeout(60)
def test_many_findings_of_many_cues_are_read_in_a_moment() -> None:
    """To name one cue all were named: the square of their number."""
    report = make_report(1)
    [feature] = report.features
    keys = [f"cue-{number}" for number in range(30_000)]
    features = tuple(feature.model_copy(update={"key": key}) for key in keys)
    scores = tuple(
        report.scores[0].model_copy(update={"feature": key, "finding": True})
        for key in keys
    )
    about = dict.fromkeys(_about_features(), ())
    update = {**about, "features": features, "scores": scores}
    many = report.model_copy(update=update)
    assert len(many.statements) == len(keys)


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_our_own_pictures_are_shown(kind: str) -> None:
    assert stored_picture(drawn(kind)).convert("RGB").size == (8, 8)


TURNED = "a \x1b[31mcat\u202e\nnext: rm"


@pytest.mark.parametrize("name", ["$\\frac{$", TURNED, "$5 or $6"])
def test_a_figure_is_drawn_whatever_a_stranger_calls_a_cue(name: str) -> None:
    report = make_report(1)
    far = report.scores[0].model_copy(update={"value": 1.7e308, "high": 1.7e308})
    [feature] = report.features
    named = feature.model_copy(update={"name": name})
    forged = {"features": (named,), "scores": (far, *report.scores), "title": name}
    figure = draw(report.model_copy(update=forged), None, 20)
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_pages_and_cells_turn_no_direction_of_writing() -> None:
    report = make_report(1)
    [feature] = report.features
    named = feature.model_copy(update={"name": TURNED})
    report = report.model_copy(update={"features": (named,), "title": TURNED})
    for html in (fragment(report, {}), render(report, {}, "run")):
        assert r"\u202e" in html
        assert not {"\x1b", "\u202e"} & set(html)


def _about_features() -> list[str]:
    """The fields of a report whose items are each about one of its features."""
    names = []
    for name, field in Report.model_fields.items():
        kinds = [
            kind for kind in get_args(field.annotation) if hasattr(kind, "model_fields")
        ]
        about = [kind.model_fields.get("feature") for kind in kinds]
        if any(place is not None and place.is_required() for place in about):
            names.append(name)
    return names


@pytest.mark.parametrize("field", _about_features())
def test_what_is_about_no_feature_of_the_report_makes_it_none(field: str) -> None:
    """Commands look features up by their keys, far from where a report is read."""
    whole = make_report()
    portrait = Portrait(
        feature=whole.features[0].key, name="a", where="b", what="c", auroc=1.0
    )
    content = whole.model_copy(update={"portraits": (portrait,)}).model_dump()
    assert Report.model_validate(content).portraits
    content[field][0]["feature"] = "of no feature"
    with pytest.raises(ValidationError, match="'of no feature': no "):
        Report.model_validate(content)
