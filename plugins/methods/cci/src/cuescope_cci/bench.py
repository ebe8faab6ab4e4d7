"""Section 3.1 of CCI: explainers under one deletion and insertion schedule, and failures."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from jaxtyping import Num
from pydantic import Field, PositiveInt

from cuescope.application import Runner
from cuescope_cci.options import PluginOptions, Spec, Tools
from cuescope_cci.paper import NAMES, paper_rows
from cuescope_sdk import (
    Audit,
    Cell,
    Context,
    Options,
    Picture,
    Plugin,
    Request,
    Sample,
    Table,
    Trial,
    UserError,
    Words,
    nearest,
)
from cuescope_sdk.report import count_of

# What computes is imported where it runs: `cuescope dev bench --help` imports this module.
if TYPE_CHECKING:
    from cuescope_sdk.explain import Explainer, Perturbation
    from cuescope_sdk.statistics import Groups

Task = Literal["classification", "retrieval", "failures"]
Maps = Sequence[np.ndarray]
Curves = Mapping[str, Num[np.ndarray, "image step"]]
MapsByName = dict[str, dict[str, Maps]]  # explainer -> whose text
OURS = "CCI"
SHOWN = 2  # images with the maps of all explainers (figure 3)
SOURCES = {"classification": "ImageNet, table 1", "retrieval": "MS COCO, table 2"}


class CCIBenchOptions(Options):
    """What is compared, and on what."""

    model: Spec = Field("toy-clip", description="SPEC of the model")
    model_options: PluginOptions = Field({}, description="options of the model")
    data: Spec = Field("scenes", description="SPEC of labelled images")
    data_options: PluginOptions = Field({}, description="options of the data")
    limit: PositiveInt = Field(200, description="images, drawn by seed")
    steps: PositiveInt = Field(
        10, description="steps over half of the pixels; the paper takes 100"
    )
    tasks: tuple[Task, ...] = Field(
        ("classification", "retrieval", "failures"),
        description="tables 1 and 2, figure 1d; retrieval needs annotations['caption'] or "
        "['captions'], failures need masks",
    )
    tools: Tools = Field(
        {},
        description="for failures: segmenter=SPEC where the data has no masks; text-generator",
    )
    cci_options: PluginOptions = Field(
        {}, description="options of `cci`; the paper's text is paper=true"
    )
    explainers: Annotated[tuple[str, ...], Words()] = Field(
        (), description="of `saliency`; default: all of them"
    )
    explainer_options: PluginOptions = Field(
        {"rise_masks": 500},
        description="options of `saliency`; RISE's paper takes 2,000",
    )


@dataclass(frozen=True)
class Questions:
    """A task: canvas samples, whose texts the maps are about, and the curves of such maps."""

    samples: Sequence[Sample]
    texts: Mapping[str, Sequence[str]]
    curves: Callable[["Perturbation", Maps], Curves]


class CCIBench(Plugin):
    """Any model and data that `cuescope audit cci` takes; a killed run goes on where it was."""

    Options = CCIBenchOptions

    def __init__(self, options: CCIBenchOptions, context: Context) -> None:
        super().__init__(options, context)
        self._runner = Runner(context, Path("runs"))

    def run(self) -> Iterator[Table | Picture]:
        """For each task and direction: areas, gains image by image, and the curves."""
        from cuescope_sdk.explain import Perturbation
        from cuescope_sdk.statistics import Groups

        for task in self.options.tasks:
            # one session a task: retrieval has other prompt templates
            session = self._session(task)
            if task == "failures":
                yield from self._failures(session)
                continue
            questions = self._questions(task, session.audit)
            # other tasks go on: data without captions is no error
            if questions is None:
                left_out = "Left out: not every image has a caption."
                yield Table.of("Retrieval", ("explainer",), (), left_out)
                continue
            maps = self._maps(session, questions)
            yield from self._pictures(questions, maps)
            parts = session.parts
            head = (
                f"{parts.model.stamp.spec} on {count_of(len(questions.samples), 'images')} of "
                f"{parts.data.stamp.spec}"
            )
            groups = Groups.of(questions.samples)
            for perturbation in Perturbation(steps=self.options.steps).both:
                curves = _curves_by_name(questions, maps, perturbation)
                yield areas_table(task, perturbation, curves, head)
                yield gains_table(task, perturbation, curves, groups)
                yield curves_picture(task, perturbation, curves)

    def _failures(self, session: Any) -> Iterator[Table]:
        from cuescope_cci.failures import failures_table, masks_table

        data = session.parts.data
        name = getattr(data.plugin, "benchmark", None) or str(data.stamp.spec)
        masks = masks_table(session.audit, self.options.tools.get("segmenter", ""))
        if masks is not None:
            yield masks
        yield failures_table(session.audit, session.parts.method.plugin.options, name)

    def _pictures(self, questions: Questions, maps: MapsByName) -> Iterator[Picture]:
        """Figure 3: one image, and the maps of all explainers for its text."""
        from cuescope_sdk.maths import upsample
        from cuescope_sdk.report import PanelRow, draw_beside

        [(who, texts), *_] = questions.texts.items()
        # the first ones: samples were drawn by seed already
        for index, sample in enumerate(questions.samples[:SHOWN]):
            image = np.asarray(sample.frames[0].load())
            drawings = [image]
            for name, by_text in maps.items():
                heat = upsample(by_text[who][index], image.shape[:2], rescaled=True)
                drawings += PanelRow(name, image, heat=heat).overlays()
            yield Picture(
                title=f"Maps for '{texts[index]}'",
                caption="From the left: the image, " + ", ".join(maps),
                image=draw_beside(drawings),
            )

    def _session(self, task: Task) -> Any:
        options = self.options
        model_options = dict(options.model_options)
        if task == "retrieval":
            model_options["templates"] = "raw"  # captions are whole sentences
        request = Request(
            method="cci",
            model=options.model,
            data=options.data,
            model_options=model_options,
            data_options=options.data_options,
            method_options=options.cci_options,
            tools=options.tools if task == "failures" else {},
            seed=self.context.seed,
            device=self.context.device,
            dtype="float32",  # gradients need it
            limit=options.limit,
        )
        return self._runner.session(request)

    def _questions(self, task: Task, audit: Audit) -> Questions | None:
        from cuescope_sdk.explain import Canvas

        samples = Canvas.samples(audit, audit.samples)
        if task == "classification":
            return self._classification(samples, audit)
        captions = [captions_of(sample) for sample in samples]
        if not all(captions):
            return None
        first_captions = [of_sample[0] for of_sample in captions]

        def curves(perturbation: "Perturbation", maps: Maps) -> Curves:
            return perturbation.retrieval_curves(audit, samples, captions, maps)

        # a map is about the first caption; the curves ask for all of them
        return Questions(samples, {"": first_captions}, curves)

    def _classification(
        self,
        samples: Sequence[Sample],
        audit: Audit,
    ) -> Questions:
        texts: dict[str, list[str]] = {"GT": []}
        for sample in samples:
            if sample.label is None:
                raise UserError(
                    f"cci: sample '{sample.key}' has no label",
                    expected="labelled images",
                )
            texts["GT"].append(sample.label)
        outcomes = audit.respond(Trial(sample=sample) for sample in samples)
        texts["Pred"] = [str(outcome.prediction) for outcome in outcomes]

        def curves(perturbation: "Perturbation", maps: Maps) -> Curves:
            by_top = perturbation.classification_curves(audit, samples, maps)
            return {f"@{k}": curve for k, curve in by_top.items()}

        return Questions(samples, texts, curves)

    def _maps(self, session: Any, questions: Questions) -> MapsByName:
        """Explainer -> whose text -> a map each image."""
        maps: MapsByName = {}
        for name, method in self._explainers(session).items():
            maps[name] = {}
            for who, texts in questions.texts.items():
                maps[name][who] = list(
                    method.maps(session.audit, questions.samples, texts)
                )
        return maps

    def _explainers(self, session: Any) -> "dict[str, Explainer]":
        """Methods with `maps`, by the name of the paper's row; CCI last."""
        rivals = list(NAMES)
        # CCI is the session's own method, with the options of this bench
        rivals.remove("cci")
        explainers = {}
        for name in self.options.explainers or rivals:
            if name not in rivals:
                raise UserError(
                    f"cci: no explainer '{name}'",
                    expected=", ".join(rivals),
                    remedy=nearest(name, rivals),
                )
            explainers[NAMES[name]] = session.parts.context.build(
                "method", f"saliency:{name}", self.options.explainer_options
            )
        explainers[OURS] = session.parts.method.plugin
        return explainers


