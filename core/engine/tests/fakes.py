"""Plugins of a stub distribution: a model that sees only colour, and clips with a planted cue.

`conftest.py` copies this file into the stub as the module `cuescope_fakes`; tests reach it
through a registry, as cuescope itself does.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from cuescope_core import types
from cuescope_core.capabilities import (
    Capabilities,
    Detection,
    LazyWeights,
    Requirements,
    Respond,
)
from cuescope_core.conclusions import (
    Evidence,
    Feature,
    Metric,
    Occurrence,
    Report,
    Score,
)
from cuescope_core.context import Context
from cuescope_core.digest import digest
from cuescope_core.errors import UserError
from cuescope_core.hookspecs import hookimpl
from cuescope_core.plugin import Plugin
from cuescope_core.trust import risks
from cuescope_core.types import Frame, Outcome, Response, Sample, Trial

if TYPE_CHECKING:
    from cuescope_core.auditing import Audit

LABELS = ("left", "right")
FRAMES = 2


def redness(frame: Frame) -> float:
    """Mean of the red channel, in [0, 1]."""
    return float(np.asarray(frame.load(), np.float64)[..., 0].mean() / 255)


class ColourModel(Plugin):
    """Says "right" where the clip is red, and nothing else moves it."""

    class Options(types.Options):
        """`log` gets a line of frame keys a call; `fault` breaks the contract on purpose."""

        argument = "weights"
        weights: Annotated[str, risks.Words()] = "plain"
        log: Path | None = None
        delay: float = 0.0
        fault: Annotated[str, risks.Words()] = ""
        fault_at: int = 0
        trust_remote_code: Annotated[bool, risks.RunsCode()] = False
        base_url: Annotated[str | None, risks.Names.host()] = None
        key_env: Annotated[str | None, risks.Names.secret()] = None

    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset({"logits", "embedding"})
    )

    def __init__(self, options: Any, context: Context) -> None:
        super().__init__(options, context)
        self.fingerprint = digest("colour model", options.weights)
        self.facts: Mapping[str, str] = {"weights": options.weights}
        self.calls = 0

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Logits from the mean colour alone, so that no batch changes an answer."""
        self.calls += 1
        if self.options.log:
            keys = ",".join("+".join(f.key for f in t.sample.frames) for t in trials)
            with self.options.log.open("a") as log:
                log.write(keys + "\n")
        time.sleep(self.options.delay)
        answers = [self.answer(trial) for trial in trials]
        if self.options.fault and self.calls > self.options.fault_at:
            return broken(self.options.fault, answers)
        return answers

    def answer(self, trial: Trial) -> Response:
        """Two logits and the colour as embedding."""
        red = float(np.mean([redness(frame) for frame in trial.sample.frames]))
        logits = np.array([1 - red, red], np.float32)
        return Response(logits=logits, embedding=np.array([red, 1.0], np.float32))


def broken(fault: str, answers: list[Response]) -> list[Response]:
    """The ways in which a model may break its contract."""
    match fault:
        case "raises":
            raise RuntimeError("the weights\nare melting")
        case "interrupted":
            raise KeyboardInterrupt
        case "too few":
            return answers[:-1]
        case "no logits":
            return [Response(embedding=answer.embedding) for answer in answers]
        case "three logits":
            return [Response(logits=np.zeros(3, np.float32)) for _ in answers]
        case "nan":
            return [Response(logits=np.array([np.nan, 0.0])) for _ in answers]
        case _:
            raise ValueError(fault)


class PatchModel(ColourModel):
    """The same, and its patches can be looked at."""

    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset({"logits"}), exposes=frozenset({"patches"})
    )


class TextModel(Plugin):
    """Answers in words only, and must never be built for a method that needs logits."""

    capabilities: ClassVar[Capabilities] = Capabilities(outputs=frozenset({"text"}))

    def __init__(self, options: Any, context: Context) -> None:
        raise RuntimeError("the weights were loaded")

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Unreachable."""
        raise NotImplementedError


class Clips(Plugin):
    """Clips of grey or red; red follows "right" in four of five. A clip's video is its group."""

    class Options(types.Options):
        argument = "size"
        size: int = 20
        together: int = 0  # clips of one video
        labelled: bool = True
        folder: str | None = None  # one that is not there is refused

    def __init__(self, options: Any, context: Context) -> None:
        super().__init__(options, context)
        if options.folder and not Path(options.folder).is_dir():
            raise UserError(f"clips: no folder {options.folder}")
        self.labels = LABELS if options.labelled else ()
        self.fingerprint = digest("clips", options.size)
        self.facts: Mapping[str, str] = {"clips": str(options.size)}

    def __len__(self) -> int:
        return int(self.options.size)

    def __getitem__(self, index: int) -> Sample:
        red = (index % 2 == 1) != (index % 5 == 0)
        return Sample(
            key=f"clip-{index:03}",
            frames=tuple(
                Frame.from_array(painted(200 if red else 50, 10 * index + frame))
                for frame in range(FRAMES)
            ),
            choices=LABELS,
            label=LABELS[index % 2],
            group=f"video-{index // together}"
            if (together := self.options.together)
            else None,
            annotations={"cues": {"red": (red,) * FRAMES}, "place": index},
        )


