"""The folder of a run: its report, its page and the pictures that both show."""

import json
import shlex
import warnings
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from cuescope_core.atomic_files import read_whole, write_atomically as write_atomically
from cuescope_core.conclusions import SCHEMA_VERSION, Occurrence, Report
from cuescope_core.digest import digest
from cuescope_core.errors import UserError, nearest
from cuescope_core.trust import own_runs
from cuescope_core.trust.paths import inside, require_own_place

if TYPE_CHECKING:
    from cuescope_core.trust.source import Source

MOST_BYTES = 2**34  # of a file beside a report: a hundred million answers
MOST_OF_STRANGERS = 2**28  # all of it is read before its digest is compared
# a thousand features with a hundred pictures each take half of it
MAX_REPORT_BYTES = 2**26
TABLES = ("answers.parquet", "findings.parquet")
PICTURED_FEATURES, PICTURES_EACH = 24, 12  # the view shows them all, a page the first


class RunFolder:
    """`report.json`, `report.html`, `answers.parquet` and the pictures of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def report_file(self) -> Path:
        """The JSON report, there once the run is whole."""
        return self.path / "report.json"

    @property
    def answers_file(self) -> Path:
        """The answers of the model, a row a trial: see answers.py."""
        return self.path / "answers.parquet"

    @property
    def page_file(self) -> Path:
        """The report as one HTML page."""
        return self.path / "report.html"

    def prepare(self) -> None:
        """Raise UserError now, not after the audit, where nothing can be written here.

        Or where it would be written elsewhere, by a link in a folder that somebody else prepared.
        """
        # `--out` was looked at as it was typed; the default folder is nobody's option
        require_own_place(self.path, self.path)
        for file in (self.report_file, self.answers_file, self.page_file):
            if file.is_dir():
                raise UserError(
                    f"{file} is a folder",
                    expected="a file, or nothing yet",
                    remedy="Delete it, or choose another folder: --out",
                )
        write_atomically(self.path / ".started", "")

    def save(
        self,
        report: Report,
        pictures: Mapping[str, bytes],
        *,
        page: str = "",
        own: bool = False,
        tables: Collection[str] = TABLES,
    ) -> None:
        """Store page and pictures first and the report last: a report that is there is whole.

        The report has the digest of every file beside it and a seal over all of that, which is
        noted as this user's `own` (see `trust.own_runs`). `tables` are those that were written for
        it: what lay in the folder before is nobody's word.
        """
        for key, jpeg in pictures.items():
            write_atomically(self._picture(key), jpeg)
        if page:
            write_atomically(self.page_file, page)
        written = [*map(self._picture, pictures), *map(self.path.joinpath, tables)]
        if page:
            written.append(self.page_file)
        # read back: answers and findings were written by others before
        digests = {
            file.relative_to(self.path).as_posix(): digest(file.read_bytes())
            for file in written
            if file.is_file()
        }
        whole = report.model_copy(update={"files": digests})
        # by way of JSON, for that is all that a reader can compute it from
        seal = _seal_of(whole.model_dump_json(indent=1))
        if own:
            own_runs.remember(seal)
        sealed = whole.model_copy(update={"seal": seal})
        write_atomically(self.report_file, sealed.model_dump_json(indent=1))
        (self.path / ".started").unlink(missing_ok=True)

    def pictures(self, report: Report) -> dict[str, bytes]:
        """The stored pictures, JPEG, by `picture_key` and `exhibit_key`.

        One that is not as it was written is left out, with a warning.
        """
        keys = [
            *map(picture_key, illustrations(report)),
            *map(exhibit_key, exhibits(report)),
        ]
        # once: a report of megabytes would be read again for each picture
        written = _read_report(self.path)
        kept: dict[str, bytes] = {}
        for key in keys:
            file = self._picture(key)
            if not file.is_file():
                continue
            try:
                kept[key] = self._read(file.relative_to(self.path).as_posix(), written)
            except UserError as error:
                warnings.warn(f"{error}; it is left out", stacklevel=2)
        return kept

    def holds(self, name: str) -> bool:
        """True if a file was written with the report; another may lie there since before it."""
        return name in _read_report(self.path).files and (self.path / name).is_file()

    def read(self, name: str) -> bytes:
        """The bytes of a file of this run; raises UserError where they are not as written."""
        return self._read(name, _read_report(self.path))

    def _read(self, name: str, report: Report) -> bytes:
        # a stranger's report names what it likes, and the file may be a link to anywhere
        file = own_file(self.path, name)
        written = report.files.get(name)
        if written is None:
            raise UserError(
                f"{file} does not belong to the report beside it",
                expected="a file that report.json names with its digest",
                remedy="Run the audit again: its answers are remembered",
            )
        try:
            most = MOST_BYTES if own_runs.is_own(report.seal) else MOST_OF_STRANGERS
            content = read_whole(file, most=most)
        except OSError as error:
            raise UserError(
                f"{file} cannot be read",
                expected="it beside its report",
                got=error.strerror,
                remedy="Run the audit again: its answers are remembered",
            ) from error
        if digest(content) != written:
            raise UserError(
                f"{file} was changed after it was written",
                remedy="Run the audit again: its answers are remembered",
            )
        return content

    def _picture(self, key: str) -> Path:
        # keys hold slashes, and more than file systems take
        return self.path / "pictures" / f"{digest(key)}.jpg"


def load_report(path: Path, *, sealed: bool = False) -> Report:
    """From a run folder or a report.json; raises UserError where it is none, or was changed.

    What `--json` printed has no seal, and is taken unless `sealed` asks for one. A run that was
    made elsewhere has no command.
    """
    stored = _read_report(path, sealed=sealed)
    # a copy that is changed and printed would be refused with its old seal
    changes: dict[str, Any] = {"seal": None, "signature": None, "files": {}}
    if not own_runs.is_own(stored.seal):
        # else a person would copy what a stranger wrote (SECURITY.md, rule 6)
        changes["provenance"] = stored.provenance.model_copy(update={"command": ""})
    return stored.model_copy(update=changes)


def stored_command(path: Path) -> str:
    """The command that a report says it was made by, whoever wrote it: to compare, not to show."""
    return _read_report(path).provenance.command


def run_around(path: Path) -> Path | None:
    """The folder of the run that a file is in, or in a folder of; None where it is in none."""
    place = path.absolute()
    for folder in (place, *list(place.parents)[:2]):
        if _is_run(folder):
            return folder
    return None


def _is_run(folder: Path) -> bool:
    """True if a folder holds a stored report; what `--json` printed has no seal."""
    file = folder / "report.json"
    if not file.is_file():
        return False
    try:
        report = json.loads(read_whole(file, most=MAX_REPORT_BYTES))
    except (OSError, UserError, ValueError, RecursionError):
        return True  # a damaged one may be mended
    return isinstance(report, dict) and report.get("seal") is not None


def require_undamaged(run: Path) -> None:
    """Raise UserError where answers or findings of a run folder are gone, or were changed.

    A `report.json` that is named by itself, as it is mailed, has no folder.
    """
    if not run.is_dir():
        return
    for name in _read_report(run).files:
        # what a person looks at is left out where it is damaged, and a page may be written anew
        if name.endswith(".parquet"):
            RunFolder(run).read(name)


def source_of(run: Path, allow: Collection[str] = ()) -> "Source":
    """Where a stored run came from: who made it, and what a person lets it `allow`.

    A run is made here where this user has a note of its seal, which fits its content.
    """
    from cuescope_core.trust.source import Source

    # not `load_report`, which drops the seal
    is_own = own_runs.is_own(_read_report(run).seal)
    folder = run if run.is_dir() else run.parent
    return Source(f"the run {run}", folder, frozenset(allow), typed_before=is_own)


def asked_in(run: Path) -> Path | None:
    """The folder in which this user asked for a run; None where it is not there, or not known."""
    place = own_runs.asked_in(_read_report(run).seal)
    # it may be on a drive that is not there today
    return place if place is not None and place.is_dir() else None


def own_file(run: Path, name: str) -> Path:
    """A file of a run by its name; raises UserError where that leads out of the run's folder."""
    file = run / name
    inside(run, file.absolute(), str(file))
    return file


