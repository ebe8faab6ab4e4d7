"""What asking and looking once saves, against each cue by itself."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field, PositiveInt

from cuescope_sdk import (
    Audit,
    Cell,
    Dataset,
    Outcome,
    Picture,
    Plugin,
    Table,
    Trial,
    UserError,
    generator,
)
from cuescope_sdk import Options as BaseOptions
from cuescope_spurlens import SpurLens
from cuescope_spurlens.asking import unique
from cuescope_spurlens.cases import Study
from cuescope_spurlens.studying import study

COLUMNS = ("pipeline", "detector passes", "model calls", "seconds")


class Counted:
    """A detector that counts the images it is shown; it has no memory between audits."""

    def __init__(self, detector: Any) -> None:
        self._detector, self.passes = detector, 0
        self.joint = getattr(detector, "joint", False)

    def detect(self, frames: Sequence[Any], names: Sequence[str]) -> Any:
        """What the detector says."""
        self.passes += len(frames)
        return self._detector.detect(frames, names)


class SpurLensBench(Plugin):
    """Both pipelines on the same data, model, cues and rankings, one after the other."""

    class Options(BaseOptions):
        """`cuescope bench spurlens --data coco:PATH --detector owl:MODEL ...`."""

        data: str = Field("object-scenes", description="SPEC of the data set")
        data_options: dict[str, Any] = Field({}, description="its options")
        model: str = Field("toy-fusion", description="SPEC of the model")
        model_options: dict[str, Any] = Field(
            {
                "data": "object-scenes",
                "data_options": {"questions": "presence"},
                "patches": 4,
                "epochs": 10,
            },
            description="its options",
        )
        detector: str = Field("annotations", description="SPEC of the detector")
        proposer: str = Field("co-occurrence", description="SPEC of the proposer")
        samples: PositiveInt = Field(300, description="images, drawn from the data set")
        k: PositiveInt = Field(50, description="images with the most of a cue, and with the least")

    options: Options

    def run(self) -> Iterator[Table | Picture]:
        """Passes, calls and seconds of both, and their ratios."""
        audit = self._audit()
        detector, model = Counted(audit.tools["detector"]), audit.tools["model"]
        audit = replace(audit, tools={**audit.tools, "detector": detector})
        start = time.perf_counter()
        found = study(audit, audit.options)
        once = list(unique(found.trials()))
        if not once:
            raise UserError(
                f"bench spurlens: nothing to ask of {len(audit.samples)} images",
                expected="cues that the detector sees in some of them, and in others not",
                remedy="Take more --samples, or another --detector",
            )
        _ask(model, once, audit.context.batch_size)
        ours = (detector.passes, len(once), time.perf_counter() - start)
        start, detector.passes = time.perf_counter(), 0
        calls = naive(found, detector, model, audit.context.batch_size)
        apart = (detector.passes, calls, time.perf_counter() - start)
        yield compared(ours, apart)

    def _audit(self) -> Audit:
        """Everything built; the model is among the tools."""
        options = self.options
        data: Dataset = self.context.build("dataset", options.data, options.data_options)
        context = self.context.for_dataset(data)
        model = context.build("model", options.model, options.model_options)
        count = min(options.samples, len(data))
        drawn = generator(context.seed, "bench spurlens").permutation(len(data))[:count]
        return Audit(
            labels=data.labels, options=SpurLens.Options(k=options.k), respond=_unused,
            context=context, capabilities=model.capabilities,
            tools={
                "detector": context.build("tool", options.detector),
                "proposer": context.build("tool", options.proposer), "model": model,
            },
            samples=tuple(data[int(index)] for index in sorted(drawn)),
        )  # fmt: skip


def naive(study: Study, detector: Counted, model: Any, batch: int) -> int:
    """Each cue by itself: its own pass over the images, its own questions. The model calls."""
    calls = 0
    for case in study.cases:
        frames = [frame for sample in case.samples for frame in sample.frames]
        rows = study.rows(case)
        for place, cue in enumerate(case.cues):
            detector.detect(frames, [cue])
            sides = (*case.local(case.top[place]), *case.local(case.bottom[place]))
            trials = [trial for row in sides for trial in rows[row]]
            _ask(model, trials, batch)
            calls += len(trials)
    return calls


def compared(ours: Sequence[float], apart: Sequence[float]) -> Table:
    """Both, and the second over the first."""
    ratios = [
        f"{there / here:.1f} x" if here else None for here, there in zip(ours, apart, strict=True)
    ]
    rows: list[dict[str, Cell]] = [
        dict(zip(COLUMNS, (name, *cells), strict=True))
        for name, cells in (("cuescope", ours), ("each cue by itself", apart), ("saved", ratios))
    ]
    note = "Same data, model, cues and rankings, one after the other; no answer was kept before."
    return Table(title="SpurLens: asking and looking once", columns=COLUMNS, rows=tuple(rows),
                 notes=(note,))  # fmt: skip


def _ask(model: Any, trials: Sequence[Trial], batch: int) -> None:
    for start in range(0, len(trials), batch):
        model.respond(trials[start : start + batch])


def _unused(trials: Iterable[Trial]) -> list[Outcome]:
    raise NotImplementedError("the bench asks the model itself")
