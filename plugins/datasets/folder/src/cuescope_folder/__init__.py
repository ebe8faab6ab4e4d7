"""Your own images, videos and frame folders as a cuescope data set."""

from collections import Counter
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Literal, Self

from pydantic import Field

from cuescope_folder.items import SUFFIXES_OF_MANIFESTS, Item, canonical_split
from cuescope_sdk import (
    BadDataError,
    Context,
    Frame,
    Options,
    Plugin,
    Sample,
    UserError,
    digest,
    nearest,
)
from cuescope_sdk.data import MAX_PIXELS

NAMED = 5


class FolderOptions(Options):
    """Where the files are, and how they are read."""

    argument = "path"

    path: Path = Field(description="the folder, or a manifest in it")
    frames: int = Field(8, ge=1, description="frames sampled uniformly from each clip")
    split: str | None = Field(None, description="one split (train, val, test); default all")
    manifest: Path | None = Field(
        None, description="CSV, TSV, JSONL or Parquet table; default PATH/manifest.*, if there"
    )
    choices: tuple[str, ...] | None = Field(
        None, description="the label set: names, or one file with a label a line"
    )
    answers: Literal["auto", "pooled", "open"] = Field(
        "auto",
        description="questions without choices of their own are answered from all labels (pooled), "
        "or in free words (open); auto: pooled where few answers are shared by all questions",
    )
    max_bad: float = Field(0.01, ge=0, le=1, description="share of samples that may be unreadable")
    max_pixels: int = Field(
        MAX_PIXELS, ge=1, le=MAX_PIXELS, description="larger images are refused as bombs"
    )