def _read_report(path: Path, *, sealed: bool = False) -> Report:
    """The report with its seal and the digests of the files beside it."""
    file = own_file(path, "report.json") if path.is_dir() else path
    if not file.is_file():
        raise UserError(
            f"no report at {path}",
            expected="a run folder or a report.json",
            remedy=_run_near(path),
        )
    try:
        report, seal = _parse(read_whole(file, most=MAX_REPORT_BYTES))
    except ValidationError as error:
        raise _unreadable(file, error) from error
    if (sealed or report.seal) and report.seal != seal:
        raise UserError(
            f"{file} was changed after it was written",
            remedy="Run the audit again for a true one",
        )
    return report


def _run_near(path: Path) -> str:
    """Suggest what to type where there is no report: a run of nearly this name, or a list."""
    # a name may be one that no file can have
    with suppress(OSError, ValueError):
        if any(path.glob("*/report.json")):
            return f"It holds runs: `cuescope list {shlex.quote(str(path))}` lists them"
        beside = path.parent.glob("*/report.json")
        close = nearest(path.name, [report.parent.name for report in beside])
        if close is not None:
            return close
    return "`cuescope audit --out DIR` writes one"


def refusal_of(file: Path, text: bytes) -> UserError | None:
    """Why the text of a file is no report of this version, None where it is one."""
    try:
        Report.model_validate_json(text)
    except ValidationError as error:
        return _unreadable(file, error)
    return None


