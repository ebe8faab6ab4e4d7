"""The response cache survives what happens to files; run folders are whole or not there."""

import io
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from PIL import Image

from cuescope.report.pictures import PICTURE_SIDE, draw_occurrence, report_pictures
from cuescope_core.conclusions import Contrast, Exhibit, Feature, Occurrence, Side
from cuescope_core.errors import UserError
from cuescope_core.runs import RunFolder, illustrations, load_report, write_atomically
from cuescope_core.store import CHUNK, CacheFile, ResponseCache
from cuescope_core.types import Frame, Response, Sample

from .reports import make_pictures, make_report


def responses(count: int, start: int = 0) -> dict[str, Response]:
    """Answers whose digits tell which one they are."""
    return {
        f"{i:032x}": Response(
            logits=np.array([i, i / 3, -1e-30], np.float32),
            text=f"said {i}",
            embedding=np.random.default_rng(i).normal(size=512),
        )
        for i in range(start, start + count)
    }


def same(one: Response, other: Response) -> bool:
    assert one.logits is not None
    assert other.logits is not None
    return one.logits.tobytes() == other.logits.tobytes() and one.text == other.text


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "responses.sqlite"


def filled(path: Path, count: int = 1500) -> dict[str, Response]:
    """A cache file with answers, closed again."""
    cache, kept = ResponseCache(path), responses(count)
    cache.put(kept)
    cache.close()
    return kept


# ---------------------------------------------------------------------------------------- keeping


def test_what_is_kept_comes_back_bit_by_bit(path: Path) -> None:
    kept = filled(path, 2 * CHUNK + 7)
    cache = ResponseCache(path)
    found = cache.get([*kept, "unknown"])
    assert found.keys() == kept.keys()
    for key, response in kept.items():
        assert same(found[key], response)
        np.testing.assert_array_equal(found[key].embedding, response.embedding)
    cache.close()


def test_outputs_that_were_not_given_stay_missing(path: Path) -> None:
    cache = ResponseCache(path)
    cache.put({"a": Response(text=""), "b": Response(logits=np.zeros(0))})
    found = cache.get(["a", "b"])
    assert (found["a"].text, found["a"].logits, found["a"].embedding) == (
        "",
        None,
        None,
    )
    assert found["b"].text is None
    assert found["b"].logits is not None
    assert found["b"].logits.shape == (0,)
    cache.close()


def test_without_a_path_nothing_is_kept() -> None:
    one, other = ResponseCache(None), ResponseCache(None)
    one.put(responses(1))
    assert len(one.get(responses(1))) == 1
    assert not other.get(responses(1))
    one.close()
    other.close()


def test_pace_is_the_mean_over_all_calls(path: Path) -> None:
    cache = ResponseCache(path)
    assert cache.pace("model") is None
    cache.add_pace("model", 10, 1.0)
    cache.add_pace("model", 30, 1.0)
    cache.add_pace("other", 1, 5.0)
    assert cache.pace("model") == pytest.approx(0.05)
    cache.close()


# --------------------------------------------------------------------------------------- damage


def opened(
    path: Path, act: Callable[[ResponseCache], Any]
) -> tuple[ResponseCache, Any]:
    """Damage may show on opening, or only when the damaged part is read."""
    cache = ResponseCache(path)
    return cache, act(cache)


def garbage(path: Path) -> None:
    path.write_bytes(b"this is no database " * 1000)


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def scribbled(path: Path) -> None:
    data = bytearray(path.read_bytes())
    middle = len(data) // 2 // 8192 * 8192
    data[middle : middle + 8192 * 8] = np.random.default_rng(0).bytes(8192 * 8)
    path.write_bytes(data)


def zeroed(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096 : len(data) - 4096] = bytes(len(data) - 8192)
    path.write_bytes(data)


@pytest.mark.parametrize("damage", [garbage, truncated, scribbled, zeroed])
def test_a_corrupt_file_is_set_aside_and_work_goes_on(
    path: Path, damage: Callable[[Path], None]
) -> None:
    kept = filled(path)
    damage(path)
    damaged = path.read_bytes()
    with pytest.warns(
        UserWarning, match=r"was damaged \(.*kept as responses\.sqlite\.damaged-"
    ):
        cache, found = opened(path, lambda cache: cache.get(kept))
    assert all(same(found[key], kept[key]) for key in found)
    cache.put(responses(3))
    assert len(cache.get(responses(3))) == 3
    cache.close()
    (aside,) = path.parent.glob("*.damaged-*[0-9]")
    assert aside.read_bytes()[8192:] == damaged[8192:]
    again = ResponseCache(path)
    assert again.get(kept).keys() == found.keys() | responses(3).keys()
    again.close()