def captions_of(sample: Sample) -> tuple[str, ...]:
    """The captions of a sample: a text, or several."""
    captions = sample.annotations.get("caption", sample.annotations.get("captions", ()))
    return (captions,) if isinstance(captions, str) else tuple(captions)


def _curves_by_name(
    questions: Questions,
    maps: MapsByName,
    perturbation: "Perturbation",
) -> Mapping[str, Curves]:
    """The curves of each explainer: those of the text "GT" at the top "@1" are "GT@1"."""
    curves: dict[str, dict[str, np.ndarray]] = {}
    for name, by_text in maps.items():
        curves[name] = {}
        for who, of_text in by_text.items():
            for top, curve in questions.curves(perturbation, of_text).items():
                curves[name][who + top] = curve
    return curves


def areas_table(
    task: str,
    perturbation: "Perturbation",
    curves: Mapping[str, Curves],
    head: str,
) -> Table:
    """The area of each explainer's mean curve, beside the paper's own."""
    # deletion takes away what the answer needs, so a good map's curve falls
    direction = perturbation.direction
    better = "lower" if direction == "deletion" else "higher"
    note = (
        f"{head}; {count_of(perturbation.steps, 'steps')} of {perturbation.per_step:.1%} of "
        f"the pixels. In brackets: the paper, CLIP ViT-B/16 on {SOURCES[task]}."
    )
    columns = ("explainer", *next(iter(curves.values())))
    rows: list[tuple[Cell, ...]] = []
    for name, by_column in curves.items():
        rows.append((name, *map(perturbation.auc, by_column.values())))
    # figures of explainers that were left out here would stand alone
    published = [
        {column: row.get(column) for column in columns}
        for row in paper_rows(task, direction)
        if row["explainer"] in curves
    ]
    return Table.of(
        f"{task.capitalize()}: {direction} AUC, {better} is better",
        columns,
        rows,
        note,
        paper=published,
        decimals=3,
    )


