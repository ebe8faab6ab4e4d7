"""The folder of a run: its report, its page and the pictures that both show."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from pydantic import ValidationError

from cuescope.conclusions import SCHEMA_VERSION, Occurrence, Report
from cuescope.digest import digest
from cuescope.errors import UserError
from cuescope.whole_files import read_whole, write_atomically as write_atomically

MAX_REPORT_BYTES = 2**28  # a thousand features with a hundred pictures each take a tenth of it
PICTURED_FEATURES, PICTURES_EACH = 24, 12  # as many as a page shows: see report/html.py


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
        """What the model answered, a row a trial: see report/answers.py."""
        return self.path / "answers.parquet"

    def prepare(self) -> None:
        """Raise UserError now, not after the audit, where nothing can be written here."""
        write_atomically(self.path / ".started", "")

    def save(self, report: Report, pictures: Mapping[str, bytes]) -> None:
        """Store pictures first and the report last: a report that is there is whole."""
        for key, jpeg in pictures.items():
            write_atomically(self._picture(key), jpeg)
        write_atomically(self.report_file, _sealed(report))
        (self.path / ".started").unlink(missing_ok=True)

    def pictures(self, report: Report) -> dict[str, bytes]:
        """The stored pictures, JPEG, by `picture_key` and `exhibit_key`."""
        keys = [*map(picture_key, illustrations(report)), *map(exhibit_key, exhibited(report))]
        files = {key: self._picture(key) for key in keys}
        return {key: file.read_bytes() for key, file in files.items() if file.exists()}

    def _picture(self, key: str) -> Path:
        # keys hold slashes, and more than file systems take
        return self.path / "pictures" / f"{digest(key)}.jpg"


def load_report(path: Path, *, sealed: bool = False) -> Report:
    """From a run folder or a report.json; raises UserError where it is none, or was changed.

    What `--json` printed has no seal, and is taken unless `sealed` asks for one.
    """
    file = path / "report.json" if path.is_dir() else path
    if not file.is_file():
        raise UserError(
            f"no report at {path}",
            expected="a run folder or a report.json",
            remedy="`cuescope audit --out DIR` writes one",
        )
    try:
        report, seal = _parsed(read_whole(file, most=MAX_REPORT_BYTES))
    except ValidationError as error:
        first = error.errors()[0]
        got = " ".join([*map(str, first["loc"]), first["msg"]])
        if first["loc"] == ("schema_version",):
            got = f"version {first['input']}"
        raise UserError(
            f"{file} is no report of schema version {SCHEMA_VERSION}",
            got=got,
            remedy="Run the audit again with this version of cuescope",
        ) from error
    if (sealed or report.seal) and report.seal != seal:
        raise UserError(
            f"{file} was changed after it was written", remedy="Run the audit again for a true one"
        )
    return report.model_copy(update={"seal": None})


@lru_cache(maxsize=8)
def _parsed(text: bytes) -> tuple[Report, str]:
    """A report and the seal that it should have; what is read twice is parsed once."""
    return Report.model_validate_json(text), _seal_of(text)


def mitigator_of(folder: Path) -> str:
    """The name of the mitigator that wrote a folder; raises UserError where none did."""
    try:
        return str(json.loads((folder / "mitigation.json").read_bytes())["mitigator"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"mitigated={folder}",
            expected="a folder that `cuescope mitigate` wrote",
            got=f"no mitigation.json that can be read ({type(error).__name__})",
        ) from error


def _sealed(report: Report) -> str:
    """The report as JSON with the digest of all that it says."""
    text = report.model_dump_json(indent=1)
    return report.model_copy(update={"seal": _seal_of(text)}).model_dump_json(indent=1)


def _seal_of(text: str | bytes) -> str:
    return digest("cuescope report", {**json.loads(text), "seal": None})


def picture_key(occurrence: Occurrence) -> str:
    """`sample#frame`, the name of an occurrence's picture; a region is part of it."""
    region = "" if occurrence.region is None else f"@{occurrence.region}"
    return f"{occurrence.sample}#{occurrence.frame or 0}{region}"


def exhibit_key(occurrence: Occurrence) -> str:
    """The name of an occurrence's picture in a contrast, which is larger."""
    return f"{picture_key(occurrence)} large"


def exhibited(report: Report) -> Sequence[Occurrence]:
    """The occurrences in the contrasts of a report, each once."""
    sides = [side for contrast in report.contrasts for side in contrast.sides]
    shown = {exhibit_key(e.occurrence): e.occurrence for side in sides for e in side.exhibits}
    return list(shown.values())


def illustrations(report: Report) -> Sequence[Occurrence]:
    """The occurrences that a report shows: the strongest of the best-ranked features."""
    rank = {
        key: position
        for position, key in enumerate(dict.fromkeys(s.feature for s in report.scores))
    }
    ranked = sorted(report.features, key=lambda feature: rank.get(feature.key, len(rank)))
    return [o for f in ranked[:PICTURED_FEATURES] for o in f.occurrences[:PICTURES_EACH]]
