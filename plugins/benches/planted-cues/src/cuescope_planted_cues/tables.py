"""From the grades of all configurations to the tables of the bench."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np

from cuescope_planted_cues.auditors import SHEET
from cuescope_planted_cues.worlds import Configuration
from cuescope_sdk import Cell, Table
from cuescope_sdk.statistics import Roc

# of probability; what lies between is neither, as in the worlds of benchmarks/worlds
LEAST_OF_CAUSE = 0.1
MOST_OF_DECOY = 0.05
ON = "confirm on "
# what `confirm` must keep (README)
LEAST_AUROC = 0.95
MOST_DECOYS = 0.05
LEAST_CAUSES = 0.8
MOST_NULLS = 0.05
Grades = Mapping[str, Any]


@dataclass(frozen=True)
class Result:
    """A configuration, what its model does, and each auditor's grades."""

    configuration: Configuration
    use: float | None
    accuracy: float | None
    auditors: Grades

    @property
    def role(self) -> str:
        """cause, decoy or null; "unclear" where the model does not do what it was trained for."""
        role = self.configuration.role
        # where the use cannot be measured, the training is believed
        if self.use is None or role == "null":
            return role
        if role == "cause":
            as_trained = self.use >= LEAST_OF_CAUSE
        else:
            # a "decoy" that takes or gives more is used by the model
            as_trained = abs(self.use) < MOST_OF_DECOY
        return role if as_trained else "unclear"

    def grades(self, auditor: str) -> Grades | None:
        """Of an auditor, or of `confirm` on one; None where it did not run."""
        grades = self.auditors.get(auditor.removeprefix(ON))
        if grades is None or "refused" in grades:
            return None
        graded = grades.get("confirm") if auditor.startswith(ON) else grades
        return None if graded is None else dict(graded)


def all_tables(results: Sequence[Result]) -> Iterator[Table]:
    """Promises of `confirm`, auditors, configurations."""
    auditors = chain.from_iterable(result.auditors for result in results)
    names = list(dict.fromkeys(auditors))
    both: list[str] = []
    for name in names:
        is_tested = any(result.grades(ON + name) for result in results)
        both += [name, ON + name] if is_tested else [name]
    # an outsider's auditor is graded without it
    if ON + SHEET in both:
        yield promise_table(results, names)
    yield auditor_table(results, both)
    yield configuration_table(results)


# ------------------------------------------------------------------------------------- promises


PROMISES = ("figure", "asked", "by use", "of")
FIGURES = {
    "AUROC of the probability, cause against decoy": f"at least {LEAST_AUROC}",
    "AUROC of the gap in accuracy alone": "baseline",
    "decoys called causes": f"at most {MOST_DECOYS:.0%}",
    "causes called causes": "",
    "causes called causes, where the plan says enough": f"at least {LEAST_CAUSES:.0%}",
}


def promise_table(results: Sequence[Result], names: Sequence[str]) -> Table:
    """What `confirm` must keep, on cues that the ground truth lists, and on nulls."""
    rows: list[Sequence[Cell]] = []
    for (figure, asked), of_use in zip(FIGURES.items(), promises(results), strict=True):
        rows.append((figure, asked, *of_use))
    roles = Counter(result.role for result in results)
    nulls = [result for result in results if result.role == "null"]
    alarms = sum(_is_alarm(result, names) for result in nulls)
    share = alarms / len(nulls) if nulls else None
    count = f"{alarms} of {len(nulls)}"
    asked = f"at most {MOST_NULLS:.0%}"
    name = "nulls with a cause, confirm on any auditor"
    rows.append((name, asked, share, count))
    return Table.of(
        "Confirm on cues that the ground truth lists",
        PROMISES,
        rows,
        "A cause takes "
        f"{LEAST_OF_CAUSE:.0%} or more of the probability of the right answer, told from the same "
        f"samples without the cue; a decoy takes or gives less than {MOST_OF_DECOY:.0%}; "
        f"{roles['unclear']} configurations do otherwise and are left out. An effect that was not "
        "measured counts as 0.",
        decimals=3,
    )


def _is_alarm(result: Result, names: Sequence[str]) -> bool:
    """Whether `confirm` calls anything a cause, whoever found it."""
    for name in names:
        grades = result.grades(ON + name)
        if grades is not None and grades.get("alarm", False):
            return True
    return False


def promises(results: Sequence[Result]) -> list[tuple[float | None, str]]:
    """Each of `FIGURES`, by what the models use, with how many it is of."""
    probabilities = []
    gaps = []
    called: dict[str, list[Grades]] = {"cause": [], "decoy": []}
    for result in results:
        role = result.role
        sheet = result.grades(SHEET)
        tested = result.grades(ON + SHEET)
        if role in called and sheet and tested:
            # what was not measured is no cause
            probabilities.append((role == "cause", tested["best"] or 0.0))
            # the baseline: what the gap alone tells, without any intervention
            gaps.append((role == "cause", sheet["best"]))
            called[role].append(tested)
    causes = called["cause"]
    count = f"{len(causes)} causes, {len(called['decoy'])} decoys"
    return [
        (auroc_of_cases(probabilities), count),
        (auroc_of_cases(gaps), count),
        _count_called(called["decoy"]),
        _count_called(causes),
        # few samples are no fault of the method
        _count_called([grades for grades in causes if grades.get("enough")]),
    ]


