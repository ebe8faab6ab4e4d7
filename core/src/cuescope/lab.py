"""Where audits are run: one context, one response cache, one folder of runs."""

import io
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from PIL import ImageDraw

from cuescope.context import Context
from cuescope.engine import Plan, Session
from cuescope.errors import UserError
from cuescope.report import html
from cuescope.request import Request
from cuescope.store import (
    ResponseCache,
    RunFolder,
    load_report,
    picture_key,
    pictured,
    write_atomically,
)
from cuescope.types import Occurrence, Report, Sample

PICTURE_SIDE = 128


@dataclass(frozen=True)
class Lab:
    """Runs requests and keeps what they give: `runs/SLUG/report.json`, `report.html`, pictures.

    `remember` False keeps no responses beyond this process.
    """

    context: Context
    runs: Path
    observers: Sequence[object] = ()
    remember: bool = True
    out: Path | None = field(default=None, kw_only=True)

    @cached_property
    def cache(self) -> ResponseCache:
        """The response cache of this user."""
        return ResponseCache(self.context.cache / "responses.sqlite" if self.remember else None)

    def folder(self, request: Request) -> RunFolder:
        """Where a request's report is kept."""
        return RunFolder(self.out or self.runs / request.slug)

    def session(self, request: Request) -> Session:
        """The request with everything built, for whoever asks the model itself."""
        return Session(request, self.context, self.cache, self.observers)

    def plan(self, request: Request) -> Plan:
        """What the request would cost."""
        return Session(request, self.context, self.cache, planning=True).plan()

    def audit(self, request: Request) -> Report:
        """Run a request, store its report and page."""
        return self._kept(request, self.session(request))

    def recall(self, request: Request) -> Report:
        """The stored report, if the same plugins, weights and data made it; else as `audit`."""
        session, file = self.session(request), self.folder(request).report_file
        if file.exists():
            try:
                stored = load_report(file)
            except UserError as error:
                warnings.warn(f"{error}; it is made again", stacklevel=2)
            else:
                if stored.provenance.identity == session.provenance().identity:
                    return stored
        return self._kept(request, session)

    def _kept(self, request: Request, session: Session) -> Report:
        folder = self.folder(request)
        folder.prepare()
        report = session.run()
        shown = pictures(report, session.audit.all_samples)
        folder.save(report, shown)
        write_atomically(folder.path / "report.html", html.render(report, shown))
        session.finished(report)
        return report


def pictures(report: Report, samples: Sequence[Sample]) -> dict[str, bytes]:
    """Thumbnails (JPEG) of what the report shows, by `picture_key`; regions are outlined."""
    by_key = {sample.key: sample for sample in samples}
    shown = {picture_key(seen): seen for seen in pictured(report) if seen.sample in by_key}
    return {key: thumbnail(by_key[seen.sample], seen) for key, seen in shown.items()}


def thumbnail(sample: Sample, seen: Occurrence) -> bytes:
    """The occurrence's frame as a JPEG whose longer side is at most `PICTURE_SIDE` pixels."""
    image = sample.frames[seen.frame or 0].load().copy()
    if seen.region is not None:
        width = max(1, max(image.size) // 60)
        ImageDraw.Draw(image).rectangle(seen.region, outline="red", width=width)
    image.thumbnail((PICTURE_SIDE, PICTURE_SIDE))
    out = io.BytesIO()
    image.save(out, "JPEG", quality=90)
    return out.getvalue()
