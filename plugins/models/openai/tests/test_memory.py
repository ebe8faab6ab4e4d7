"""The file of paid answers: damaged, of an older table, shared by threads."""

import os
import sqlite3
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from cuescope_openai.answers import LONGEST_NAME, Answer
from cuescope_openai.memory import Memory
from cuescope_sdk import digest

TRIES = 500 if os.environ.get("CUESCOPE_FAULTS") else 40
PLACE = ("https://a/v1", "m")
ANSWERS = {
    digest(number): Answer(
        text=f"answer {number} "
        * (1 + 30 * (number % 40)),  # some are longer than a page
        first=(("Yes", -number / 100), ("No", -2.0)),
        system_fingerprint=f"fp_{number % 3}",
        prompt_tokens=number,
    )
    for number in range(200)
}
OLD = (
    "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, server TEXT, model TEXT, "
    "build TEXT, answer TEXT) WITHOUT ROWID"
)


@contextmanager
def memory(path: Path) -> Iterator[Memory]:
    """The file, closed afterwards; what it warns of is no matter here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with closing(Memory(path)) as opened:
            yield opened


def damage(content: bytes, number: int, rng: np.random.Generator) -> bytes:
    """A bit flipped, every second time in the first pages; or the end cut off."""
    data = bytearray(content)
    if number % 5 == 4:
        del data[int(rng.integers(len(data))) :]
    else:
        last = len(data) if number % 2 else 3 * 8192
        data[int(rng.integers(last))] ^= 1 << int(rng.integers(8))
    return bytes(data)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "openai" / "answers.sqlite"


@pytest.fixture
def filled(path: Path) -> bytes:
    """The content of a file with all answers."""
    with closing(Memory(path)) as opened:
        for key, answer in ANSWERS.items():
            opened.put(key, *PLACE, answer)
    return path.read_bytes()


@pytest.fixture
def old(path: Path) -> Path:
    """A file of the table that had no seals."""
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(OLD)
        rows = [
            (key, *PLACE, answer.system_fingerprint, answer.model_dump_json())
            for key, answer in ANSWERS.items()
        ]
        connection.executemany("INSERT INTO answers VALUES (?, ?, ?, ?, ?)", rows)
    return path


def test_damage_gives_no_wrong_answer_and_stops_no_work(
    filled: bytes, tmp_path: Path
) -> None:
    rng, kept = np.random.default_rng(0), 0
    for number in range(TRIES):
        copy = tmp_path / str(number) / "answers.sqlite"
        copy.parent.mkdir()
        copy.write_bytes(damage(filled, number, rng))
        with memory(copy) as opened:
            answers = opened.get(ANSWERS)
            assert answers == {key: ANSWERS[key] for key in answers}, number
            assert set(opened.builds(*PLACE)) <= {"fp_0", "fp_1", "fp_2"}, number
            new = Answer(text="new")
            opened.put("new", *PLACE, new)
            assert opened.get(["new"]) == {"new": new}, number
        kept += len(answers)
        if number % 5 != 4:  # a bit costs the rows of a page at most
            assert len(answers) >= 0.9 * len(ANSWERS), number
    assert kept > 0.85 * TRIES * len(ANSWERS)


def test_what_is_readable_is_kept_after_a_repair(filled: bytes, path: Path) -> None:
    content = bytearray(filled)
    content[len(content) // 2 // 8192 * 8192] ^= 0xFF  # a page of another kind
    path.write_bytes(content)
    with memory(path) as opened:
        before = opened.get(ANSWERS)
        opened.repair()
        after = opened.get(ANSWERS)
    assert before.keys() <= after.keys()
    assert len(after) >= 0.9 * len(ANSWERS)
    assert after == {key: ANSWERS[key] for key in after}


def test_a_row_that_is_changed_with_sqlite_is_not_there(
    filled: bytes, path: Path
) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        query = (
            "UPDATE rows SET value = replace(CAST(value AS TEXT), 'answer', 'ANSWER')"
        )
        connection.execute(query)
    with memory(path) as opened:
        assert opened.get(ANSWERS) == {}


def test_answers_of_the_table_without_seals_are_taken_over(old: Path) -> None:
    with closing(sqlite3.connect(old)) as connection, connection:
        (victim,) = list(ANSWERS)[:1]
        connection.execute(
            "UPDATE answers SET answer = 'no JSON' WHERE key = ?", (victim,)
        )
        connection.execute("INSERT INTO answers VALUES ('ff', NULL, NULL, NULL, NULL)")
    for _ in range(2):
        with closing(Memory(old)) as opened:
            assert opened.get(ANSWERS) == {
                k: a for k, a in ANSWERS.items() if k != victim
            }
            assert opened.builds(*PLACE) == ["fp_0", "fp_1", "fp_2"]
            assert opened.builds("https://b/v1", "m") == []


def test_a_damaged_table_without_seals_stops_no_work(old: Path, tmp_path: Path) -> None:
    content, rng, kept = old.read_bytes(), np.random.default_rng(1), 0
    for number in range(TRIES):
        copy = tmp_path / str(number) / "answers.sqlite"
        copy.parent.mkdir()
        copy.write_bytes(damage(content, number, rng))
        with memory(copy) as opened:
            kept += len(opened.get(ANSWERS))
            opened.put("new", *PLACE, Answer(text="new"))
            assert opened.get(["new"])
    assert kept > 0.7 * TRIES * len(ANSWERS)  # a file whose end is cut off gives none


def test_threads_share_one(path: Path) -> None:
    shared = Memory(path)

    def work(first: int) -> None:
        for key in list(ANSWERS)[first::8]:
            shared.put(key, *PLACE, ANSWERS[key])
            assert shared.get([key]) == {key: ANSWERS[key]}
            assert shared.builds(*PLACE)

    threads = [Thread(target=work, args=(first,)) for first in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shared.get(ANSWERS) == ANSWERS
    shared.close()


@pytest.mark.parametrize(
    "value",
    [
        b'{"text": "a", "first": [["a", 1e999]]}',
        b'{"text": "a", "first": [["a", NaN]]}',
        b'{"text": "a", "first": [["a", 5]]}',
        b'{"text": "a", "first": [["a", -1, 2]]}',
        b'{"text": ["a"]}',
        b'{"text": "\\ud800"}',
        b"[" * 100_000,
        b"\xff",
    ],
)
def test_a_kept_answer_that_no_server_gave_is_asked_for_again(
    path: Path, value: bytes
) -> None:
    """Its seal fits: whoever mails a cache can compute it."""
    with memory(path) as opened:
        opened.write({"key": value})
        assert opened.get(["key"]) == {}


def test_a_kept_build_is_named_in_short(path: Path) -> None:
    with memory(path) as opened:
        opened.put(
            "key", "server", "model", Answer(text="a", system_fingerprint="b" * 9_999)
        )
        assert opened.builds("server", "model") == ["b" * LONGEST_NAME]