def test_damage_that_a_writer_meets_is_mended_too(path: Path) -> None:
    filled(path)
    zeroed(path)
    with pytest.warns(UserWarning, match="was damaged"):
        cache, _ = opened(path, lambda cache: cache.put(responses(5, start=700)))
    assert len(cache.get(responses(5, start=700))) == 5
    cache.close()


def test_a_damaged_answer_is_a_miss(path: Path) -> None:
    kept = filled(path, 4)
    keys = list(kept)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE rows SET value = x'00' WHERE key = ?", (keys[0],))
        connection.execute("UPDATE rows SET value = 'text' WHERE key = ?", (keys[1],))
        (value,) = connection.execute(
            "SELECT value FROM rows WHERE key = ?", (keys[2],)
        ).fetchone()
        query = "UPDATE rows SET value = ?, seal = ? WHERE key = ?"
        connection.execute(query, (value, f"{crc32(value):032x}", keys[2]))
    connection.close()
    cache = ResponseCache(path)
    assert cache.get(keys).keys() == set(keys[3:])
    cache.put(kept)
    assert cache.get(keys).keys() == set(keys)
    cache.close()


def test_a_folder_that_cannot_be_written_is_told_with_the_way_out(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UserError, match=r"cannot use the cache .* Set CUESCOPE_CACHE"):
        ResponseCache(tmp_path / "file" / "responses.sqlite")
    (tmp_path / "folder.sqlite").mkdir()
    with pytest.raises(UserError, match=r"cannot use the cache .*folder.sqlite"):
        ResponseCache(tmp_path / "folder.sqlite")


def test_trouble_that_is_no_damage_sets_nothing_aside(path: Path) -> None:
    kept = filled(path, 1)
    cache = ResponseCache(path)
    (pages,) = cache._connection.execute("PRAGMA page_count").fetchone()
    cache._connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(
        UserError, match=r"cannot use the cache .*full\. Free disk space"
    ):
        cache.put(responses(500))
    cache.close()
    assert not list(path.parent.glob("*damaged*"))
    again = ResponseCache(path)
    assert again.get(responses(500)).keys() == kept.keys()
    again.close()


def test_one_bad_page_costs_its_own_rows(path: Path) -> None:
    kept = filled(path)
    data = bytearray(path.read_bytes())
    data[8192 * 40 : 8192 * 41] = bytes(8192)
    path.write_bytes(data)
    cache = ResponseCache(path)
    with pytest.warns(UserWarning, match=r"1,497 of its rows"):
        answers, lost = cache.repair()
    assert answers > len(kept) - 300
    assert lost
    found = cache.get(kept)
    assert len(found) == answers
    assert all(same(found[key], kept[key]) for key in found)
    assert cache.repair() == (answers, 0)
    cache.close()


@pytest.mark.parametrize("version", [1, 7])
def test_a_file_of_a_newer_version_is_neither_read_nor_changed(
    path: Path, version: int
) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE rows (key TEXT, value BLOB, more TEXT)")
        connection.execute("INSERT INTO rows VALUES ('a', x'00', 'b')")
        connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    expected = r"a newer cuescope made" if version == 7 else "was damaged"
    with pytest.warns(UserWarning, match=expected):
        cache = ResponseCache(path)
    cache.put(responses(2))
    assert len(cache.get(responses(2))) == 2
    cache.close()


def notes_of_version_0(connection: sqlite3.Connection) -> Iterator[tuple[str, bytes]]:
    for key, note in connection.execute("SELECT name, note FROM notes"):
        yield key, note.encode()


class Notes(CacheFile):
    migrations = {0: notes_of_version_0}


def test_rows_of_an_older_table_are_taken_over(path: Path) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE notes (name TEXT PRIMARY KEY, note TEXT)")
        connection.execute("INSERT INTO notes VALUES ('a', 'one')")
    connection.close()
    for _ in range(2):
        notes = Notes(path)
        assert notes.read(["a", "b"]) == {"a": b"one"}
        notes.close()