def curves_picture(
    task: str,
    perturbation: "Perturbation",
    curves: Mapping[str, Curves],
) -> Picture:
    """Figure 4: the mean curve of each explainer, of the first column."""
    from cuescope_sdk.report import line_chart

    # one column: a line for each explainer is as much as a chart can show
    column = next(iter(curves[OURS]))
    changed = 100 * perturbation.changed
    lines = {}
    for name, by_column in curves.items():
        lines[name] = (changed, by_column[column].mean(axis=0))
    verb, falls = perturbation.words
    return Picture(
        title=f"{task.capitalize()}: {perturbation.direction} curves, {column}",
        caption=f"A faithful map's curve {falls} fast.",
        image=line_chart(lines, "", f"pixels {verb} (%)", column),
    )


def gains_table(
    task: str,
    perturbation: "Perturbation",
    curves: Mapping[str, Curves],
    groups: "Groups",
) -> Table:
    """By how much CCI's area is better than each rival's; a star where the interval is not on 0."""
    rows = []
    for name, rival in curves.items():
        if name != OURS:
            row = [name]
            for column, curve in rival.items():
                gain = perturbation.gain(curves[OURS][column], curve, groups)
                row.append(f"{gain} *" if gain.sign else str(gain))
            rows.append(row)
    return Table.of(
        f"{task.capitalize()}: what {OURS} gains in {perturbation.direction} AUC",
        (f"{OURS} against", *curves[OURS]),
        rows,
        f"Above 0: {OURS} is better. In brackets: 95% interval, for groups too.",
    )
