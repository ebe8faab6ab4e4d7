"""The server of the page: reads and writes within the folder of runs, for whoever has the token."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from secrets import compare_digest
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import to_json
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cuescope.application import cue_claims, cue_name, renamed, root, whole_text
from cuescope_sdk import Report, UserError, printable
from cuescope_view.opened import OpenRun
from cuescope_view.runs import RunsFolder
from cuescope_view.samples import Line, Wanted, accuracy, pair, select, words_of

# other names of this computer may be given to it by a stranger's name server (DNS rebinding)
HOSTS = ["127.0.0.1", "localhost"]
# the page says how many match, and a search finds the rest
MOST_CUES = 500
MOST_SENT = 2**16  # bytes: a name, or an answer to a question
AT_ONCE = 0.15  # seconds: who waits longer sees the list grow
HEADERS = {
    # no script, style or address but the page's own, and no text is ever taken for HTML
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    "X-Content-Type-Options": "nosniff",
    # the address holds the token
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Naming(BaseModel):
    """A name that a person gives to a cue of a run."""

    run: str
    feature: str
    name: str


class Marking(BaseModel):
    """Samples that a person marked as with a cue, and as without it."""

    run: str
    name: str
    shown: list[str]
    others: list[str]


@dataclass(frozen=True)
class TokenGuard:
    """Lets nothing through whose address does not begin with the token."""

    app: ASGIApp
    token: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Of HTTP alone: there are no other connections."""
        if scope["type"] != "http":
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        given = scope["path"].removeprefix("/").partition("/")[0]
        app: ASGIApp = self.app
        # its time tells nothing of the token; as bytes, for of texts it takes ASCII alone
        if not compare_digest(given.encode(), self.token.encode()):
            app = PlainTextResponse(
                "Open the address that `cuescope view` prints: it holds a token.", 403
            )
        await app(scope, receive, send_with_headers)


def make_app(runs: RunsFolder, token: str) -> Starlette:
    """The page at `/TOKEN/`, and what it asks for below `/TOKEN/api/`."""
    api = Api(runs)
    page = Path(str(files("cuescope_view").joinpath("page")))
    below = [
        Route("/", lambda request: FileResponse(page / "index.html")),
        Mount("/page", StaticFiles(directory=page)),
        Route("/api/runs", _answer_endpoint(api.list_runs)),
        Route("/api/cues", _answer_endpoint(api.list_cues)),
        Route("/api/run", _answer_endpoint(api.show_run)),
        Route("/api/samples", _answer_endpoint(api.show_samples)),
        Route("/api/compare", _answer_endpoint(api.compare)),
        Route("/api/thumbnail", _answer_endpoint(api.thumbnail)),
        Route("/api/picture", _answer_endpoint(api.picture)),
        Route("/api/name", _write_endpoint(Naming, api.name), methods=["POST"]),
        Route("/api/cue", _write_endpoint(Marking, api.save_cue), methods=["POST"]),
    ]
    middleware = [
        # first, so outermost: its headers are on a refused host's answer as well
        Middleware(TokenGuard, token=token),
        Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS),
    ]
    return Starlette(routes=[Mount(f"/{token}", routes=below)], middleware=middleware)


Query = Mapping[str, str]


def _answer_endpoint(answer: Callable[[Query], Response | Mapping[str, Any]]) -> Any:
    """An endpoint of what a function says of the query; what a person did wrong is a line."""

    # not async: Starlette runs it in a thread, and a slow answer holds up no other
    def endpoint(request: Request) -> Response:
        return _response(lambda: answer(request.query_params))

    return endpoint


def _write_endpoint(
    kind: type[BaseModel], write: Callable[[Any], Mapping[str, Any]]
) -> Any:
    """An endpoint that writes what is sent to it, checked."""

    async def endpoint(request: Request) -> Response:
        content = bytearray()
        async for part in request.stream():
            content += part
            if len(content) > MOST_SENT:
                error = f"more than {MOST_SENT:,} bytes were sent"
                return JSONResponse({"error": error}, 413)
        return _response(lambda: write(kind.model_validate_json(bytes(content))))

    return endpoint


def _response(answer: Callable[[], Response | Mapping[str, Any]]) -> Response:
    try:
        said = answer()
    except UserError as error:
        return JSONResponse({"error": str(error)}, 400)
    # KeyError: the query lacks a word
    except (ValidationError, KeyError) as error:
        return JSONResponse({"error": f"not understood: {error}"}, 400)
    if isinstance(said, Response):
        return said
    # no NaN: a browser takes none for JSON
    content = to_json(said, inf_nan_mode="null")
    return Response(content, media_type="application/json")


