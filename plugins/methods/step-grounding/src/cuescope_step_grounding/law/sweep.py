"""The law under other settings: of the verifier, of VRS, of the number of steps, of any option."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import yaml
from numpy.random import Generator

from cuescope_sdk import Request, Table, UserError
from cuescope_sdk.report import count_of
from cuescope_sdk.statistics import Correlation
from cuescope_step_grounding.law.components import CHANGED, VERIFIED
from cuescope_step_grounding.law.law import MeasuredModel
from cuescope_step_grounding.law.pairs import correlation_cells
from cuescope_step_grounding.scores import RELEVANT, mean

# Whose options a sweep can name.
ROLES = ("", "model", "claim-verifier")
OF_CHANGES = ("epsilon", "instances")
COLUMNS = (
    "setting",
    "SGR %",
    "VRS",
    "SGR and retention: r",
    "interval",
    "p",
    "ranks",
    "VRS ranks",
)


@dataclass(frozen=True)
class Setting:
    """One value of an option of the method, or of `role`; without a name the options as they are.

    `changes`: videos are changed too, for without that there is no VRS.
    """

    role: str = ""
    name: str = ""
    value: Any = None
    changes: bool = False

    def __str__(self) -> str:
        return f"{self.role}{'.' * bool(self.role)}{self.name}={self.value}"

    def of(self, request: Request, known: bool = True) -> Request:
        """The request under this setting; on data that is not `known` nothing is changed."""
        fields: dict[str, Mapping[str, Any]] = {}
        own = {self.name: self.value} if self.name else {}
        # VRS is read from the run on known data alone
        of_method: dict[str, Any] = {}
        if self.changes and known:
            of_method["perturbations"] = [*RELEVANT, "irrelevant"]
        if self.role == "model":
            fields["model_options"] = {**request.model_options, **own}
        elif self.role:
            of_tool = {**request.tool_options.get(self.role, {}), **own}
            fields["tool_options"] = {**request.tool_options, self.role: of_tool}
        else:
            of_method = of_method | own
        fields["method_options"] = {**request.method_options, **of_method}
        return request.model_copy(update=fields)


def settings(text: str) -> list[Setting]:
    """ "epsilon=0.001,0.01,0.1" or "claim-verifier.threshold=0.1,0.3"; raises UserError."""
    name, _, values = text.partition("=")
    role, _, inner = name.strip().rpartition(".")
    # as YAML, so that 0.1 is a number and true is no word
    chosen = [yaml.safe_load(value) for value in values.split(",") if value.strip()]
    if not inner or len(chosen) < 2 or role not in ROLES:
        raise UserError(
            f"bench step-grounding: sweep {text}",
            expected="an option with several values: epsilon=0.001,0.01,0.1, "
            "claim-verifier.threshold=0.1,0.3 or model.steps=3,7",
        )
    changes = not role and inner in OF_CHANGES
    return [Setting(role, inner, value, changes) for value in chosen]


def sweep_table(
    swept: Mapping[Setting, Sequence[MeasuredModel]], rng: Generator
) -> Table:
    """A row a setting; ranks are those of the models, against those of the first setting."""
    first = next(iter(swept.values()))
    rows = []
    for setting, models in swept.items():
        rows.append((str(setting), *_cells(models, first, rng)))
    return Table.of(
        "The same under other settings",
        COLUMNS,
        rows,
        f"{count_of(len(first), 'models')}. Ranks: Spearman's correlation of the models' SGR "
        "(and VRS) with those of the first row.",
        decimals=2,
    )


def _cells(
    models: Sequence[MeasuredModel],
    first: Sequence[MeasuredModel],
    rng: Generator,
) -> Iterator[Any]:
    sgr = np.array([model.sgr for model in models])
    retention = np.array([model.retention for model in models])
    reliance = [model.figures.get(CHANGED) for model in models]
    yield 100 * float(sgr.mean())
    # a mean over some of the models could not be compared with other rows
    yield None if None in reliance else mean(reliance)
    yield from correlation_cells(Correlation.of(sgr, retention, rng))[:3]
    for name in (VERIFIED, CHANGED):
        yield _rank_agreement(models, first, name)


def _rank_agreement(
    models: Sequence[MeasuredModel],
    first: Sequence[MeasuredModel],
    name: str,
) -> float | None:
    swept = np.array([model.figures.get(name) for model in models], float)
    others = np.array([model.figures.get(name) for model in first], float)
    # Of a figure that is missing the deviation is none (NaN).
    vary = swept.std() > 0 and others.std() > 0
    return Correlation.spearman(swept, others) if vary else None
