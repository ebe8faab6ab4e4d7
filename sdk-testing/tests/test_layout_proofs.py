"""Every check of the layout contract catches a data set that is bad in just that way."""

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest
from media_files import MediaFile

from cuescope_sdk import UserError
from cuescope_sdk.data._image_folders import ImageFolder, ImageItem
from cuescope_testing import DatasetContract, LayoutContract, Mistake

from .contract_proofs import failed


class Album(ImageFolder):
    """`album.json`, a list of files."""

    title: ClassVar[str] = "album"

    def read(self, split: str) -> list[ImageItem]:
        try:
            files = json.loads(self.place("album.json").read_text())
        except ValueError:
            raise UserError("album: album.json is no JSON") from None
        self.labels = ("x",)
        return [ImageItem(f, self.root / split / f, ("x",), label="x") for f in files]


class Careless(Album):
    """Lets the error of a missing folder through."""

    def place(self, *paths: str, root: Path | None = None) -> Any:
        return self.root / paths[0]


class Lenient(Album):
    """Takes any text for an album."""

    def read(self, split: str) -> list[ImageItem]:
        try:
            return super().read(split)
        except UserError:
            if not (self.root / "album.json").exists():
                raise
        self.labels = ("x",)
        return [ImageItem("1.png", self.root / split / "1.png", ("x",), "x")]


class Silent(Album):
    """Says nothing of what it leaves out."""

    def __init__(self, options: Any, context: Any) -> None:
        super().__init__(options, context)
        self.facts.pop("left out", None)


class Vague(Album):
    """Tells too few images as any other mistake."""

    def __init__(self, options: Any, context: Any) -> None:
        try:
            super().__init__(options, context)
        except UserError as error:
            raise UserError(str(error)) from None


PROOFS = [
    ("test_tells_mistakes_in_one_line", Careless),
    ("test_tells_mistakes_in_one_line", Lenient),
    ("test_leaves_out_what_cannot_be_read", Silent),
    ("test_refuses_when_too_much_is_left_out", Vague),
]


class TestAlbum(LayoutContract):
    plugin = Album
    other_options = {"per_class": 1}
    split_names = ("train",)
    mistakes = (Mistake("album.json", "{", "album.json is no JSON"),)

    @classmethod
    def written(cls, root):
        for split in ("train", "val"):
            for number in (1, 2):
                MediaFile.image(root / split / f"{number}.png")
        (root / "album.json").write_text('["1.png", "2.png"]')


def contract_of(data: type[Album]) -> type[LayoutContract]:
    return type("Contract", (TestAlbum,), {"plugin": data})


def test_every_check_is_proved() -> None:
    own = set(LayoutContract.checks()) - set(DatasetContract.checks())
    assert own == dict(PROOFS).keys()


@pytest.mark.parametrize(("check", "album"), PROOFS)
def test_check_catches_its_bad_data_set(check: str, album: type[Album]) -> None:
    assert failed(contract_of(album)) == {check}


def test_a_mistake_that_is_told_otherwise_is_caught() -> None:
    mistakes = (Mistake("album.json", "{", "line 1"),)
    contract = type("Contract", (TestAlbum,), {"mistakes": mistakes})
    result = contract.run_check("test_tells_mistakes_in_one_line")
    assert "'line 1' of album.json, got 'album: album.json is no JSON'" in result.reason