def _count_called(cases: Sequence[Grades]) -> tuple[float | None, str]:
    """The share that is called a cause."""
    called = sum(bool(grades["detected"]) for grades in cases)
    return (called / len(cases) if cases else None), f"{called} of {len(cases)}"


def auroc_of_cases(cases: Sequence[tuple[bool, float | None]]) -> float | None:
    """The chance that a cause scores above a decoy; no score is below every score."""
    is_cause, scores = np.array(cases, dtype=float).reshape(-1, 2).T
    return Roc(np.nan_to_num(scores, nan=-np.inf), is_cause.astype(bool)).auroc()


# ------------------------------------------------------------------------------------- auditors


AUDITORS = (
    *("auditor", "causes", "P@1", "P@10", "AUROC", "causes found", "decoys found"),
    *("purity", "recall", "null alarms", "calls"),
)


def auditor_table(results: Sequence[Result], names: Sequence[str]) -> Table:
    """Every auditor on all configurations that it fits."""
    return Table.of(
        "Auditors",
        AUDITORS,
        [_auditor_row(results, name) for name in names],
        "P@k: share of the first k of what it lists that is the planted cue, where the model "
        "uses it; of all where it lists fewer, 0 where it lists nothing. AUROC: its score of "
        "the cue, where the model uses it against where it does not. Found: among its "
        "findings, pure beyond chance and complete enough. Purity, recall: of the findings that "
        "are the cue by where they occur, the share of what they hold that shows it, and the "
        "share of the samples with it that they hold. Null alarms: data sets without a cue in "
        "which it finds anything. Calls: distinct questions to the model, in the mean; confirm's "
        "come on top.",
        decimals=2,
    )


def _auditor_row(results: Sequence[Result], name: str) -> Sequence[Cell]:
    by_role: dict[str, list[Grades]] = defaultdict(list)
    scored = []
    calls = []
    for result in results:
        grades = result.grades(name)
        if grades:
            by_role[result.role].append(grades)
            calls.append(grades["calls"])
            if result.role in ("cause", "decoy"):
                scored.append((result.role == "cause", grades["best"]))
    causes = by_role["cause"]
    return (
        name,
        len(causes),
        _mean(precision(grades["hits"], 1) for grades in causes),
        _mean(precision(grades["hits"], 10) for grades in causes),
        auroc_of_cases(scored),
        _mean(map(itemgetter("detected"), causes)),
        _mean(map(itemgetter("detected"), by_role["decoy"])),
        _mean_of("purity", causes),
        _mean_of("recall", causes),
        _mean(map(itemgetter("alarm"), by_role["null"])),
        round(float(np.mean(calls))) if calls else None,
    )


def precision(hits: Sequence[bool], k: int) -> float:
    """The share of hits in the first k of a list, or in all of a shorter one; 0 of none."""
    # a short list is not punished for what it does not claim
    first = hits[:k]
    return sum(first) / len(first) if first else 0.0


def _mean(values: Iterable[float | bool]) -> float | None:
    figures = list(values)
    return float(np.mean(figures)) if figures else None


def _mean_of(figure: str, grades: Sequence[Grades]) -> float | None:
    """The mean of a figure that not every auditor or find has."""
    figures = (of_result.get(figure) for of_result in grades)
    return _mean(value for value in figures if value is not None)


def configuration_table(results: Sequence[Result]) -> Table:
    """Every configuration: what the model does, what `confirm` says, who finds the cue."""
    rows: list[Sequence[Cell]] = []
    for result in results:
        confirmed = result.grades(ON + SHEET) or {}
        verdict = "inconclusive" if confirmed.get("why") else "-"
        if confirmed.get("verdicts"):
            # the sheet names one cue, which has one verdict
            verdict, _ = confirmed["verdicts"][0]
        finders = []
        for name, grades in result.auditors.items():
            if name != SHEET and grades.get("detected"):
                # without the options that the zoo gives a rival
                finders.append(name.partition(":")[0])
        rows.append(
            (
                result.configuration.name,
                None if result.accuracy is None else 100 * result.accuracy,
                None if result.use is None else 100 * result.use,
                result.role,
                verdict,
                ", ".join(finders) or "-",
            )
        )
    return Table.of(
        "Configurations",
        ("configuration", "accuracy", "use", "role", "confirm", "found by"),
        rows,
        "Accuracy in %. Use: points of probability of the right answer that the cue takes on "
        "the graded label, told from the same samples without it. Confirm: its verdict on the "
        "cue of the ground truth.",
    )
