"""Logs of strangers: whatever stands in them, there is data or one line, and nothing is done."""

import json
import os
import pickle
import re
import socket
import subprocess
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from openpyxl.utils.exceptions import IllegalCharacterError
from parsed_here import parsed_here

from cuescope_sdk import Context, PluginError, Trial, UserError
from cuescope_sdk.logs import _archives, _files

from .written_logs import WRITERS, inspect_header, items, write_inspect, zstd_archive

WRITTEN = items(3)
NESTED: Any = []
for _ in range(500):
    NESTED = [NESTED]
EVIL: tuple[Any, ...] = (
    float("nan"),
    float("inf"),
    -(10**400),
    "\x1b]0;owned\x07\x1b[2J",
    "\ud83d",
    "../../../../etc/passwd",
    "http://127.0.0.1:9/picture.png",
    "data:image/png;base64,QUJD",
    '=HYPERLINK("http://127.0.0.1:9")',
    "__import__('os').system('false')",
    "!!python/object/apply:os.system ['false']",
    "attachment://0",
    None,
    True,
    -1,
    "",
    {"a": {"b": 1}},
    [],
    NESTED,
    "x" * 100_000,
)
STEP = 7  # the next place has another evil value, so that a format sees all of them
CONTEXT = Context()  # shared: each reads the list of plugins anew


@pytest.fixture(autouse=True)
def _nothing_leaves(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What would run or fetch something ends the test."""

    def refuse(*words: Any, **more: Any) -> None:
        raise AssertionError(f"a log reached the outside: {words!r:.200}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr(os, "system", refuse)
    monkeypatch.setattr(pickle, "loads", refuse)
    monkeypatch.setattr(pickle, "load", refuse)
    with parsed_here():
        yield


def look(path: Path) -> str | None:
    """Open a log, as data and as model, and ask it all; the line that refuses it, if any."""
    before = sorted(path.parent.rglob("*"))
    try:
        data = CONTEXT.build("dataset", f"log:{path}")
        model = CONTEXT.for_dataset(data).build("model", f"log:{path}")
        for index in range(len(data)):
            sample = data[index]
            output = "logits" if "logits" in model.capabilities.outputs else "text"
            model.respond([Trial(sample=sample, outputs=frozenset({output}))])
            assert json.dumps(dict(sample.annotations), allow_nan=False)
    except UserError as error:
        line = str(error)
        # it stands for any other error that left a reader
        if isinstance(error, PluginError):
            raise
        assert "\n" not in line
        assert "\x1b" not in line
        assert len(line) < 1000
        return line
    finally:
        assert sorted(path.parent.rglob("*")) == before
    return None


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place of a tree, of a list those of its first entry."""
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*path, key))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*path, 0))


def changed(value: Any, path: Sequence[Any], evil: Any) -> Any:
    """The tree with another value at a place."""
    if not path:
        return evil
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(value[path[0]], path[1:], evil)
    return copy


def variants(value: Any, most: int) -> Iterator[Any]:
    """The tree with evil values at each place, one at a time; others at the next place."""
    for number, path in enumerate(places(value)):
        for step in range(most):
            yield changed(value, path, EVIL[(number * STEP + step) % len(EVIL)])


def rewritten(path: Path) -> tuple[Any, Callable[[Any], None]]:
    """What a file of a format holds, and how another tree is written in its place."""
    if path.is_dir():
        return rewritten(path / "scenario_state.json")
    if path.suffix == ".json":
        return json.loads(path.read_text()), lambda tree: _text(path, json.dumps(tree))
    if path.suffix == ".jsonl":
        first, *others = path.read_text().splitlines()
        return json.loads(first), lambda tree: _text(
            path, "\n".join([json.dumps(tree), *others])
        )
    if path.suffix == ".eval":
        return _rewritten_archive(path)
    if path.suffix == ".parquet":
        rows = pq.read_table(path).to_pylist()
        return rows[0], lambda tree: pq.write_table(
            pa.Table.from_pylist([tree, *rows[1:]]), path
        )
    if path.suffix == ".xlsx":
        sheet = openpyxl.load_workbook(path).active
        header, first = islice(sheet.iter_rows(values_only=True), 2)
        return dict(zip(header, first, strict=True)), lambda tree: _workbook(path, tree)
    mark = "\t" if path.suffix == ".tsv" else ","
    header, *others = path.read_text().splitlines()
    cells = dict.fromkeys(header.split(mark), "x")
    return cells, lambda tree: _text(
        path, "\n".join([header, mark.join(map(str, tree.values())), *others])
    )


def _text(path: Path, text: str) -> None:
    path.write_bytes(text.encode(errors="surrogatepass"))


def _rewritten_archive(path: Path) -> tuple[Any, Callable[[Any], None]]:
    sample = f"samples/{WRITTEN[0].key}_epoch_1.json"
    shell = sample.replace(".json", "/sample.json")
    if "chunked" not in path.name:
        with zipfile.ZipFile(path) as archive:
            tree = json.loads(archive.read(sample))
    else:
        tree = {
            "id": 1,
            "epoch": 1,
            "message_refs": [[0, 1]],
            "input": "attachment://0",
        }
    name = shell if "chunked" in path.name else sample

    def write(changed_tree: Any) -> None:
        with zstd_archive(path) as add:
            add("header.json", inspect_header(WRITTEN))
            add(name, changed_tree)

    return tree, write


