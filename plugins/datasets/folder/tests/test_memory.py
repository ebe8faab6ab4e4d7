"""Files are looked at once: again only when they change, and a broken memory is no obstacle."""

import os
import sqlite3

import pytest

import cuescope_folder.survey
from cuescope_folder.probe import probe
from cuescope_sdk import Context


@pytest.fixture
def looks(monkeypatch):
    """The names of the files that were opened for a look."""
    names = []

    def counted(path, max_pixels):
        names.append(path.name)
        return probe(path, max_pixels)

    monkeypatch.setattr(cuescope_folder.survey, "probe", counted)
    return names


def test_a_second_opening_reads_nothing(data, image, video, opened, looks):
    image(data / "a" / "1.png")
    video(data / "a" / "2.mp4", 3)
    (data / "a" / "bad.png").write_bytes(b"x")
    first = opened(max_bad=0.5)
    assert sorted(looks) == ["1.png", "2.mp4", "bad.png"]
    looks.clear()
    again = opened(max_bad=0.5)
    assert looks == []
    assert (again.fingerprint, again.facts) == (first.fingerprint, first.facts)
    again.split  # noqa: B018
    opened(max_bad=0.5, frames=3)
    assert looks == []


def test_changed_files_are_read_again(data, image, opened, looks):
    one, two = image(data / "a" / "1.png", 1), image(data / "a" / "2.png", 2)
    before = [sample.frames[0].key for sample in opened()]
    looks.clear()
    status = one.stat()
    image(one, 3)
    os.utime(one, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    after = [sample.frames[0].key for sample in opened()]
    assert looks == ["1.png"]
    assert after[0] != before[0]
    assert after[1] == before[1]
    assert two.exists()


def test_a_file_of_many_rows_is_looked_at_once(data, image, opened, looks):
    image(data / "1.png")
    (data / "manifest.csv").write_text("path,label\n" + "1.png,a\n" * 5)
    assert len(opened()) == 5
    assert looks == ["1.png"]


def test_a_corrupt_memory_is_set_aside(data, image, opened, context):
    image(data / "a" / "1.png")
    first = opened().fingerprint
    file = context.cache / "folder" / "probes.sqlite"
    for extra in file.parent.glob("probes.sqlite-*"):
        extra.unlink()
    file.write_bytes(b"this is no database" * 100)
    with pytest.warns(UserWarning, match="set aside"):
        assert opened().fingerprint == first
    assert file.with_suffix(".corrupt").exists()
    assert sqlite3.connect(file).execute("SELECT count(*) FROM probe").fetchone() == (1,)


def test_a_cache_that_cannot_be_written_is_done_without(data, image, tmp_path):
    from cuescope_folder import Folder, FolderOptions

    image(data / "a" / "1.png")
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert len(Folder(FolderOptions(path=data), Context(cache=tmp_path / "cache"))) == 1


def test_progress_counts_the_files_that_are_read(data, image, tmp_path):
    from contextlib import contextmanager

    from cuescope_folder import Folder, FolderOptions

    seen = []

    @contextmanager
    def progress(description, total):
        seen.append(total)
        yield seen.append

    for number in range(3):
        image(data / "a" / f"{number}.png", number)
    context = Context(cache=tmp_path / "cache", progress=progress)
    Folder(FolderOptions(path=data), context)
    Folder(FolderOptions(path=data), context)
    assert seen == [3, 3]
