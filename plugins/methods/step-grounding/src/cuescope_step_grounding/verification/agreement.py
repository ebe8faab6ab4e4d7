"""Two judges of the same claims: another verifier, or people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.random import Generator

from cuescope_sdk import Sample, UserError, nearest
from cuescope_sdk.data import TextFile
from cuescope_sdk.grounding import Claim
from cuescope_sdk.statistics import Bootstrap, Groups, cohen_kappa
from cuescope_step_grounding.claims.contents import claim_words
from cuescope_step_grounding.trials import Reasoning

COLUMNS = ("sample", "step", "claim", "verdict")
VERDICTS = ("supported", "unsupported", "unverifiable")


# ------------------------------------------------------------------------------------- agreement


@dataclass(frozen=True)
class Agreement:
    """Of `claims`, those that both decided, the share of these that both judge alike, and kappa.

    `kappa` is None where one of them says the same of all.
    """

    claims: int
    decided: int
    alike: float
    kappa: float | None
    low: float | None
    high: float | None


def agreement(
    pairs: Sequence[tuple[Sample, str, str]],
    rng: Generator,
) -> Agreement:
    """Of the two verdicts on each claim; the interval draws whole groups."""
    decided = [pair for pair in pairs if "unverifiable" not in pair[1:]]
    verdicts = np.array([pair[1:] for pair in decided]).reshape(-1, 2)
    first, second = (verdicts == "supported").T
    value = cohen_kappa(first, second)
    ends = None
    # A judge that says the same of all has no kappa, and neither has an interval around it.
    if value is not None and 0 < first.mean() < 1 and 0 < second.mean() < 1:
        ends = Bootstrap.bca_interval(
            lambda drawn: cohen_kappa(first[drawn], second[drawn]),
            Groups.of([sample for sample, _, _ in decided]),
            rng,
        )
    alike = float((first == second).mean()) if decided else 0.0
    return Agreement(len(pairs), len(decided), alike, value, *(ends or (None, None)))


# ---------------------------------------------------------------------------------- people's labels


@dataclass(frozen=True)
class Label:
    """What somebody says of one claim: `claim` is its number within the step, or its words."""

    line: int
    sample: str
    step: int
    claim: str
    verdict: str


def read_labels(path: Path) -> list[Label]:
    """The rows of a CSV file; raises UserError, with the line, for anything else."""
    rows = list(TextFile(path, "step-grounding: labels").table())
    if not rows:
        raise _refusal(path, None, "at least one label", "none")
    # the columns may stand in any order
    if set(rows[0][1]) != set(COLUMNS):
        raise _refusal(
            path,
            1,
            f"the columns {','.join(COLUMNS)}",
            ",".join(rows[0][1]),
        )
    return [_label(path, line, row) for line, row in rows]


def _label(path: Path, line: int, row: Mapping[str, str]) -> Label:
    # `cuescope label` puts an apostrophe before a text that a spreadsheet would run
    cells = (row[column].strip().removeprefix("'") for column in COLUMNS)
    sample, step, claim, verdict = cells
    if not step.isdecimal() or int(step) < 1:
        raise _refusal(path, line, "a step's number, from 1", f"'{step}'")
    if not claim:
        raise _refusal(
            path,
            line,
            "a claim's number within its step, or its words",
            "nothing",
        )
    if verdict not in VERDICTS:
        raise _refusal(path, line, f"a verdict: {', '.join(VERDICTS)}", f"'{verdict}'")
    return Label(line, sample, int(step), claim, verdict)


def labelled_claims(
    path: Path,
    labels: Sequence[Label],
    traces: Sequence[Reasoning],
) -> list[tuple[Sample, Claim, str]]:
    """The claims that labels mean, each with its verdict; raises UserError for one of nothing."""
    by_key = {trace.sample.key: trace for trace in traces}
    claims: dict[tuple[str, Claim], tuple[Sample, Claim, str]] = {}
    for label in labels:
        trace = by_key.get(label.sample)
        if trace is None:
            raise _refusal(
                path,
                label.line,
                f"one of the {len(by_key)} samples of this audit",
                f"'{label.sample}'",
                nearest(label.sample, by_key),
            )
        claim = _claim(path, label, trace)
        # a claim may have several rows, by its number and by its words
        _, _, before = claims.setdefault(
            (label.sample, claim),
            (trace.sample, claim, label.verdict),
        )
        if before != label.verdict:
            raise _refusal(
                path,
                label.line,
                "one verdict a claim",
                f"{before} and {label.verdict}",
            )
    return list(claims.values())


def _claim(path: Path, label: Label, trace: Reasoning) -> Claim:
    if label.step > len(trace.claims):
        raise _refusal(
            path,
            label.line,
            f"a step of {label.sample}: 1 to {len(trace.claims)}",
            str(label.step),
        )
    numbered = {}
    for number, claim in enumerate(trace.claims[label.step - 1], 1):
        words = claim_words(claim)
        numbered[str(number)] = words
        if label.claim in (str(number), words):
            return claim
    listed = "; ".join(map(" ".join, numbered.items())) or "none"
    raise _refusal(
        path,
        label.line,
        f"a claim of step {label.step} of {label.sample} ({listed})",
        f"'{label.claim}'",
    )


def _refusal(
    path: Path,
    line: int | None,
    expected: str,
    got: str,
    remedy: str | None = None,
) -> UserError:
    where = f"{path}" if line is None else f"{path}, line {line}"
    return UserError(
        f"step-grounding: labels {where}",
        expected=expected,
        got=got,
        remedy=remedy,
    )
