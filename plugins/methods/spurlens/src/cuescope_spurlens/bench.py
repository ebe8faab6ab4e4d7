"""What asking and looking once saves, against each cue by itself."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from pydantic import Field, PositiveInt

from cuescope_sdk import (
    Audit,
    Options,
    Outcome,
    Picture,
    Plugin,
    Table,
    Trial,
    UserError,
    generator,
)
from cuescope_spurlens.options import PluginOptions, Spec, SpurLensOptions
from cuescope_spurlens.questions import distinct_trials
from cuescope_spurlens.trials import Study, build_study

COLUMNS = ("pipeline", "detector passes", "model calls", "seconds")


class SpurLensBenchOptions(Options):
    """`cuescope dev bench spurlens --data coco:PATH --detector owl:MODEL ...`."""

    data: Spec = Field("object-scenes", description="SPEC of the data set")
    data_options: PluginOptions = Field({}, description="its options")
    model: Spec = Field("toy-fusion", description="SPEC of the model")
    model_options: PluginOptions = Field(
        {
            "data": "object-scenes",
            "data_options": {"questions": "presence"},
            "patches": 4,
            "epochs": 10,
        },
        description="its options",
    )
    detector: Spec = Field("annotations", description="SPEC of the detector")
    proposer: Spec = Field("co-occurrence", description="SPEC of the proposer")
    samples: PositiveInt = Field(300, description="images, drawn from the data set")
    k: PositiveInt = Field(50, description="images that show a cue most, and least")


class CountingDetector:
    """A detector that counts the images it is shown; without a fingerprint none is remembered."""

    def __init__(self, detector: Any) -> None:
        self._detector = detector
        self.passes = 0
        # else a joint detector would be given the cues of all classes at once
        self.joint = getattr(detector, "joint", False)

    def detect(self, frames: Sequence[Any], names: Sequence[str]) -> Any:
        """What the detector says."""
        self.passes += len(frames)
        return self._detector.detect(frames, names)


class SpurLensBench(Plugin):
    """Both pipelines on the same data, model, cues and rankings, one after the other."""

    Options = SpurLensBenchOptions
    options: SpurLensBenchOptions

    def run(self) -> Iterator[Table | Picture]:
        """Passes, calls and seconds of both, and their ratios."""
        audit = self._audit()
        detector = CountingDetector(audit.tools["detector"])
        model = audit.tools["model"]
        batch = self.context.batch_size
        audit = replace(audit, tools={**audit.tools, "detector": detector})
        # building the study is timed, too: the detector works in there
        start = time.perf_counter()
        study = build_study(audit)
        trials = list(distinct_trials(study.trials()))
        if not trials:
            raise UserError(
                f"bench spurlens: nothing to ask of {len(audit.samples)} images",
                expected="cues that the detector sees in some of them, and in others not",
                remedy="Take more --samples, or another --detector",
            )
        _ask(model, trials, batch)
        together = (detector.passes, len(trials), time.perf_counter() - start)
        detector.passes = 0
        start = time.perf_counter()
        calls = ask_each_cue_alone(study, detector, model, batch)
        apart = (detector.passes, calls, time.perf_counter() - start)
        yield comparison_table(together, apart)

    def _audit(self) -> Audit:
        """Everything built; the model is among the tools."""
        options = self.options
        data = self.context.build("dataset", options.data, options.data_options)
        context = self.context.for_dataset(data)
        model = context.build("model", options.model, options.model_options)
        order = generator(context.seed, "bench spurlens").permutation(len(data))
        indices = order[: options.samples].tolist()
        return Audit(
            labels=data.labels,
            options=SpurLensOptions(k=options.k),
            respond=_refuse,
            context=context,
            capabilities=model.capabilities,
            tools={
                "detector": context.build("tool", options.detector),
                "proposer": context.build("tool", options.proposer),
                "model": model,
            },
            samples=tuple(data[index] for index in sorted(indices)),
        )


def ask_each_cue_alone(
    study: Study,
    detector: CountingDetector,
    model: Any,
    batch: int,
) -> int:
    """Each cue by itself: its own pass over the images, its own questions. The model calls."""
    calls = 0
    for case in study.cases:
        frames = [frame for sample in case.samples for frame in sample.frames]
        for index, cue in enumerate(case.cues):
            # What it finds is thrown away: both pipelines ask about the same rankings.
            detector.detect(frames, [cue])
            # an image that several cues need is asked about for each of them
            rows = case.rows(np.concatenate([case.top[index], case.bottom[index]]))
            trials = list(chain.from_iterable(study.questions(case, rows)))
            _ask(model, trials, batch)
            calls += len(trials)
    return calls


def comparison_table(together: Sequence[float], apart: Sequence[float]) -> Table:
    """Both, and the second over the first."""
    ratios = [
        f"{a / t:.1f} x" if t else None for t, a in zip(together, apart, strict=True)
    ]
    return Table.of(
        "SpurLens: asking and looking once",
        COLUMNS,
        [("cuescope", *together), ("each cue by itself", *apart), ("saved", *ratios)],
        "Same data, model, cues and rankings, one after the other, without any stored answer.",
    )


def _ask(model: Any, trials: Sequence[Trial], batch: int) -> None:
    # the model itself: an audit's memory would save calls in either pipeline
    for start in range(0, len(trials), batch):
        model.respond(trials[start : start + batch])


def _refuse(trials: Iterable[Trial]) -> list[Outcome]:
    raise NotImplementedError(
        "the bench asks the model itself, to count and time every call"
    )
