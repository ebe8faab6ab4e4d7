"""From the grades of all configurations to the tables of the bench."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cuescope_cuebench.sheet_methods import SHEET
from cuescope_cuebench.zoo import Configuration
from cuescope_sdk import Cell, Table
from cuescope_sdk.statistics import auroc

LEAST_USE = 0.1  # `confirm` takes an effect below it for none: a cause does more, a decoy less
ON = "confirm on "
LEAST_AUROC, MOST_DECOYS, LEAST_CAUSES, MOST_NULLS = 0.95, 0.05, 0.8, 0.05


@dataclass(frozen=True)
class Result:
    """A configuration, what its model does, and each auditor's grades."""

    configuration: Configuration
    use: float | None
    accuracy: float | None
    auditors: Mapping[str, Any]

    @property
    def role(self) -> str:
        """cause, decoy or null; "unclear" where the model does not do what it was trained for."""
        role = self.configuration.role
        if self.use is None or role == "null":
            return role
        kept = self.use >= LEAST_USE if role == "cause" else abs(self.use) < LEAST_USE
        return role if kept else "unclear"

    def grades(self, auditor: str) -> Mapping[str, Any] | None:
        """Of an auditor, or of `confirm` on one; None where it did not run."""
        own = self.auditors.get(auditor.removeprefix(ON))
        if own is None or "refused" in own:
            return None
        return dict(own["confirm"]) if auditor.startswith(ON) else own


def all_tables(results: Sequence[Result]) -> Iterator[Table]:
    """Promises of `confirm`, auditors, strength, kinds of cues, configurations."""
    names = list(dict.fromkeys(name for result in results for name in result.auditors))
    both = [name for each in names for name in (each, ON + each)]
    yield promise_table(results, names)
    yield auditor_table(results, both)
    yield detection_table(results, both, "strength in training", strength_of)
    yield detection_table(results, both, "kind of cue", lambda each: each.configuration.cue)
    yield detection_table(results, both, "world", lambda each: each.configuration.world)
    yield configuration_table(results)


# ------------------------------------------------------------------------------------- promises


def promise_table(results: Sequence[Result], names: Sequence[str]) -> Table:
    """What `confirm` must keep, on cues that the answer sheet finds, and on nulls."""
    trained = promises([(r, r.configuration.role) for r in results])
    kept = promises([(r, r.role) for r in results])
    rows: list[dict[str, Cell]] = []
    for figure, asked in FIGURES.items():
        (value, of), (own, of_own) = trained[figure], kept[figure]
        cells: tuple[Cell, ...] = (figure, asked, value, of, own, of_own)
        rows.append(dict(zip(PROMISES, cells, strict=True)))
    alarms = [
        any((r.grades(ON + name) or {}).get("alarm", False) for name in names)
        for r in results
        if r.role == "null"
    ]
    share = float(np.mean(alarms)) if alarms else None
    of = f"{sum(alarms)} of {len(alarms)}"
    cells = "nulls with a cause, confirm on any auditor", f"at most {MOST_NULLS:.0%}", share, of
    rows.append(dict(zip(PROMISES, (*cells, share, of), strict=True)))
    unclear = sum(result.role == "unclear" for result in results)
    return Table(
        title="Confirm on cues that the answer sheet finds",
        columns=PROMISES,
        rows=tuple(rows),
        decimals=3,
        notes=(
            "As trained: every cue that went with its label in training is a cause, every one that "
            "told nothing a decoy. By use: a cause takes "
            f"{LEAST_USE:.0%} or more of the probability of the right answer, told from the same "
            f"samples without the cue; a decoy less; {unclear} configurations do otherwise and are "
            "left out.",
        ),
    )


PROMISES = ("figure", "asked", "as trained", "of", "by use", "of these")
FIGURES = {
    "AUROC of the effect, cause against decoy": f"at least {LEAST_AUROC}",
    "AUROC of the gap in accuracy alone": "baseline",
    "decoys called causes": f"at most {MOST_DECOYS:.0%}",
    "causes called causes": "",
    "causes called causes, where the plan says enough": f"at least {LEAST_CAUSES:.0%}",
}


def promises(cases: Sequence[tuple[Result, str]]) -> dict[str, tuple[float | None, str]]:
    """Each of `FIGURES` with how many it is of; `cases` come with their roles."""
    pairs = [
        (r.grades(SHEET), r.grades(ON + SHEET), role == "cause")
        for r, role in cases
        if role in ("cause", "decoy")
    ]
    known = [(found, tested, causal) for found, tested, causal in pairs if found and tested]
    causes = [tested for _, tested, causal in known if causal]
    decoys = [tested for _, tested, causal in known if not causal]
    count = f"{len(causes)} causes, {len(decoys)} decoys"
    values = (
        (auroc_of_cases([(causal, tested["best"]) for _, tested, causal in known]), count),
        (auroc_of_cases([(causal, found["best"]) for found, _, causal in known]), count),
        _called(decoys),
        _called(causes),
        _called([tested for tested in causes if tested.get("enough")]),
    )
    return dict(zip(FIGURES, values, strict=True))


def _called(cases: Sequence[Mapping[str, Any]]) -> tuple[float | None, str]:
    """The share that is called a cause."""
    called = sum(bool(grades["detected"]) for grades in cases)
    return (called / len(cases) if cases else None), f"{called} of {len(cases)}"


