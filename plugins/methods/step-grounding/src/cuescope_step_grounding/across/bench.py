"""Does grounding tell what a model keeps out of distribution? On models, or the paper's tables."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field, PositiveInt

from cuescope_sdk import Cell, Picture, Plugin, Runner, Table, UserError, load_report
from cuescope_sdk import Options as BaseOptions
from cuescope_step_grounding.across.population import DrivenBy

if TYPE_CHECKING:
    from cuescope_step_grounding.across.law import Measured

COLUMNS = ("model", "SGR %", "accuracy %", "out of distribution %", "retention %")


class StepGroundingBench(Plugin):
    """The paper's Tables 1 and 2 and its correlation, on runs of yours or on scripted reasoners."""

    class Options(BaseOptions):
        """`cuescope bench step-grounding --paper`, or `--runs A,B,C --ood A2,B2,C2`."""

        paper: bool = Field(False, description="recompute the text's figures from its own tables")
        runs: tuple[Path, ...] = Field((), description="a run of each model on data that it knows")
        ood: tuple[Path, ...] = Field((), description="a run of each on other data, in that order")
        groups: tuple[str, ...] = Field(
            (), description="names of models' capacity, in that order: 7B,7B,13B"
        )
        reasoners: PositiveInt = Field(
            16, description="scripted reasoners, where no runs are given"
        )
        videos: PositiveInt = Field(40, description="videos that each of them is shown")
        driven_by: DrivenBy = Field(
            "grounding", description="what their retention follows: grounding, accuracy or nothing"
        )

    options: Options

    def run(self) -> Iterator[Table | Picture]:
        """The models, whether the law holds for them, and the figure; a killed run goes on."""
        from cuescope_step_grounding.across.figure import figure
        from cuescope_step_grounding.across.law import law
        from cuescope_step_grounding.across.paper import read_tables, recomputed

        if self.options.paper:
            yield from recomputed(read_tables(), self.context.seed)
            return
        models = list(self._stored() if self.options.runs else self._scripted())
        yield Table(
            title="Models, in and out of distribution", columns=COLUMNS,
            rows=tuple(_row(f"{place}. {one.model}", one) for place, one in enumerate(models, 1)),
        )  # fmt: skip
        found = law(models, self.context.rng("bench step-grounding", "law"))
        yield found.table()
        yield figure(models, found)

    def _stored(self) -> "list[Measured]":
        from cuescope_step_grounding.across.reports import all_measured

        options = self.options
        known, other = ([load_report(run) for run in runs] for runs in (options.runs, options.ood))
        return all_measured(known, other, options.groups)

    def _scripted(self) -> "Iterator[Measured]":
        from cuescope_step_grounding.across.population import audited, dials

        options, context = self.options, self.context
        if options.ood:
            raise UserError("bench step-grounding: ood without runs", expected="both, or neither")
        runner = Runner(context, context.cache / "bench" / "step-grounding")
        rng = context.rng("bench step-grounding", "dials", options.driven_by)
        drawn = dials(options.reasoners, options.driven_by, rng)
        with context.progress("reasoners", len(drawn)) as advance:
            for one in audited(drawn, options.videos, context.seed, runner.recall):
                yield one
                advance(1)


def _row(name: str, one: "Measured") -> dict[str, Cell]:
    shares = (one.sgr, one.accuracy, one.ood_accuracy, one.ood_accuracy / max(one.accuracy, 1e-9))
    return dict(zip(COLUMNS, (name, *(100 * share for share in shares)), strict=True))