class Folder(Plugin):
    """Class folders or a manifest: one sample a file, frame folder, or manifest row.

    Every file is probed once; what cannot be read is named in `facts` and left out. Raises
    UserError for a layout, manifest or option that cannot be used, and BadDataError when more
    than `max_bad` of the samples cannot be read.
    """

    Options = FolderOptions
    options: FolderOptions

    def __init__(self, options: FolderOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_folder.answers import common_choices, shared_choices, told
        from cuescope_folder.samples import needed_files, read_samples, with_mask
        from cuescope_sdk.data import probe_all

        try:
            root, manifest = locate(options.path, options.manifest)
        except PermissionError as error:
            raise UserError(f"folder: cannot read {options.path}", got=error.strerror) from None
        items, passed_over = _items(root, manifest)
        common = common_choices(items, options.choices, options.answers, root)
        self.labels = shared_choices(items, common)
        items = in_split(items, options.split)
        files = [
            file for item in items for file in with_mask(item, needed_files(item, options.frames))
        ]
        probes = probe_all(files, context, options.max_pixels)
        self._samples, problems = read_samples(items, probes, options.frames, common)
        judge(problems, len(items), options.max_bad)
        self.facts = _facts(self._samples, problems, passed_over) | told(items, common)
        self.fingerprint = digest(
            self.labels, [_content(sample, self.labels) for sample in self._samples]
        )

    def __len__(self) -> int:
        return len(self._samples)

    def __getitem__(self, index: int) -> Sample:
        return self._samples[index]

    def split(self, name: str) -> Self:
        """The same folder, showing another split; raises UserError where there is no such split."""
        return type(self)(self.options.model_copy(update={"split": name}), self.context)


LOOSE = (
    "none, for all files lie loose: a folder a class gives them, or PATH/manifest.csv with a line "
    "'path,label', or 'path,question,answer', and a line a file"
)


def locate(path: Path, manifest: Path | None) -> tuple[Path, Path | None]:
    """The folder, and the manifest that describes it (given, being `path` itself, or found)."""
    root = path.expanduser()
    if not root.exists():
        raise UserError(
            "folder: no such path", expected="a folder or a manifest", got=f"'{path}'",
            remedy=_neighbour(root),
        )  # fmt: skip
    if root.is_file():
        if manifest is None and root.suffix.lower() in SUFFIXES_OF_MANIFESTS:
            return root.parent.resolve(), root
        raise UserError(
            "folder: PATH is a file", got=f"'{path}'",
            expected=f"a folder or a manifest ({', '.join(SUFFIXES_OF_MANIFESTS)})",
        )  # fmt: skip
    if manifest is not None:
        named = manifest.expanduser()
        for candidate in (named, root / named):
            if candidate.is_file():
                return root.resolve(), candidate
        raise UserError("folder: no such manifest", expected="a CSV, TSV, JSONL or Parquet file",
                        got=f"'{manifest}'", remedy=_neighbour(root / named))  # fmt: skip
    found = [root / f"manifest{suffix}" for suffix in SUFFIXES_OF_MANIFESTS]
    found = [candidate for candidate in found if candidate.is_file()]
    if len(found) > 1:
        raise UserError(
            f"folder: {root} has several manifests", got=", ".join(file.name for file in found),
            remedy=f"Choose one with -D manifest={found[0].name}",
        )  # fmt: skip
    return root.resolve(), found[0] if found else None


def in_split(items: Sequence[Item], wanted: str | None) -> list[Item]:
    """The items of one split (aliases such as "validation" are understood), or all of them."""
    if wanted is None:
        return list(items)
    known = sorted({item.split for item in items if item.split})
    chosen = [item for item in items if item.split == canonical_split(wanted)]
    if not chosen:
        raise UserError(
            f"folder: no split '{wanted}'",
            expected=f"one of {', '.join(known)}" if known else None,
            remedy=nearest(wanted, known)
            if known
            else "The data has no splits: use PATH/train/CLASS folders or a 'split' column",
        )
    return chosen


def judge(problems: Sequence[str], items: int, max_bad: float) -> None:
    """Raise BadDataError where more than `max_bad` of the items cannot be read, or all of them."""
    if not problems or (len(problems) <= max_bad * items and len(problems) < items):
        return
    share = len(problems) / items
    mend = "Mend or remove them"
    raise BadDataError(
        f"folder: {len(problems)} of {items} samples cannot be read",
        expected=f"at most {max_bad:.1%}",
        got=_some(problems, "; "),
        remedy=f"{mend}, or accept them with -D max_bad={ceil(100 * share) / 100}"
        if share < 1
        else mend,
    )


def _items(root: Path, manifest: Path | None) -> tuple[list[Item], dict[str, str]]:
    """The items, and what was passed over, in words."""
    if manifest is not None:
        from cuescope_folder.manifest import manifest_items
        from cuescope_folder.rows import read_rows

        return manifest_items(read_rows(manifest), manifest.name, root), {}
    from cuescope_folder.layout import class_items, empty_classes, scan, tables

    items, outside = class_items(root, scan(root))
    passed_over = {"ignored": f"{outside} outside the class folders"} if outside else {}
    if all(item.label is None for item in items):
        passed_over["labels"] = LOOSE
    if empty := empty_classes(root, items):
        passed_over["empty classes"] = _some(empty, ", ")
    if found := tables(root):
        passed_over["not read"] = f"{_some(found, ', ')} (-D manifest={found[0]} reads it)"
    return items, passed_over


def _content(sample: Sample, labels: tuple[str, ...]) -> tuple[object, ...]:
    frames = [frame.key for frame in sample.frames]
    known = {k: v.key if isinstance(v, Frame) else v for k, v in sample.annotations.items()}
    own = () if sample.choices == labels else (sample.choices,)
    return sample.key, sample.label, sample.question, frames, known, *own


def _facts(
    samples: Sequence[Sample], problems: Sequence[str], passed_over: dict[str, str]
) -> dict[str, str]:
    count = Counter("clip" if len(sample.frames) > 1 else "image" for sample in samples)
    files = ", ".join(f"{n} {kind}{'s' * (n != 1)}" for kind, n in sorted(count.items()))
    facts = {"files": files, "skipped": "none"}
    if problems:
        facts["skipped"] = f"{len(problems)} unreadable: {_some(problems, '; ')}"
    return facts | passed_over


def _some(names: Sequence[str], separator: str) -> str:
    more = len(names) - NAMED
    return separator.join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")


def _neighbour(missing: Path) -> str | None:
    try:
        return nearest(missing.name, [file.name for file in missing.absolute().parent.iterdir()])
    except OSError:
        return None