def auroc_of_cases(cases: Sequence[tuple[bool, float | None]]) -> float | None:
    """The chance that a cause scores above a decoy; no score is below every score."""
    is_cause = np.array([cause for cause, _ in cases], bool)
    scores = [-np.inf if score is None else score for _, score in cases]
    return auroc(np.array(scores, float), is_cause)


# ------------------------------------------------------------------------------------- auditors


def auditor_table(results: Sequence[Result], names: Sequence[str]) -> Table:
    """Every auditor on all configurations that it fits."""
    columns = (
        *("auditor", "causes", "P@1", "P@10", "AUROC", "causes found", "decoys found"),
        *("null alarms", "calls"),
    )
    rows = []
    for name in names:
        cases = [(result, grades) for result in results if (grades := result.grades(name))]
        of_role = {
            role: [grades for result, grades in cases if result.role == role]
            for role in ("cause", "decoy", "null")
        }
        causes = of_role["cause"]
        scored = [(r.role == "cause", g["best"]) for r, g in cases if r.role in ("cause", "decoy")]
        values: tuple[Cell, ...] = (
            name,
            len(causes),
            _mean([precision(grades["hits"], 1) for grades in causes]),
            _mean([precision(grades["hits"], 10) for grades in causes]),
            auroc_of_cases(scored),
            _mean([grades["detected"] for grades in causes]),
            _mean([grades["detected"] for grades in of_role["decoy"]]),
            _mean([grades["alarm"] for grades in of_role["null"]]),
            round(float(np.mean([grades["calls"] for _, grades in cases]))) if cases else None,
        )
        rows.append(dict(zip(columns, values, strict=True)))
    return Table(
        title="Auditors",
        columns=columns,
        rows=tuple(rows),
        decimals=2,
        notes=(
            "P@k: share of the first k of what it lists that is the planted cue, where the model "
            "uses it; of all where it lists fewer, 0 where it lists nothing. AUROC: its score of "
            "the cue, where the model uses it against where it does not. Found: among its "
            "findings. Null alarms: data sets without a cue in which it finds anything. Calls: "
            "distinct questions to the model, in the mean; confirm's come on top.",
        ),
    )


def precision(hits: Sequence[bool], k: int) -> float:
    """The share of hits in the first k of a list, or in all of a shorter one; 0 of none."""
    first = hits[:k]
    return sum(first) / len(first) if first else 0.0


def _mean(values: Sequence[float | bool]) -> float | None:
    return float(np.mean(values)) if len(values) else None


def strength_of(result: Result) -> str:
    """How often the cue went with the label in training."""
    return f"{result.configuration.learned:g}" if result.configuration.learned else "-"


def detection_table(results: Sequence[Result], names: Sequence[str], by: str, key: Any) -> Table:
    """The share of causes that each auditor finds, by something; in brackets, of how many."""
    causes = [result for result in results if result.role == "cause"]
    values = sorted({key(result) for result in causes})
    rows: list[dict[str, Cell]] = []
    for name in names:
        row: dict[str, Cell] = {"auditor": name}
        for value in values:
            own = [r.grades(name) for r in causes if key(r) == value]
            found = [grades["detected"] for grades in own if grades]
            row[value] = f"{np.mean(found):.0%} ({len(found)})" if found else None
        rows.append(row)
    return Table(
        title=f"Causes found, by {by}",
        columns=("auditor", *values),
        rows=tuple(rows),
        notes=("In brackets: of how many. Empty: the auditor does not fit.",),
    )


def configuration_table(results: Sequence[Result]) -> Table:
    """Every configuration: what the model does, what `confirm` says, who finds the cue."""
    columns = ("configuration", "accuracy", "use", "role", "confirm", "found by")
    rows = []
    for result in results:
        confirmed = result.grades(ON + SHEET) or {}
        verdicts = [verdict for verdict, _ in confirmed.get("verdicts", ())]
        found = [
            name
            for name, grades in result.auditors.items()
            if name != SHEET and (grades.get("detected") or False)
        ]
        values: tuple[Cell, ...] = (
            result.configuration.name,
            None if result.accuracy is None else 100 * result.accuracy,
            None if result.use is None else 100 * result.use,
            result.role,
            verdicts[0] if verdicts else (confirmed.get("why") and "cannot tell") or "-",
            ", ".join(name.partition(":")[0] for name in found) or "-",
        )
        rows.append(dict(zip(columns, values, strict=True)))
    return Table(
        title="Configurations",
        columns=columns,
        rows=tuple(rows),
        notes=(
            "Accuracy in %. Use: points of probability of the right answer that the cue takes on "
            "the graded label, told from the same samples without it. Confirm: its verdict on the "
            "cue of the answer sheet.",
        ),
    )


def markdown(tables: Sequence[Table]) -> str:
    """All tables as a page."""
    parts = []
    for table in tables:
        lines = [f"## {table.title}", "", _line(table.columns), _line(["---"] * len(table.columns))]
        lines += [
            _line([_cell(row.get(column), table.decimals) for column in table.columns])
            for row in table.rows
        ]
        parts.append("\n".join([*lines, "", *table.notes]))
    return "\n\n".join(parts) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(value: Cell, decimals: int) -> str:
    if value is None:
        return "-"
    return f"{value:.{decimals}f}" if isinstance(value, float) else str(value).replace("|", "/")
