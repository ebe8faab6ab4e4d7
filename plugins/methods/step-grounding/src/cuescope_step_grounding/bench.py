"""Does grounding tell what a model keeps out of distribution? On models, or the paper's tables."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import count, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, PositiveInt

from cuescope.application import Runner
from cuescope_sdk import (
    Cell,
    Names,
    Options,
    Picture,
    Plugin,
    Report,
    StoredRun,
    Table,
    UserError,
    Words,
)

if TYPE_CHECKING:
    from cuescope_step_grounding.law.law import MeasuredModel
    from cuescope_step_grounding.law.models import Data
    from cuescope_step_grounding.law.sweep import Setting

COLUMNS = ("model", "SGR %", "accuracy %", "out of distribution %", "retention %")
Spec = Annotated[str, Names.plugin()]
SpecOptions = Annotated[dict[str, Any], Names.plugin()]


class BenchOptions(Options):
    """`cuescope dev bench step-grounding --paper`, `--runs A,B,C --ood A2,B2,C2` or `--models`."""

    paper: bool = Field(
        False, description="recompute the text's figures from its own tables"
    )
    runs: tuple[Path, ...] = Field(
        (), description="a run of each model on data that it knows"
    )
    ood: tuple[Path, ...] = Field(
        (), description="a run of each on other data, in the same order"
    )
    groups: Annotated[tuple[str, ...], Words()] = Field(
        (), description="names of models' capacity, in the same order: 7B,7B,13B"
    )
    reasoners: PositiveInt = Field(
        16, description="number of scripted reasoners, where no runs are given"
    )
    videos: PositiveInt = Field(40, description="videos that each of them is shown")
    models: Annotated[tuple[str, ...], Names.plugin()] = Field(
        (),
        description="SPECs of models to audit on `data` and `ood_data`, in place of runs",
    )
    data: Spec = Field("", description="SPEC of data that the models know")
    data_options: SpecOptions = Field({}, description="its options")
    ood_data: Spec = Field("", description="SPEC of other data")
    ood_data_options: SpecOptions = Field({}, description="its options")
    verifier: Spec = Field("", description="SPEC of the claim-verifier of these audits")
    components: bool = Field(
        False, description="also: what each component and each baseline predicts"
    )
    saliency: tuple[Path, ...] = Field(
        (),
        description="runs of saliency, a model each in the same order, then those of the next "
        "explainer: maps as baselines",
    )
    sweep: Spec = Field(
        "",
        description="also: the same under other settings, as epsilon=0.001,0.01,0.1, "
        "claim-verifier.threshold=0.1,0.3 or model.steps=3,7",
    )
    difficulty: bool = Field(
        False, description="also: is the other data harder, by what its samples show"
    )


class StepGroundingBench(Plugin):
    """The paper's Tables 1 and 2 and its correlation, on runs of yours or on scripted reasoners."""

    Options = BenchOptions
    options: BenchOptions

    def run(self) -> Iterator[Table | Picture]:
        """The models, whether the law holds for them, and the figure; a killed run goes on."""
        from cuescope_step_grounding.law.law import figure, law
        from cuescope_step_grounding.law.sweep import Setting, settings
        from cuescope_step_grounding.paper import read_tables, recomputed_tables

        options = self.options
        if options.paper:
            yield from recomputed_tables(read_tables(), self.context.seed)
            return
        swept = settings(options.sweep) if options.sweep else []
        if swept and options.runs:
            raise UserError(
                "bench step-grounding: sweep of stored runs",
                expected="models that can be audited under other settings",
                remedy="Give --models, --data and --ood-data in place of --runs",
            )
        if options.runs:
            models = self._stored_models()
        else:
            models = self._audited_models(Setting(changes=options.components))
        # numbered: one model may stand there with several benchmarks
        rows = [_row(f"{i}. {model.model}", model) for i, model in enumerate(models, 1)]
        yield Table.of("Models, in and out of distribution", COLUMNS, rows)
        # a generator for each table, so that one more leaves the others as they are
        rng = partial(self.context.rng, "bench step-grounding")
        result = law(models, rng("law"))
        yield result.table()
        if options.components:
            from cuescope_step_grounding.law.components import components

            yield components(models, rng("components"))
        if swept:
            from cuescope_step_grounding.law.sweep import sweep_table

            measured = {setting: self._audited_models(setting) for setting in swept}
            yield sweep_table(measured, rng("sweep"))
        if options.difficulty:
            yield self._difficulty_table()
        yield figure(models, result)

    def _difficulty_table(self) -> Table:
        """How much harder the other data is."""
        from cuescope_step_grounding.law.difficulty import difficulty_table

        options = self.options
        named = self._data
        # without data or runs the models are scripted, and these are what they were shown
        if not (options.data or options.ood_data or options.runs):
            named = (
                ("shape-world:test", {"test": options.videos}),
                ("shape-world:ood", {"ood": options.videos}),
            )
        # also for stored runs: they hold answers, and not what their samples show
        if not all(spec for spec, _ in named):
            raise UserError(
                "bench step-grounding: difficulty",
                expected="--data SPEC and --ood-data SPEC",
            )
        known, new = (self.context.build("dataset", *data) for data in named)
        return difficulty_table(
            list(map(known.__getitem__, range(len(known)))),
            list(map(new.__getitem__, range(len(new)))),
        )

    @property
    def _data(self) -> "tuple[Data, Data]":
        """What the models know, and what they do not: SPEC and options."""
        options = self.options
        known = (options.data, options.data_options)
        return known, (options.ood_data, options.ood_data_options)

    def _stored_models(self) -> "list[MeasuredModel]":
        from cuescope_step_grounding.law.components import maps_of_models
        from cuescope_step_grounding.law.models import models_of

        options = self.options
        models = models_of(
            list(map(_report, options.runs)),
            list(map(_report, options.ood)),
            options.groups,
        )
        maps = maps_of_models(
            list(map(_report, options.saliency)),
            len(models),
        )
        for index, of_maps in enumerate(maps):
            figures = {**models[index].figures, **of_maps}
            models[index] = replace(models[index], figures=figures)
        return models

    def _audited_models(self, setting: "Setting") -> "list[MeasuredModel]":
        """The models under a setting."""
        from cuescope_step_grounding.law.models import (
            live_requests,
            model_of,
            random_dials,
            requests,
        )

        options = self.options
        context = self.context
        if options.ood:
            raise UserError(
                "bench step-grounding: ood without runs", expected="both, or neither"
            )
        # a folder of its own, so that a bench that was killed goes on
        runner = Runner(context, context.cache / "bench" / "step-grounding")
        run = partial(runner.run, resume=context.resume)
        reasoners = []
        if options.models:
            pairs = live_requests(options.models, *self._data, options.verifier)
        else:
            reasoners = random_dials(
                options.reasoners,
                context.rng("bench step-grounding", "dials", "grounding"),
            )
            # each reasoner errs by its own luck
            pairs = list(
                map(
                    requests,
                    reasoners,
                    repeat(options.videos),
                    count(context.seed),
                )
            )
        models = []
        with context.progress("models", len(pairs)) as advance:
            for known, other in pairs:
                models.append(
                    model_of(
                        run(setting.of(known)),
                        run(setting.of(other, known=False)),
                    )
                )
                advance(1)
        # all reasoners are one scripted model: they are told apart by their grounding
        for index, dials in enumerate(reasoners):
            models[index] = replace(
                models[index],
                model=f"grounding {dials.grounding:.2f}",
            )
        return models


def _report(run: Path) -> Report:
    return StoredRun(run).report


def _row(name: str, model: "MeasuredModel") -> list[Cell]:
    shares = (model.sgr, model.accuracy, model.ood_accuracy, model.retention)
    return [name, *(100 * share for share in shares)]
