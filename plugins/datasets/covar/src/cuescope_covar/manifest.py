"""The manifest of a COVAR: one row an image, in `covar.parquet`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import formatannotation
from pathlib import Path
from typing import Any, get_type_hints

from cuescope_sdk import BadDataError, UserError, nearest, read_sealed

MANIFEST = "covar.parquet"
# The eight subsets in the order of the paper's Table 3, and the images that they were made from.
SUBSETS = (
    "background",
    "h-flip",
    "translate",
    "crop",
    "v-flip",
    "rotation",
    "viewpoint",
    "scale",
)
ORIGINAL = "original"
AGAIN = "`cuescope covar build` with the same words writes it again"


@dataclass(frozen=True)
class Row:
    """An image, how it was made, and what the quality filter says of it.

    `image` and `mask` are files inside the folder, with "/" between their parts; "" where there is
    none. `source` is the SPEC of the data set that the photo is from, `source_key` the photo's key
    in it, `group` its group there, else its key. `variant` tells the images of a subset apart
    ("scale-4"), `parameters` is a JSON object. `kept_exactly` says that no editor changed a pixel
    of the object. `dropped` is the reason why the image is left out, "" where it is not.
    `image_digest` and `mask_digest` are those of the files' bytes, as `cuescope_sdk.data.Probe` has
    them. A score above 1 drops the image; None is one that nobody measured.
    """

    image: str
    mask: str
    key: str
    source: str
    source_key: str
    group: str
    label: str
    background: str
    subset: str
    variant: str
    parameters: str
    prompt: str
    editor: str
    licence: str
    kept_exactly: bool
    dropped: str
    image_digest: str
    mask_digest: str
    score_kept: float | None
    score_found: float | None
    score_background: float | None
    score_else: float | None
    score_changed: float | None
    score_seam: float | None


def read_manifest(folder: Path) -> tuple[list[Row], tuple[str, ...]]:
    """The rows, and the answers that their images are chosen from.

    Raises UserError for a manifest that is missing, DamagedFileError or BadDataError for one that
    no build wrote, or that was changed since.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / MANIFEST
    if not path.is_file():
        built = [file.parent.name for file in folder.parent.glob(f"*/{MANIFEST}")]
        raise UserError(
            f"covar: no {MANIFEST} in '{folder}'",
            expected="a folder that `cuescope covar build ... --out DIR` has finished",
            remedy=nearest(folder.name, sorted(built)),
        )
    content = read_sealed(path, remedy=AGAIN)
    try:
        table = pq.read_table(pa.BufferReader(content))
        choices = json.loads((table.schema.metadata or {}).get(b"choices", b"[]"))
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise BadDataError(
            f"covar: {path} cannot be read", got=reason, remedy=AGAIN
        ) from None
    rows = []
    for number, values in enumerate(table.to_pylist(), 1):
        rows.append(_check_row(values, f"covar: {path} row {number}"))
    labels = sorted({row.label for row in rows})
    return rows, tuple(map(str, choices or labels))


def _check_row(values: Mapping[str, Any], where: str) -> Row:
    """A row; raises BadDataError for one that no build writes."""
    columns = get_type_hints(Row)
    for name, kind in columns.items():
        value = values.get(name)
        if not isinstance(value, kind):
            raise BadDataError(
                f"{where}: {name}", expected=formatannotation(kind), got=repr(value)
            )
    row = Row(**{name: values[name] for name in columns})
    if row.subset not in (ORIGINAL, *SUBSETS):
        expected = f"one of {', '.join(SUBSETS)}"
        raise BadDataError(f"{where}: subset", expected=expected, got=f"'{row.subset}'")
    for name in ("image", "mask"):
        inside = Path(values[name])
        if inside.is_absolute() or ".." in inside.parts:
            expected = "a file inside the folder"
            raise BadDataError(f"{where}: {name}", expected=expected, got=f"'{inside}'")
    try:
        parameters = json.loads(row.parameters)
    except ValueError:
        parameters = None
    if not isinstance(parameters, dict):
        raise BadDataError(
            f"{where}: parameters", expected="a JSON object", got=row.parameters
        )
    return row
