"""A folder is looked at once: opened again, it reads only what has changed, and is the same."""

import os
import sys
from dataclasses import replace

import pytest

from cuescope_folder import Folder, FolderOptions
from cuescope_sdk.data import probe_all


@pytest.fixture
def looks(monkeypatch):
    """The names of the files that were opened for a look."""
    names = []
    survey = sys.modules[probe_all.__module__]
    look = survey.probe_each

    def counted(paths, max_pixels):
        names.extend(path.name for path in paths)
        return look(paths, max_pixels)

    monkeypatch.setattr(survey, "probe_each", counted)
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
    opened(max_bad=0.5, frames=3)
    assert looks == []


def test_changed_files_are_shown_anew(data, image, opened, looks):
    one, _ = image(data / "a" / "1.png", 1), image(data / "a" / "2.png", 2)
    before = [sample.frames[0].key for sample in opened()]
    looks.clear()
    status = one.stat()
    image(one, 3)
    os.utime(one, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    after = [sample.frames[0].key for sample in opened()]
    assert looks == ["1.png"]
    assert after[0] != before[0]
    assert after[1] == before[1]


def test_a_file_of_many_rows_is_looked_at_once(data, image, opened, looks):
    image(data / "1.png")
    (data / "manifest.csv").write_text("path,label\n" + "1.png,a\n" * 5)
    assert len(opened()) == 5
    assert looks == ["1.png"]


def test_with_a_limit_only_files_of_drawn_rows_are_opened(data, image, context, looks):
    for number in range(40):
        image(data / f"{number}.png", number)
    rows = [f"{number}.png,{number % 2},v{number // 2}" for number in range(40)]
    (data / "manifest.csv").write_text("path,label,group\n" + "\n".join(rows))
    options = FolderOptions(path=data)
    limited = replace(context, limit=10, seed=3)
    drawn = Folder(options, limited)
    assert len(drawn) == len(looks) == 10
    assert drawn.labels == ("0", "1"), "the labels are those of all rows"
    assert "10 of 40" in drawn.facts["drawn"]
    whole = Folder(options, context)
    numbers = limited.draw([sample.group for sample in whole])
    assert [whole[number].key for number in numbers] == [each.key for each in drawn]
    assert len(drawn.with_options(frames=2)) == 40, "the draw is of what was asked for"