def painted(red: int, mark: int) -> np.ndarray:
    """4x4 pixels of this red, told apart by `mark` in the blue channel."""
    pixels = np.full((4, 4, 3), (red, 0, 0), np.uint8)
    pixels[0, 0, 2], pixels[0, 1, 2] = mark % 256, mark // 256
    return pixels


class RedMethod(Plugin):
    """Asks whether accuracy falls where a clip is red."""

    class Options(types.Options):
        threshold: float = 0.5
        sizes: tuple[int, ...] = (2, 3)
        top_k: int = 1
        fails_in: Annotated[str, risks.Words()] = ""

    title: ClassVar[str] = "Red"
    requires: ClassVar[Requirements] = Requirements(
        may_use=frozenset({"detector", "segmenter"})
    )
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            name="gap", title="Gap", meaning="accuracy without the cue minus with it"
        ),
    )

    def _reach(self, audit: "Audit", hook: str) -> None:
        seen = any("cues" in sample.annotations for sample in audit.samples)
        audit.note(f"cues in {hook}", "seen" if seen else "hidden")
        if self.options.fails_in == hook:
            raise ZeroDivisionError("no\nclusters")

    @hookimpl
    def propose_features(self, audit: "Audit") -> Iterable[Feature]:
        """The one cue, and the clips that show it."""
        self._reach(audit, "propose_features")
        red = [
            s for s in audit.samples if redness(s.frames[0]) > self.options.threshold
        ]
        seen = tuple(Occurrence(sample=sample.key, frame=0) for sample in red)
        return [
            Feature(key="red", kind="colour", name="red everywhere", occurrences=seen)
        ]

    @hookimpl
    def perturb(self, audit: "Audit", features: Sequence[Feature]) -> Iterator[Trial]:
        """Each clip, then its still."""
        self._reach(audit, "perturb")
        for sample in audit.samples:
            yield Trial(sample=sample)
            yield Trial(sample=sample.static(0), feature="red", condition="static")

    @hookimpl
    def compute_scores(
        self, audit: "Audit", features: Sequence[Feature], outcomes: Sequence[Outcome]
    ) -> Iterable[Score]:
        """The gap of each label."""
        self._reach(audit, "compute_scores")
        red = {occurrence.sample for occurrence in features[0].occurrences}
        for label in audit.labels:
            of_label = [
                outcome
                for outcome in outcomes
                if outcome.trial.condition == "baseline"
                and outcome.trial.sample.label == label
            ]
            right = {
                o.trial.sample.key: o.correct(self.options.top_k) for o in of_label
            }
            inside = [correct for key, correct in right.items() if key in red]
            outside = [correct for key, correct in right.items() if key not in red]
            if not inside or not outside:
                continue
            gap = float(np.mean(outside) - np.mean(inside))
            yield Score(
                feature="red",
                label=label,
                metric="gap",
                value=gap,
                n=len(inside),
                low=gap - 0.1,
                high=gap + 0.1,
                q_value=0.01,
                finding=gap > 0.5,
                statement=f"When {{feature}} is there, '{label}' loses {100 * gap:.0f} points.",
            )

    @hookimpl
    def verify(
        self, audit: "Audit", features: Sequence[Feature], scores: Sequence[Score]
    ) -> Iterable[Evidence]:
        """Against the answer sheet."""
        self._reach(audit, "verify")
        if "cues" not in audit.samples[0].annotations:  # data of the caller's own
            return
        sheet = {s.key: s.annotations["cues"]["red"][0] for s in audit.samples}
        hits = [sheet[occurrence.sample] for occurrence in features[0].occurrences]
        share = float(np.mean(hits))
        yield Evidence(
            check="precision",
            verdict="supported" if share == 1 else "refuted",
            detail=f"{sum(hits)} of {len(hits)} clips were planted",
            value=share,
            threshold=1.0,
        )


