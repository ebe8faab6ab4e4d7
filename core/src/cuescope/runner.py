"""Where audits are run: one context, one response cache, one folder of runs."""

import io
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from PIL import ImageDraw

from cuescope.context import Context
from cuescope.engine import Plan, Session, plan
from cuescope.errors import UserError
from cuescope.report import html
from cuescope.request import Request
from cuescope.runs import RunFolder, illustrations, load_report, picture_key, write_atomically
from cuescope.store import ResponseCache
from cuescope.types import Occurrence, Report, Sample

PICTURE_SIDE = 128


@dataclass(frozen=True)
class Runner:
    """Runs requests and keeps what they give: `runs/SLUG/report.json`, `report.html`, pictures.

    With `cache_responses` False the model's answers are forgotten at the end.
    """

    context: Context
    runs: Path
    observers: Sequence[object] = ()
    cache_responses: bool = True
    out: Path | None = field(default=None, kw_only=True)

    @cached_property
    def cache(self) -> ResponseCache:
        """The response cache of this user."""
        return ResponseCache(
            self.context.cache / "responses.sqlite" if self.cache_responses else None
        )

    def folder(self, request: Request) -> RunFolder:
        """Where a request's report is kept."""
        return RunFolder(self.out or self.runs / request.slug)

    def session(self, request: Request) -> Session:
        """The request with everything built, for whoever asks the model itself."""
        return Session(request, self.context, self.cache, self.observers)

    def plan(self, request: Request) -> Plan:
        """What the request would cost."""
        return plan(request, self.context, self.cache)

    def run(self, request: Request, *, resume: bool = False) -> Report:
        """Run a request, store its report and page.

        With `resume` a stored report is returned where the same plugins, weights and data made it.
        """
        session = self.session(request)
        if resume and (stored := self._stored(request, session)) is not None:
            made = stored.provenance.started.replace("T", " ")
            self.context.announce(f"stored report of {made}; --again makes it anew")
            return stored
        folder = self.folder(request)
        folder.prepare()  # a full disk is told before hours of answers
        report = session.run()
        pictures = thumbnails(report, session.audit.samples)
        folder.save(report, pictures)
        write_atomically(folder.path / "report.html", html.render(report, pictures))
        session.finish(report)
        return report

    def _stored(self, request: Request, session: Session) -> Report | None:
        """The stored report of this request, None where another version of anything made it."""
        file = self.folder(request).report_file
        if not file.exists():
            return None
        try:
            stored = load_report(file, sealed=True)
        except UserError as error:
            warnings.warn(f"{error}; it is made again", stacklevel=3)
            return None
        return stored if stored.provenance.origin == session.provenance().origin else None


def thumbnails(report: Report, samples: Sequence[Sample]) -> dict[str, bytes]:
    """Thumbnails (JPEG) of what the report shows, by `picture_key`; regions are outlined."""
    by_key = {sample.key: sample for sample in samples}
    return {
        picture_key(occurrence): thumbnail(by_key[occurrence.sample], occurrence)
        for occurrence in illustrations(report)
        if occurrence.sample in by_key
    }


def thumbnail(sample: Sample, occurrence: Occurrence) -> bytes:
    """The occurrence's frame as a JPEG whose longer side is at most `PICTURE_SIDE` pixels."""
    image = sample.frames[occurrence.frame or 0].load().copy()  # loaders may keep what they gave
    if occurrence.region is not None:
        width = max(1, max(image.size) // 60)  # two pixels in the thumbnail, whatever the image
        ImageDraw.Draw(image).rectangle(occurrence.region, outline="red", width=width)
    image.thumbnail((PICTURE_SIDE, PICTURE_SIDE))
    out = io.BytesIO()
    image.save(out, "JPEG", quality=90)
    return out.getvalue()
