"""Images and labels of the caller as a data set."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cuescope.python.pixels import as_image, frame_of, late_frame, rgb
from cuescope.python.texts import require_text
from cuescope_core.amounts import count_of
from cuescope_core.context import Progress, silent
from cuescope_core.digest import digest
from cuescope_core.errors import UserError, nearest, reason_of, with_article
from cuescope_core.spec import name_of
from cuescope_core.types import Frame, Options, Sample

FOREGROUND = "foreground"  # the annotation that methods read masks from
LIST_OF_ALL = 12  # labels that an error lists


class Images:
    """Images with labels: PIL images, uint8 arrays or paths of files; a list of them is a clip.

    `groups` says which images were not drawn independently (of one video, one patient). `masks`
    are bool arrays (row, col) or black-and-white images that are True on the labelled thing.
    `questions` are asked about the images, `choices` are the answers to choose from, else the
    labels are. `classes` are all labels in their order, and names for labels that are numbers.
    """

    Options = Options
    facts: Mapping[str, str]

    def __init__(
        self,
        images: Sequence[Any],
        labels: Sequence[Any],
        *,
        groups: Sequence[Any] | None = None,
        masks: Sequence[Any] | None = None,
        questions: Sequence[str] | None = None,
        choices: Sequence[Sequence[str]] | None = None,
        classes: Sequence[str] | None = None,
        keys: Sequence[str] | None = None,
        root: str | Path = "",
        name: str = "images",
        progress: Progress = silent,
    ) -> None:
        self.name = name_of(name)
        images, labels = _read_all(images, "image"), _read_all(labels, "label")
        columns = {
            "labels": labels,
            "groups": groups,
            "masks": masks,
            "questions": questions,
            "choices": choices,
            "keys": keys,
        }
        _require_lengths(len(images), columns)
        words, self.labels = name_labels(labels, classes)
        # reports and pictures go by key
        keys = _unique(_keys_of(images) if keys is None else list(map(str, keys)))
        for row, key in enumerate(keys):
            require_text(f"the key of image {row}", key)
        for label in self.labels:
            require_text("a label", label)
        samples = []
        with progress("reading the images", len(images)) as advance:
            for row, key in enumerate(keys):
                own = None if choices is None else tuple(map(str, choices[row]))
                samples.append(
                    Sample(
                        key=key,
                        frames=_frames(images[row], f"image {row}", Path(root)),
                        question=None if questions is None else questions[row],
                        choices=own or self.labels,
                        label=words[row],
                        group=_group(groups, row),
                        annotations=_mask(masks, row),
                    )
                )
                advance(1)
        self._samples = tuple(samples)
        self.facts = {"data": f"{count_of(len(samples), 'images')} in memory"}
        self.fingerprint = digest(
            "images", self.labels, [_content(sample) for sample in samples]
        )

    def __len__(self) -> int:
        return len(self._samples)

    def __getitem__(self, index: int) -> Sample:
        return self._samples[index]

    def group_of(self, index: int) -> str | None:
        """The group of a sample."""
        return self._samples[index].group


def name_labels(
    labels: Sequence[Any], classes: Sequence[str] | None
) -> tuple[list[str], tuple[str, ...]]:
    """The labels as words, and all of them in their order; raises UserError naming the row.

    Whole numbers are places in `classes`, or where there are none, names in numeric order.
    """
    plain = [_plain_label(label, row) for row, label in enumerate(labels)]
    if classes is None:
        numbers = all(isinstance(label, int) for label in plain)
        # as texts, 10 would come before 2
        known = sorted(set(plain)) if numbers else sorted(set(map(str, plain)))
        return [str(label) for label in plain], tuple(map(str, known))
    names = tuple(map(str, classes))
    words = [_name_in(names, label, row) for row, label in enumerate(plain)]
    return words, names


def _read_all(column: Sequence[Any], what: str) -> list[Any]:
    """The items; raises UserError that names the one that cannot be read."""
    _require_many(column, what)
    items: list[Any] = []
    try:
        # a generator has no length, and is read once
        for item in column:
            items.append(item)  # noqa: PERF402 - how many were read is told
    except Exception as error:
        raise UserError(
            f"{what} {len(items)} cannot be read", got=reason_of(error)
        ) from error
    return items


def _require_many(column: Any, what: str) -> None:
    """Refuse one thing where many are meant; a text is one, though it has letters."""
    if isinstance(column, Iterable) and not isinstance(column, str | bytes):
        return
    # what has places alone is gone through by them
    if hasattr(column, "__getitem__") and not isinstance(column, str | bytes):
        return
    raise UserError(
        f"the {what}s",
        expected=f"a list with one {what} for each sample",
        got=repr(column)
        if isinstance(column, str)
        else with_article(type(column).__name__),
    )


def _name_in(names: tuple[str, ...], label: str | int, row: int) -> str:
    if isinstance(label, int) and 0 <= label < len(names):
        return names[label]
    if label not in names:
        raise UserError(
            f"label {label!r} of image {row} is none of the classes",
            expected=", ".join(names[:LIST_OF_ALL]),
            remedy=nearest(str(label), names),
        )
    return str(label)


def _plain_label(label: Any, row: int) -> str | int:
    if isinstance(label, np.generic):
        label = label.item()
    # True is an int, and would be taken for class 1
    if isinstance(label, str | int) and not isinstance(label, bool) and label != "":
        return label
    raise UserError(
        f"image {row} has no label that can be used",
        expected="text, or a whole number",
        got=repr(label),
        remedy="Of a row with one 1 that is .argmax(axis=1), and classes=[...] names the numbers"
        if getattr(label, "ndim", 0)
        else "Name it, or leave the image out",
    )


def _require_lengths(images: int, columns: Mapping[str, Sequence[Any] | None]) -> None:
    if not images:
        raise UserError("no images", expected="at least two, with their labels")
    for name, column in columns.items():
        if column is not None and len(column) != images:
            raise UserError(
                f"{name} do not fit the images",
                expected=f"{images}, one for each image",
                got=f"{len(column)}",
            )


def _keys_of(images: Sequence[Any]) -> list[str]:
    if all(isinstance(image, str | Path) for image in images):
        return list(map(str, images))
    # padded, so that keys sort as the images came
    width = len(str(len(images) - 1))
    return [f"image-{row:0{width}}" for row in range(len(images))]


def _unique(keys: list[str]) -> list[str]:
    """The keys; one that comes again is told apart by its row."""
    seen: set[str] = set()
    unique = []
    for row, key in enumerate(keys):
        unique.append(f"{key}#{row}" if key in seen else key)
        seen.add(key)
    return unique


def _frames(item: Any, where: str, root: Path) -> tuple[Frame, ...]:
    if callable(item):  # a row that is read when it is looked at
        return (late_frame(item, where),)
    # pixels of a clip: (frame, row, col, 3)
    is_array = isinstance(item, np.ndarray) and item.ndim == 4
    if not (is_array or isinstance(item, list | tuple)):
        return (frame_of(item, where, root),)
    if not len(item):
        raise UserError(f"{where} is a clip without frames", expected="one at least")
    return tuple(
        frame_of(frame, f"frame {i} of {where}", root) for i, frame in enumerate(item)
    )


def _group(groups: Sequence[Any] | None, row: int) -> str | None:
    group = None if groups is None else groups[row]
    return None if group is None or group != group else str(group)  # NaN is not itself


def _mask(masks: Sequence[Any] | None, row: int) -> dict[str, Any]:
    mask = None if masks is None else masks[row]
    if mask is None:
        return {}
    if isinstance(mask, np.ndarray) and mask.dtype == bool and mask.ndim == 2:
        return {FOREGROUND: mask}
    if isinstance(mask, str | Path):
        return {FOREGROUND: frame_of(mask, f"mask {row}")}
    grey = rgb(as_image(mask, f"mask {row}")).convert("L")
    # the middle: JPEG leaves grey at the edge of a mask
    return {FOREGROUND: np.asarray(grey) > 127}


def _content(sample: Sample) -> tuple[object, ...]:
    mask = sample.annotations.get(FOREGROUND)
    shown = [frame.key for frame in sample.frames]
    known = mask.key if isinstance(mask, Frame) else mask
    return (
        sample.key,
        sample.label,
        sample.group,
        sample.question,
        sample.choices,
        shown,
        known,
    )