@dataclass(frozen=True)
class Api:
    """What the page asks for."""

    runs: RunsFolder

    def list_runs(self, query: Query) -> Mapping[str, Any]:
        """All runs, and how many are still to be read."""
        self.runs.refresh()
        self.runs.wait(AT_ONCE)
        rows = [{"id": key, **run.row} for key, run in self.runs.listed.items()]
        return {
            "folder": whole_text(str(self.runs.folder)),
            "runs": rows,
            "pending": self.runs.pending,
            "command": _command("list", self.runs.folder),
        }

    def list_cues(self, query: Query) -> Mapping[str, Any]:
        """The cues of all runs that a text is found in."""
        self.runs.refresh()
        text = query.get("text", "").casefold()
        kind = query.get("kind", "")
        cues = []
        for key, run in self.runs.listed.items():
            about = f"{run.run} {run.method} {run.model} {run.data}"
            for cue in run.cues:
                if kind and cue.in_doubt is not (kind == "doubt"):
                    continue
                if text in f"{cue.name} {cue.label or ''} {about}".casefold():
                    cues.append({"id": key, "run": run.row, **asdict(cue)})
        return {
            "cues": cues[:MOST_CUES],
            "matching": len(cues),
            "pending": self.runs.pending,
            "command": _command("list", self.runs.folder, "--json"),
        }

    def show_run(self, query: Query) -> Mapping[str, Any]:
        """What a run found, and what to do next."""
        run = self.runs.open(query["id"])
        report = run.report
        origin = report.provenance
        return {
            "run": run.place,
            "made": "here" if run.made_here else "elsewhere",
            "title": report.title,
            "method": origin.method.spec,
            "model": origin.model.spec,
            "data": origin.data.spec,
            "started": origin.started,
            "samples": origin.samples,
            "labels": origin.labels,
            "claims": cue_claims(renamed(report, run.names)),
            "metric": report.metrics[0] if report.metrics else None,
            "accuracy": report.accuracy,
            "cues": _cues(run),
            "checks": report.evidence,
            "notes": report.notes,
            "steps": run.steps,
            "audit": printable(origin.command),
            "command": _command("show", run.path),
        }

    def show_samples(self, query: Query) -> Mapping[str, Any]:
        """The samples of a run, of a cue with it or without it."""
        run = self.runs.open(query["id"])
        wanted = Wanted.model_validate(dict(query))
        lines = run.table.lines(wanted.feature)
        number = _number(run, wanted.feature, wanted.label)
        command = _command("export", run.path, "--what", "answers")
        if number is not None:
            command = _command("export", run.path, "--affected", number)
        return {
            **_page(lines, wanted, {"first": run}),
            "run": run.place,
            "name": _name(run, wanted.feature),
            "command": command,
        }

    def compare(self, query: Query) -> Mapping[str, Any]:
        """The samples that two runs asked about, side by side."""
        first = self.runs.open(query["first"])
        second = self.runs.open(query["second"])
        wanted = Wanted.model_validate(dict(query))
        lines, unlike = pair(first.table, second.table, wanted.feature, "second")
        others = [line.others[0].correct for line in lines]
        judged = [correct for correct in others if correct is not None]
        return {
            **_page(lines, wanted, {"first": first, "second": second}),
            "first": first.place,
            "second": second.place,
            "second_right": [sum(judged), len(judged)],
            "unlike": unlike,
            "command": _command("compare", first.path, second.path),
        }

    def thumbnail(self, query: Query) -> Response:
        """A JPEG of a sample that shows the first finding of a run."""
        run = self.runs.open(query["id"])
        found = [score.feature for score in run.report.findings]
        places = {f.key: f.occurrences for f in run.report.features}
        for feature in found:
            for place in places[feature]:
                sample = root(place.sample, run.table.samples) or place.sample
                if run.has_picture(sample):
                    jpeg = run.picture(sample, feature, large=False)
                    return Response(jpeg, media_type="image/jpeg")
        raise UserError("no picture of the run")

    def picture(self, query: Query) -> Response:
        """A JPEG of a sample."""
        run = self.runs.open(query["id"])
        large = query.get("size") == "large"
        jpeg = run.picture(query["sample"], query.get("feature"), large=large)
        return Response(jpeg, media_type="image/jpeg")

    def name(self, naming: Naming) -> Mapping[str, Any]:
        """Keep the name of a cue; the command that takes it."""
        run = self.runs.open(naming.run)
        run.rename(naming.feature, naming.name)
        return {"cues": _cues(run)}

    def save_cue(self, marking: Marking) -> Mapping[str, Any]:
        """Keep marked samples as a cue file; the commands that measure it, or choose by them."""
        run = self.runs.open(marking.run)
        file = run.save_cue(marking.name, marking.shown, marking.others)
        sides = [word for key in marking.shown for word in ("--with", key)]
        sides += [word for key in marking.others for word in ("--without", key)]
        chosen = file.with_name(f"{file.stem}-chosen.cue")
        return {
            "file": whole_text(str(file)),
            "measure": _command("audit", "--cue", file, *_asked_on(run.report)),
            "choose": _command("cue", "make", chosen, "--run", run.path, *sides),
        }


