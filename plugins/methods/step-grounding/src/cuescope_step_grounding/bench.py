"""Does grounding tell what a model keeps out of distribution? On models, or the paper's tables."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field, PositiveInt

from cuescope_sdk import Cell, Options, Picture, Plugin, Runner, Table, UserError, load_report
from cuescope_step_grounding.options import DrivenBy

if TYPE_CHECKING:
    from cuescope_step_grounding.law.law import MeasuredModel

COLUMNS = ("model", "SGR %", "accuracy %", "out of distribution %", "retention %")


class BenchOptions(Options):
    """`cuescope bench step-grounding --paper`, or `--runs A,B,C --ood A2,B2,C2`."""

    paper: bool = Field(False, description="recompute the text's figures from its own tables")
    runs: tuple[Path, ...] = Field((), description="a run of each model on data that it knows")
    ood: tuple[Path, ...] = Field((), description="a run of each on other data, in the same order")
    groups: tuple[str, ...] = Field(
        (), description="names of models' capacity, in the same order: 7B,7B,13B"
    )
    reasoners: PositiveInt = Field(
        16, description="number of scripted reasoners, where no runs are given"
    )
    videos: PositiveInt = Field(40, description="videos that each of them is shown")
    driven_by: DrivenBy = Field(
        "grounding", description="what their retention follows: grounding, accuracy or nothing"
    )


class StepGroundingBench(Plugin):
    """The paper's Tables 1 and 2 and its correlation, on runs of yours or on scripted reasoners."""

    Options = BenchOptions
    options: BenchOptions

    def run(self) -> Iterator[Table | Picture]:
        """The models, whether the law holds for them, and the figure; a killed run goes on."""
        from cuescope_step_grounding.law.law import figure, law
        from cuescope_step_grounding.paper import read_tables, recomputed_tables

        if self.options.paper:
            yield from recomputed_tables(read_tables(), self.context.seed)
            return
        models = self._stored_models() if self.options.runs else list(self._scripted_models())
        yield Table(
            title="Models, in and out of distribution",
            columns=COLUMNS,
            rows=tuple(_row(f"{i}. {model.model}", model) for i, model in enumerate(models, 1)),
        )
        result = law(models, self.context.rng("bench step-grounding", "law"))
        yield result.table()
        yield figure(models, result)

    def _stored_models(self) -> "list[MeasuredModel]":
        from cuescope_step_grounding.law.models import models_of

        options = self.options
        reports, others = (
            [load_report(run) for run in runs] for runs in (options.runs, options.ood)
        )
        return models_of(reports, others, options.groups)

    def _scripted_models(self) -> "Iterator[MeasuredModel]":
        from cuescope_step_grounding.law.models import audited_models, random_dials

        options, context = self.options, self.context
        if options.ood:
            raise UserError("bench step-grounding: ood without runs", expected="both, or neither")
        runner = Runner(context, context.cache / "bench" / "step-grounding")
        rng = context.rng("bench step-grounding", "dials", options.driven_by)
        reasoners = random_dials(options.reasoners, options.driven_by, rng)
        run = partial(runner.run, resume=context.resume)
        with context.progress("reasoners", len(reasoners)) as advance:
            for model in audited_models(reasoners, options.videos, context.seed, run):
                yield model
                advance(1)


def _row(name: str, model: "MeasuredModel") -> dict[str, Cell]:
    # Nothing right leaves nothing to keep: the floor only saves the division.
    retention = model.ood_accuracy / max(model.accuracy, 1e-9)
    shares = (model.sgr, model.accuracy, model.ood_accuracy, retention)
    return dict(zip(COLUMNS, (name, *(100 * share for share in shares)), strict=True))
