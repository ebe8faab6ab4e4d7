"""A report with the folder of its run: as a table, as a figure, in a notebook, in a browser."""

import webbrowser
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import PrivateAttr

from cuescope_core.conclusions import Report, Score
from cuescope_core.errors import UserError
from cuescope_core.printable import one_line, printable
from cuescope_core.runs import RunFolder, load_report

if TYPE_CHECKING:
    import pandas

SHOWN = 12  # findings of a printed report


class UnfinishedError(Exception):
    """An `error` that ended the work when a `report` of what had been found was stored."""

    def __init__(self, report: "StoredReport", error: Exception) -> None:
        super().__init__(str(error))
        self.report = report
        self.error = error


@dataclass(frozen=True)
class Objects:
    """Plugins of a caller: SPECs, objects, or None. A loaded report equals the first one."""

    method: Any = field(default=None, compare=False)
    model: Any = field(default=None, compare=False)
    data: Any = field(default=None, compare=False)


class StoredReport(Report):
    """A `Report` that knows its run folder, as `cuescope.audit` and `cuescope.load` give it.

    `print(report)` shows the findings in words; a notebook shows them with their pictures.
    """

    # private: no part of the report's JSON, nor of its seal
    _folder: Path = PrivateAttr()
    _objects: Objects = PrivateAttr(default_factory=Objects)

    @classmethod
    def of(cls, report: Report, folder: Path) -> Self:
        """The same report, of the run in `folder`."""
        # copied field by field: what is checked once is not checked again in another way
        stored = cls(**{name: getattr(report, name) for name in Report.model_fields})
        stored._folder = folder
        return stored

    def with_objects(self, method: Any, model: Any, data: Any) -> Self:
        """The same report, with the method, model and data that the caller gave."""
        stored = self.of(self, self.folder)
        stored._objects = Objects(method, model, data)
        return stored

    @property
    def objects(self) -> Objects:
        """The method, model and data that the caller gave, for whoever asks the run again."""
        return self._objects

    @property
    def folder(self) -> Path:
        """The run folder: `report.json`, `report.html`, `answers.parquet`, pictures."""
        return self._folder

    @property
    def page(self) -> Path:
        """The report as one HTML file that needs nothing else."""
        # the page lies beside the report, wherever the folder was moved
        return self._folder / "report.html"

    def open(self) -> None:
        """Show the page in a browser; raises UserError for one that another user made."""
        from cuescope.report.own_pages import require_own_page

        require_own_page(self._folder)
        webbrowser.open(self.page.absolute().as_uri())

    def to_pandas(self) -> "pandas.DataFrame":
        """The scores, a row each, ranked; raises UserError where pandas is not installed."""
        from cuescope_core.findings import SCORES, score_rows

        pandas = require_pandas()
        # Int64 of pandas: `n` may be missing, which numpy's whole numbers cannot be
        kinds = {
            "value": float,
            "low": float,
            "high": float,
            "p": float,
            "q": float,
            "n": "Int64",
        }
        return pandas.DataFrame(score_rows(self), columns=list(SCORES)).astype(kinds)

    def answers(self) -> "pandas.DataFrame":
        """Answers of the model, a row a trial; raises UserError where the folder has none."""
        from cuescope_core.answers import read_answers

        require_pandas()
        answers = read_answers(self._folder)
        # another audit may have written into the same folder since
        if load_report(self._folder).hash != self.hash:
            raise UserError(
                f"{self._folder} holds another run by now",
                remedy="Run the audit again, with a folder of its own: out=DIR",
            )
        return answers.to_pandas()

    def plot(self, metric: str | None = None, rows: int = 20) -> Any:
        """The best-ranked scores of a metric with their intervals, findings in colour.

        A matplotlib Figure, which a notebook shows; raises UserError without matplotlib. The
        metric is the headline's where none is named.
        """
        from cuescope.python.figure import draw

        return draw(self, metric, rows)

    def _repr_html_(self) -> str:
        from cuescope.python.notebook import fragment

        return fragment(self, RunFolder(self._folder).pictures(self))

    def __str__(self) -> str:
        asked = self.provenance
        lines = [f"{asked.method.spec}: {asked.model.spec} on {asked.data.spec}"]
        noted = [f"{key}: {text}" for key, text in self.notes.items()]
        sentences = [self._line(score) for score in self.told]
        sentences = sentences or ["no cue found", *noted]
        lines += [f"- {sentence}" for sentence in sentences[:SHOWN]]
        if (more := len(sentences) - SHOWN) > 0:
            lines.append(f"- and {more} more")
        lines.append(f"page: {self.page}")
        return "\n".join(printable(one_line(line)) for line in lines)

    # a prompt shows what `print` does, and not every score
    __repr__ = __str__

    def _line(self, score: Score) -> str:
        """The sentence about a score; one that is held back is no finding."""
        held_back = score.doubt is not None and not score.finding
        return f"{'seen, but in doubt: ' if held_back else ''}{self.sentence(score)}"


def require_pandas() -> Any:
    """pandas; raises UserError with the command that installs it."""
    try:
        import pandas
    except ImportError as error:
        from cuescope.installing import how_to_install

        raise UserError(
            "tables need pandas", remedy=how_to_install("cuescope[notebook]")
        ) from error
    return pandas
