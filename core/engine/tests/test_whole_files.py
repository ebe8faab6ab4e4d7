"""Files are whole or not there, whoever else writes; a killed writer leaves nothing for long."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

import pytest

from cuescope_core import atomic_files as whole_files
from cuescope_core.atomic_files import (
    DRAFT,
    Draft,
    read_whole,
    require_folder,
    write_atomically,
)
from cuescope_core.errors import UserError

CONTENTS = [bytes([letter]) * 20_000 for letter in b"abcdefgh"]
STOPPED_WRITER = """
import sys, time
from pathlib import Path
from cuescope_core.atomic_files import Draft
with Draft(Path(sys.argv[1])) as draft:
    draft.file.write(b"half")
    draft.file.flush()
    print("writing", flush=True)
    time.sleep(60)
"""
BUSY_WRITER = """
import sys
from pathlib import Path
from cuescope_core.atomic_files import write_atomically
for _ in range(100):
    write_atomically(Path(sys.argv[1]), sys.argv[2] * 20_000)
"""


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def drafts(folder: Path) -> list[str]:
    return [name for name in names(folder) if name.startswith(DRAFT)]


def write_often(target: Path, content: bytes, times: int) -> None:
    for _ in range(times):
        write_atomically(target, content)


def start_writer(target: Path) -> subprocess.Popen[str]:
    """A process that has begun to write, and does not end."""
    writer = subprocess.Popen(
        [sys.executable, "-c", STOPPED_WRITER, str(target)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert writer.stdout is not None
    assert writer.stdout.readline() == "writing\n"
    return writer


def kill(writer: subprocess.Popen[str]) -> None:
    writer.send_signal(signal.SIGKILL)
    writer.communicate()


def look_again() -> None:
    """Forget when a folder was looked at last."""
    whole_files._cleaned.clear()


def test_threads_that_write_one_file_leave_one_whole(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    faults: list[BaseException] = []

    def write(content: bytes) -> None:
        try:
            write_often(target, content, 60)
        except BaseException as error:
            faults.append(error)

    threads = [Thread(target=write, args=(content,)) for content in CONTENTS]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if target.exists():
            assert target.read_bytes() in CONTENTS
    assert not faults
    assert names(tmp_path) == ["report.json"]


def test_processes_that_write_one_file_leave_one_whole(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    command = [sys.executable, "-c", BUSY_WRITER, str(target)]
    writers = [
        subprocess.Popen([*command, content[:1].decode()]) for content in CONTENTS
    ]
    while any(writer.poll() is None for writer in writers):
        if target.exists():
            assert target.read_bytes() in CONTENTS
    assert [writer.returncode for writer in writers] == [0] * len(writers)
    assert names(tmp_path) == ["report.json"]


def test_a_write_an_hour_later_deletes_what_a_killed_writer_left(
    tmp_path: Path,
) -> None:
    killed, alive = start_writer(tmp_path / "a"), start_writer(tmp_path / "b")
    [first, second] = drafts(tmp_path)
    kill(killed)
    hours_ago = time.time() - 2 * whole_files.ABANDONED_SECONDS
    os.utime(tmp_path / first, (hours_ago, hours_ago))
    look_again()
    write_atomically(tmp_path / "c", "x")
    assert drafts(tmp_path) == [second]
    kill(alive)
    assert (tmp_path / "c").read_text() == "x"


def test_writers_and_kills_at_random_leave_whole_files(tmp_path: Path) -> None:
    """Writers are killed at any moment; every file that is there is whole."""
    program = (
        "import sys\nfrom pathlib import Path\n"
        "from cuescope_core.atomic_files import write_atomically\n"
        "print('ready', flush=True)\n"
        "for n in range(10**9):\n"
        "    write_atomically(Path(sys.argv[1]) / str(n % 5), bytes([97 + n % 7]) * 300_000)\n"
    )
    for turn in range(8):
        command = [sys.executable, "-c", program, str(tmp_path)]
        writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        time.sleep(0.02 + 0.013 * turn)
        kill(writer)
        assert len(drafts(tmp_path)) <= turn + 1  # one of each
    written = [
        tmp_path / str(number)
        for number in range(5)
        if (tmp_path / str(number)).exists()
    ]
    assert written
    for file in written:
        content = file.read_bytes()
        assert content == content[:1] * 300_000


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "a"
    write_atomically(target, "before")
    draft = Draft(target)
    with pytest.raises(ZeroDivisionError), draft:
        draft.file.write(b"%d" % (1 // 0))
    assert target.read_text() == "before"
    (tmp_path / "folder").mkdir()
    with pytest.raises(UserError, match=r"cannot write to .*folder: got Is a"):
        write_atomically(tmp_path / "folder", "x")
    assert names(tmp_path) == ["a", "folder"]


def test_a_new_file_can_be_read_by_those_whom_the_mask_lets(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "a", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_a_long_name_is_written(tmp_path: Path) -> None:
    target = tmp_path / ("n" * 255)
    write_atomically(target, "x")
    assert target.read_text() == "x"


def test_a_folder_of_many_files_is_not_looked_through_for_each(tmp_path: Path) -> None:
    for number in range(5000):
        (tmp_path / str(number)).touch()
    looks = 0
    scandir = os.scandir

    def counted(folder: Path) -> object:
        nonlocal looks
        looks += 1
        return scandir(folder)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "scandir", counted)
        for number in range(100):
            write_atomically(tmp_path / "same", str(number))
    assert 1 <= looks < 20


def test_only_files_up_to_a_size_are_read(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"12345")
    assert read_whole(file, most=5) == b"12345"
    with pytest.raises(
        UserError, match=r"a is too large: expected at most 4 bytes, got 5"
    ):
        read_whole(file, most=4)
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(UserError, match="expected a file, got a pipe or a device"):
            read_whole(place, most=5)
    with pytest.raises(OSError, match="Is a directory"):
        read_whole(tmp_path, most=5)


def test_a_folder_is_asked_for_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_folder(tmp_path / "new" / "deeper")
    assert not (tmp_path / "new").exists()
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "deeper"):
        with pytest.raises(UserError, match="expected a folder, got a file"):
            require_folder(path)
    # root may write everywhere, so the answer is given here
    monkeypatch.setattr("cuescope_core.atomic_files.os.access", lambda *_: False)
    with pytest.raises(UserError, match="which you may not write to"):
        require_folder(tmp_path / "new")


def test_half_a_letter_is_written_as_json_has_it(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a.json", '"a\ud800"')
    assert json.loads((tmp_path / "a.json").read_text()) == "a\ud800"
