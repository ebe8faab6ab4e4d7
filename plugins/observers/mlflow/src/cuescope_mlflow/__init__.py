"""MLflow: figures and findings of audits."""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated

from pydantic import Field

from cuescope_sdk import Cell, Options, Words
from cuescope_sdk.tracking import Tracker

# of the names of metrics MLflow takes letters, digits and these alone
REFUSED = re.compile(r"[^\w\-. /]", re.ASCII)
LONGEST = 250  # characters of a name, the default of MLflow's MAX_ENTITY_KEY_LENGTH


@contextmanager
def kept_random() -> Iterator[None]:
    """MLflow draws its identifiers from Python's global generator, which is not ours to move."""
    state = random.getstate()
    try:
        yield
    finally:
        random.setstate(state)


class MLflowOptions(Options):
    """Where the run is kept; the server is that of the client."""

    argument = "experiment"
    experiment: Annotated[str, Words()] = Field(
        "cuescope", description="experiment of MLflow"
    )
    run: Annotated[str | None, Words()] = Field(
        None, description="name of the run; by default MLflow makes one"
    )


class MLflow(Tracker):
    """A run of MLflow an audit."""

    Options = MLflowOptions
    options: MLflowOptions

    def start(self, config: Mapping[str, Cell]) -> None:
        """Open a run."""
        from mlflow import MlflowClient

        # a client of our own: the run that a training script has open stays as it is
        self._client = MlflowClient()
        with kept_random():
            self._run = self._open_run()
        self._step = 0
        for name, value in config.items():
            self._client.log_param(self._run, name, value)

    def _open_run(self) -> str:
        known = self._client.get_experiment_by_name(self.options.experiment)
        if known is None:
            experiment = self._client.create_experiment(self.options.experiment)
        else:
            experiment = known.experiment_id
        made = self._client.create_run(experiment, run_name=self.options.run)
        identifier: str = made.info.run_id
        return identifier

    def log(self, figures: Mapping[str, float]) -> None:
        """Add figures at the next step."""
        for name, value in figures.items():
            shown = REFUSED.sub("_", name)[:LONGEST]
            self._client.log_metric(self._run, shown, float(value), step=self._step)
        self._step += 1

    def table(
        self, name: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]]
    ) -> None:
        """Add a table, as MLflow's `load_table` reads it."""
        content = {"columns": list(columns), "data": [list(row) for row in rows]}
        self._client.log_dict(self._run, content, f"{name}.json")

    def finish(self) -> None:
        """Close the run."""
        self._client.set_terminated(self._run)


__all__ = ["MLflow", "MLflowOptions"]
