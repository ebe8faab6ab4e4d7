"""Figure 2 of QUAG: the more the modalities hold of each other, the more a short-circuit costs."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, PositiveInt

from cuescope_sdk import Options, Picture, Plugin, Table

if TYPE_CHECKING:
    from cuescope_quag.simulation.training import Schedule

# at 1/2 both modalities together no longer tell the hidden draws (section 3)
Alpha = Annotated[float, Field(gt=0, lt=0.5)]


class QUAGBenchOptions(Options):
    """`cuescope dev bench quag --seeds 5`."""

    alphas: tuple[Alpha, ...] = Field(
        (0.05, 0.1, 0.2, 0.3, 0.4, 0.45),
        min_length=1,
        description="couplings: the share of each modality that is the other's",
    )
    seeds: PositiveInt = Field(3, description="models trained at each coupling")
    full: bool = Field(
        False,
        description="the paper's 40,000 samples and 2,000 epochs (hours on a GPU)",
    )
    dropout: float | None = Field(
        None,
        ge=0,
        lt=1,
        description="dropout rate, which the paper does not give; none: 0, or 0.1 with --full",
    )
    workers: PositiveInt = Field(2, description="trainings at once, on one core each")


class QUAGBench(Plugin):
    """Trains a small transformer a coupling and seed; a killed run goes on where it was."""

    Options = QUAGBenchOptions
    options: QUAGBenchOptions

    def run(self) -> Iterator[Table | Picture]:
        """The errors and their rise for each coupling, then the figure."""
        # here: torch takes seconds, which a list of plugins must not cost
        from cuescope_quag.simulation.figure import figure, rises, table
        from cuescope_quag.simulation.training import Runs, Training
        from cuescope_sdk.torch import resolve_device

        options = self.options
        context = self.context
        alphas = sorted(set(options.alphas))
        trainings = [
            Training(alpha, seed) for seed in range(options.seeds) for alpha in alphas
        ]
        device = str(resolve_device(context.device))
        folder = context.cache / "bench" / "quag"
        runs = Runs(self._schedule(), folder, context.seed, device, options.workers)
        errors = runs.errors(trainings, context)
        of_alphas = rises(alphas, errors)
        yield table(of_alphas, runs.schedule, context.rng("bench quag"))
        yield figure(of_alphas)

    def _schedule(self) -> "Schedule":
        from dataclasses import replace

        from cuescope_quag.simulation.training import FULL, QUICK

        schedule = FULL if self.options.full else QUICK
        dropout = self.options.dropout
        return schedule if dropout is None else replace(schedule, dropout=dropout)
