"""The rows of the report, its sentences and its notes."""

from collections.abc import Iterator, Sequence

import numpy as np

from cuescope_answers.analysis import Candidate, Result, Study, is_finding, study
from cuescope_answers.trials import Answered
from cuescope_sdk import Audit, Feature, Finding, Occurrence, Row, Score
from cuescope_sdk.report import count_of, percent, shares_row
from cuescope_sdk.statistics import Estimate, mean_interval

PREFERENCE = "preference"
NEXT_STEP = (
    "These correlate with the answers; they need not cause them. Ask the model again: the same "
    "options in another order, the same question without the word. The command `investigate` "
    "does so where the model is at hand."
)
JUDGES = (
    "But it tells right answers from wrong ones without an exception. If this column is a "
    "judgement of the answers, it is no cue: leave it out of the data, or of a log say that it "
    "is one (-O 'model.reader={right: COLUMN}' -O 'data.reader={right: COLUMN}')."
)


def features(audit: Audit) -> Iterator[Feature]:
    """A feature a candidate that was tested, with the samples that show it."""
    result_of = audit.once(study, audit)
    # one may be tested for errors, and for each answer
    # by key: a dict has each once
    candidates = {
        result.candidate.key: result.candidate for result in result_of.results
    }
    for candidate in candidates.values():
        yield Feature(
            key=candidate.key,
            name=candidate.name,
            kind=candidate.kind,
            occurrences=tuple(_occurrences(result_of.answers, candidate)),
        )


def _occurrences(answers: Answered, candidate: Candidate) -> Iterator[Occurrence]:
    """The samples that show it, strongest first; of equals the errors first."""
    numbers = np.flatnonzero(candidate.shows)
    strength = np.ones(len(numbers))
    if candidate.strength is not None:
        strength = candidate.strength[numbers]
    # clear cases first, and among equals the wrong answers: those are what a reader looks for
    order = np.lexsort((numbers, answers.right[numbers], -strength))
    for row in order.tolist():
        sample = answers.outcomes[numbers[row]].trial.sample
        yield Occurrence(sample=sample.key, strength=float(strength[row]))


def scores(audit: Audit) -> Iterator[Score]:
    """A figure a candidate; findings first, preferences before the rest."""
    result_of = audit.once(study, audit)
    _note(audit, result_of)
    ranked = sorted(
        result_of.results, key=lambda result: not is_finding(result, audit.options)
    )
    for result in ranked:
        finding = is_finding(result, audit.options)
        yield Score(
            feature=result.candidate.key,
            label=result.label,
            metric="points",
            value=result.points,
            low=result.low,
            high=result.high,
            n=result.n,
            p_value=result.p_value,
            q_value=result.q_value,
            finding=finding,
            statement=statement(result) if finding else None,
            doubt=JUDGES if finding and judges(result, result_of.answers) else None,
        )


def findings(audit: Audit) -> Iterator[Finding]:
    """The candidates with a finding, that with the largest change first."""
    found: dict[str, list[Result]] = {}
    for result in audit.once(study, audit).results:
        if is_finding(result, audit.options):
            found.setdefault(result.candidate.key, []).append(result)
    for key, results in sorted(
        found.items(), key=lambda item: -max(result.points for result in item[1])
    ):
        yield Finding(
            feature=key,
            claim=f"{{feature}} {_claim(results)}",
            measure="share of answers",
            rows=tuple(map(_row_of, results)),
        )


def _claim(results: Sequence[Result]) -> str:
    first = results[0]
    if first.candidate.kind == PREFERENCE:
        return "is chosen more often than it is correct"
    drawn = [result.label for result in results if result.label is not None]
    names = " and ".join(f'"{label}"' for label in drawn)
    return f"draws the answer {names}" if drawn else "costs accuracy"


def _row_of(result: Result) -> Row:
    shares = result.with_it, result.without
    change = Estimate(result.points, result.low, result.high)
    if result.candidate.kind == PREFERENCE:
        subject = "chosen"
    elif result.label is not None:
        subject = f'wrongly "{result.label}"'
        shares = 1 - result.with_it, 1 - result.without
    else:
        subject = "correct"
        change = Estimate(-result.points, -result.high, -result.low)
    return shares_row(subject, *shares, change, label=result.label, n=result.n)


def judges(result: Result, answers: Answered) -> bool:
    """Whether a value of a column tells right answers from wrong ones without an exception."""
    if result.candidate.kind != "value":
        return False
    right = answers.right > 0
    shows = result.candidate.shows
    return bool((shows == right).all() or (shows == ~right).all())


def statement(result: Result) -> str:
    """The finding as a sentence."""
    points = f"{100 * result.points:.1f} points"
    interval = f"{percent(result.low, unit='')} to {percent(result.high, unit='')}"
    if result.candidate.kind == PREFERENCE:
        return (
            f"The model chose {{feature}} in {result.with_it:.1%} of {result.n:,} questions. With "
            f"errors spread evenly over the options it would be {result.without:.1%}: {points} "
            f"less ({interval})."
        )
    if result.label is not None:
        # as they are told of errors: shares of what does not slip
        given = 1 - result.with_it
        otherwise = 1 - result.without
        return (
            f"With {{feature}}, '{result.label}' is answered in {given:.1%} of {result.n:,} "
            f"samples of other labels, and in {otherwise:.1%} without it: {points} more "
            f"({interval}). A correlation; not tested as a cause."
        )
    return (
        f"With {{feature}}, accuracy is {result.with_it:.1%} in "
        f"{count_of(result.n, 'samples')}, and "
        f"{result.without:.1%} in the others: {points} less ({interval}). "
        "A correlation; not tested as a cause."
    )


def _note(audit: Audit, result_of: Study) -> None:
    answers = result_of.answers
    count = len(answers.right)
    if count:
        # means of groups: ten questions of one clip are not ten
        low, high = mean_interval(
            answers.right, answers.groups, confidence=audit.options.confidence
        )
        audit.note(
            "accuracy",
            f"{answers.right.mean():.2%} of {count:,} samples ({low:.1%} to {high:.1%})",
        )
    if left_out := len(audit.samples) - count:
        audit.note("left out", f"{count_of(left_out, 'samples')} without a label")
    kinds: dict[str, int] = {}
    for result in result_of.results:
        kinds[result.candidate.kind] = kinds.get(result.candidate.kind, 0) + 1
    # what was tried and found nothing counts too: that is why p-values were corrected
    tried = ", ".join(f"{number:,} of kind '{kind}'" for kind, number in kinds.items())
    audit.note("tried", tried or "nothing: no candidate is in enough samples")
    if any(is_finding(result, audit.options) for result in result_of.results):
        audit.note("next step", NEXT_STEP)
