"""The manifest of a COVAR: one row an image, in `covar.parquet`. The data set `covar` reads it."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from cuescope_sdk import BadDataError, read_sealed, write_sealed

if TYPE_CHECKING:
    import pyarrow as pa

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

    `image` and `mask` are files inside the folder, with "/" between its parts; `mask` is "" where
    nobody knows where the object is, both where the image was dropped and not kept. `source` is
    the SPEC of the data set that the photo is from, `source_key` the photo's key in it, `group` its
    group there, else its key. `variant` tells the images of a subset apart ("scale-4"),
    `parameters` is a JSON object. `kept_exactly` says that no editor changed a pixel of the
    object: they are the photo's own under the stated geometry. `dropped` is the reason why the
    image is left out, "" where it is not. `image_digest` and `mask_digest` are those of the files'
    bytes (`picture_digest`), "" where there is no file. A score is None where nobody measured it.
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
    seed: int
    editor: str
    editor_fingerprint: str
    licence: str
    kept_exactly: bool
    dropped: str = ""
    image_digest: str = ""
    mask_digest: str = ""
    score_kept: float | None = None
    score_found: float | None = None
    score_background: float | None = None
    score_else: float | None = None
    score_changed: float | None = None
    score_seam: float | None = None


def picture_digest(content: bytes) -> str:
    """Of a picture's file, as `cuescope_sdk.data.Probe` has it, which is compared with it."""
    return blake2b(content, digest_size=16).hexdigest()


def schema() -> "pa.Schema":
    """The columns of `covar.parquet`, in order."""
    import pyarrow as pa

    kinds: dict[object, str] = {int: "int64", bool: "bool", str: "string"}
    columns = []
    for field in fields(Row):
        # what is left are the scores
        kind = kinds.get(field.type, "float64")
        columns.append(pa.field(field.name, kind))
    return pa.schema(columns)


def write_manifest(folder: Path, rows: Sequence[Row], choices: Sequence[str]) -> Path:
    """`covar.parquet` with the answers that its images are chosen from; equal rows, equal bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    # the answers are those of all images, so no column has them
    described = schema().with_metadata({"choices": json.dumps(list(choices))})
    table = pa.Table.from_pylist([asdict(row) for row in rows], schema=described)
    # in memory first: the seal is of the bytes
    content = BytesIO()
    pq.write_table(table, content, compression="zstd")
    path = folder / MANIFEST
    write_sealed(path, content.getvalue())
    return path


def read_manifest(folder: Path) -> list[Row]:
    """The rows that a build wrote.

    Raises DamagedFileError for a table that was changed since, and BadDataError for one of another
    version.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / MANIFEST
    content = read_sealed(path, remedy=AGAIN)
    try:
        table = pq.read_table(pa.BufferReader(content))
        return [Row(**values) for values in table.to_pylist()]
    # TypeError: columns that are no fields of a row, from another version
    except (pa.ArrowException, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise BadDataError(
            f"covar: {path} cannot be read", got=reason, remedy=AGAIN
        ) from None
