"""Cache files of strangers: nothing in them is run, nothing hangs, only answers are taken."""

import json
import os
import random
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from cuescope.report import exported
from cuescope.report.exported import read_export
from cuescope_core.cache_recovery import read_records
from cuescope_core.digest import digest
from cuescope_core.errors import UserError
from cuescope_core.store import TABLE, ResponseCache, fits
from cuescope_core.types import Response

from ...conftest import Line
from .test_cli import AUDIT

pytestmark = pytest.mark.timeout(60)

ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r)"
SEAL = "'s' AS seal"
KEY = "a" * 8 + "-" + "0" * 32

# What makes the table `rows` of a file, in place of our own statement.
TABLES = {
    "an endless view": f"CREATE VIEW rows AS {ENDLESS} SELECT 'k' || n AS key, x'00' AS value, "
    f"{SEAL} FROM r",
    "an endless view without a row": f"CREATE VIEW rows AS {ENDLESS} SELECT 'k' AS key, x'00' AS "
    f"value, {SEAL} FROM r WHERE n < 0",
    "a view of a function": "CREATE VIEW rows AS SELECT 'k' AS key, randomblob(1000000000) AS "
    f"value, {SEAL}",
    "a virtual table": "CREATE VIRTUAL TABLE rows USING fts5(key, value, seal)",
    "a generated column": "CREATE TABLE rows (key TEXT PRIMARY KEY, seal TEXT, value BLOB "
    "GENERATED ALWAYS AS (zeroblob(1000000000)) VIRTUAL)",
    "a table of another kind": "CREATE TABLE rows (key TEXT PRIMARY KEY, value BLOB, seal TEXT) "
    "WITHOUT ROWID",
    "a column more": "CREATE TABLE rows (key TEXT PRIMARY KEY, value BLOB, seal TEXT, more TEXT)",
    "a trigger": f"{TABLE}; CREATE TRIGGER t AFTER INSERT ON rows BEGIN DELETE FROM rows; END",
    "a view beside it": f"{TABLE}; CREATE VIEW other AS SELECT 1",
    "an index of an expression": f"{TABLE}; CREATE INDEX i ON rows (abs(key))",
    "no table": "CREATE TABLE other (key TEXT)",
    "no table at all": "",
}

# A row is (key, value), sealed as ours are: none of these may be taken.
NO_ANSWERS: dict[str, tuple[object, object]] = {
    "a value of no form": (KEY, b"no form"),
    "a text that is a number": (KEY, b"[1, null, null, null]\n"),
    "three cells": (KEY, b"[null, null, null]\n"),
    "an object": (KEY, b"{}\n"),
    "an array of objects": (KEY, b'[null, ["|O", [1]], null, null]\n' + bytes(8)),
    "an array of words": (KEY, b'[null, ["<U9", [1]], null, null]\n' + bytes(36)),
    "a shape of floats": (KEY, b'[null, ["<f4", [1.0]], null, null]\n' + bytes(4)),
    "a shape below zero": (KEY, b'[null, ["<f4", [-1]], null, null]\n' + bytes(4)),
    "a shape without end": (
        KEY,
        b'[null, ["<f4", [' + b"9" * 4000 + b"]], null, null]\n" + bytes(4),
    ),
    "too few numbers": (KEY, b'[null, ["<f4", [9]], null, null]\n' + bytes(4)),
    "two dimensions of logits": (
        KEY,
        b'[null, ["<f4", [1, 1]], null, null]\n' + bytes(4),
    ),
    "a number that is none": (
        KEY,
        b'[null, ["<f4", [1]], null, null]\n\x00\x00\xc0\x7f',
    ),
    "nested deeply": (KEY, b"[" * 100_000 + b"\n"),
    "a long number": (KEY, b"[" + b"1" * 10_000 + b", null, null, null]\n"),
    "a key with a blank": ("a b", b'["yes", null, null, null]\n'),
    "a key that a terminal obeys": ("\x1b[2J", b'["yes", null, null, null]\n'),
    "a key without end": ("k" * 10_000, b'["yes", null, null, null]\n'),
    "a key that is a number": (7, b'["yes", null, null, null]\n'),
    "a value that is a text": (KEY, '["yes", null, null, null]\n'),
    "a value that is a number": (KEY, 7),
    "no value": (KEY, None),
    "a model without a day": ("model aaaaaaaa", b'["name"]'),
    "a model of a day that never comes": ("model aaaaaaaa", b'["name", 1e300]'),
    "a model of a day before all": ("model aaaaaaaa", b'["name", -1]'),
    "a model of no day": ("model aaaaaaaa", b'["name", NaN]'),
    "a model without a name": ("model aaaaaaaa", b"[1, 1]"),
    "a pace that is none": ("pace aaaaaaaa", b'["1", 1]'),
    "a pace below zero": ("pace aaaaaaaa", b"[1, -1]"),
}


def seal_of(key: object, value: object) -> str:
    try:
        return digest("cuescope row", key, value)
    except TypeError:
        return "s"


