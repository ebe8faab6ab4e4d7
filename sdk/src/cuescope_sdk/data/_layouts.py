"""Shared parts of data sets in an official layout: their splits, and files of annotations."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, TypeVar

from cuescope_sdk import Context, Plugin
from cuescope_sdk.data._media.files import (
    describe_problems,
    require_distinct,
    require_enough,
)
from cuescope_sdk.data._media.frames import Probe
from cuescope_sdk.data._media.survey import loss_facts, probe_all
from cuescope_sdk.data._own_files import require_inside, require_inside_one
from cuescope_sdk.data._text_files import TextFile
from cuescope_sdk.models._refusals import refuse_unknown


class Item(Protocol):
    """A sample to be: its key, and the files that it needs."""

    @property
    def key(self) -> str: ...
    @property
    def files(self) -> tuple[Path, ...]: ...


AnyItem = TypeVar("AnyItem", bound=Item)


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

    def keep_shown(
        self,
        items: Sequence[AnyItem],
        thing: str,
        folders: Sequence[Path],
        remedy: str,
    ) -> tuple[list[AnyItem], dict[str, str]]:
        """The items whose files can all be decoded, and facts of the others; sets `probes`.

        Raises UserError for a key that comes twice and for a file outside of the folders, and
        BadDataError where more than the option `max_missing` are left out.
        """
        require_distinct(
            self.title, thing, [item.key for item in items], self.options.split
        )
        files = [file for item in items for file in item.files]
        # an annotation may name any path of this machine, and a link lead there (docs/adr/0021)
        require_inside(folders, files, self.title)
        self.probes: Mapping[Path, Probe] = probe_all(files, self.context)
        problems = {}
        good = []
        for item in items:
            problem = self._problem(item.files)
            if problem is None:
                good.append(item)
            else:
                problems[item.key] = problem
        left_out = require_enough(
            self.title,
            thing,
            len(problems),
            len(items),
            self.options.max_missing,
            got=describe_problems(problems, thing),
            remedy=remedy,
        )
        return good, left_out | loss_facts(self.probes.values())

    def _problem(self, files: Sequence[Path]) -> str | None:
        for file in files:
            problem = self.probes[file].problem
            # pictures often come by another way than the annotation
            if problem == "no such file":
                return "with a missing file"
            if problem is not None:
                return f"with an unreadable file: {problem}"
        return None