def _asked_on(report: Report) -> list[str]:
    """The words of a run's audit about model and data: all but the method and its options."""
    words = shlex.split(report.provenance.command)[3:]
    kept = []
    for option, value in zip(words[::2], words[1::2], strict=False):
        of_method = option == "-O" and not value.startswith(
            ("model.", "data.", "tool.")
        )
        kept += [] if of_method else [option, value]
    return kept


def _page(
    lines: list[Line],
    wanted: Wanted,
    runs: Mapping[str, OpenRun],
) -> dict[str, Any]:
    """A page of the wanted lines, with what there is to choose from."""
    chosen = select(lines, wanted)
    labels, answers = words_of(lines)
    shown = []
    for line in chosen[wanted.offset : wanted.offset + wanted.count]:
        # which of the runs can show it
        holder = (name for name, run in runs.items() if run.has_picture(line.sample))
        shown.append({**asdict(line), "picture": next(holder, None)})
    return {
        "lines": shown,
        "matching": len(chosen),
        "total": len(lines),
        "right": accuracy(chosen),
        "sides": _sides(lines, wanted),
        "flips": sum(line.flipped is True for line in lines),
        "labels": labels,
        "answers": answers,
        "offset": wanted.offset,
        "count": wanted.count,
    }


def _sides(lines: list[Line], wanted: Wanted) -> dict[str, tuple[int, int]] | None:
    """The accuracy with a cue and without it, by the other filters; None where none is named."""
    both = select(lines, wanted.model_copy(update={"side": "all"}))
    if not any(line.with_cue is not None for line in both):
        return None
    return {
        "with": accuracy(line for line in both if line.with_cue is True),
        "without": accuracy(line for line in both if line.with_cue is False),
    }


def _cues(run: OpenRun) -> list[dict[str, Any]]:
    """The headlines, ranked, under the names that a person gave or the report has."""
    report = run.report
    given = run.names
    # by identity: a score has no key of its own
    numbers = {id(score): number for number, score in enumerate(report.findings, 1)}
    places = {feature.key: len(feature.occurrences) for feature in report.features}
    cues = []
    for score in report.headlines:
        name = given.get(score.feature)
        # only a run of this user is asked again, and only of a cue that it found
        taken = name is not None and run.made_here and score.finding
        words = f"{printable(score.feature)}={printable(name or '')}"
        cue = {
            "feature": score.feature,
            "name": name or cue_name(report, score.feature),
            "own_name": cue_name(report, score.feature),
            "given": name is not None,
            "naming": _command("mitigate", run.path, "--name", words)
            if taken
            else None,
            "label": score.label,
            "value": score.value,
            "low": score.low,
            "high": score.high,
            "n": score.n,
            "q": score.q_value,
            "number": numbers.get(id(score)),
            "finding": score.finding,
            "doubt": score.doubt,
            "places": places[score.feature],
        }
        cues.append(cue)
    return cues


def _name(run: OpenRun, feature: str | None) -> str | None:
    if feature is None:
        return None
    report = renamed(run.report, run.names)
    return cue_name(report, feature) if feature in report.names else None


def _number(run: OpenRun, feature: str | None, label: str | None) -> int | None:
    """Of the finding about a cue and label, None where it is none."""
    for number, score in enumerate(run.report.findings, 1):
        if score.feature == feature and label in (None, score.label):
            return number
    return None


def _command(*words: object) -> str:
    """A line to type; a name of a folder cannot hide anything in it."""
    return printable(shlex.join(["cuescope", *map(str, words)]))
