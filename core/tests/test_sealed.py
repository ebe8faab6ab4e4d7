"""A file and its seal: what was changed is told, and a kill leaves a file that fits."""

from contextlib import suppress
from pathlib import Path

import pytest

import cuescope.sealed
from cuescope.sealed import DamagedFileError, read_sealed, seal_file, write_sealed

OLD, NEW = b"old content", b"new content"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "kept" / "a.json"
    write_sealed(path, OLD)
    return path


def test_reads_what_was_written_last(path: Path) -> None:
    assert read_sealed(path) == OLD
    write_sealed(path, NEW)
    assert read_sealed(path) == NEW
    assert sorted(each.name for each in path.parent.iterdir()) == [
        "a.json",
        "a.json.seal",
    ]


def test_an_older_content_does_not_come_back(path: Path) -> None:
    write_sealed(path, NEW)
    path.write_bytes(OLD)
    with pytest.raises(
        DamagedFileError, match="expected the file as it was written, got other"
    ):
        read_sealed(path)


def test_a_file_that_is_missing_is_not_damaged(path: Path) -> None:
    path.unlink()
    with pytest.raises(FileNotFoundError):
        read_sealed(path)


def test_a_file_without_a_seal_is_refused(path: Path) -> None:
    seal_file(path).unlink()
    with pytest.raises(
        DamagedFileError, match=r"got no a\.json\.seal beside it\. Again"
    ):
        read_sealed(path, remedy="Again")


def test_a_file_under_the_name_of_another_is_refused(path: Path) -> None:
    other = path.with_name("b.json")
    path.rename(other)
    seal_file(path).rename(seal_file(other))
    with pytest.raises(DamagedFileError, match="other content"):
        read_sealed(other)


def test_a_folder_in_the_place_of_a_file_is_one_line(path: Path) -> None:
    path.unlink()
    path.mkdir()
    with pytest.raises(DamagedFileError) as caught:
        read_sealed(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("writes", range(4))
def test_a_kill_between_the_writes_leaves_the_old_or_the_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: int, before: bool
) -> None:
    path, left = tmp_path / "a.json", [writes]
    if before:
        write_sealed(path, OLD)
    write = cuescope.sealed.write_atomically

    def killed(place: Path, content: str | bytes) -> None:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        write(place, content)

    monkeypatch.setattr(cuescope.sealed, "write_atomically", killed)
    with suppress(KeyboardInterrupt):
        write_sealed(path, NEW)
    monkeypatch.undo()
    expected = NEW if writes >= 2 else OLD
    if path.exists():
        assert read_sealed(path) == expected
    else:
        assert not before
        assert writes < 2
    write_sealed(path, b"third")
    assert read_sealed(path) == b"third"
    assert len(seal_file(path).read_text().split()) == 1