def test_tables_of_before_the_first_release_are_begun_anew(path: Path) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE responses (key TEXT PRIMARY KEY, logits BLOB, crc INT)"
        )
    connection.close()
    cache = ResponseCache(path)
    cache.put(responses(2))
    assert len(cache.get(responses(2))) == 2
    cache.close()


def test_a_file_that_stays_locked_is_told_of_and_given_up(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(path, 1)
    monkeypatch.setattr("cuescope_core.store.TRY_SECONDS", 0.1)
    monkeypatch.setattr("cuescope_core.store.LOCK_SECONDS", 2.5)
    cache = ResponseCache(path)
    with sqlite3.connect(path) as other:
        other.execute("BEGIN EXCLUSIVE")
        with (
            pytest.warns(
                UserWarning, match=r"waiting for .*which another process holds"
            ),
            pytest.raises(UserError, match="no locks"),
        ):
            cache.put(responses(1))
    other.close()
    cache.close()


WRITER = """
import sys, time
from pathlib import Path
import numpy as np
from cuescope_core.store import ResponseCache
from cuescope_core.types import Response

path, start = Path(sys.argv[1]), int(sys.argv[2])
while time.time() < float(sys.argv[3]):
    pass
cache = ResponseCache(path)
for batch in range(40):
    keys = [f"{start + 5 * batch + i:032x}" for i in range(5)]
    cache.put({key: Response(logits=np.full(2, int(key, 16))) for key in keys})
    if len(cache.get(keys)) != 5:
        raise SystemExit("an answer was lost")
cache.add_pace("model", 200, 1.0)
cache.close()
"""


def test_processes_share_one_cache(path: Path) -> None:
    begin = str(time.time() + 2)
    starts = (0, 200, 100)
    writers = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", WRITER, path, str(start), begin],
            stderr=subprocess.PIPE,
            text=True,
        )
        for start in starts
    ]
    for writer in writers:
        _, said = writer.communicate(timeout=60)
        assert writer.returncode == 0, said
    cache = ResponseCache(path)
    found = cache.get(f"{i:032x}" for i in range(400))
    assert len(found) == 400
    for key, response in found.items():
        np.testing.assert_array_equal(response.logits, [int(key, 16)] * 2)
    assert cache.pace("model") == pytest.approx(1 / 200)
    cache.close()


# ----------------------------------------------------------------------------------- run folders


def test_a_run_folder_gives_back_report_and_pictures(tmp_path: Path) -> None:
    report = make_report()
    pictures = make_pictures(report)
    folder = RunFolder(tmp_path / "run")
    folder.save(report, pictures, own=True)
    assert load_report(folder.path) == report
    assert load_report(folder.report_file).hash == report.hash
    shown = folder.pictures(report)
    assert shown
    assert all(pictures[key] == jpeg for key, jpeg in shown.items())


def test_a_table_of_before_is_no_part_of_a_run(tmp_path: Path) -> None:
    """Somebody else may have prepared the folder; signed, the table would be ours."""
    folder = RunFolder(tmp_path)
    folder.answers_file.write_bytes(b"forged")
    folder.page_file.write_bytes(b"forged")
    folder.save(make_report(), {}, tables=["findings.parquet"])
    assert not folder.holds(folder.answers_file.name)
    for file in (folder.answers_file, folder.page_file):
        with pytest.raises(UserError, match="does not belong to the report"):
            folder.read(file.name)


def test_the_report_is_written_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    monkeypatch.setattr(
        "cuescope_core.runs.write_atomically",
        lambda path, content: order.append(path.name),
    )
    report = make_report()
    RunFolder(tmp_path).save(report, make_pictures(report))
    assert len(order) > 2
    assert order.index("report.json") == len(order) - 1


