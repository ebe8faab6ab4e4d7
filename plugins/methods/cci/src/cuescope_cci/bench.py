"""Tables 1 and 2 of CCI: every explainer's maps under one deletion and insertion protocol."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field, PositiveInt

from cuescope_sdk import (
    Audit,
    Context,
    Plugin,
    Request,
    Runner,
    Sample,
    Table,
    Trial,
    UserError,
    nearest,
)
from cuescope_sdk import Options as BaseOptions

if TYPE_CHECKING:
    from cuescope_sdk.explain import Direction, Schedule

Task = Literal["classification", "retrieval"]
Protocol = Literal["paper", "rise"]
Maps = Sequence[np.ndarray]
Curves = Mapping[str, np.ndarray]
OURS = "CCI"


@dataclass(frozen=True)
class Asked:
    """A task: canvas samples, whose texts the maps are about, and the curves of such maps."""

    samples: Sequence[Sample]
    texts: Mapping[str, Sequence[str]]
    curves: Callable[[Maps, "Schedule", "Direction"], Curves]


class CCIBench(Plugin):
    """Any model and data that `cuescope audit cci` takes; a killed run goes on where it was."""

    class Options(BaseOptions):
        """What is compared, and on what."""

        model: str = Field("toy-clip", description="SPEC of the model")
        model_options: dict[str, Any] = Field({}, description="options of the model")
        data: str = Field("scenes", description="SPEC of labelled images")
        data_options: dict[str, Any] = Field({}, description="options of the data")
        limit: PositiveInt = Field(200, description="images, drawn by seed")
        steps: PositiveInt = Field(
            10, description="steps over half of the pixels (rise: all); the paper takes 100"
        )
        protocols: tuple[Protocol, ...] = Field(
            ("paper", "rise"), description="paper: noise and blank; rise: blank and blur"
        )
        tasks: tuple[Task, ...] = Field(
            ("classification", "retrieval"), description="retrieval needs annotations['caption']"
        )
        texts: tuple[Literal["GT", "Pred"], ...] = Field(
            ("GT", "Pred"), description="maps about the true class, about the predicted one"
        )
        explainers: tuple[str, ...] = Field((), description="of `saliency`; default: all of them")
        explainer_options: dict[str, Any] = Field(
            {"rise_masks": 500}, description="options of `saliency`; RISE's paper takes 2,000"
        )
        curves_dtype: Literal["float32", "bfloat16", "float16"] = Field(
            "float32", description="of the forward passes of the curves; maps are in float32"
        )

    options: Options

    def __init__(self, options: Options, context: Context) -> None:
        super().__init__(options, context)
        self._runner = Runner(context, Path("runs"))

    def run(self) -> Iterator[Table]:
        """For each task, protocol and direction: the areas, then what CCI gains image by image."""
        from cuescope_cci.comparing import areas_table, gains_table
        from cuescope_sdk.explain import DIRECTIONS, Schedule

        for task in self.options.tasks:
            session = self._session(task, "float32")
            asked = self._asked(task, session.audit)
            if asked is None:
                left_out = "Left out: not every image has a caption (annotations['caption'])."
                yield Table(title="Retrieval", columns=("explainer",), rows=(), notes=(left_out,))
                continue
            maps = self._maps(session, asked)
            head = f"{session.parts.model.stamp.spec} on {len(asked.samples)} images of "
            head += str(session.parts.data.stamp.spec)
            for protocol in self.options.protocols:
                schedule = Schedule(protocol=protocol, steps=self.options.steps)
                for direction in DIRECTIONS:
                    found = {
                        name: _named(
                            (who, asked.curves(of_text, schedule, direction))
                            for who, of_text in by_text.items()
                        )
                        for name, by_text in maps.items()
                    }
                    yield areas_table(task, schedule, direction, found, head)
                    rng = session.audit.rng("bench intervals", task, protocol, direction)
                    yield gains_table(task, protocol, direction, found, OURS, rng)

    def _session(self, task: Task, dtype: Literal["float32", "bfloat16", "float16"]) -> Any:
        options = self.options
        raw = {"templates": "raw"} if task == "retrieval" else {}  # captions are whole sentences
        request = Request(
            method="cci",
            model=options.model,
            data=options.data,
            model_options={**options.model_options, **raw},
            data_options=options.data_options,
            seed=self.context.seed,
            device=self.context.device,
            dtype=dtype,
            limit=options.limit,
        )
        return self._runner.session(request)

    def _asked(self, task: Task, audit: Audit) -> Asked | None:
        from cuescope_sdk.explain import canvas_samples

        samples = canvas_samples(audit, audit.samples)
        dtype = self.options.curves_dtype
        scoring = audit if dtype == "float32" else self._session(task, dtype).audit
        if task == "classification":
            return self._classification(samples, audit, scoring)
        captions = [captions_of(sample) for sample in samples]
        return self._retrieval(samples, captions, scoring) if all(captions) else None

    def _classification(self, samples: Sequence[Sample], audit: Audit, scoring: Audit) -> Asked:
        from cuescope_sdk.explain import classification_curves

        if bare := [sample.key for sample in samples if sample.label is None]:
            raise UserError(f"cci: sample '{bare[0]}' has no label", expected="labelled images")
        texts = {"GT": [str(sample.label) for sample in samples]}
        if "Pred" in self.options.texts:
            outcomes = audit.respond(Trial(sample=sample) for sample in samples)
            texts["Pred"] = [str(outcome.prediction) for outcome in outcomes]

        def curves(maps: Maps, schedule: "Schedule", direction: "Direction") -> Curves:
            found = classification_curves(scoring, samples, maps, schedule, direction)
            return {f"@{k}": curve for k, curve in found.items()}

        return Asked(samples, {who: texts[who] for who in self.options.texts}, curves)

    def _retrieval(
        self, samples: Sequence[Sample], captions: Sequence[Sequence[str]], scoring: Audit
    ) -> Asked:
        from cuescope_sdk.explain import retrieval_curves

        def curves(maps: Maps, schedule: "Schedule", direction: "Direction") -> Curves:
            return retrieval_curves(scoring, samples, captions, maps, schedule, direction)

        return Asked(samples, {"": [own[0] for own in captions]}, curves)

    def _maps(self, session: Any, asked: Asked) -> dict[str, dict[str, Maps]]:
        """Explainer -> whose text -> a map each image."""
        return {
            name: {
                who: list(method.maps(session.audit, asked.samples, texts))
                for who, texts in asked.texts.items()
            }
            for name, method in self._explainers(session).items()
        }

    def _explainers(self, session: Any) -> "dict[str, Explainer]":
        """Methods with `maps`, by the name of the paper's row; CCI last."""
        from cuescope_cci.paper import NAMES

        known = [name for name in NAMES if name != "cci"]
        if unknown := [name for name in self.options.explainers if name not in known]:
            raise UserError(
                f"cci: no explainer '{unknown[0]}'",
                expected=", ".join(known),
                remedy=nearest(unknown[0], known),
            )
        build, given = session.parts.context.build, self.options.explainer_options
        asked = self.options.explainers or known
        found = {NAMES[name]: build("method", f"saliency:{name}", given) for name in asked}
        return {**found, OURS: session.parts.method.plugin}


def captions_of(sample: Sample) -> tuple[str, ...]:
    """The captions of a sample: a text, or several."""
    given = sample.annotations.get("caption", ())
    return (given,) if isinstance(given, str) else tuple(given)


def _named(found: Iterator[tuple[str, Curves]]) -> Curves:
    """One mapping: "GT" and "@1" are "GT@1"."""
    return {who + at: curve for who, curves in found for at, curve in curves.items()}
