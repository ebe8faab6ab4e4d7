"""Manifests: a sample a row, of a file with what is asked, answered and known of it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cuescope_folder.cells import actions_of, choices_of, cues_of, names_of, plain, text_of
from cuescope_folder.columns import COLUMNS, by_known_names
from cuescope_folder.items import Item, canonical_split
from cuescope_folder.paths import Paths
from cuescope_folder.rows import Row
from cuescope_sdk.data import kind_of, printable_name


def manifest_items(rows: Sequence[Row], name: str, root: Path) -> list[Item]:
    """An item a row; `path` is in the resolved folder `root`, and may not leave it.

    The label is `label`, `answer` where there is no `label`, or the first of `answers`; None where
    the row has timed `actions` instead. Raises UserError naming the line for a missing cell, a
    path that leaves `root`, and a cell that is not what its column holds.
    """
    paths = Paths(root)
    seen: Counter[str] = Counter()
    items = []
    for row in by_known_names(rows, name):
        item = _item(row, f"{name} {row.place}", paths)
        seen[item.key] += 1
        repeat = seen[item.key]
        items.append(item if repeat == 1 else replace(item, key=f"{item.key}#{repeat}"))
    return items


def _item(row: Row, place: str, paths: Paths) -> Item:
    cells = row.cells
    inside = paths.named(text_of(cells.get("path"), "path", place), place)
    file = paths.root / inside
    annotations = {c: plain(v) for c, v in cells.items() if c not in COLUMNS}
    annotations["path"] = inside.as_posix()
    if "cues" in cells:
        annotations["cues"] = cues_of(cells["cues"], place)
    if "label" in cells and "answer" in cells:
        annotations["answer"] = plain(cells["answer"])
    if "answers" in cells:
        annotations["answers"] = names_of(cells["answers"], "answers", place)
    timed = kind_of(file) != "image" and not file.is_dir()
    label = _label(row, place)
    split, question = cells.get("split"), cells.get("question")
    return Item(
        key=inside.as_posix(),
        files=paths.images_in(file, place) if file.is_dir() else (file,),
        folder=file.is_dir(),
        label=label,
        choices=choices_of(cells["choices"], label, place) if "choices" in cells else (),
        mask=_mask(row, paths, place),
        split=None if split is None else canonical_split(printable_name(str(split))),
        question=None if question is None else printable_name(str(question)),
        actions=actions_of(cells["actions"], timed, place) if "actions" in cells else (),
        annotations=annotations,
        place=place,
    )


def _label(row: Row, place: str) -> str | None:
    cells = row.cells
    said = cells.get("label", cells.get("answer"))
    if said is None and "answers" in cells:
        return names_of(cells["answers"], "answers", place)[0]
    return None if said is None and "actions" in cells else text_of(said, "label", place)


def _mask(row: Row, paths: Paths, place: str) -> Path | None:
    if "mask" not in row.cells:
        return None
    return paths.root / paths.named(text_of(row.cells["mask"], "mask", place), place)