def test_pictures_are_of_the_best_ranked_features_first() -> None:
    report = make_report(features=60)
    last = report.scores[-1]
    first = report.model_copy(update={"scores": (last, *report.scores[:-1])})
    shown = illustrations(first)
    assert (
        shown[0]
        == next(f for f in first.features if f.key == last.feature).occurrences[0]
    )
    assert len(shown) == 24 * 12


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b.txt"
    write_atomically(target, "whole")
    write_atomically(target, b"newer")
    assert target.read_bytes() == b"newer"
    assert [file.name for file in target.parent.iterdir()] == ["b.txt"]
    with pytest.raises(UserError, match=r"cannot write .*another folder"):
        write_atomically(target / "c.txt", "x")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "Invalid JSON"),
        ('{"schema_version": 3}', "got version 3"),
        ('{"schema_version": 2}', "title"),
    ],
)
def test_what_is_no_report_is_told(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "report.json").write_text(content)
    with pytest.raises(UserError) as caught:
        load_report(tmp_path)
    assert said in str(caught.value)
    assert "schema version 2" in str(caught.value)


def test_a_missing_report_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no report at .*nowhere"):
        load_report(tmp_path / "nowhere")
    with pytest.raises(UserError, match=r"expected a run folder or a report\.json"):
        load_report(tmp_path)


def test_thumbnails_are_small_jpegs_with_the_place_outlined() -> None:
    grey = Image.new("RGB", (40, 20), (90, 90, 90))
    frames = (Frame.from_array(np.asarray(grey)),) * 2
    sample = Sample(key="s", frames=frames)
    plain = Image.open(
        io.BytesIO(
            draw_occurrence(sample, Occurrence(sample="s", frame=1), PICTURE_SIDE)
        )
    )
    outlined = Occurrence(sample="s", region=(4, 4, 30, 15))
    marked = Image.open(io.BytesIO(draw_occurrence(sample, outlined, PICTURE_SIDE)))
    assert (plain.format, plain.size) == ("JPEG", (40, 20))
    assert np.ptp(np.asarray(plain)) < 5
    red = np.asarray(marked)[..., 0].astype(int) - np.asarray(marked)[..., 1]
    assert red[4, 4:30].min() > 40
    assert abs(red[9, 12]) < 30
    large = Sample(
        key="l", frames=(Frame.from_array(np.zeros((320, 640, 3), np.uint8)),)
    )
    small = Image.open(
        io.BytesIO(draw_occurrence(large, Occurrence(sample="l"), PICTURE_SIDE))
    )
    assert small.size == (PICTURE_SIDE, PICTURE_SIDE // 2)


@pytest.mark.parametrize(
    "region",
    [(0, 0, 1e300, 1e300), (-1e300, -1e300, 2e9, 2e9), (5, 5, 2e9, 5), (2e9,) * 4],
)
def test_a_place_of_a_stranger_is_drawn_in_a_moment(
    region: tuple[float, float, float, float],
) -> None:
    """Half a minute for each picture of a page of hundreds; and a frame that there is not."""
    sample = Sample(
        key="s", frames=(Frame.from_array(np.zeros((20, 40, 3), np.uint8)),)
    )
    place = Occurrence(sample="s", frame=10**9, region=region)
    began = time.monotonic()
    assert draw_occurrence(sample, place, PICTURE_SIDE)[:2] == b"\xff\xd8"
    assert time.monotonic() - began < 1


@pytest.mark.parametrize(
    ("count", "side"), [(2, 512), pytest.param(60, 256, marks=pytest.mark.long)]
)
def test_pictures_of_many_contrasts_are_as_large_as_they_are_shown(
    count: int, side: int
) -> None:
    """A page of a hundred pictures is not megabytes; a few stay sharp when they are enlarged."""
    pixels = np.random.default_rng(0).integers(0, 255, (600, 600, 3), np.uint8)
    sample = Sample(key="s", frames=(Frame.from_array(pixels),) * count)
    exhibits = tuple(
        Exhibit(occurrence=Occurrence(sample="s", frame=frame))
        for frame in range(count)
    )
    sides = (Side(title="with", exhibits=exhibits), Side(title="without", exhibits=()))
    report = make_report()
    feature = Feature(key="cue", kind="object")
    contrast = Contrast(feature=feature.key, sides=sides, rule="drawn")
    parts = {"features": (feature,), "scores": (), "contrasts": (contrast,)}
    shown = report.model_copy(update=parts)
    pictures = report_pictures(shown, [sample]).values()
    sizes = {Image.open(io.BytesIO(picture)).size for picture in pictures}
    assert sizes == {(side, side)}