def _workbook(path: Path, tree: dict[str, Any]) -> None:
    book = openpyxl.Workbook()
    assert book.active is not None
    book.active.append(list(tree))
    book.active.append(list(tree.values()))
    book.save(path)


def check_format(name: str, folder: Path, most: int) -> int:
    """Show a format with each of its places spoilt; how many were looked at."""
    path = WRITERS[name](folder, WRITTEN)
    tree, write = rewritten(path)
    count = 0
    for spoilt in variants(tree, most):
        try:
            write(spoilt)
        # no file of this format can hold it
        except (
            pa.ArrowException,
            IllegalCharacterError,
            OverflowError,
            ValueError,
            TypeError,
            AttributeError,
            KeyError,
        ):
            continue
        # a new name: what was read is kept by name, size and time
        os.utime(path, ns=(count, count))
        look(path)
        count += 1
    return count


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", WRITERS)
def test_every_place_of_a_log_may_hold_anything(name: str, tmp_path: Path) -> None:
    assert check_format(name, tmp_path, 1) > 3


@pytest.mark.long
@pytest.mark.parametrize("name", WRITERS)
def test_every_place_of_a_log_may_hold_all_of_it(name: str, tmp_path: Path) -> None:
    assert check_format(name, tmp_path, len(EVIL)) > 50