def damaged_report(file: Path, reason: str) -> UserError:
    """The refusal of a report that is no JSON."""
    remedy = "The file is damaged: run the audit again, its answers are remembered"
    return _no_report(file, reason, remedy)


def _unreadable(file: Path, error: ValidationError) -> UserError:
    """The refusal of a report that is damaged, or of another version."""
    faults = error.errors()
    first = faults[0]
    if first["type"] == "json_invalid":
        if file.suffix.lower() != ".json":
            return UserError(
                f"{file} is no report", expected="a run folder or a report.json"
            )
        return damaged_report(file, first["msg"])
    got = " ".join([*map(str, first["loc"]), first["msg"]])
    remedy = "Run the audit again with this version of cuescope"
    # a newer report may have fields before it that this version does not know
    versions = [f["input"] for f in faults if f["loc"] == ("schema_version",)]
    if versions:
        got = f"version {versions[0]}"
        if isinstance(versions[0], int) and versions[0] > SCHEMA_VERSION:
            remedy = "A newer cuescope wrote it: update this one"
    return _no_report(file, got, remedy)


def _no_report(file: Path, got: str, remedy: str) -> UserError:
    return UserError(
        f"{file} is no report of schema version {SCHEMA_VERSION}",
        got=got,
        remedy=remedy,
    )


@lru_cache(maxsize=8)
def _parse(text: bytes) -> tuple[Report, str]:
    """A report and the seal that it should have; what is read twice is parsed once."""
    return Report.model_validate_json(text), _seal_of(text)


def _seal_of(text: str | bytes) -> str:
    # of the values: other blanks in the same JSON are no change
    content = {**json.loads(text), "seal": None, "signature": None}
    return digest("cuescope report", content)


def picture_key(occurrence: Occurrence) -> str:
    """`sample#frame`, the name of an occurrence's picture; a region is part of it."""
    region = "" if occurrence.region is None else f"@{occurrence.region}"
    return f"{occurrence.sample}#{occurrence.frame or 0}{region}"


def exhibit_key(occurrence: Occurrence) -> str:
    """The name of an occurrence's picture in a contrast, which is larger."""
    return f"{picture_key(occurrence)} large"


def exhibits(report: Report) -> Sequence[Occurrence]:
    """The occurrences in the contrasts of a report, each once."""
    sides = [side for contrast in report.contrasts for side in contrast.sides]
    shown = {
        exhibit_key(e.occurrence): e.occurrence for side in sides for e in side.exhibits
    }
    return list(shown.values())


def illustrations(report: Report) -> Sequence[Occurrence]:
    """The occurrences that a report shows: the strongest of the best-ranked features."""
    rank = {
        key: position
        for position, key in enumerate(dict.fromkeys(s.feature for s in report.scores))
    }
    ranked = sorted(
        report.features, key=lambda feature: rank.get(feature.key, len(rank))
    )
    return [
        o for f in ranked[:PICTURED_FEATURES] for o in f.occurrences[:PICTURES_EACH]
    ]
