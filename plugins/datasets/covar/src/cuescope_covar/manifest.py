"""The manifest of a COVAR: one row an image, in `covar.parquet`."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuescope_sdk import BadDataError, UserError, nearest, read_sealed, write_sealed

if TYPE_CHECKING:
    import pyarrow as pa

MANIFEST = "covar.parquet"
# The eight subsets in the order of the paper's Table 3, and the images that they were made from.
SUBSETS = ("background", "h-flip", "translate", "crop", "v-flip", "rotation", "viewpoint", "scale")
ORIGINAL = "original"
AGAIN = "`cuescope covar build` with the same words writes it again"
SCORES = ("kept", "found", "background", "else", "changed", "seam")


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

    kinds: dict[object, pa.DataType] = {int: pa.int64(), bool: pa.bool_(), str: pa.string()}
    return pa.schema(
        [pa.field(field.name, kinds.get(field.type, pa.float64())) for field in fields(Row)]
    )


def write_manifest(folder: Path, rows: Sequence[Row], choices: Sequence[str]) -> Path:
    """`covar.parquet` with the answers that its images are chosen from; equal rows, equal bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    told = schema().with_metadata({"choices": json.dumps(list(choices))})
    table = pa.Table.from_pylist([asdict(row) for row in rows], schema=told)
    content = BytesIO()
    pq.write_table(table, content, compression="zstd")
    path = folder / MANIFEST
    write_sealed(path, content.getvalue())
    return path


def read_manifest(folder: Path) -> tuple[list[Row], tuple[str, ...]]:
    """The rows and the choices.

    Raises UserError for a manifest that is missing, DamagedFileError or BadDataError for one that
    no build wrote, or that was changed since.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / MANIFEST
    if not path.is_file():
        there = sorted(p.name for p in folder.parent.glob("*/") if (p / MANIFEST).is_file())
        raise UserError(
            f"covar: no {MANIFEST} in '{folder}'",
            expected="a folder that `cuescope covar build ... --out DIR` has finished",
            remedy=nearest(folder.name, there),
        )
    content = read_sealed(path, remedy=AGAIN)
    try:
        table = pq.read_table(pa.BufferReader(content))
        choices = json.loads((table.schema.metadata or {}).get(b"choices", b"[]"))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise BadDataError(
            f"covar: {path} cannot be read", got=str(error).splitlines()[0], remedy=AGAIN
        ) from None
    wanted = schema()
    for field in wanted:
        if (
            field.name not in table.schema.names
            or table.schema.field(field.name).type != field.type
        ):
            raise BadDataError(
                f"covar: {path} has no column '{field.name}' of type {field.type}",
                got=", ".join(f"{each.name} ({each.type})" for each in table.schema),
                remedy=nearest(field.name, table.schema.names),
            )
    rows = [_checked(values, n, path) for n, values in enumerate(_rows(table, wanted.names))]
    labels = tuple(dict.fromkeys(row.label for row in rows))
    return rows, tuple(map(str, choices)) or tuple(sorted(labels))


def _rows(table: "pa.Table", names: Sequence[str]) -> Iterable[Mapping[str, Any]]:
    rows: list[dict[str, Any]] = table.select(list(names)).to_pylist()
    return rows


def _checked(values: Mapping[str, Any], number: int, path: Path) -> Row:
    """A row; raises BadDataError for one that no build writes."""
    where = f"covar: {path} row {number + 1}"
    for field in fields(Row):
        if values[field.name] is None and not field.name.startswith("score_"):
            raise BadDataError(where, expected=f"a {field.name}", got="nothing")
    row = Row(**values)
    if row.subset not in (ORIGINAL, *SUBSETS):
        raise BadDataError(
            f"{where}: subset", expected=f"one of {', '.join(SUBSETS)}", got=f"'{row.subset}'"
        )
    for name in ("image", "mask"):
        inside = Path(getattr(row, name))
        if inside.is_absolute() or ".." in inside.parts:
            raise BadDataError(
                f"{where}: {name}", expected="a file inside the folder", got=f"'{inside}'"
            )
    try:
        known = isinstance(json.loads(row.parameters), dict)
    except ValueError:
        known = False
    if not known:
        raise BadDataError(f"{where}: parameters", expected="a JSON object", got=row.parameters)
    return row