def write_rows(
    file: Path, rows: list[tuple[object, object]], table: str = TABLE
) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.executescript(table)
        sealed = [(key, value, seal_of(key, value)) for key, value in rows]
        connection.executemany("INSERT OR REPLACE INTO rows VALUES (?, ?, ?)", sealed)


def write_answers(file: Path, count: int) -> None:
    cache = ResponseCache(file)
    cache.put(
        {f"aaaaaaaa-{n:032x}": Response(text=f"yes {n}" * 20) for n in range(count)}
    )
    cache.close()


@pytest.mark.parametrize("kind", TABLES)
def test_only_a_table_of_ours_is_read(line: Line, tmp_path: Path, kind: str) -> None:
    with closing(sqlite3.connect(tmp_path / "x.sqlite")) as connection:
        connection.executescript(TABLES[kind])
    said = line("cache", "import", "x.sqlite", code=2)
    assert (
        "x.sqlite has no answers to import: expected a file of `cuescope cache export`"
        in said
    )


@pytest.mark.parametrize(
    "words",
    [
        f"CREATE TRIGGER t AFTER INSERT ON rows BEGIN INSERT INTO rows {ENDLESS} SELECT "
        "'k' || n, x'00', 's' FROM r; END",
        "CREATE TRIGGER t AFTER INSERT ON rows BEGIN DELETE FROM rows; END",
        "CREATE VIEW v AS SELECT 1",
        "CREATE INDEX i ON rows (abs(key))",
    ],
    ids=["an endless trigger", "one that deletes", "a view", "an index"],
)
@pytest.mark.filterwarnings("ignore")
def test_a_cache_of_a_stranger_runs_nothing(tmp_path: Path, words: str) -> None:
    """Used as one's own: the file is made again, with the answers that it has."""
    file = tmp_path / "x.sqlite"
    write_answers(file, 3)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(words)
    cache = ResponseCache(file)
    cache.put({KEY: Response(text="no")})
    keys = [KEY, *(f"aaaaaaaa-{n:032x}" for n in range(1, 3))]
    assert set(cache.get(keys)) == set(keys)
    cache.close()


@pytest.mark.parametrize("kind", NO_ANSWERS)
def test_a_sealed_row_that_is_no_answer_breaks_no_audit(
    tmp_path: Path, kind: str
) -> None:
    file = tmp_path / "x.sqlite"
    write_rows(file, [NO_ANSWERS[kind]])
    cache = ResponseCache(file)
    assert set(cache.get([KEY])) <= {KEY}
    cache.close()


def test_sound_rows_of_each_kind_are_taken(tmp_path: Path) -> None:
    rows = [
        (KEY, b'[null, ["<f4", [1]], ["<f4", [2]], ["<i8", [1, 1]]]\n' + bytes(20)),
        ("model aaaaaaaa", json.dumps(["name", time.time()]).encode()),
        ("pace aaaaaaaa", b"[1, 0.5]"),
    ]
    write_rows(tmp_path / "x.sqlite", list(rows))
    assert sorted(read_export(tmp_path / "x.sqlite")) == sorted(rows)


@pytest.mark.parametrize(
    "value",
    [
        b'"x"',
        b"null",
        b'["a", "b"]',
        b"[1]",
        b"[null, null]",
        b"[NaN, NaN]",
        b"[-5, -5]",
        b"[1" + b"0" * 400 + b", 1]",
        b"[" * 100_000,
        b"\xff",
    ],
)
def test_a_row_that_is_no_pace_tells_no_time(value: bytes) -> None:
    cache = ResponseCache(None)
    cache.write({"pace m inputs": value})
    assert cache.pace("m") is None
    cache.add_pace("m", 2, 1.0)
    assert cache.pace("m") == 0.5
    cache.close()


@pytest.mark.parametrize("kind", [kind for kind in NO_ANSWERS if "model" in kind])
def test_models_without_a_name_are_listed_all_the_same(
    line: Line, tmp_path: Path, kind: str
) -> None:
    file = tmp_path / "cache" / "responses.sqlite"
    write_answers(file, 3)
    cache = ResponseCache(file)
    key, value = NO_ANSWERS[kind]
    assert isinstance(value, bytes)
    cache.write({str(key): value})
    cache.close()
    kept = json.loads(line("cache", "--json"))["models"]
    assert [model["answers"] for model in kept] == [3]


def test_a_value_that_fills_the_memory_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "x.sqlite"
    write_rows(file, [])
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("INSERT INTO rows VALUES ('k', zeroblob(200000000), 's')")
    assert list(read_export(file)) == []
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(
            "INSERT INTO rows SELECT hex(zeroblob(100000000)), x'00', 's'"
        )
    with pytest.raises(UserError, match="too big"):
        list(read_export(file))


