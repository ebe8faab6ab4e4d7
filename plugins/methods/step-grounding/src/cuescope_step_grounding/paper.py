"""The paper's Tables 1 to 3, and what follows from them beside what its text says.

`paper_tables.json` holds the printed figures, in percent and percentage points, `paper_text.toml`
those of the text.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from operator import itemgetter

import numpy as np
from jaxtyping import Float, Int

from cuescope_sdk import Table, generator
from cuescope_sdk.statistics import Correlation
from cuescope_step_grounding.claims.resources import read_text, read_toml
from cuescope_step_grounding.law.pairs import correlation_cells, matched_pairs
from cuescope_step_grounding.scores import RELEVANT

BENCHMARKS = ("STAR", "R2R", "TEACh")
AGREES = 0.005  # a figure that rounds to the printed one, of two decimals
PAIRED = 1.0  # points of accuracy: section 5.2, accuracy-matched pairs
Grid = Float[np.ndarray, "model benchmark"]


@dataclass(frozen=True, eq=False)
class PaperTables:
    """Tables 1 and 2 as grids of models by benchmarks, in points; Table 3 by perturbation."""

    models: tuple[str, ...]
    matched: np.ndarray  # the models of 7 billion parameters
    perturbed: dict[str, dict[str, Float[np.ndarray, " model"]]]
    accuracy: Grid
    sgr: Grid
    tcs: Grid
    hr: Grid
    ood_accuracy: Grid
    ood_drop: Grid

    @property
    def retention(self) -> Grid:
        return np.asarray(self.ood_accuracy / self.accuracy)


def read_tables() -> PaperTables:
    rows = json.loads(read_text("paper_tables.json"))

    def grid(name: str) -> Grid:
        cells = [row[benchmark][name] for row in rows for benchmark in BENCHMARKS]
        return np.array(cells, float).reshape(-1, len(BENCHMARKS))

    perturbed: dict[str, dict[str, np.ndarray]] = {}
    for kind in (*RELEVANT, "irrelevant"):
        drops = [row["perturbed"][kind] for row in rows]
        perturbed[kind] = {
            "accuracy": np.array([drop["accuracy"] for drop in drops], float),
            "sgr": np.array([drop["sgr"] for drop in drops], float),
        }
    # in the order of the fields
    grids = map(grid, ("accuracy", "sgr", "tcs", "hr", "ood_accuracy", "ood_drop"))
    return PaperTables(
        tuple(map(itemgetter("model"), rows)),
        np.array(list(map(itemgetter("matched"), rows))),
        perturbed,
        *grids,
    )


def recomputed_tables(tables: PaperTables, seed: int = 0) -> Iterator[Table]:
    """What the text says, beside what its own tables give."""
    yield _correlations(tables, seed)
    yield _statements(tables)
    yield _reliance(tables)


def _correlations(tables: PaperTables, seed: int) -> Table:
    """r, interval, p and partial r under the readings that the text leaves open."""
    columns = ("figure", "text", "tables", "interval", "p", "")
    places: Int[np.ndarray, "2 model benchmark"] = np.indices(tables.accuracy.shape)
    model, benchmark = places
    rows = []
    for reading in read_toml("paper_text.toml")["correlations"]:
        chosen = np.ones(benchmark.shape, bool)
        # the text's cluster of equal capacity: models of 7B
        if reading.get("matched"):
            chosen &= tables.matched[:, None]
        if "benchmark" in reading:
            chosen &= benchmark == BENCHMARKS.index(reading["benchmark"])
        x, y = (getattr(tables, name)[chosen] for name in reading["of"])
        # a generator for each figure, so that none hangs on those before it
        related = partial(Correlation.of, x, y, generator(seed, "paper"))
        if reading.get("within"):
            related = partial(related, strata=benchmark[chosen])
        # on one benchmark each model has one row
        if "benchmark" not in reading:
            related = partial(related, units=model[chosen])
        if "given" in reading:
            related = partial(related, given=getattr(tables, reading["given"])[chosen])
        result = related()
        agreed = None
        if result is not None:
            agreed = _agreement(abs(result.r - reading["printed"]) < AGREES)
        rows.append(
            (
                reading["figure"],
                reading["printed"],
                *correlation_cells(result)[:3],
                agreed,
            )
        )
    return Table.of(
        "Correlations: the paper's text, and its tables",
        columns,
        rows,
        "Retention is accuracy on other data over accuracy; drop, their difference in points.",
        "Interval: Fisher, 95 %, over models. p: whole models permuted, one-sided. 'Within "
        "benchmarks' compares models on the same benchmark alone.",
        "The text gives r = 0.83 an interval of 0.76 to 0.91; Fisher's for 24 independent "
        "points is 0.64 to 0.93. The points are of 8 models: for so many it is 0.30 to 0.97.",
        decimals=2,
    )


def _agreement(agrees: bool) -> str:
    return "agrees" if agrees else "differs"


def _statements(tables: PaperTables) -> Table:
    """Sentences of the text that the tables can answer."""
    t = tables
    gap = t.accuracy - t.sgr
    exceeding = int((gap > 0).sum())
    # Three figures are printed with one decimal each, so a difference may be off by one unit.
    missed = np.abs(t.ood_accuracy - t.accuracy - t.ood_drop)
    exact = int((missed < 0.051).sum())
    more = True
    for kind in RELEVANT:
        sgr = np.abs(t.perturbed[kind]["sgr"])
        accuracy = np.abs(t.perturbed[kind]["accuracy"])
        more = more and bool((sgr > accuracy).all())
    named = []
    better = 0
    figures = np.stack([t.sgr, t.ood_drop, t.accuracy])
    for column, benchmark in enumerate(BENCHMARKS):
        # drops are below 0 in Table 2, so the larger one loses less
        for pair in matched_pairs(*figures[..., column], within=PAIRED):
            loses_less = pair.more_kept > 0
            better += loses_less
            named.append(
                f"{benchmark}: {t.models[pair.better]} (SGR +{pair.more_grounded:.1f}) against "
                f"{t.models[pair.worse]}: {abs(pair.more_kept):.1f} points "
                f"{'less' if loses_less else 'more'} lost"
            )
    rows = [
        (
            "drop is other-data accuracy minus accuracy",
            "in all 24",
            f"in {exact}",
            "agrees",
        ),
        _row(
            "accuracy exceeds SGR",
            "in all",
            exceeding == gap.size,
            f"in {exceeding} of {gap.size}",
        ),
        _number_row("smallest gap of accuracy and SGR (GPT-4o, STAR)", 6.3, gap[-1, 0]),
        _number_row("largest gap (CLIP-ViL, STAR)", 14.1, gap[0, 0]),
        _number_row(
            "SGR among 7B models varies by (STAR)",
            10.8,
            np.ptp(t.sgr[t.matched, 0]),
        ),
        _row(
            "of pairs within 1 point of accuracy, the better grounded loses less",
            "all",
            better == len(named),
            f"{better} of {len(named)}",
        ),
        _row(
            "SGR falls more than accuracy under every relevant perturbation",
            "always",
            more,
            "always" if more else "not always",
        ),
    ]
    return Table.of(
        "Statements: the paper's text, and its tables",
        ("sentence", "text", "tables", ""),
        rows,
        "The pairs: " + "; ".join(named) + ".",
    )


def _row(
    sentence: str,
    printed: str,
    agrees: bool,
    figure: str,
) -> tuple[str, str, str, str]:
    return sentence, printed, figure, _agreement(agrees)


def _number_row(
    sentence: str,
    printed: float,
    figure: float,
) -> tuple[str, str, str, str]:
    """Whether a figure of one decimal is the printed one."""
    # more than 0.05 by what floats miss it by
    return _row(
        sentence,
        f"{printed}",
        abs(printed - figure) < 0.05 + 1e-9,
        f"{figure:.1f}",
    )


def _reliance(tables: PaperTables) -> Table:
    """VRS needs magnitudes that are not printed; with equal ones it is the ratio of the drops."""
    printed = read_toml("paper_text.toml")["reliance"]
    # drops are printed below 0
    drops = [tables.perturbed[kind]["sgr"] for kind in RELEVANT]
    relevant = -np.mean(drops, axis=0)
    ratios = (relevant / -tables.perturbed["irrelevant"]["sgr"]).tolist()
    rows = []
    for name, ratio in zip(tables.models, ratios, strict=True):
        score = printed.get(name)
        rows.append((name, score, ratio, ratio / score if score else None))
    return Table.of(
        "VRS on STAR: the paper's text, and Table 3",
        ("model", "text", "ratio of drops", "|P| ratio implied"),
        rows,
        "|P| is not printed. The last column is the |P relevant| / |P irrelevant| that the "
        "text implies.",
        decimals=2,
    )
