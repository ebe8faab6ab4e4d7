"""Weights & Biases: figures and findings of audits."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field

from cuescope_sdk import Cell, Options, Words
from cuescope_sdk.tracking import Tracker


class WeightsAndBiasesOptions(Options):
    """Where the run is kept; server, account and mode are those of the client."""

    argument = "project"
    project: Annotated[str, Words()] = Field("cuescope", description="project of W&B")
    run: Annotated[str | None, Words()] = Field(
        None, description="name of the run; by default W&B makes one"
    )


class WeightsAndBiases(Tracker):
    """A run of W&B an audit."""

    Options = WeightsAndBiasesOptions
    options: WeightsAndBiasesOptions

    def start(self, config: Mapping[str, Cell]) -> None:
        """Open a run."""
        import wandb

        # code, console and packages may hold what the user has not asked to send
        settings = wandb.Settings(
            console="off",
            save_code=False,
            silent=True,
            disable_git=True,
            x_disable_meta=True,
            x_disable_stats=True,
            x_save_requirements=False,
        )
        self._run = wandb.init(
            project=self.options.project,
            name=self.options.run,
            config=dict(config),
            settings=settings,
        )

    def log(self, figures: Mapping[str, float]) -> None:
        """Add figures at the next step."""
        self._run.log(dict(figures))

    def table(
        self, name: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]]
    ) -> None:
        """Add a table."""
        import wandb

        table = wandb.Table(columns=list(columns), data=[list(row) for row in rows])
        self._run.log({name: table})

    def finish(self) -> None:
        """Close the run."""
        self._run.finish()


__all__ = ["WeightsAndBiases", "WeightsAndBiasesOptions"]
