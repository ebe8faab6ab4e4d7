"""Files are looked at once: again only when they change, and a broken memory is no obstacle."""

import os
import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from media_files import MediaFile
from PIL import Image

import cuescope_sdk.data._media.survey
from cuescope_core.store import CacheFile
from cuescope_sdk import Context
from cuescope_sdk.data._media.survey import probe_all, probe_each


def write_image(path: Path, level: int = 100) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (16, 12), (level, level, level)).save(path)
    return path


@pytest.fixture
def context(tmp_path):
    return Context(cache=tmp_path / "cache")


@pytest.fixture
def looks(monkeypatch):
    """The names of the files that were opened for a look."""
    names = []

    def counted(paths, max_pixels):
        names.extend(path.name for path in paths)
        return probe_each(paths, max_pixels)

    monkeypatch.setattr(cuescope_sdk.data._media.survey, "probe_each", counted)
    return names


def test_a_second_look_reads_nothing(tmp_path, context, looks):
    bad = tmp_path / "bad.png"
    bad.write_bytes(b"x")
    files = [
        write_image(tmp_path / "1.png"),
        MediaFile.video(tmp_path / "2.mp4", 3),
        bad,
    ]
    first = probe_all(files, context)
    assert sorted(looks) == ["1.png", "2.mp4", "bad.png"]
    assert [first[file].frames for file in files] == [1, 3, 0]
    looks.clear()
    assert probe_all(files, context) == first
    assert looks == []
    probe_all(files, context, max_pixels=1000)
    assert sorted(looks) == ["1.png", "2.mp4", "bad.png"]


@pytest.mark.parametrize(
    "value",
    [
        b"null",
        b"[1, 2]",
        b'["terms", [1], []]',
        b'["terms", [1, 1, 1, 1], ["", "many", null, null]]',
        b"[" * 100_000,
        b"\xff",
    ],
)
def test_a_row_that_is_no_look_is_looked_at_again(tmp_path, context, looks, value):
    """Its seal fits, which whoever mails a cache can compute."""
    file = write_image(tmp_path / "1.png")
    first = probe_all([file], context)
    with closing(CacheFile(context.cache / "media" / "probes.sqlite")) as cache:
        cache.write(dict.fromkeys(cache.scan(""), value))
    looks.clear()
    assert probe_all([file], context) == first
    assert looks == ["1.png"]


def test_changed_files_are_read_again(tmp_path, context, looks):
    one, two = write_image(tmp_path / "1.png", 1), write_image(tmp_path / "2.png", 2)
    before = probe_all([one, two], context)
    looks.clear()
    status = one.stat()
    write_image(one, 3)
    os.utime(one, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    after = probe_all([one, two], context)
    assert looks == ["1.png"]
    assert after[one].digest != before[one].digest
    assert after[two] == before[two]


def test_a_file_named_often_is_looked_at_once(tmp_path, context, looks):
    file = write_image(tmp_path / "1.png")
    assert list(probe_all([file] * 5, context)) == [file]
    assert looks == ["1.png"]


def test_a_missing_file_is_looked_for_again(tmp_path, context):
    file = tmp_path / "1.png"
    assert probe_all([file], context)[file].problem == "no such file"
    write_image(file)
    assert probe_all([file], context)[file].problem is None


def test_a_corrupt_memory_is_set_aside(tmp_path, context):
    image = write_image(tmp_path / "1.png")
    first = probe_all([image], context)
    file = context.cache / "media" / "probes.sqlite"
    for extra in file.parent.glob("probes.sqlite-*"):
        extra.unlink()
    file.write_bytes(b"this is no database" * 100)
    with pytest.warns(UserWarning, match="was damaged"):
        assert probe_all([image], context) == first
    assert list(file.parent.glob("probes.sqlite.damaged-*"))
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT count(*) FROM rows").fetchone() == (1,)


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path):
    image = write_image(tmp_path / "1.png")
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert probe_all([image], Context(cache=tmp_path / "cache"))[image].frames == 1


def test_progress_counts_the_files_that_are_read(tmp_path):
    seen = []

    @contextmanager
    def progress(description, total):
        seen.append(total)
        yield seen.append

    files = [write_image(tmp_path / f"{number}.png", number) for number in range(3)]
    context = Context(cache=tmp_path / "cache", progress=progress)
    probe_all(files, context)
    probe_all(files, context)
    assert seen == [3, 3]
