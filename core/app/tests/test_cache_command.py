"""`cuescope cache`: what is kept, of which models, and how it is deleted, exported, taken over."""

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from cuescope_core.conclusions import Report
from cuescope_core.store import ResponseCache
from cuescope_core.types import Response

from ...conftest import Line

AUDIT = ("audit", "red", "--data", "clips", "--model")


def kept(line: Line) -> dict[str, int]:
    """Answers by model, as `cache --json` has them."""
    facts: dict[str, Any] = json.loads(line("cache", "--json"))
    assert set(facts) == {"schema_version", "folder", "files", "models"}
    return {model["name"]: model["answers"] for model in facts["models"]}


def asked(line: Line, model: str) -> int:
    """How many answers an audit of this model still needs."""
    return Report.model_validate_json(line(*AUDIT, model, "--json")).cost.model_calls


def test_answers_are_counted_by_model_and_pruned(line: Line) -> None:
    assert kept(line) == {}
    assert [asked(line, model) for model in ("colour:a", "colour:b")] == [40, 40]
    assert kept(line) == {"colour:a": 40, "colour:b": 40}
    said = line("cache")
    assert "CUESCOPE_CACHE" in said
    assert time.strftime("%Y-%m-%d") in said
    assert "nothing was deleted" in line(
        "cache", "prune", "--model", "colour:a", "--dry-run"
    )
    assert "colour:a: 40 answers" in line("cache", "prune", "--model", "colour:a")
    assert kept(line) == {"colour:b": 40}
    assert [asked(line, model) for model in ("colour:b", "colour:a")] == [0, 40]


def test_pruning_by_age_takes_what_no_audit_has_used(
    line: Line, tmp_path: Path
) -> None:
    asked(line, "colour:a")
    assert "nothing was deleted" in line("cache", "prune", "--older-than", "1")
    with pytest.MonkeyPatch.context() as patch:
        later = time.time() + 40 * 86400
        patch.setattr(time, "time", lambda: later)
        asked(line, "colour:b")
        assert "colour:a: 40 answers" in line("cache", "prune", "--older-than", "30")
    assert kept(line) == {"colour:b": 40}


def test_what_is_exported_can_be_taken_over(line: Line, tmp_path: Path) -> None:
    for model in ("colour:a", "colour:b"):
        asked(line, model)
    assert "40 answers of 1 models" in line(
        "cache", "export", "x.sqlite", "--model", "colour:a"
    )
    line("cache", "prune", "--older-than", "0")
    assert kept(line) == {}
    # a row without its seal, and one whose value is no answer, are not taken
    with closing(sqlite3.connect(tmp_path / "x.sqlite")) as file, file:
        file.execute("INSERT INTO rows VALUES ('k', x'00', 'no seal')")
    assert "took 41 rows" in line("cache", "import", "x.sqlite")
    assert kept(line) == {"colour:a": 40}
    assert asked(line, "colour:a") == 0


def test_two_caches_are_one_after_a_merge(line: Line, tmp_path: Path) -> None:
    for folder, models in (
        ("other", ("colour:a", "colour:b")),
        ("cache", ("colour:b",)),
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CUESCOPE_CACHE", str(tmp_path / folder))
            for model in models:
                asked(line, model)
    said = line("cache", "merge", "other")
    assert "responses.sqlite: took 41 (41 were here)" in said
    assert kept(line) == {"colour:a": 40, "colour:b": 40}
    assert asked(line, "colour:a") == 0
    line("cache", "prune", "--model", "colour:a")
    assert "responses.sqlite: " in line("cache", "vacuum")
    assert kept(line) == {"colour:b": 40}


def test_an_audit_may_write_meanwhile(line: Line, tmp_path: Path) -> None:
    """Pruned, shrunk, exported and merged while another connection stores batch after batch."""
    asked(line, "colour:a")
    cache = ResponseCache(tmp_path / "cache" / "responses.sqlite")
    done, stored = Event(), 0

    def store() -> None:
        nonlocal stored
        while not done.is_set() or not stored:
            cache.put(
                {
                    f"{0:08x}-{8 * stored + n:032x}": Response(text="yes" * 99)
                    for n in range(8)
                }
            )
            stored += 1

    thread = Thread(target=store)
    thread.start()
    try:
        line("cache", "export", "copy/responses.sqlite", "--model", "colour:a")
        line("cache", "prune", "--model", "colour:a")
        line("cache", "vacuum")
        line("cache", "merge", "copy")
    finally:
        done.set()
        thread.join()
    cache.close()
    assert kept(line) == {"colour:a": 40, "unknown": 8 * stored}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("merge", "nowhere"), "no cache in nowhere"),
        (("merge", "cache"), "cache is the cache itself"),
        (("merge", "damaged"), "responses.sqlite has no answers to import"),
        (("prune",), "expected --model NAME, --older-than DAYS or both"),
        (("prune", "--older-than", "soon"), "soon"),
        (("prune", "--model", "colour:c"), "Did you mean 'colour:a'?"),
        (("export", "file.txt"), "file.txt exists"),
        (("export",), "Missing argument 'FILE'"),
        (("import", "nowhere"), "no file nowhere"),
        (("import", "file.txt"), "file.txt has no answers to import"),
        (("prun",), "Did you mean 'prune'?"),
    ],
)
def test_a_mistake_is_one_line(
    line: Line, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    asked(line, "colour:a")
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "responses.sqlite").write_text("no table " * 999)
    (tmp_path / "file.txt").write_text(
        "plain words, and enough of them for a header of SQLite" * 9
    )
    assert said in line("cache", *words, code=2)
    assert kept(line) == {"colour:a": 40}
