"""The manifest of a COVAR (section 4): one row an image, in `covar.parquet`.

`cuescope covar build` writes it, and the data set `covar` reads it.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from inspect import formatannotation
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, FiniteFloat, Strict, TypeAdapter, ValidationError

from cuescope_core.checksummed_files import read_sealed, write_sealed
from cuescope_core.parquet_files import read_parquet, require_pyarrow
from cuescope_sdk import BadDataError, UserError, nearest

_AGAIN = "`cuescope covar build` with the same words writes it again"
_CHOICES = TypeAdapter(tuple[str, ...])


class _Parameters(BaseModel, extra="allow"):
    """Parameters of how an image was made: plain values, `scale` among them."""

    __pydantic_extra__: dict[str, bool | FiniteFloat | str]

    scale: Annotated[FiniteFloat, Strict()] = 1.0


@dataclass(frozen=True)
class CovarRow:
    """An image, how it was made, and what the quality filter says of it.

    `image` and `mask` are files inside the folder, with "/" between their parts; `mask` is "" where
    nobody knows where the object is, both where the image was dropped and not kept. `source` is
    the SPEC of the data set that the photo is from, `source_key` the photo's key in it, `group` its
    group there, else its key. `variant` tells the images of a subset apart ("scale-4"),
    `parameters` is a JSON object. `kept_exactly` says that no editor changed a pixel of the
    object: they are the photo's own under the stated geometry. `dropped` is the reason why the
    image is left out, "" where it is not. `image_digest` and `mask_digest` are the
    `content_digest` of the files, "" where there is no file. A score above 1 drops the image; None
    is one that nobody measured.
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

    @classmethod
    def read(cls, values: Mapping[str, Any], where: str) -> Self:
        """A row; raises BadDataError, which begins with `where`, for one that no build writes."""
        known: dict[str, Any] = {}
        for field in fields(cls):
            kind: Any = field.type
            value = known[field.name] = values.get(field.name)
            if not isinstance(value, kind):
                expected = formatannotation(kind)
                raise BadDataError(
                    f"{where}: {field.name}",
                    expected=expected,
                    got=repr(value)[:60],
                )
        row = cls(**known)
        subsets = CovarManifest.SUBSETS
        if row.subset not in (CovarManifest.ORIGINAL, *subsets):
            expected = f"one of {', '.join(subsets)}"
            raise BadDataError(
                f"{where}: subset", expected=expected, got=f"'{row.subset}'"
            )
        for name in ("image", "mask"):
            inside = Path(known[name])
            # what arrives names what lies in its own folder (docs/adr/0021)
            if inside.is_absolute() or ".." in inside.parts:
                expected = "a file inside the folder"
                raise BadDataError(
                    f"{where}: {name}", expected=expected, got=f"'{inside}'"
                )
        if not -(2**63) <= row.seed < 2**63:
            raise BadDataError(
                f"{where}: seed", expected="a number of 64 bits", got=str(row.seed)[:60]
            )
        try:
            _Parameters.model_validate_json(row.parameters)
        except ValidationError:
            raise BadDataError(
                f"{where}: parameters",
                expected="a JSON object of texts, numbers and flags, its scale a number",
                got=row.parameters[:60],
            ) from None
        return row