@pytest.mark.parametrize("kind", [pa.date32(), pa.timestamp("us"), pa.duration("s")])
def test_a_date_that_no_calendar_has(kind: pa.DataType, tmp_path: Path) -> None:
    far = pa.array([2**31 - 1 if kind == pa.date32() else 2**62], kind)
    pq.write_table(pa.table({"doc": far}), tmp_path / "t.parquet")
    with pytest.raises(UserError, match=r"t\.parquet is no Parquet file"):
        list(_files.LogFile(tmp_path / "t.parquet").parquet_rows())


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", WRITERS)
def test_damaged_files_are_one_line(name: str, tmp_path: Path) -> None:
    path = WRITERS[name](tmp_path, WRITTEN)
    file = path / "scenario_state.json" if path.is_dir() else path
    content = file.read_bytes()
    spoilt = {
        "empty": b"",
        "cut": content[: len(content) * 2 // 3],
        "bytes": bytes(range(128, 256)) * 20,
        "begins well": content[:8] + b"\0" * 500,
        "utf-16": content.decode("latin-1").encode("utf-16"),
        "brackets": b"[" * 200_000,
    }
    for kind, damaged in spoilt.items():
        file.write_bytes(damaged)
        line = look(path)
        # UTF-16 with its mark is text that spreadsheets write, and a cut table has fewer rows
        is_text = kind == "utf-16" or (
            kind == "cut" and file.suffix in (".csv", ".tsv")
        )
        assert line or is_text, kind


# what holds for each format, whatever its reader is


def test_each_reader_is_shown_all_of_this() -> None:
    readers = {entry.name for entry in CONTEXT.registry.of_kind("log")}
    assert {name.replace(",", " ").split()[0] for name in WRITERS} == readers


@pytest.mark.parametrize("name", WRITERS)
def test_two_answers_to_one_question_are_one_line(name: str, tmp_path: Path) -> None:
    first = WRITTEN[0]
    other = replace(first, answer=(first.answer + 1) % 4)
    with warnings.catch_warnings():
        # a member of an archive that stands there twice
        warnings.simplefilter("ignore")
        path = WRITERS[name](tmp_path, [*WRITTEN, other])
        if name in ("next-qa", "mmmu"):  # Python cannot write an object's name twice
            (tmp_path / "other").mkdir()
            second = WRITERS[name](tmp_path / "other", [other]).read_text()
            begun = WRITERS[name](tmp_path, WRITTEN).read_text().rstrip()[:-1]
            path.write_text(f"{begun},{second.lstrip()[1:]}")
    line = look(path) or ""
    assert "two answers" in line or "two members" in line or "twice" in line


LIMITS = {
    _files: ("MOST_LINE", "MOST_DOCUMENT", "MOST_ROWS"),
    _archives: ("MOST_MEMBER",),
}


@pytest.mark.parametrize(
    "name",
    [n for n in WRITERS if n not in ("table", "vlmevalkit tsv", "vlmevalkit xlsx")],
)
def test_each_reader_stops_at_a_limit(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Limits are lowered, in the place of files that are made large."""
    path = WRITERS[name](tmp_path, WRITTEN)
    for module, limits in LIMITS.items():
        for limit in limits:
            monkeypatch.setattr(module, limit, 2)
    assert "at most" in (look(path) or "")


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", WRITERS)
def test_a_line_of_many_megabytes_is_one_line(name: str, tmp_path: Path) -> None:
    path = WRITERS[name](tmp_path, WRITTEN)
    file = path / "scenario_state.json" if path.is_dir() else path
    # a hole in the file: it takes no room on the disk, and is read as NULs
    os.truncate(file, 100_000_000)
    assert look(path)


def test_rows_without_end_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = WRITERS["lighteval"](tmp_path, WRITTEN)
    monkeypatch.setattr(_files, "MOST_ROWS", 10)
    many = pa.concat_tables([pq.read_table(path)] * 40)
    pq.write_table(many, path, row_group_size=5)
    assert "at most 10 rows" in (look(path) or "")


@pytest.mark.timeout(60)
def test_a_workbook_with_a_gap_of_a_million_rows_ends(tmp_path: Path) -> None:
    """Its size is what it says: each row of the gap would have sixteen thousand cells."""
    path = WRITERS["vlmevalkit xlsx"](tmp_path, WRITTEN)
    plain = look(path)
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    (name,) = [name for name in files if name.startswith("xl/worksheets/sheet")]
    sheet = re.sub(
        rb'<dimension ref="[^"]*"', b'<dimension ref="A1:XFD1048576"', files[name]
    )
    gap = b'<row r="1048576"><c r="A1048576"/></row></sheetData>'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for each, content in (
            files | {name: sheet.replace(b"</sheetData>", gap)}
        ).items():
            archive.writestr(each, content)
    assert look(path) == plain


def test_bombs_are_refused_before_they_unfold(tmp_path: Path) -> None:
    path = tmp_path / "bomb.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(inspect_header(WRITTEN)))
        archive.writestr("samples/1_epoch_1.json", b" " * (_archives.MOST_MEMBER + 1))
    assert "It may be a bomb" in (look(path) or "")
    with zstd_archive(path) as add:
        add("header.json", inspect_header(WRITTEN))
        add("samples/1_epoch_1.json", " " * (_archives.MOST_MEMBER + 1))
    assert "It may be a bomb" in (look(path) or "")


def test_names_that_lead_out_write_nothing(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    path = write_inspect(inner, WRITTEN)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("../../out.json", "{}")
        archive.writestr("samples/../../out.json", "{}")
    assert look(path) is None
    assert sorted(tmp_path.rglob("*")) == [inner, path]


def test_a_long_line_is_one_line(tmp_path: Path) -> None:
    path = WRITERS["lmms-eval"](tmp_path, WRITTEN)
    with path.open("ab") as file:
        file.write(b'{"doc_id": 9, "input": "' + b"x" * _files.MOST_LINE)
    assert f"line 4: expected at most {_files.MOST_LINE:,} bytes" in (look(path) or "")


def test_a_pickle_is_never_opened(tmp_path: Path) -> None:
    for name in ("m_Made.pkl", "m_Made.tsv"):
        path = tmp_path / name
        path.write_bytes(b"\x80\x04cos\nsystem\n(S'false'\ntR.")
        assert "runs code as it is opened" in (look(path) or "")


def test_two_answers_that_differ_are_refused(tmp_path: Path) -> None:
    path = WRITERS["lmms-eval"](tmp_path, WRITTEN)
    lines = path.read_text().splitlines()
    # the harness appends: the same lines again are no second answer
    path.write_text("\n".join([*lines, lines[0]]))
    assert look(path) is None
    again = json.loads(lines[0]) | {"filtered_resps": ["perhaps"]}
    path.write_text("\n".join([*lines, json.dumps(again)]))
    assert "two answers to '0' that differ" in (look(path) or "")


def test_pictures_outside_of_the_log_are_not_shown(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    outside = tmp_path / "outside.png"
    outside.write_bytes(b"no picture of the log")
    (inner / "link.png").symlink_to(outside)
    path = inner / "mine.csv"
    names = ("../outside.png", str(outside), "link.png", "http://127.0.0.1:9/a.png")
    rows = [f"{number},yes,yes,{name}" for number, name in enumerate(names)]
    path.write_text("\n".join(["key,answer,prediction,image", *rows]))
    data = Context().build("dataset", f"log:{path}")
    assert [len(data[index].frames) for index in range(len(data))] == [0] * 4
    assert data.facts["pictures"].startswith("not in the log for 4 samples")


@pytest.mark.parametrize("name", ["helm", "lm-eval", "lmms-eval"])
def test_a_file_beside_a_log_is_no_link_out_of_its_folder(
    name: str, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    path = WRITERS[name](home, WRITTEN)
    others = set(path.iterdir() if path.is_dir() else home.iterdir()) - {path}
    assert others
    (tmp_path / "outside.json").write_text("{}")
    for file in others:
        content = file.read_bytes()
        file.unlink()
        file.symlink_to(tmp_path / "outside.json")
        assert "leads out of its folder" in (look(path) or "")
        file.unlink()
        file.write_bytes(content)
    # a link to nothing beside them is nobody's file
    (path.parent / "gone").symlink_to(tmp_path / "gone")
    assert look(path) is None
