"""Your own images, videos and frame folders as a cuescope data set."""

from collections import Counter
from collections.abc import Sequence
from math import ceil
from typing import Self

from cuescope_folder.answers import answer_facts, common_choices, shared_choices, shorten_list
from cuescope_folder.copies import Copies
from cuescope_folder.grouping import group_facts, group_items
from cuescope_folder.layout import (
    Item,
    canonical_split,
    class_items,
    empty_classes,
    scan,
    tables_in,
)
from cuescope_folder.manifest import manifest_items
from cuescope_folder.options import FolderOptions
from cuescope_folder.places import Place, fetch_cells, find_place
from cuescope_folder.samples import contradictions, losses, needed_files, read_samples, with_mask
from cuescope_folder.shards import shard_rows
from cuescope_folder.tables import path_cells, read_rows
from cuescope_sdk import (
    BadDataError,
    Context,
    Frame,
    PlantedCue,
    Plugin,
    Sample,
    UserError,
    digest,
    nearest,
)
from cuescope_sdk.data import Unread, probe_all

NAMED = 5  # files that a fact or an error lists
LOOSE = (
    "none, as all files lie loose in PATH: sort them into a folder for each class, or write "
    "PATH/manifest.csv, a line 'path,label' or 'path,question,answer' and then a line for each file"
)


class Folder(Plugin):
    """Class folders or a manifest: one sample a file, frame folder, or manifest row.

    The group of a sample is what the option `group` or the manifest's column says; where several
    rows are about one file, it is the file; else there is none. Every file is probed once; what
    cannot be read is named in `facts` and left out. Raises UserError for a layout, manifest or
    option that cannot be used, and BadDataError when more than `max_bad` of the samples cannot be
    read.
    """

    Options = FolderOptions
    options: FolderOptions

    def __init__(self, options: FolderOptions, context: Context) -> None:
        super().__init__(options, context)
        try:
            # the root is resolved: a path may not leave it by a link
            place = find_place(options, context)
        except PermissionError as error:
            raise UserError(f"folder: cannot read {options.path}", got=error.strerror) from None
        items, columns, unread, passed_over = _items(place, options, context)
        grouping = group_items(items, options.group, columns)
        items = grouping.items
        common = common_choices(items, options.choices, options.answers, place.root)
        # Before the split is taken: labels and answers are those of all splits.
        self.labels = shared_choices(items, common)
        items = in_split(items, options.split)
        files = [
            file for item in items for file in with_mask(item, needed_files(item, options.frames))
        ]
        probes = probe_all(files, context, options.max_pixels)
        self._samples, problems = read_samples(items, probes, options.frames, common)
        refuse_bad_data(problems, len(items), options.max_bad)
        if problems:
            unread.add("damaged", count=len(problems))
        lost = {
            "left out": unread.in_words(),
            "not whole": shorten_list(losses(items, probes), NAMED, "; "),
            "contradictions": shorten_list(contradictions(self._samples), NAMED, "; "),
        }
        passed_over |= {name: words for name, words in lost.items() if words}
        self.facts = _facts(self._samples, problems, passed_over) | answer_facts(items, common)
        shown = {sample.key for sample in self._samples}
        self.facts |= group_facts(grouping, [item for item in items if item.key in shown])
        sheets = (sample.annotations.get("cues", {}) for sample in self._samples)
        self.planted_cues = tuple(
            # a dict keeps their order
            PlantedCue(key=cue, name=cue)
            for cue in dict.fromkeys(cue for s in sheets for cue in s)
        )
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


def in_split(items: Sequence[Item], wanted: str | None) -> list[Item]:
    """The items of one split (aliases such as "validation" are understood), or all of them."""
    if wanted is None:
        return list(items)
    known = sorted({item.split for item in items if item.split})
    of_split = [item for item in items if item.split == canonical_split(wanted)]
    if not of_split:
        without = "The data has no splits: use PATH/train/CLASS folders or a 'split' column"
        raise UserError(
            f"folder: no split '{wanted}'",
            expected=f"one of {', '.join(known)}" if known else None,
            remedy=nearest(wanted, known) if known else without,
        )
    return of_split


def refuse_bad_data(problems: Sequence[str], items: int, max_bad: float) -> None:
    """Raise BadDataError where more than `max_bad` of the items cannot be read, or all of them."""
    if not problems or (len(problems) <= max_bad * items and len(problems) < items):
        return
    share = len(problems) / items
    # The offered share is rounded up, so that taking it is enough.
    accept = f", or accept them with -D max_bad={ceil(100 * share) / 100}" if share < 1 else ""
    raise BadDataError(
        f"folder: {len(problems)} of {items} samples cannot be read",
        expected=f"at most {max_bad:.1%}",
        got=shorten_list(problems, NAMED, "; "),
        remedy=f"Mend or remove them{accept}",
    )


def _items(
    place: Place, options: FolderOptions, context: Context
) -> tuple[list[Item], frozenset[str], Unread, dict[str, str]]:
    """The items, the manifest's columns, what was passed over, and more of that in words."""
    root, facts = place.root, dict(place.facts)
    if place.manifest is not None or place.shards:
        copies = Copies(context)
        if place.manifest is not None:
            unread, name = Unread(), place.manifest.name
            rows = read_rows(place.manifest, copies)
            cells = [cell for cell in path_cells(rows) if cell not in copies.files]
            fetched, fact = fetch_cells(cells, place, options, context)
            copies.files |= fetched
            facts |= fact
        else:
            name = f"{len(place.shards)} shards"
            rows, unread = shard_rows(place.shards, copies, options.class_names, context)
        read = manifest_items(rows, name, root, options.group, copies.files)
        read.unread.take(unread)
        return *read, facts
    files, unread = scan(root)
    items, outside = class_items(root, files)
    passed_over = facts
    if outside:
        passed_over["ignored"] = f"{outside} outside the class folders"
    if all(item.label is None for item in items):  # an audit without labels runs, and says little
        passed_over["labels"] = LOOSE
    if empty := empty_classes(root, items):
        passed_over["empty classes"] = shorten_list(empty, NAMED)
    if tables := tables_in(root):
        passed_over["not read"] = (
            f"{shorten_list(tables, NAMED)} (-D manifest={tables[0]} reads it)"
        )
    return items, frozenset(), unread, passed_over


def _content(sample: Sample, labels: tuple[str, ...]) -> tuple[object, ...]:
    frames = [frame.key for frame in sample.frames]
    known = {k: v.key if isinstance(v, Frame) else v for k, v in sample.annotations.items()}
    # Choices that are the labels are digested once, with these.
    own = () if sample.choices == labels else (sample.choices,)
    group = () if sample.group is None else ("group", sample.group)
    return sample.key, sample.label, sample.question, frames, known, *own, *group


def _facts(
    samples: Sequence[Sample], problems: Sequence[str], passed_over: dict[str, str]
) -> dict[str, str]:
    count = Counter("clip" if len(sample.frames) > 1 else "image" for sample in samples)
    files = ", ".join(f"{n} {kind}{'s' * (n != 1)}" for kind, n in sorted(count.items()))
    facts = {"files": files, "skipped": "none"}
    if problems:
        facts["skipped"] = f"{len(problems)} unreadable: {shorten_list(problems, NAMED, '; ')}"
    return facts | passed_over


__all__ = ["Folder", "FolderOptions"]
