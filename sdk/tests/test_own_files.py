"""What annotations name lies in the folders that were typed; nothing is waited for."""

import os
import tracemalloc
from pathlib import Path

import pytest
from media_files import MediaFile
from pydantic import BaseModel

from cuescope_sdk import Context, UserError
from cuescope_sdk.data import (
    Episode,
    EpisodeOptions,
    Episodes,
    ImageFolder,
    ImageFolderOptions,
    ImageItem,
    MediaFolder,
    TextFile,
    require_inside,
)
from cuescope_sdk.data._layouts import first_place
from cuescope_sdk.data._own_files import read_own_bytes

WAYS_OUT = [
    "../secret.png",
    "{secret}",
    "link.png",
    "away/secret.png",
    "pipe.png",
    "/dev/zero",
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "data"
    MediaFile.image(root / "1.png")
    MediaFile.image(tmp_path / "secret.png")
    (root / "link.png").symlink_to(tmp_path / "secret.png")
    (root / "away").symlink_to(tmp_path)
    os.mkfifo(root / "pipe.png")
    return root


@pytest.fixture(params=WAYS_OUT)
def name(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return request.param.format(secret=tmp_path / "secret.png")


class Photos(ImageFolder):
    title = "photos"
    shown = "1.png"
    role = "path"

    def read(self, split: str) -> list[ImageItem]:
        file = self.root / self.shown
        first = self.root / "1.png"
        known = {"masks": {"a": file}, "earlier": (file,), "path": file}
        fields = {"path": first, self.role: known[self.role]}
        return [ImageItem("1", classes=("a",), **fields)]


class Walks(Episodes):
    title = "walks"
    split_names = ("test",)
    shown = "1.png"

    def read(self, split: str) -> list[Episode]:
        return [Episode("1", (self.root / self.shown,), (0.0,), ())]


@pytest.mark.parametrize("role", ["path", "masks", "earlier"])
def test_an_image_folder_shows_what_lies_in_it(root, name, role, monkeypatch):
    monkeypatch.setattr(Photos, "role", role)
    options = ImageFolderOptions(path=root)
    assert len(Photos(options, Context(cache=root.parent / "cache"))) == 1
    monkeypatch.setattr(Photos, "shown", name)
    with pytest.raises(
        UserError, match=r"^photos: .*(leads out of its folder|a pipe or a device)"
    ):
        Photos(options, Context(cache=root.parent / "cache"))


def test_episodes_show_what_lies_in_their_folder(root, name, monkeypatch):
    monkeypatch.setattr(Walks, "shown", name)
    with pytest.raises(
        UserError, match=r"^walks: .*(leads out of its folder|a pipe or a device)"
    ):
        Walks(
            EpisodeOptions(path=root, split="test"),
            Context(cache=root.parent / "cache"),
        )


def test_files_of_annotations_are_no_links_out(root):
    for find in (
        lambda n: TextFile.find(root, n, "t").path,
        lambda n: first_place(root, n),
    ):
        assert find("1.png") == root / "1.png"
        for name in ("link.png", "pipe.png"):
            with pytest.raises(
                UserError, match=r"leads out of its folder|a pipe or a device"
            ):
                find(name)


def test_several_folders_may_be_typed(root, tmp_path):
    require_inside([root, tmp_path], [root / "1.png", root / "link.png"], "t")
    require_inside([root], [root / "gone.png", root / "away" / "data" / "1.png"], "t")
    with pytest.raises(UserError, match=r"^t: '.*link\.png' leads out"):
        require_inside([root], [root / "1.png", root / "link.png"], "t")


def test_images_without_suffix_are_not_opened_through_a_link(
    root, tmp_path, monkeypatch
):
    (tmp_path / "secret").write_bytes((root / "1.png").read_bytes())
    (root / "photo").symlink_to(tmp_path / "secret")
    looked = []
    monkeypatch.setattr(
        "cuescope_sdk.data._image_folders.why_unread", lambda path: looked.append(path)
    )
    assert root / "photo" in MediaFolder(root).images()
    assert looked == []


@pytest.mark.parametrize("place", ["pipe.png", "/dev/zero", "."])
def test_what_is_no_file_is_not_waited_for(root, place):
    for read in (read_own_bytes, lambda *of: TextFile(*of).text()):
        with pytest.raises(UserError, match=r"^t: .*(expected a file|cannot read)"):
            read(root / place, "t")


def test_a_file_has_a_limit(root):
    (root / "a.json").write_text("[1]")
    assert read_own_bytes(root / "a.json", "t", 3) == b"[1]"
    with pytest.raises(
        UserError, match=r"t: a\.json is too large: expected at most 2 bytes"
    ):
        read_own_bytes(root / "a.json", "t", 2)


class Row(BaseModel):
    a: int


def test_a_short_file_takes_no_memory(root: Path) -> None:
    """As much as is allowed was asked for, two gigabytes, and refused where memory is limited."""
    (root / "a.json").write_text("[1]")
    tracemalloc.start()
    try:
        assert read_own_bytes(root / "a.json", "t") == b"[1]"
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2**20


@pytest.mark.parametrize("depth", [50, 900, 100_000])
def test_deep_json_is_one_line(root, depth):
    (root / "a.json").write_text('[{"a": ' + "[" * depth + "]" * depth + "}]")
    with pytest.raises(UserError, match=r"^t: a\.json") as caught:
        TextFile(root / "a.json", "t").json_rows(Row)
    assert "\n" not in str(caught.value)


def test_a_number_or_a_name_without_end_is_one_line(root):
    class Row(BaseModel):
        a: int

    (root / "a.json").write_text("[1" + "0" * 5000 + "]")
    with pytest.raises(UserError, match=r"^t: a\.json is no JSON"):
        TextFile(root / "a.json", "t").json_rows(Row)
    (root / "a.csv").write_text("a" * 200_000 + "\n1\n")
    with pytest.raises(UserError, match=r"^t: a\.csv line 1 is no CSV"):
        TextFile(root / "a.csv", "t").csv_rows(Row)
