"""The paper's Tables 1 to 3, and what follows from them beside what its text says.

`paper_tables.json` holds the printed figures, in percent and percentage points.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from jaxtyping import Float

from cuescope_sdk import Cell, Table, generator
from cuescope_step_grounding.across.statistics import Correlation, correlation, matched_pairs

BENCHMARKS = ("STAR", "R2R", "TEACh")
RELEVANT = ("position", "temporal", "visibility")
AGREES = 0.005  # a figure that rounds to the printed one, of two decimals
PAIRED = 1.0  # points of accuracy
Grid = Float[np.ndarray, "model benchmark"]


@dataclass(frozen=True, eq=False)
class PaperTables:
    """Tables 1 and 2 as grids of models by benchmarks, in points; Table 3 by perturbation."""

    models: tuple[str, ...]
    matched: np.ndarray  # the models of 7 billion parameters
    accuracy: Grid
    sgr: Grid
    tcs: Grid
    hr: Grid
    ood_accuracy: Grid
    ood_drop: Grid
    perturbed: dict[str, dict[str, Float[np.ndarray, " model"]]]

    @property
    def retention(self) -> Grid:
        """Share of the accuracy that is left on other data."""
        return np.asarray(self.ood_accuracy / self.accuracy)


def read_tables() -> PaperTables:
    """From the data file."""
    rows = json.loads(files(__package__).joinpath("paper_tables.json").read_text("utf-8"))

    def grid(name: str) -> Grid:
        return np.array([[row[benchmark][name] for benchmark in BENCHMARKS] for row in rows], float)

    perturbed = {
        how: {name: np.array([row["perturbed"][how][name] for row in rows])
              for name in ("accuracy", "sgr")}
        for how in (*RELEVANT, "irrelevant")
    }  # fmt: skip
    return PaperTables(
        models=tuple(row["model"] for row in rows),
        matched=np.array([row["matched"] for row in rows]),
        accuracy=grid("accuracy"), sgr=grid("sgr"), tcs=grid("tcs"), hr=grid("hr"),
        ood_accuracy=grid("ood_accuracy"), ood_drop=grid("ood_drop"), perturbed=perturbed,
    )  # fmt: skip


def recomputed(tables: PaperTables, seed: int = 0) -> Iterator[Table]:
    """What the text says, beside what its own tables give."""
    yield _correlations(tables, seed)
    yield _statements(tables)
    yield _reliance(tables)


def _correlations(tables: PaperTables, seed: int) -> Table:
    """r, interval, p and partial r under the readings that the text leaves open."""
    benchmark = np.tile(np.arange(len(BENCHMARKS)), (len(tables.models), 1))

    def of(x: Grid, y: Grid, rows: Any = slice(None), **how: Any) -> Correlation | None:
        strata = benchmark[rows].ravel() if how.pop("within", False) else None
        given = how.pop("given", None)
        return correlation(
            x[rows].ravel(), y[rows].ravel(), generator(seed, "paper"), strata=strata,
            given=None if given is None else given[rows].ravel(),
        )  # fmt: skip

    t, each = tables, range(len(BENCHMARKS))
    kept, lost, left = t.retention, t.ood_drop, t.ood_accuracy
    rows = [
        ("SGR and retention, all 24", 0.83, of(t.sgr, kept)),
        ("SGR and drop, all 24", 0.83, of(t.sgr, lost)),
        ("SGR and other-data accuracy, all 24", 0.83, of(t.sgr, left)),
        ("SGR and retention within benchmarks", 0.83, of(t.sgr, kept, within=True)),
        *((f"SGR and retention, {BENCHMARKS[b]}", said,
           of(t.sgr[:, [b]], kept[:, [b]]))
          for b, said in zip(each, (0.81, 0.85, 0.82), strict=True)),
        ("SGR and retention, 7B models, 15", 0.78, of(t.sgr, kept, t.matched)),
        ("SGR and drop, 7B models, 15", 0.78, of(t.sgr, lost, t.matched)),
        ("the same given accuracy, all 24", 0.68, of(t.sgr, kept, given=t.accuracy)),
        ("the same within benchmarks", 0.68, of(t.sgr, kept, given=t.accuracy, within=True)),
        ("TCS and accuracy, all 24", 0.87, of(t.tcs, t.accuracy)),
        ("TCS and SGR, all 24", 0.79, of(t.tcs, t.sgr)),
    ]  # fmt: skip
    columns = ("figure", "text", "tables", "interval", "p", "")
    return Table(
        title="Correlations: the paper's text, and its tables",
        columns=columns, decimals=2,
        rows=tuple(dict(zip(columns, _row(*row), strict=True)) for row in rows),
        notes=(
            "Retention is accuracy on other data over accuracy; drop, their difference in points.",
            "Interval: Fisher, 95 %. p: permutations, one-sided. 'Within benchmarks' compares "
            "models on the same benchmark alone.",
            "The text gives r = 0.83 an interval of 0.76 to 0.91; Fisher's for 24 independent "
            "points is 0.64 to 0.93, and 24 points from 8 models are not independent.",
        ),
    )  # fmt: skip


def _row(name: str, said: float, found: Correlation | None) -> tuple[Cell, ...]:
    if found is None:
        return (name, said, None, None, None, None)
    p = "< 0.001" if found.p_value < 0.001 else f"{found.p_value:.3f}"
    agrees = "agrees" if abs(found.r - said) < AGREES else "differs"
    return (name, said, found.r, f"{found.low:.2f} to {found.high:.2f}", p, agrees)


def _statements(tables: PaperTables) -> Table:
    """Sentences of the text that the tables can answer."""
    t = tables
    gap = t.accuracy - t.sgr
    star, mid = gap[:, 0], t.matched
    pairs = [
        (BENCHMARKS[b], pair)
        for b in range(len(BENCHMARKS))
        for pair in matched_pairs(
            t.sgr[:, b], t.ood_drop[:, b], t.accuracy[:, b], within=PAIRED
        )
    ]  # fmt: skip
    kept = sum(pair.more_kept > 0 for _, pair in pairs)
    smaller = all((np.abs(t.perturbed[how]["sgr"]) > np.abs(t.perturbed[how]["accuracy"])).all()
                  for how in RELEVANT)  # fmt: skip
    columns = ("sentence", "text", "tables", "")
    said = [
        ("drop is other-data accuracy minus accuracy", "in all 24",
         f"in {int((np.abs(t.ood_accuracy - t.accuracy - t.ood_drop) < 0.051).sum())}", "agrees"),
        ("accuracy exceeds SGR", "in all", f"in {int((gap > 0).sum())} of {gap.size}",
         "agrees" if (gap > 0).all() else "differs"),
        ("smallest gap of accuracy and SGR (GPT-4o, STAR)", "6.3", f"{star[-1]:.1f}",
         _exactly(6.3, star[-1])),
        ("largest gap (CLIP-ViL, STAR)", "14.1", f"{star[0]:.1f}", _exactly(14.1, star[0])),
        ("SGR among 7B models varies by (STAR)", "10.8", f"{np.ptp(t.sgr[mid, 0]):.1f}",
         _exactly(10.8, float(np.ptp(t.sgr[mid, 0])))),
        ("of pairs within 1 point of accuracy, the better grounded loses less", "all",
         f"{kept} of {len(pairs)}", "agrees" if kept == len(pairs) else "differs"),
        ("SGR falls more than accuracy under every relevant perturbation", "always",
         "always" if smaller else "not always", "agrees" if smaller else "differs"),
    ]  # fmt: skip
    named = [
        f"{bench}: {t.models[pair.better]} (SGR +{pair.more_grounded:.1f}) against "
        f"{t.models[pair.worse]}: {abs(pair.more_kept):.1f} points "
        f"{'less' if pair.more_kept > 0 else 'more'} lost"
        for bench, pair in pairs
    ]
    return Table(
        title="Statements: the paper's text, and its tables", columns=columns,
        rows=tuple(dict(zip(columns, row, strict=True)) for row in said),
        notes=("The pairs: " + "; ".join(named) + ".",),
    )  # fmt: skip


def _exactly(said: float, found: float) -> str:
    """Whether a figure of one decimal is the printed one."""
    return "agrees" if abs(said - found) < 0.05 + 1e-9 else "differs"


def _reliance(tables: PaperTables) -> Table:
    """VRS needs magnitudes that are not printed; with equal ones it is the ratio of the drops."""
    said = {"CLIP-ViL": 1.66, "VideoChat": 2.14, "LLaVA-1.6": 4.73, "GPT-4o": 6.31}
    relevant = -np.mean([tables.perturbed[how]["sgr"] for how in RELEVANT], axis=0)
    control = -tables.perturbed["irrelevant"]["sgr"]
    columns = ("model", "text", "ratio of drops", "|P| ratio implied")
    rows: list[dict[str, Cell]] = []
    for name, drop, idle in zip(tables.models, relevant, control, strict=True):
        ratio = float(drop / idle)
        told = said.get(name)
        rows.append(dict(zip(
            columns, (name, told, ratio, ratio / told if told else None), strict=True
        )))  # fmt: skip
    return Table(
        title="VRS on STAR: the paper's text, and Table 3", columns=columns, rows=tuple(rows),
        decimals=2,
        notes=("|P| is not printed. The last column is the |P relevant| / |P irrelevant| that the "
               "text implies.",),
    )  # fmt: skip
