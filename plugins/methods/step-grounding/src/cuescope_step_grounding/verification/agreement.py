"""Two judges of the same claims: another verifier, or people."""

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from cuescope_sdk import Sample, UserError
from cuescope_sdk.grounding import Claim, Judgement
from cuescope_sdk.statistics import Groups, bca_interval, cohen_kappa
from cuescope_step_grounding.claims.contents import claim_words
from cuescope_step_grounding.trials import Reasoning

COLUMNS = ("sample", "step", "claim", "verdict")
VERDICTS = ("supported", "unsupported", "unverifiable")
Judge = Callable[[Sample, Claim], Judgement]


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
    rng: np.random.Generator,
    *,
    confidence: float,
    resamples: int,
) -> Agreement:
    """Of the two verdicts on each claim; the interval draws whole groups."""
    decided = [pair for pair in pairs if "unverifiable" not in pair[1:]]
    first, second = (
        np.array([pair[side] == "supported" for pair in decided], bool) for side in (1, 2)
    )
    value = cohen_kappa(first, second)
    ends = None
    # A judge that says the same of all has no kappa, and neither has an interval around it.
    if value is not None and 0 < first.mean() < 1 and 0 < second.mean() < 1:
        ends = bca_interval(
            lambda drawn: cohen_kappa(first[drawn], second[drawn]),
            Groups.of([sample for sample, _, _ in decided]),
            rng,
            confidence=confidence,
            resamples=resamples,
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
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise _refusal(path, None, "a CSV file in UTF-8", str(error)) from error
    rows = csv.reader(text.splitlines(), strict=True)
    try:
        header = [name.strip() for name in next(rows, [])]
        if sorted(header) != sorted(COLUMNS):
            raise _refusal(path, 1, f"the columns {','.join(COLUMNS)}", ",".join(header) or "none")
        labels = [_label(path, rows.line_num, header, row) for row in rows if any(row)]
    except csv.Error as error:
        raise _refusal(path, rows.line_num, "a row of CSV", str(error)) from error
    if not labels:
        raise _refusal(path, None, "at least one label", "none")
    return labels


def _label(path: Path, line: int, header: Sequence[str], row: Sequence[str]) -> Label:
    if len(row) != len(header):
        raise _refusal(path, line, f"{len(header)} fields", f"{len(row)}")
    field = {name: value.strip() for name, value in zip(header, row, strict=True)}
    if not field["step"].isdecimal() or int(field["step"]) < 1:
        raise _refusal(path, line, "a step's number, from 1", f"'{field['step']}'")
    if not field["claim"]:
        raise _refusal(path, line, "a claim's number within its step, or its words", "nothing")
    if field["verdict"] not in VERDICTS:
        raise _refusal(path, line, f"a verdict: {', '.join(VERDICTS)}", f"'{field['verdict']}'")
    return Label(line, field["sample"], int(field["step"]), field["claim"], field["verdict"])


def labelled_claims(
    path: Path, labels: Sequence[Label], traces: Sequence[Reasoning]
) -> list[tuple[Sample, Claim, str]]:
    """The claims that labels mean, each with its verdict; raises UserError for one of nothing."""
    by_key = {trace.sample.key: trace for trace in traces}
    claims: dict[tuple[str, Claim], tuple[Sample, Claim, str]] = {}
    for label in labels:
        trace = by_key.get(label.sample)
        if trace is None:
            near = get_close_matches(label.sample, by_key, 1)
            hint = f"Did you mean '{near[0]}'?" if near else None
            expected = f"one of the {len(by_key)} samples of this audit"
            raise _refusal(path, label.line, expected, f"'{label.sample}'", hint)
        claim = _claim(path, label, trace)
        known = claims.setdefault((label.sample, claim), (trace.sample, claim, label.verdict))
        if known[2] != label.verdict:
            raise _refusal(
                path, label.line, "one verdict a claim", f"{known[2]} and {label.verdict}"
            )
    return list(claims.values())


def _claim(path: Path, label: Label, trace: Reasoning) -> Claim:
    if label.step > len(trace.claims):
        expected = f"a step of {label.sample}: 1 to {len(trace.claims)}"
        raise _refusal(path, label.line, expected, str(label.step))
    claims = trace.claims[label.step - 1]
    words = [claim_words(claim) for claim in claims]
    if label.claim.isdecimal() and 1 <= int(label.claim) <= len(claims):
        return claims[int(label.claim) - 1]
    if label.claim in words:
        return claims[words.index(label.claim)]
    listed = "; ".join(f"{number} {each}" for number, each in enumerate(words, 1)) or "none"
    expected = f"a claim of step {label.step} of {label.sample} ({listed})"
    raise _refusal(path, label.line, expected, f"'{label.claim}'")


def _refusal(
    path: Path, line: int | None, expected: str, got: str, remedy: str | None = None
) -> UserError:
    where = f"{path}" if line is None else f"{path}, line {line}"
    return UserError(f"step-grounding: labels {where}", expected=expected, got=got, remedy=remedy)
