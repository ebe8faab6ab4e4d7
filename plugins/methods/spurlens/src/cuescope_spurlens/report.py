"""The rows and notes of the report, in words that a stranger understands."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from cuescope_sdk import Audit, Finding, Impact, Row, Score
from cuescope_sdk.report import count_of, percent, shares_row
from cuescope_sdk.statistics import Estimate, Groups, mean_interval
from cuescope_spurlens.analysis import (
    ASSUMED_RATE,
    CaseResult,
    GapFigures,
    Power,
    Results,
    blank_rates,
    expected_power,
    most_questions,
    planned_cases,
)
from cuescope_spurlens.questions import most_later_trials, with_article
from cuescope_spurlens.spuriosity.detections import is_joint, max_passes
from cuescope_spurlens.trials import ALL_CUES, Candidates, find_candidates

IMAGES = {
    "recognition": "images with {0}",
    "hallucination": "images without {0}",
    "drop": "images whose {1} is dropped",
    "mask": "images whose {1} is blackened",
}
LISTED = 8  # names in a note


def score_rows(results: Results) -> Iterator[Score]:
    """Findings first, then strongest cues, then all others; in each, images as they are first.

    Where most answers are neither yes nor no, nothing was measured, and a statement says so.
    """
    rows = []
    for result in results.cases:
        rows += [(result, cue) for cue in range(len(result.case.cues))]
    rows.sort(key=_row_order)
    why = why_untested(results)
    if rows and why:
        yield _score_of(*rows[0])(metric="spurious_gap", value=None, statement=why)
        return
    for result, cue in rows:
        yield from _cue_rows(result, cue)


def findings(results: Results) -> Iterator[Finding]:
    """A cue and an object each, with the images that have the object and those that have not."""
    by_cue: dict[tuple[str, str], list[CaseResult]] = {}
    for result in results.findings:
        by_cue.setdefault((result.cue, result.case.label), []).append(result)
    for (cue, label), some in by_cue.items():
        keys = [result.case.feature_key(cue) for result in some]
        yield Finding(
            feature=keys[0],
            claim=f'{cue.upper()} makes the model answer "yes" to {label}',
            measure='answered "yes"',
            rows=tuple(map(_finding_row, some, keys)),
            impact=_impact(some),
        )


def _finding_row(result: CaseResult, key: str) -> Row:
    case = result.case
    figures = result.figures(result.strongest)
    row = shares_row(
        IMAGES[case.task]
        .format(with_article(case.label), case.label)
        .removeprefix("images "),
        float(figures.with_rates.mean()),
        float(figures.without_rates.mean()),
        Estimate(figures.gap, figures.low, figures.high),
        label=case.label,
        n=figures.k,
    )
    return row.model_copy(update={"feature": key})


def _impact(results: Sequence[CaseResult]) -> Impact | None:
    """Of the images without the object where it is imagined, those that show the cue most."""
    for result in results:
        if result.case.task == "hallucination":
            top, _ = result.case.asked_sides
            imagined = result.unit_rates
            return Impact(
                count=round(float(imagined[top[result.strongest]].sum())),
                total=round(float(imagined.sum())),
                of='false "yes"',
                detail="in the images that show the cue most",
            )
    return None


def why_untested(results: Results) -> str | None:
    """Why nothing could be found, whatever the model does; None where something could."""
    if not results.is_readable:
        return (
            f"{count_answers(results)}: nothing could be measured. Ask for yes or no: "
            "-O questions='Is there {object}? Answer yes or no.'"
        )
    if not results.findings and not any(map(results.can_find, results.cases)):
        return "Nothing could be tested: there are too few images."
    return None


def _row_order(row: tuple[CaseResult, int]) -> tuple[bool, bool, bool, float]:
    result, cue = row
    first = cue == result.strongest
    return (
        not (result.finding and first),
        not first,
        result.case.is_changed,
        -result.gap[cue],
    )


def _score_of(result: CaseResult, cue: int) -> Callable[..., Score]:
    """Makes scores of a cue."""
    case = result.case
    feature = case.feature_key(case.cues[cue])
    return partial(Score, feature=feature, label=case.label)


def _cue_rows(result: CaseResult, cue: int) -> Iterator[Score]:
    """The gap of a cue, and the two shares of yes that it is between."""
    score = _score_of(result, cue)
    first = cue == result.strongest
    finding = result.finding and first
    figures = result.figures(cue)
    p_value = float(result.p_value[cue])
    yield score(
        metric="spurious_gap",
        value=figures.gap,
        low=figures.low,
        high=figures.high,
        n=figures.k,
        p_value=p_value,
        # Only the strongest cue of a case is corrected over all cases; the others have no q.
        # random rankings may give another cue the least p of the case
        q_value=max(result.q_value, p_value) if first else None,
        finding=finding,
        statement=finding_statement(result, figures) if finding else None,
    )
    kind = "perception" if result.case.task == "recognition" else "hallucination"
    sides = {"with": figures.with_rates, "without": figures.without_rates}
    for side, rates in sides.items():
        # rates are of units already, which count by themselves
        low, high = mean_interval(rates, Groups.single(len(rates)))
        yield score(
            metric=f"{kind}_{side}",
            value=float(rates.mean()),
            low=low,
            high=high,
            n=len(rates),
        )


def finding_statement(result: CaseResult, figures: GapFigures) -> str:
    """What goes with the strongest cue, with `{feature}` for its name, and how sure that is."""
    case = result.case
    a_cue = with_article(result.cue)
    a_label = with_article(case.label)
    images = IMAGES[case.task].format(a_label, case.label)
    verb = "sees" if case.task == "recognition" else "imagines"
    most = f"the {figures.k} that show {a_cue} most"
    least = f"the {figures.k} that show it least"
    words = (
        f"{{feature}}: in {images}, the model {verb} {a_label} in "
        f"{percent(figures.with_rates.mean())} of {most}, and in "
        f"{percent(figures.without_rates.mean())} of {least}. The gap is "
        f"{percent(figures.gap, figures.low, figures.high, unit=' points')}, too "
        f"large for chance (q = {result.q_value:.2g})."
    )
    if result.apart is not None:
        words += (
            " These are images in which no cue was looked for; where it was found, the gap is "
            f"{result.strongest_gap:.0%}."
        )
    return words


def note_cost(audit: Audit, candidates: Candidates) -> None:
    """The most that the detector and the model can be asked, known before either is."""
    detector = audit.tools["detector"]
    passes = max_passes(candidates.image_sets, detector)
    names = "its cues"
    if is_joint(detector):
        # a joint detector looks for the class in a pass of its own
        passes *= 2
        names = "cues of a class, and once for the class alone"
    audit.note(
        "detector passes", f"{passes:,} at most: each image once for all {names}"
    )
    questions = most_questions(audit, candidates)
    audit.note("questions", f"{questions:,} at most, each asked once")
    later = most_later_trials(audit, planned_cases(audit.options, candidates))
    audit.expect_more(questions + later)
    if "patches" in audit.capabilities.exposes and "recognition" in audit.options.tasks:
        text = f"{count_of(len(audit.samples), 'images')} read at most, to train a probe on it"
        audit.note("vision encoder", text)
    if candidates.image_sets:
        audit.note("power", describe_power(expected_power(candidates, audit.options)))


def describe_power(power: Power) -> str:
    """The smallest gap that would be found, before any answer."""
    gap = (
        "not even a gap of all"
        if power.gap is None
        else f"a gap of {100 * power.gap:.0f} points"
    )
    return f"80% for {gap} (yes to {ASSUMED_RATE:.0%} with the cue)"


def note_results(audit: Audit, results: Results) -> None:
    """All facts at the head of the report that are known once the answers are."""
    # the K that was wanted: cases may have fewer units
    audit.note("K", describe_k(results, audit.once(find_candidates, audit).k))
    audit.note("answers", count_answers(results))
    if results.study.blank is not None:
        audit.note("black image", describe_blank(results))
    for result in results.refused_cases:
        audit.note(f"no finding: {result.case.name}", explain_refusal(result))
    note_exclusions(audit, results)


def note_exclusions(audit: Audit, results: Results) -> None:
    """How many cues were left out, and why a whole class was."""
    cues = set()
    reasons: dict[str, list[str]] = {}
    for label, cue, reason in results.study.exclusions:
        if cue == ALL_CUES:
            reasons.setdefault(label, []).append(reason)
        else:
            # a cue that is left out in both tasks is one cue
            cues.add((label, cue))
    if cues:
        audit.note("cues left out", f"{len(cues)}; a table gives the reasons")
    for label, of_class in reasons.items():
        audit.note(f"left out: {label}", "; ".join(of_class))


def describe_k(results: Results, wanted: int) -> str:
    """How many images a gap is between, and where these are fewer."""
    cases = results.study.cases
    most = max((case.k for case in cases), default=0)
    words = f"{count_of(most, 'images')} that show a cue most, and {most} that show it least"
    if 0 < most < wanted:
        words += f"; there are too few images for K = {wanted}"
    fewer = [f"{case.name} {case.k}" for case in cases if case.k < most]
    return f"{words}; fewer for {shorten_list(fewer)}" if fewer else words


def explain_refusal(result: CaseResult) -> str:
    """Why a gap that passes the test is no finding."""
    gap = f"the gap of {100 * result.strongest_gap:.0f} points with {result.cue}"
    figures = result.figures(result.strongest)
    shown = percent(figures.gap, figures.low, figures.high, unit=" points")
    if result.apart is None:
        return f"{gap} has an interval that holds 0: {shown}"
    return f"{gap} is not sure in the images kept apart: there it is {shown}"


def count_answers(results: Results) -> str:
    """How many, and how many of them are neither yes nor no."""
    asked = len(results.answers)
    unparsed = results.unparsed
    share = f" ({unparsed / asked:.1%})" if unparsed else ""
    return (
        f"{count_of(asked, 'distinct questions')}; {unparsed:,}{share} answered neither "
        "yes nor no"
    )


def describe_blank(results: Results) -> str:
    """Hallucination rate where there is nothing to see, and for which classes."""
    rates = blank_rates(results)
    mean = sum(rates.values()) / max(len(rates), 1)
    text = f"the model says yes to {mean:.1%} of the questions about an all-black image"
    classes = [f"{label} {rate:.0%}" for label, rate in rates.items() if rate > 0]
    return f"{text} ({shorten_list(classes)})" if classes else text


def shorten_list(words: Sequence[str]) -> str:
    """The first few, and how many more."""
    more = f" and {len(words) - LISTED} more" if len(words) > LISTED else ""
    return ", ".join(words[:LISTED]) + more
