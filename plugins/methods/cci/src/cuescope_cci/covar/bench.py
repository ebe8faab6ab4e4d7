"""Section 5, appendices A.5 to A.9: models on the eight subsets, with CCI's error sources."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field, NonNegativeInt, PositiveInt

from cuescope.application import Runner
from cuescope_sdk import (
    Context,
    NamesFile,
    NamesPlugin,
    Options,
    Picture,
    Plugin,
    Request,
    Sample,
    Table,
)

# What computes is imported where it runs: `cuescope bench --help` imports this module.
if TYPE_CHECKING:
    from cuescope_cci.covar.answers import Answers
    from cuescope_cci.covar.images import Images
    from cuescope_cci.covar.models import ModelEntry


class CovarBenchOptions(Options):
    """`cuescope bench covar --models FILE --data covar:DIR`."""

    models: Annotated[str, NamesFile(or_words=True)] = Field(
        "toys",
        description="YAML file of {name, model, options, design}; or `paper` (tables 3 and 4), "
        "`appendix` (figures 15 to 18), `toys` (planted truth)",
    )
    data: Annotated[str, NamesPlugin()] = Field(
        "camera-scenes", description="SPEC of a data set with the eight subsets"
    )
    data_options: Annotated[dict[str, Any], NamesPlugin()] = Field({}, description="its options")
    photos: PositiveInt | None = Field(
        None, description="so many source photos, of all classes alike; default: all"
    )
    errors: PositiveInt | None = Field(
        None,
        description="wrong answers of each subset that CCI looks into, drawn by seed; default: "
        "all (each costs about 10 forward passes)",
    )
    tools: Annotated[dict[str, str], NamesPlugin()] = Field(
        {}, description="text-generator=SPEC judges look-alikes; segmenter=SPEC finds the objects"
    )
    cci_options: Annotated[dict[str, Any], NamesPlugin()] = Field(
        {}, description="options of `cci`"
    )
    pictures: NonNegativeInt = Field(1, description="photos whose variants are shown (--html)")
    dtype: Literal["float32", "bfloat16", "float16"] = Field("float32", description="of the models")


class CovarBench(Plugin):
    """Asks one model after the other; a killed run goes on where it was."""

    Options = CovarBenchOptions
    options: CovarBenchOptions

    def __init__(self, options: CovarBenchOptions, context: Context) -> None:
        super().__init__(options, context)
        self._runner = Runner(context, Path("runs"))

    def run(self) -> Iterator[Table | Picture]:
        """The images, Tables 3 and 4, drops, contexts, effects, and the pictures."""
        from cuescope_cci.covar.answers import ask
        from cuescope_cci.covar.models import load_models

        entries = load_models(self.options.models)
        images: Images | None = None
        answers: list[Answers] = []
        planted: list[np.ndarray | None] = []
        for entry in entries:
            session = self._session(entry)
            if images is None:
                images = self._images(session)
                yield self._images_table(images, session)
            cci = session.parts.method.plugin.options
            of_model = ask(session.audit, cci, images, entry.name, self.options.errors)
            answers.append(of_model)
            planted.append(planted_answers(session.samples, of_model, images))
            del session  # one model in memory at a time
        if images is not None:
            yield from self._tables(answers, images)
            yield from self._drops(answers, images)
            yield from self._classes(answers, images)
            yield from self._backgrounds(answers, images, planted)
            yield from self._effects(entries, answers, images)

    def _session(self, entry: "ModelEntry") -> Any:
        options = self.options
        request = Request(
            method="cci",
            model=entry.model,
            data=options.data,
            model_options=entry.options,
            data_options=options.data_options,
            # kinds of backgrounds are no question of this bench
            method_options={"kinds": "factors", **options.cci_options},
            tools=options.tools,
            seed=self.context.seed,
            device=self.context.device,
            dtype=options.dtype,
        )
        return self._runner.session(request)

    def _images(self, session: Any) -> "Images":
        from cuescope_cci.covar.images import draw_sources, read_images

        rng = self._rng("photos")
        samples = draw_sources(session.audit.samples, self.options.photos, rng)
        return read_images(samples, session.audit.labels)

    def _images_table(self, images: "Images", session: Any) -> Table:
        from cuescope_cci.covar.tables import images_table

        facts: Mapping[str, str] = getattr(session.parts.data.plugin, "facts", {})
        return images_table(images, facts)

    def _tables(self, answers: Sequence["Answers"], images: "Images") -> Iterator[Table]:
        from cuescope_cci.covar.answers import RULES
        from cuescope_cci.covar.tables import accuracy_table, error_tables

        yield accuracy_table(answers, images)
        if any(model.known(rule).any() for model in answers for rule in RULES):
            for rule in RULES:
                yield from error_tables(answers, images, rule)
        else:
            yield Table(
                title="BG-Er and Fine-Er (Table 4)",
                columns=("model",),
                rows=(),
                notes=("Left out: no wrong answer, or no foreground masks.",),
            )

    def _drops(self, answers: Sequence["Answers"], images: "Images") -> Iterator[Table | Picture]:
        from cuescope_cci.covar.measures import correct, subset_drops
        from cuescope_cci.covar.pictures import grids, subset_charts
        from cuescope_cci.covar.tables import subset_table

        tested = {m.name: subset_drops(m.right, images, self._rng("subsets")) for m in answers}
        drops = correct(tested)
        yield subset_table(drops)
        yield from subset_charts(drops)
        yield from grids(answers[0], images, self.options.pictures)

    def _classes(self, answers: Sequence["Answers"], images: "Images") -> Iterator[Table | Picture]:
        from cuescope_cci.covar.measures import class_drops, correct_classes
        from cuescope_cci.covar.pictures import class_chart
        from cuescope_cci.covar.tables import class_tables

        labels = [images.labels[code] for code in np.unique(images.label)]
        for model in answers:
            rng = self._rng("classes")
            whole = class_drops(model.right, images, None, rng)
            classes = [class_drops(model.right, images, label, rng) for label in labels]
            classes = correct_classes(classes)
            yield from class_tables(model.name, [*correct_classes([whole]), *classes])
            chart = class_chart(model.name, classes)
            if chart is not None:
                yield chart

    def _backgrounds(
        self, answers: Sequence["Answers"], images: "Images", planted: Sequence[np.ndarray | None]
    ) -> Iterator[Table]:
        from cuescope_cci.covar.answers import RULES
        from cuescope_cci.covar.contexts import background_pulls, exchange_backgrounds
        from cuescope_cci.covar.tables import context_table, exchange_table

        exchanges = {}
        for model, sheet in zip(answers, planted, strict=True):
            by_rule = {rule: exchange_backgrounds(model, images, rule, sheet) for rule in RULES}
            exchanges[model.name] = by_rule
        table = exchange_table(exchanges)
        if table is not None:
            yield table
        for model in answers:
            pulls = background_pulls(model, images, self._rng("contexts"))
            yield context_table(model.name, pulls)

    def _effects(
        self, entries: Sequence["ModelEntry"], answers: Sequence["Answers"], images: "Images"
    ) -> Iterator[Table]:
        from cuescope_cci.covar.effects import contrasts
        from cuescope_cci.covar.tables import effects_table

        table = effects_table(contrasts(entries, answers, images, self._rng("effects")))
        if table is not None:
            yield table

    def _rng(self, name: str) -> np.random.Generator:
        return self.context.rng("covar", name)


def planted_answers(
    samples: Sequence[Sample], answers: "Answers", images: "Images"
) -> np.ndarray | None:
    """Whether the answer is the class that the shown background was planted for; None unknown."""
    sheets = {sample.key: sample.annotations.get("cues", {}) for sample in samples}
    planted = []
    for sample, code in zip(images.samples, answers.predicted, strict=True):
        present = sheets[sample.key].get(f"background of {images.labels[code]}")
        if present is None:
            return None
        planted.append(any(present))
    return np.array(planted)
