"""Where audits are run: one context, one response cache, one folder of runs."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from cuescope.report import html
from cuescope.report.folders import refuse_another_audit, refuse_folder_of_runs
from cuescope.report.model_names import ModelNames
from cuescope.report.pictures import report_pictures
from cuescope.report.tally import Tally
from cuescope_core.answers import AnswersFile
from cuescope_core.atomic_files import require_folder
from cuescope_core.building import Built, choose, context_for
from cuescope_core.conclusions import Report
from cuescope_core.context import Context
from cuescope_core.engine import Session
from cuescope_core.errors import UserError
from cuescope_core.request import Request
from cuescope_core.runs import RunFolder, load_report, require_undamaged, source_of
from cuescope_core.store import ResponseCache
from cuescope_core.trust.paths import require_own_cache
from cuescope_core.types import Sample

if TYPE_CHECKING:
    from cuescope.python.stored import StoredReport
    from cuescope_core.planning import Plan


@dataclass(frozen=True)
class Runner:
    """Runs requests and keeps what they give: `runs/SLUG/report.json`, `report.html`, pictures.

    With `cache_responses` False the model's answers are forgotten at the end. `detail` is how much
    of a report is shown: see `report.terminal.show`. `objects` are the fingerprints of the caller's
    objects, by the names that stand for them in a request.
    """

    context: Context
    runs: Path
    observers: Sequence[object] = ()
    cache_responses: bool = True
    out: Path | None = field(default=None, kw_only=True)
    detail: int = field(default=0, kw_only=True)
    objects: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    def __post_init__(self) -> None:
        require_own_cache(self.context.cache)
        # before hours of answers, not after; where nobody named a folder a plan may need none
        if self.out is not None:
            require_folder(self.out)

    @cached_property
    def cache(self) -> ResponseCache:
        """The response cache of this user."""
        return ResponseCache(
            self.context.cache / "responses.sqlite" if self.cache_responses else None
        )

    def folder(self, request: Request) -> RunFolder:
        """Where a request's report is kept."""
        return RunFolder(self.out or self.runs / request.slug)

    def on_objects(self, request: Request) -> Request:
        """The request under the fingerprints of the caller's objects, where there are any."""
        if not self.objects:
            return request
        if request.executor is not None:
            raise UserError(
                "executor with an object in memory",
                expected="SPECs for model and data",
                remedy="Leave executor out: an object answers in this process",
            )
        from cuescope.python.request import PythonRequest

        # fields as they are: validation would ask for what the caller may leave out
        fields = {name: getattr(request, name) for name in Request.model_fields}
        return PythonRequest(**fields, objects=self.objects)

    def audit(self, request: Request) -> "StoredReport":
        """Run a request; the report knows its folder."""
        from cuescope.python.stored import StoredReport

        return StoredReport.of(self.run(request), self.folder(request).path)

    def session(self, request: Request, *observers: object) -> Session:
        """The request with everything built, for whoever asks the model itself."""
        return Session(request, self.context, self.cache, (*self.observers, *observers))

    def plan(self, request: Request, counted: set[str] | None = None) -> "Plan":
        """Return the cost of a request, beyond the trials that are `counted` already."""
        from cuescope_core.planning import plan

        return plan(request, self.context, self.cache, counted)

    def run(self, request: Request, *, resume: bool = False) -> Report:
        """Run a request, store its report and page.

        With `resume` a stored report is returned where the same plugins, weights and data made it.
        """
        folder = self.folder(request)
        # not by the method: a finding of a model that only guesses needs a warning (docs/adr/0016)
        tally = Tally()
        answers = AnswersFile(folder.answers_file)
        self._require_own_folder(request)
        session = self.session(request, answers, ModelNames(), tally)
        if resume and (stored := self._recall(request, session)) is not None:
            made = stored.provenance.started.replace("T", " ")
            self.context.announce(f"stored report of {made}; --again makes it anew")
            return stored
        folder.prepare()  # a full disk is told before hours of answers
        report = session.run()
        # a method that counts otherwise has attached its own
        if report.accuracy is None:
            report = report.model_copy(update={"accuracy": tally.accuracy})
        report = report.model_copy(update={"cues": tally.with_impacts(report)})
        # another thread or process may have come first: its report is not written over
        refuse_another_audit(self.folder(request).path, request)
        # before it is kept with the digests of these files
        tables = answers.finish(session.audit, report)
        self.keep(request, report, session.audit.samples, tables)
        # observers are promised a report that is stored
        session.finish(report)
        return report

    def _require_own_folder(self, request: Request) -> None:
        """Raise UserError where the folder has the report of another request."""
        try:
            # before the session, which builds the model
            refuse_another_audit(self.folder(request).path, request)
            method = self.context.resolve(
                "method", request.method, request.method_options
            ).plugin
            # what tests the findings of runs keeps these in its folder
            if getattr(method, "started_by", None) is None:
                refuse_folder_of_runs(self.folder(request).path)
        except UserError:
            # what is typed wrong is told first: without it, it may be the same request
            choices = choose(request, self.context)
            Built.of(choices.data, context_for(request, self.context))
            raise

    def keep(
        self,
        request: Request,
        report: Report,
        samples: Sequence[Sample],
        tables: Sequence[str] = (),
    ) -> None:
        """Store a report with its page, pictures of these samples, and the tables beside it."""
        folder = self.folder(request)
        pictures = report_pictures(report, samples)
        page = html.render(report, pictures, str(folder.path))
        folder.save(report, pictures, page=page, own=True, tables=tables)

    def _recall(self, request: Request, session: Session) -> Report | None:
        """The stored report of this request, None where others made it, or another version."""
        file = self.folder(request).report_file
        if not file.exists():
            return None
        try:
            # without a seal it may be what anybody printed or wrote
            stored = load_report(file, sealed=True)
            if not source_of(file).typed_before:
                from cuescope_core.trust.source import ELSEWHERE

                raise UserError(f"{file} is {ELSEWHERE}")
            # what tests its findings reads its answers
            require_undamaged(file.parent)
        except UserError as error:
            warnings.warn(f"{error}; it is made again", stacklevel=3)
            return None
        # `origin`, not `identity`: an edited plugin keeps its version
        return (
            stored if stored.provenance.origin == session.provenance().origin else None
        )