class ForgetfulMethod(RedMethod):
    """Works out its scores and does not return them."""

    @hookimpl
    def compute_scores(
        self, audit: "Audit", features: Sequence[Feature], outcomes: Sequence[Outcome]
    ) -> None:
        """The `return` is missing."""
        _ = list(super().compute_scores(audit, features, outcomes))


class HidingMethod(RedMethod):
    """Needs an edit that no fake model has."""

    requires: ClassVar[Requirements] = Requirements(edits=frozenset({"hide-tokens"}))


class LookingMethod(RedMethod):
    """Needs to look inside the model."""

    requires: ClassVar[Requirements] = Requirements(exposes=frozenset({"patches"}))


class ToolMethod(RedMethod):
    """Needs a detector."""

    requires: ClassVar[Requirements] = Requirements(tools=frozenset({"detector"}))

    @hookimpl
    def verify(
        self, audit: "Audit", features: Sequence[Feature], scores: Sequence[Score]
    ) -> Iterable[Evidence]:
        """What the detector found in the first frame."""
        (found,) = audit.tools["detector"].detect(audit.samples[0].frames[:1], ["red"])
        yield Evidence(
            check="detector",
            verdict="inconclusive",
            detail=found[0].name,
            value=found[0].score,
        )


class CountingMethod(Plugin):
    """A second verifier."""

    title: ClassVar[str] = "Counting"
    requires: ClassVar[Requirements] = Requirements()
    metrics: ClassVar[tuple[Metric, ...]] = ()

    @hookimpl
    def propose_features(self, audit: "Audit") -> Iterable[Feature]:
        """Must not be asked when it only verifies."""
        raise RuntimeError("a verifier was asked for features")

    @hookimpl
    def verify(self, scores: Sequence[Score]) -> Iterable[Evidence]:
        """How many scores there are."""
        yield Evidence(
            check="count", verdict="supported", detail="scores", n=len(scores)
        )


class DetectorOptions(types.Options):
    """How sure it is."""

    score: float = 1.0


class FakeDetector(Plugin):
    """Finds everything everywhere."""

    Options: ClassVar[type[types.Options]] = DetectorOptions
    options: DetectorOptions

    def detect(
        self, frames: Sequence[Frame], names: Sequence[str]
    ) -> list[tuple[Detection, ...]]:
        """A box of the whole frame for every name."""
        return [
            tuple(
                Detection(name=name, score=self.options.score, box=(0, 0, 4, 4))
                for name in names
            )
            for _ in frames
        ]


class HeavyDetector(FakeDetector, LazyWeights):
    """Opens its weights late, and writes that it did into the cache folder."""

    def open_weights(self) -> None:
        """Open the weights, once."""
        self.context.stop_plan_before("weights of heavy")
        with (self.context.cache / "loads").open("a") as log:
            log.write("load\n")

    def detect(
        self, frames: Sequence[Frame], names: Sequence[str]
    ) -> list[tuple[Detection, ...]]:
        """As the light one."""
        self.context.tool_calls["images"] += len(frames)
        self.context.stop_plan_before("what heavy sees")
        return super().detect(frames, names)


class ThreadPool(Plugin):
    """An executor whose workers each build the model; batches come back as they finish."""

    def map(
        self, build: Callable[[], Respond], batches: Sequence[Sequence[Trial]]
    ) -> Iterator[tuple[int, list[Response]]]:
        """Out of order on purpose: the last batch is handed in first."""
        respond = build()
        with ThreadPoolExecutor(2) as pool:
            waiting = {
                pool.submit(respond, batch): index
                for index, batch in reversed(list(enumerate(batches)))
            }
            for future in as_completed(waiting):
                yield waiting[future], future.result()


class FileObserver(Plugin):
    """Writes what it sees to the file of its ARG."""

    class Options(types.Options):
        argument = "path"
        path: Path

    def _say(self, line: str) -> None:
        with self.options.path.open("a") as file:
            file.write(line + os.linesep)

    @hookimpl
    def audit_started(self, audit: "Audit") -> None:
        """Before anything is asked."""
        self._say(f"started with {len(audit.samples)}")

    @hookimpl
    def responses_progressed(self, done: int, total: int, cached: int) -> None:
        """After every batch."""
        self._say(f"{done}/{total} {cached}")

    @hookimpl
    def audit_finished(self, report: Report) -> None:
        """With the whole report."""
        self._say(f"finished {report.hash}")
