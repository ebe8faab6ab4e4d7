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
    from cuescope_cci.covar.measures import ClassDrops
    from cuescope_cci.covar.models import ModelEntry
    from cuescope_cci.options import Rule


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
        from cuescope_cci.covar.answers import RULES, ask
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
            own = ask(session.audit, cci, images, entry.name, self.options.errors)
            answers.append(own)
            planted.append(planted_answers(session.samples, own, images))
            del session  # one model in memory at a time
        if images is None:
            return
        yield from self._tables(answers, images, RULES)
        yield from self._drops(answers, images)
        yield from self._classes(answers, images)
        yield from self._backgrounds(answers, images, planted, RULES)
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

        audit = session.audit
        rng = self.context.rng("covar", "photos")
        return read_images(draw_sources(audit.samples, self.options.photos, rng), audit.labels)

    def _images_table(self, images: "Images", session: Any) -> Table:
        from cuescope_cci.covar.tables import images_table

        facts: Mapping[str, str] = getattr(session.parts.data.plugin, "facts", {})
        return images_table(images, facts)

    def _tables(
        self, answers: Sequence["Answers"], images: "Images", rules: Sequence["Rule"]
    ) -> Iterator[Table]:
        from cuescope_cci.covar.tables import accuracy_table, error_tables

        yield accuracy_table(answers, images)
        if any(own.known(rule).any() for own in answers for rule in rules):
            for rule in rules:
                yield from error_tables(answers, images, rule)
            return
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

        flat = correct(
            {
                (own.name, name): drop
                for own in answers
                for name, drop in subset_drops(own.right, images, self._rng("subsets")).items()
            }
        )
        drops = {
            own.name: {name: drop for (model, name), drop in flat.items() if model == own.name}
            for own in answers
        }
        yield subset_table(drops)
        yield from subset_charts(drops)
        yield from grids(answers[0], images, self.options.pictures)

    def _classes(self, answers: Sequence["Answers"], images: "Images") -> Iterator[Table | Picture]:
        from cuescope_cci.covar.pictures import class_chart
        from cuescope_cci.covar.tables import class_tables

        for own in answers:
            classes = self._class_drops(own, images)
            yield from class_tables(own.name, classes)
            if (chart := class_chart(own.name, classes[1:])) is not None:
                yield chart

    def _class_drops(self, own: "Answers", images: "Images") -> "list[ClassDrops]":
        from cuescope_cci.covar.measures import class_drops, correct_classes

        labels = [images.labels[i] for i in sorted(set(images.label.tolist()))]
        names: list[str | None] = [None, *labels]
        rng = self._rng("classes")
        whole, *classes = (class_drops(own.right, images, name, rng) for name in names)
        return [*correct_classes([whole]), *correct_classes(classes)]

    def _backgrounds(
        self,
        answers: Sequence["Answers"],
        images: "Images",
        planted: Sequence[np.ndarray | None],
        rules: Sequence["Rule"],
    ) -> Iterator[Table]:
        from cuescope_cci.covar.contexts import background_pulls, exchange_backgrounds
        from cuescope_cci.covar.tables import context_table, exchange_table

        exchanges = {
            own.name: {rule: exchange_backgrounds(own, images, rule, sheet) for rule in rules}
            for own, sheet in zip(answers, planted, strict=True)
        }
        if (table := exchange_table(exchanges)) is not None:
            yield table
        for own in answers:
            yield context_table(own.name, background_pulls(own, images, self._rng("contexts")))

    def _effects(
        self, entries: Sequence["ModelEntry"], answers: Sequence["Answers"], images: "Images"
    ) -> Iterator[Table]:
        from cuescope_cci.covar.effects import contrasts
        from cuescope_cci.covar.tables import effects_table

        found = list(contrasts(entries, answers, images, self._rng("effects")))
        if (table := effects_table(found)) is not None:
            yield table

    def _rng(self, name: str) -> np.random.Generator:
        return self.context.rng("covar", name)


def planted_answers(
    samples: Sequence[Sample], answers: "Answers", images: "Images"
) -> np.ndarray | None:
    """Whether the answer is the class that the shown background was planted for; None unknown."""
    sheets = {sample.key: sample.annotations.get("cues", {}) for sample in samples}
    of_images = [sheets[sample.key] for sample in images.samples]
    keys = [f"background of {images.labels[i]}" for i in answers.predicted]
    if not all(key in sheet for key, sheet in zip(keys, of_images, strict=True)):
        return None
    return np.array([any(sheet[key]) for key, sheet in zip(keys, of_images, strict=True)])
