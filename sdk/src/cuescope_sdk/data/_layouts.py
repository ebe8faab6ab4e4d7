"""Shared parts of data sets in an official layout: their splits, and files of annotations."""

from pathlib import Path
from typing import Any, ClassVar, Self

from cuescope_sdk import Context, Plugin
from cuescope_sdk.data._own_files import require_inside_one
from cuescope_sdk.data._text_files import TextFile
from cuescope_sdk.models._refusals import refuse_unknown


def first_place(root: Path, *paths: str) -> Path | None:
    """The first of these paths under `root` that exists; raises UserError where it leads out."""
    for path in paths:
        if (root / path).exists():
            return require_inside_one(root, root / path, root.name)
    return None


class Layout(Plugin):
    """A folder as its authors lay it out; the options have its `path` and a `split`.

    A subclass names itself (`title`) and its splits. Raises UserError for another split.
    """

    options: Any
    labels: tuple[str, ...] = ()
    title: ClassVar[str]
    split_names: ClassVar[tuple[str, ...]]

    def __init__(self, options: Any, context: Context) -> None:
        super().__init__(options, context)
        refuse_unknown(self.title, "split", options.split, self.split_names)
        self.root = options.path.expanduser()
        # before anything is read, which may add to it
        self.facts: dict[str, str] = {}

    def file(self, name: str, /) -> TextFile:
        """An annotation file of the authors; raises UserError where it is not there."""
        return TextFile.find(self.root, name, self.title)

    def find(self, *paths: str) -> TextFile | None:
        """The first of these files in PATH that exists; raises UserError where it leads out."""
        path = first_place(self.root, *paths)
        return None if path is None else TextFile(path, self.title)

    def split(self, name: str) -> Self:
        """The same data set's other split; raises UserError where there is no such split."""
        return type(self)(self.options.model_copy(update={"split": name}), self.context)
