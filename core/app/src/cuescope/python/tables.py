"""Tables of the caller as data sets: a pandas DataFrame, a `datasets.Dataset`, columns by name."""

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from cuescope.python.images import Images
from cuescope_core.context import Progress, silent
from cuescope_core.errors import UserError, nearest, with_article
from cuescope_core.spec import fault
from cuescope_core.types import Options

# the names that a column may have without being told
USUAL = {
    "image": (
        "image",
        "images",
        "img",
        "path",
        "image_path",
        "file",
        "filename",
        "file_name",
    ),
    "label": ("label", "labels", "class", "target", "answer"),
    "group": ("group",),
    "question": ("question",),
    "mask": ("mask",),
}
NEEDED = ("image", "label")


class TableOptions(Options):
    """`data_options` of a table: which of its columns are what."""

    image: str | None = Field(
        None, description="column of images, or paths of image files"
    )
    label: str | None = Field(None, description="column of labels")
    group: str | None = Field(
        None, description="column of what was drawn independently"
    )
    question: str | None = Field(
        None, description="column of questions about the images"
    )
    mask: str | None = Field(None, description="column of masks of the labelled thing")
    classes: tuple[str, ...] | None = Field(
        None, description="all labels, in their order"
    )
    root: Path = Field(Path(), description="folder that paths start from")


def is_table(item: object) -> bool:
    """True if it is a table that is known here; a library that nobody imported made none."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(item, pandas.DataFrame):
        return True
    return isinstance(item, Mapping) or _is_dataset(item)


def _is_dataset(item: object) -> bool:
    datasets = sys.modules.get("datasets")
    # the other three are no tables here, but `_of_dataset` says what makes one of them
    names = ("Dataset", "IterableDataset", "DatasetDict", "IterableDatasetDict")
    return datasets is not None and isinstance(
        item, tuple(getattr(datasets, name) for name in names)
    )


def table_images(
    item: Any,
    options: Mapping[str, Any],
    name: str,
    progress: Progress = silent,
) -> Images:
    """The rows as samples; raises UserError for columns that are missing, and for empty tables."""
    try:
        given = TableOptions(**options)
    except ValidationError as error:
        raise fault("data_options", error, TableOptions.model_fields) from error
    if _is_dataset(item):
        columns, names, classes = _of_dataset(item, given, sys.modules["datasets"])
    else:
        # pandas does not find by text a column that is called by a number
        columns = {str(column): list(item[column]) for column in item}
        names = list(columns)
        classes = None
    column_of = _find_columns(names, given)
    optional = {}
    for kind in ("group", "question", "mask"):
        if kind in column_of:
            optional[f"{kind}s"] = columns[column_of[kind]]
    return Images(
        columns[column_of["image"]],
        columns[column_of["label"]],
        classes=given.classes or classes,
        root=given.root,
        name=name,
        progress=progress,
        **optional,
    )


def _of_dataset(
    item: Any,
    options: TableOptions,
    datasets: Any,
) -> tuple[dict[str, Sequence[Any]], list[str], tuple[str, ...] | None]:
    """Columns that are used, the names of all, and the classes that it declares."""
    if not isinstance(item, datasets.Dataset):
        remedy = "datasets.Dataset.from_list(list(data)) makes one"
        if isinstance(item, dict) and item:
            remedy = f"Choose a split: data[{next(iter(item))!r}]"
        raise UserError(
            f"data is {with_article(type(item).__name__)}",
            expected="one datasets.Dataset, with a length",
            remedy=remedy,
        )
    names = list(item.column_names)
    column_of = _find_columns(names, options)
    columns: dict[str, Sequence[Any]] = {}
    for kind, column in column_of.items():
        if isinstance(item.features[column], datasets.Image):
            # images of a large set are read when they are looked at
            columns[column] = [
                partial(_cell, item, row, column) for row in range(len(item))
            ]
            # `Images` takes functions for images alone
            if kind == "mask":
                columns[column] = [load() for load in columns[column]]
        else:
            columns[column] = list(item[column])
    # a ClassLabel: its rows are numbers, which stand for these
    classes = getattr(item.features[column_of["label"]], "names", None)
    return columns, names, None if classes is None else tuple(classes)


def _cell(dataset: Any, row: int, column: str) -> Any:
    return dataset[row][column]


def _find_columns(names: Sequence[str], options: TableOptions) -> dict[str, str]:
    """The column of each kind; raises UserError where a needed one is missing."""
    column_of: dict[str, str] = {}
    for kind, usual in USUAL.items():
        given = getattr(options, kind)
        if given is not None and given not in names:
            raise UserError(
                f"data has no column '{given}'",
                expected=f"one of {', '.join(names)}",
                remedy=nearest(given, names),
            )
        column = given or next((name for name in usual if name in names), None)
        if column is not None:
            column_of[kind] = column
        elif kind in NEEDED:
            raise UserError(
                f"data has no column '{kind}'",
                got=f"columns {', '.join(names) or 'none'}",
                remedy=f"Name it: data_options={{'{kind}': 'COLUMN'}}",
            )
    return column_of
