"""What data may name on this machine: paths inside a folder."""

import os
from pathlib import Path

import pytest

from cuescope_core.errors import UserError
from cuescope_core.trust.paths import inside


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "data" / "a").mkdir(parents=True)
    (tmp_path / "data" / "a" / "1.png").write_bytes(b"")
    (tmp_path / "secret").write_bytes(b"")
    (tmp_path / "data" / "link").symlink_to(tmp_path / "secret")
    (tmp_path / "data" / "away").symlink_to(tmp_path)
    (tmp_path / "data" / "same").symlink_to(tmp_path / "data" / "a" / "1.png")
    (tmp_path / "data" / "loop").symlink_to(tmp_path / "data" / "loop")
    os.mkfifo(tmp_path / "data" / "pipe")
    return tmp_path / "data"


@pytest.mark.parametrize(
    "name", ["a/1.png", "same", "a/../a/1.png", "gone.png", "a", "file:x"]
)
def test_paths_that_stay_inside(root, name):
    assert inside(root, name) == (root / name).resolve()
    assert inside(root, str(root / name)) == (root / name).resolve()


@pytest.mark.parametrize(
    "name",
    [
        "../secret",
        "/etc/passwd",
        "link",
        "away/secret",
        "away",
        "loop",
        "a/../../secret",
        "a\0",
        "C:\\x",
    ],
)
def test_paths_that_lead_out(root, name):
    with pytest.raises(
        UserError, match=r"^here leads out of its folder: expected a path"
    ) as caught:
        inside(root, name, "here")
    assert "\n" not in str(caught.value)


def test_pipes_and_devices(root):
    with pytest.raises(UserError, match="a pipe or a device"):
        inside(root, "pipe")
    with pytest.raises(UserError, match="a pipe or a device"):
        inside(Path("/dev"), "zero")
