"""Where audits are run: one context, one response cache, one folder of runs."""

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from PIL import Image

from cuescope.context import Context
from cuescope.engine import Plan, Session
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
from cuescope.types import Report, Sample

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
        session = self.session(request)
        report = session.run()
        folder = self.folder(request)
        shown = pictures(report, session.audit.all_samples)
        folder.save(report, shown)
        write_atomically(folder.path / "report.html", html.render(report, shown))
        return report

    def recall(self, request: Request) -> Report:
        """The stored report of a request, or the request run now."""
        folder = self.folder(request)
        return load_report(folder.path) if folder.report_file.exists() else self.audit(request)


def pictures(report: Report, samples: Sequence[Sample]) -> dict[str, bytes]:
    """Thumbnails (JPEG) of what the report shows, by `picture_key`."""
    by_key = {sample.key: sample for sample in samples}
    found: dict[str, bytes] = {}
    for occurrence in pictured(report):
        sample, key = by_key.get(occurrence.sample), picture_key(occurrence)
        if sample is not None and key not in found:
            found[key] = thumbnail(sample.frames[occurrence.frame or 0].load())
    return found


def thumbnail(image: Image.Image, side: int = PICTURE_SIDE) -> bytes:
    """A JPEG whose longer side is at most `side` pixels."""
    small = image.copy()
    small.thumbnail((side, side))
    out = io.BytesIO()
    small.save(out, "JPEG", quality=90)
    return out.getvalue()