@dataclass(frozen=True)
class CovarManifest:
    """The rows of a COVAR, and the answers that its images are chosen from."""

    NAME: ClassVar[str] = "covar.parquet"
    # the eight subsets in the order of the paper's Table 3, and the images that they were made from
    SUBSETS: ClassVar[tuple[str, ...]] = (
        "background",
        "h-flip",
        "translate",
        "crop",
        "v-flip",
        "rotation",
        "viewpoint",
        "scale",
    )
    ORIGINAL: ClassVar[str] = "original"
    # what a check of the quality filter says of an image that it drops, in the order of the scores
    FAULTS: ClassVar[Mapping[str, str]] = {
        "kept": "object damaged",
        "found": "object not where it should be",
        "background": "another background",
        "else": "something else in the background",
        "changed": "background unchanged",
        "seam": "seam or leaked colour",
    }

    rows: Sequence[CovarRow]
    choices: tuple[str, ...]

    @classmethod
    def read(cls, folder: Path) -> Self:
        """That of a folder, where each row is one that a build writes.

        Raises UserError where there is none, DamagedFileError for one that was changed since, and
        BadDataError for one that no build wrote.
        """
        path = folder / cls.NAME
        if not path.is_file():
            built = [file.parent.name for file in folder.parent.glob(f"*/{cls.NAME}")]
            raise UserError(
                f"covar: no {cls.NAME} in '{folder}'",
                expected="a folder that `cuescope covar build ... --out DIR` has finished",
                remedy=nearest(folder.name, sorted(built)),
            )
        # a flipped bit is told, and never read as a row (benchmarks/results/reliability.md)
        content = read_sealed(path, remedy=_AGAIN)
        try:
            table = read_parquet(content, path.name)
        except UserError as error:
            raise BadDataError(
                f"covar: {path} cannot be read",
                got=str(error),
                remedy=_AGAIN,
            ) from None
        rows = []
        for number, values in enumerate(table.to_pylist(), 1):
            rows.append(CovarRow.read(values, f"covar: {path} row {number}"))
        words = (table.schema.metadata or {}).get(b"choices", b"[]")
        return cls(rows, _read_choices(words, rows, f"covar: {path}"))

    def write(self, folder: Path) -> None:
        """`covar.parquet` of a folder; equal rows, equal bytes."""
        require_pyarrow()
        import pyarrow as pa
        import pyarrow.parquet as pq

        kinds: dict[object, str] = {int: "int64", bool: "bool", str: "string"}
        # what is left are the scores
        columns = [(f.name, kinds.get(f.type, "float64")) for f in fields(CovarRow)]
        # the answers are those of all images, so no column has them
        choices = json.dumps(list(self.choices))
        schema = pa.schema(columns, {"choices": choices})
        table = pa.Table.from_pylist([asdict(row) for row in self.rows], schema=schema)
        # in memory first: the seal is of the bytes
        content = BytesIO()
        pq.write_table(table, content, compression="zstd")
        write_sealed(folder / self.NAME, content.getvalue())

    def describe_dropped(self, *, shown: bool) -> str:
        """How many images the filter dropped, by subset and its worst check; "" of none.

        `shown` says that they are shown all the same.
        """
        dropped = [row for row in self.rows if row.dropped]
        if not dropped:
            return ""
        faults: dict[str, Counter[str]] = {}
        for row in dropped:
            faults.setdefault(row.subset, Counter())[_fault(row)] += 1
        parts = []
        # the subset that lost most goes first
        for subset in sorted(faults, key=lambda name: -faults[name].total()):
            counts = faults[subset].most_common()
            words = ", ".join(f"{count} {fault}" for fault, count in counts)
            parts.append(f"{subset}: {faults[subset].total()} ({words})")
        asked = " (shown, as keep_all asks)" if shown else ""
        return (
            f"{len(dropped):,} of {len(self.rows):,} images by the quality filter{asked}: "
            + "; ".join(parts)
        )


def _fault(row: CovarRow) -> str:
    """In words, the check with the largest score; the reason itself where none is above 1."""
    # None, where nobody measured it, is no fault
    scores = {
        name: getattr(row, f"score_{name}") or 0.0 for name in CovarManifest.FAULTS
    }
    worst = max(scores, key=scores.__getitem__)
    return CovarManifest.FAULTS[worst] if scores[worst] > 1 else row.dropped


def _read_choices(
    words: bytes,
    rows: Sequence[CovarRow],
    where: str,
) -> tuple[str, ...]:
    """The answers, where each label is one; raises BadDataError for others."""
    labels = {row.label for row in rows}
    try:
        choices = _CHOICES.validate_json(words) or tuple(sorted(labels))
    except ValidationError:
        choices = ()
    if len(set(choices)) < len(choices) or not labels.issubset(choices):
        raise BadDataError(
            f"{where}: choices",
            expected="a list of different answers, the label of each image among them",
            got=words.decode(errors="replace")[:60],
            remedy=_AGAIN,
        )
    return choices