def test_pages_that_lead_in_circles_end(tmp_path: Path) -> None:
    """Every page of the tree names the first one below it again and again."""
    file = tmp_path / "x.sqlite"
    write_answers(file, 4000)
    content = bytearray(file.read_bytes())
    size = int.from_bytes(content[16:18], "big")
    leaf = 0
    for start in range(0, len(content), size):
        head = start + (100 if start == 0 else 0)
        if content[head] == 0x0D:
            leaf = leaf or start // size + 1
    for start in range(size, len(content), size):
        if content[start] != 0x05:
            continue
        content[start + 8 : start + 12] = leaf.to_bytes(4, "big")
        for number in range(int.from_bytes(content[start + 3 : start + 5], "big")):
            place = start + 12 + 2 * number
            cell = start + int.from_bytes(content[place : place + 2], "big")
            content[cell : cell + 4] = leaf.to_bytes(4, "big")
    file.write_bytes(content)
    assert leaf
    exhausted(file)


def exhausted(file: Path) -> int:
    """How many rows come, 0 where the file is refused."""
    try:
        return len(list(read_export(file)))
    except UserError:
        return 0


@pytest.mark.parametrize("seed", range(4))
def test_any_damage_ends_in_rows_or_one_line(tmp_path: Path, seed: int) -> None:
    whole = tmp_path / "whole.sqlite"
    write_answers(whole, 200)
    content = whole.read_bytes()
    rng = random.Random(seed)
    for turn in range(60):
        damaged = bytearray(content)
        for _ in range(rng.choice((1, 3, 30, 1000))):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        if turn % 5 == 0:
            damaged = damaged[: rng.randrange(len(damaged))]
        file = tmp_path / f"{turn}.sqlite"
        file.write_bytes(damaged)
        count = exhausted(file)
        assert 0 <= count <= 200


def test_a_file_that_gives_no_row_for_long_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "x.sqlite"
    write_rows(file, [(f"k{n}", 7) for n in range(300_000)])
    monkeypatch.setattr(exported, "PATIENCE_SECONDS", 0.0)
    with pytest.raises(UserError, match="no answer within 0 seconds"):
        list(read_export(file))


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
def test_a_merge_waits_for_no_pipe_and_takes_the_rest(
    line: Line, tmp_path: Path, suffix: str
) -> None:
    other = tmp_path / "other"
    write_answers(other / "responses.sqlite", 5)
    (other / "a").mkdir()
    if suffix:
        shutil.copy(other / "responses.sqlite", other / "a" / "x.sqlite")
    os.mkfifo(other / "a" / f"x.sqlite{suffix}")
    said = line("cache", "merge", "other", code=2)
    assert f"x.sqlite{suffix} cannot be read: expected a file, got none" in said
    kept = json.loads(line("cache", "--json"))["models"]
    assert [model["answers"] for model in kept] == [5]
    os.mkfifo(tmp_path / "cache" / "pipe.sqlite")
    for command in ("vacuum", "repair"):
        line("cache", command)


def test_overflow_pages_that_lead_in_circles_end(tmp_path: Path) -> None:
    """A chain is followed no longer than the file is, and what came of it fits no seal."""
    file = tmp_path / "x.sqlite"
    write_rows(file, [(KEY, os.urandom(100_000))])
    content = bytearray(file.read_bytes())
    size = int.from_bytes(content[16:18], "big")
    for start in range(size, len(content), size):
        if content[start] not in (0x02, 0x05, 0x0A, 0x0D):
            content[start : start + 4] = (start // size + 1).to_bytes(4, "big")
    file.write_bytes(content)
    assert not any(map(fits, read_records(file)))


def photos(file: Path) -> Path:
    """A database of the user, which is none of ours."""
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.executescript(
            "CREATE TABLE photos (name); INSERT INTO photos VALUES (1)"
        )
    return file


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
def test_a_cache_file_is_no_link_to_a_database_of_the_user(
    tmp_path: Path, suffix: str
) -> None:
    mine = photos(tmp_path / "photos.sqlite")
    before = mine.read_bytes()
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / f"x.sqlite{suffix}").symlink_to(mine)
    with pytest.raises(UserError, match=r"leads out of .*CUESCOPE_CACHE"):
        ResponseCache(tmp_path / "theirs" / "x.sqlite")
    assert mine.read_bytes() == before


@pytest.mark.parametrize("link", ["media", "toy-clip/aaaa", "media/probes.sqlite"])
def test_a_cache_folder_of_a_stranger_leads_nowhere_else(
    line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, link: str
) -> None:
    (tmp_path / "outside").mkdir()
    place = tmp_path / "theirs" / link
    place.parent.mkdir(parents=True)
    place.symlink_to(tmp_path / "outside")
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "theirs"))
    said = line(*AUDIT, code=2)
    assert f"{place} leads out of" in said
    assert "set CUESCOPE_CACHE to another folder" in said
    assert not list((tmp_path / "outside").iterdir())


def test_a_cache_folder_may_itself_be_behind_a_link(
    line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "drive").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "drive")
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "linked"))
    line(*AUDIT)
    assert (tmp_path / "drive" / "responses.sqlite").is_file()
