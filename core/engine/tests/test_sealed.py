"""Files with their checksum inside: what was changed is told, a kill leaves a file that fits."""

import io
import json
import subprocess
import sys
import warnings
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

import cuescope_core.atomic_files
from cuescope_core.checksummed_files import (
    FORMS,
    DamagedFileError,
    change_sealed,
    read_sealed,
    write_sealed,
)
from cuescope_core.errors import UserError

OLD, NEW = b"old content", b"new content"


def _parquet() -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table({"a": [1, 2, 3], "b": ["x", "y", "z"]}), file)
    return file.getvalue()


def _png() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (4, 3), "red").save(file, "PNG")
    return file.getvalue()


def _npz() -> bytes:
    file = io.BytesIO()
    np.savez(file, a=np.arange(3))
    return file.getvalue()


# a file of each form, by what it begins with; a new form without one fails below
EXAMPLES = {
    "JSON": [json.dumps({"cue-1": "red", "cue-2": "blue"}, indent=1).encode(), b"{}"],
    "Parquet": [_parquet()],
    "PNG": [_png()],
    "others": [
        b'{"a": 1}\n{"a": 2}'[1:],
        _npz(),
        b"",
        b"PAR1 no",
        b"\x89PNG no",
        _parquet()[:-9],
    ],
}
CASES = [(form.name, content) for form in FORMS for content in EXAMPLES[form.name]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "kept" / "a.json"
    write_sealed(path, OLD)
    return path


@pytest.mark.parametrize(("form", "content"), CASES)
def test_every_flip_and_every_cut_is_told(
    tmp_path: Path, form: str, content: bytes
) -> None:
    path = tmp_path / "a"
    write_sealed(path, content)
    assert read_sealed(path) == content
    stored = path.read_bytes()
    assert next(each.name for each in FORMS if each.fits(stored)) == form
    changed = [stored[:end] for end in range(len(stored))]
    for place in range(len(stored)):
        flipped = bytearray(stored)
        flipped[place] ^= 1 << place % 8
        changed.append(bytes(flipped))
    for damaged in changed:
        path.write_bytes(damaged)
        with pytest.raises(DamagedFileError):
            read_sealed(path)


def test_other_programs_read_each_form(tmp_path: Path) -> None:
    for number, (_, content) in enumerate(CASES):
        write_sealed(tmp_path / str(number), content)
    stored = {content: tmp_path / str(n) for n, (_, content) in enumerate(CASES)}
    names = json.loads(stored[EXAMPLES["JSON"][0]].read_bytes())
    assert names.pop("checksum")
    assert names == {"cue-1": "red", "cue-2": "blue"}
    assert json.loads(stored[b"{}"].read_bytes()).keys() == {"checksum"}
    assert pq.read_table(stored[_parquet()])["b"].to_pylist() == ["x", "y", "z"]
    assert Image.open(stored[_png()]).getpixel((0, 0)) == (255, 0, 0)
    archive = stored[EXAMPLES["others"][1]]
    assert np.load(archive)["a"].tolist() == [0, 1, 2]
    assert zipfile.ZipFile(archive).testzip() is None


def test_reads_what_was_written_last(path: Path) -> None:
    assert read_sealed(path) == OLD
    write_sealed(path, NEW)
    assert read_sealed(path) == NEW
    assert [each.name for each in path.parent.iterdir()] == ["a.json"]


def test_a_file_that_is_missing_is_not_damaged(path: Path) -> None:
    path.unlink()
    with pytest.raises(FileNotFoundError):
        read_sealed(path)


def test_a_file_under_the_name_of_another_is_refused(path: Path) -> None:
    other = path.with_name("b.json")
    path.rename(other)
    with pytest.raises(DamagedFileError, match="other content"):
        read_sealed(other)


def test_a_folder_in_the_place_of_a_file_is_one_line(path: Path) -> None:
    path.unlink()
    path.mkdir()
    with pytest.raises(DamagedFileError) as caught:
        read_sealed(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kept", [True, False])
def test_a_kill_leaves_the_old_or_the_new(
    path: Path, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    keep = cuescope_core.atomic_files.Draft.keep

    def killed(draft: cuescope_core.atomic_files.Draft) -> None:
        if kept:
            keep(draft)
        raise KeyboardInterrupt

    monkeypatch.setattr(cuescope_core.atomic_files.Draft, "keep", killed)
    with suppress(KeyboardInterrupt):
        write_sealed(path, NEW)
    assert read_sealed(path) == (NEW if kept else OLD)


WRITER = """
import sys, json
from pathlib import Path
from cuescope_core.checksummed_files import change_sealed
path, who = Path(sys.argv[1]), sys.argv[2]
for number in range(20):
    def change(content):
        return json.dumps({**json.loads(content or b"{}"), f"{who} {number}": ""}).encode()
    change_sealed(path, change)
"""


def test_of_several_writers_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "names.json"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(who)])
        for who in range(3)
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert len(json.loads(read_sealed(path))) == 60


def test_readers_beside_a_writer_see_whole_files(tmp_path: Path) -> None:
    path = tmp_path / "names.json"
    write_sealed(path, b"{}")
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(who)])
        for who in range(2)
    ]
    reads = 0
    while any(writer.poll() is None for writer in writers):
        json.loads(read_sealed(path))
        reads += 1
    assert reads > 2


def test_a_damaged_file_is_set_aside_and_told_before_it_is_changed(path: Path) -> None:
    path.write_bytes(b"a name that a person gave")
    with pytest.warns(
        UserWarning, match=r"a\.json is not what .* kept as a\.json\.dam"
    ):
        change_sealed(path, lambda content: NEW if content is None else OLD)
    assert read_sealed(path) == NEW
    [aside] = path.parent.glob("a.json.damaged-*")
    assert aside.read_bytes() == b"a name that a person gave"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        change_sealed(path, lambda content: content or b"")


def test_a_link_in_place_of_the_lock_is_not_followed(path: Path) -> None:
    victim = path.with_name("victim")
    victim.write_text("mine")
    path.with_name(".a.json.lock").symlink_to(victim)
    with pytest.raises(UserError, match="is a link"):
        change_sealed(path, lambda content: NEW)
    assert victim.read_text() == "mine"
