"""The rows and notes of the report, in words that a stranger understands."""

from collections.abc import Iterator, Sequence

import numpy as np

from cuescope_sdk import Audit, Score
from cuescope_sdk.report import hundredths, interval, percent
from cuescope_sdk.statistics import Groups, mean_interval, smallest_gap
from cuescope_spurlens.answers import yes_rates
from cuescope_spurlens.options import SpurLensOptions
from cuescope_spurlens.questions import most_later_trials, question_templates, with_article
from cuescope_spurlens.scores import LEAST_APART, CaseResult, Results
from cuescope_spurlens.spuriosity.detections import is_joint, max_passes
from cuescope_spurlens.trials import ALL_CUES, Candidates, find_candidates

NULLS = {
    "shuffled-answers": "the largest gap with answers shuffled among the images",
    "random-rankings": "the largest gap of as many random rankings as there are cues",
}
CORRECTIONS = {"holm": "Holm", "bh": "Benjamini-Hochberg"}
LISTED = 8  # names in a note
SIZE_UNKNOWN = (
    "The object's size is not known here: small objects are missed more often, so a thing that "
    "stands beside large ones would give such a gap too."
)
SMALL = 0.02  # a gap that is not worth a sentence
ASSUMED_RATE = 0.8  # of yes, where power is foretold before any answer


def score_rows(results: Results) -> Iterator[Score]:
    """Findings first, then strongest cues, then all others; in each, images as they are first.

    Where most answers are neither yes nor no, nothing was measured, and a statement says so.
    """
    rows = [(result, cue) for result in results.cases for cue in range(len(result.case.cues))]
    rows.sort(key=_row_order)
    if rows and (why := untested(results)):
        result, cue = rows[0]
        feature, label = result.case.feature_key(result.case.cues[cue]), result.case.label
        metric = "spurious_gap"
        yield Score(feature=feature, label=label, metric=metric, value=None, statement=why)
        return
    for result, cue in rows:
        yield from _cue_rows(result, cue)


def untested(results: Results) -> str | None:
    """Why nothing could be found, whatever the model does; None where something could."""
    if not results.is_readable:
        return (
            f"{count_answers(results)}: nothing could be measured. Ask for yes or no: "
            "-O questions='Is there {object}? Answer yes or no.'"
        )
    if not results.findings and all(result.limit is None for result in results.cases):
        return f"Nothing could be tested: {describe_limit(results)}."
    return None


def _row_order(row: tuple[CaseResult, int]) -> tuple[bool, bool, bool, float]:
    result, cue = row
    first = cue == result.strongest
    return not (result.finding and first), not first, result.case.is_changed, -result.gap[cue]


def _cue_rows(result: CaseResult, cue: int) -> Iterator[Score]:
    case, first = result.case, cue == result.strongest
    feature, label, p_value = case.feature_key(case.cues[cue]), case.label, result.p_value[cue]
    finding = result.finding and first
    gap, low, high, k = _gap_figures(result, cue)
    yield Score(
        feature=feature,
        label=label,
        metric="spurious_gap",
        value=gap,
        low=low,
        high=high,
        n=k,
        p_value=float(p_value),
        # Only the strongest cue of a case is corrected over all cases; the others have no q.
        q_value=max(result.q_value, float(p_value)) if first else None,
        finding=finding,
        statement=finding_statement(result) if finding else None,
    )
    kind = "perception" if case.task == "recognition" else "hallucination"
    for side, rates in zip(("with", "without"), _side_rates(result, cue), strict=True):
        ends = mean_interval(rates, Groups.single(len(rates)))
        yield Score(
            feature=feature,
            label=label,
            metric=f"{kind}_{side}",
            value=float(rates.mean()),
            low=ends[0],
            high=ends[1],
            n=len(rates),
        )


def _gap_figures(result: CaseResult, cue: int) -> tuple[float, float, float, int]:
    """Gap, ends of its interval, and units a side: of a finding those apart, where there are."""
    if result.apart is not None and cue == result.strongest:
        apart = result.apart
        return apart.gap, apart.low, apart.high, apart.k
    low, high = result.interval[cue].tolist()
    return float(result.gap[cue]), low, high, result.case.k


def _side_rates(result: CaseResult, cue: int) -> tuple[np.ndarray, np.ndarray]:
    """Share of yes of each unit with the cue, and without, in the units of `_gap_figures`."""
    if result.apart is not None and cue == result.strongest:
        return result.apart.with_rates, result.apart.without_rates
    case = result.case
    sides = case.asked_index(case.top[cue]), case.asked_index(case.bottom[cue])
    return result.unit_rates[sides[0]], result.unit_rates[sides[1]]


def finding_statement(result: CaseResult) -> str:
    """What goes with the strongest cue, with `{feature}` for its name, and how sure that is."""
    case, cue = result.case, result.strongest
    a_cue, a_label = with_article(result.cue), with_article(case.label)
    images = {
        "recognition": f"images with {a_label}",
        "hallucination": f"images without {a_label}",
        "drop": f"images whose {case.label} is dropped",
        "mask": f"images whose {case.label} is blackened",
    }[case.task]
    verb = "sees" if case.task == "recognition" else "imagines"
    gap, low, high, k = _gap_figures(result, cue)
    most, least = f"the {k} that show {a_cue} most", f"the {k} that show it least"
    if case.splits_by_presence(cue):
        most, least = f"those that show {a_cue}", "those that do not"
    with_cue, without = (rates.mean() for rates in _side_rates(result, cue))
    words = (
        f"{{feature}}: in {images}, the model {verb} {a_label} in {percent(with_cue)} of {most}, "
        f"and in {percent(without)} of {least}. The gap is {hundredths(gap)} points"
        f"{interval(low, high, hundredths)}, too large for chance (q = {result.q_value:.2g})."
    )
    if result.apart is not None:
        words += (
            " These are images in which no cue was looked for; where it was found, the gap is "
            f"{result.gap[cue]:.0%}."
        )
    if result.size_unknown:
        words += f" {SIZE_UNKNOWN}"
    by_size = float(result.test.by_strata[cue])
    if abs(by_size) >= SMALL:
        points = f"{100 * by_size:.0f} of the {100 * result.gap[cue]:.0f} points"
        words += f" {points} go with the object's size."
    return words


def note_cost(audit: Audit, candidates: Candidates) -> None:
    """The most that the detector and the model can be asked, known before either is."""
    options: SpurLensOptions = audit.options
    detector, cues, image_sets = audit.tools["detector"], candidates.cues, candidates.image_sets
    passes = max_passes(image_sets, detector)
    names = "its cues"
    if is_joint(detector):
        passes, names = 2 * passes, "cues of a class, and once for the class alone"
    audit.note("detector passes", f"{passes:,} at most: each image once for all {names}")
    # Images with the object are asked about as they are, and once more for each removal.
    times = {"recognition": ("recognition" in options.tasks) + len(options.removals)}
    images = sum(
        times.get(image_set.task, 1)
        * min(
            len(image_set.samples),
            # One more for the images apart, in which a finding is measured.
            2 * candidates.k * options.per_group * (len(cues[image_set.label]) + 1),
        )
        for image_set in image_sets
    )
    images += len(cues) * ("blank" in options.artificial)
    questions = images * len(question_templates(audit))
    audit.note("questions", f"{questions:,} at most, each asked once")
    cases = [
        (Groups.of(each.samples), candidates.k, plain)
        for each in image_sets
        for plain in (True, *(False for _ in options.removals if each.task == "recognition"))
    ]
    audit.expect_more(questions + most_later_trials(audit, cases))
    if "patches" in audit.capabilities.exposes and "recognition" in options.tasks:
        text = f"{len(audit.samples):,} images read at most, to train a probe on it"
        audit.note("vision encoder", text)
    if image_sets:
        audit.note("power", foretell_power(candidates, options))


def foretell_power(candidates: Candidates, options: SpurLensOptions) -> str:
    """The smallest gap that the median class finds in 8 of 10 audits, before any answer."""
    sizes = [Groups.of(images.samples).count for images in candidates.image_sets]
    k = min(candidates.k, int(np.median(sizes)) // 2)
    tried = max(len(of_class) for of_class in candidates.cues.values())
    # As if all cues were independent: those that go together cost less.
    threshold = options.level / len(sizes) / max(tried, 1)
    gap = smallest_gap(k, k, ASSUMED_RATE, threshold) if k else None
    found = f"a gap of {100 * gap:.0f} points" if gap is not None else "not even a gap of all"
    return (
        f"at K = {k}, {tried} cues and {len(sizes)} classes and tasks, {found} is found in 8 of 10 "
        f"audits, if the model says yes to {ASSUMED_RATE:.0%} of the images with the cue"
    )


def note_results(audit: Audit, results: Results) -> None:
    """All facts at the head of the report that are known once the answers are."""
    options: SpurLensOptions = audit.options
    study = results.study
    most = max((case.k for case in study.cases), default=0)
    fewer = [f"{case.label} ({case.task}) {case.k}" for case in study.cases if case.k < most]
    wanted = audit.once(find_candidates, audit).k
    audit.note(
        "K",
        f"{most} images that show a cue most, and {most} that show it least"
        + (f"; there are too few images for K = {wanted}" if 0 < most < wanted else "")
        + (f"; fewer for {shorten_list(fewer)}" if fewer else ""),
    )
    audit.note("answers", count_answers(results))
    if study.blank is not None:
        audit.note("black image", describe_blank(results))
    audit.note(
        "chance",
        f"{NULLS[options.null]}, {results.draws:,} times; p-values are corrected over "
        f"{len(study.cases)} classes and tasks ({CORRECTIONS[options.correction]})",
    )
    if results.cases:
        audit.note("independent", describe_units(results))
        audit.note("measured apart", describe_apart(results))
        audit.note("object's size", describe_sizes(results))
        audit.note("labels", describe_labels(results))
        audit.note("limit of detection", describe_limit(results))
    for result in results.refused:
        gap, cue = 100 * result.gap[result.strongest], result.cue
        audit.note(
            f"no finding: {result.case.label} ({result.case.task})",
            f"the gap of {gap:.0f} points with {cue} may go with the object's size, which is not "
            "known (-O unknown_size=say calls it a finding)",
        )
    for result in results.explained:
        audit.note(f"no cue: {result.case.label} ({result.case.task})", explain(result))
    cues = {(label, cue) for label, cue, _ in study.exclusions if cue != ALL_CUES}
    if cues:
        audit.note("cues left out", f"{len(cues)}; a table gives the reasons")
    for label in dict.fromkeys(label for label, cue, _ in study.exclusions if cue == ALL_CUES):
        reasons = [e.reason for e in study.exclusions if (e.label, e.cue) == (label, ALL_CUES)]
        audit.note(f"left out: {label}", "; ".join(reasons))


def describe_units(results: Results) -> str:
    """What counts once."""
    cases = [result.case for result in results.cases]
    if alike := results.study.look_alikes:
        rows, units = sum(len(c.samples) for c in cases), sum(c.units.count for c in cases)
        return (
            f"no image names a group (source video, scene, patient); {alike:,} look like another "
            f"one and count once with it: {rows:,} images of the classes and tasks count as "
            f"{units:,}"
        )
    if not any(case.units.declared for case in cases):
        return (
            "no image names a group (source video, scene, patient) and none looks like another "
            "one, so each counts by itself; images of one source that look different would make "
            "too many findings"
        )
    rows, units = sum(len(c.samples) for c in cases), sum(c.units.count for c in cases)
    return f"groups: {rows:,} images of the classes and tasks count as {units:,}"


def describe_apart(results: Results) -> str:
    """Whether findings are measured where no cue was looked for."""
    apart = [len(result.case.apart) >= 2 * LEAST_APART for result in results.cases]
    if not any(apart):
        return (
            "no: there are too few images. The strongest of many cues is found and measured in the "
            "same images, so its gap is likely too large (-O discover=0.5 measures it in others)"
        )
    return (
        f"in {sum(apart)} of {len(apart)} classes and tasks, cues are looked for in a part of the "
        "images, and what is found is measured in the others"
    )


def describe_sizes(results: Results) -> str:
    """Where answers were compared among objects of one size."""
    cases = [result for result in results.cases if result.case.task != "hallucination"]
    if not cases:
        return "no object is in these images"
    sources = sorted({result.sizes.source for result in cases if result.sizes is not None})
    known = sum(result.sizes is not None for result in cases)
    limit = "where it is unknown, a cue that goes with the size looks like a cue of its own"
    if not known:
        unknown = any(result.size_unknown for result in cases)
        return f"unknown; {limit}" if unknown else "the same in all images, or too few to compare"
    words = f"set aside in {known} of {len(cases)} classes and tasks, by {' and '.join(sources)}"
    return words if known == len(cases) else f"{words}; {limit}"


def describe_labels(results: Results) -> str:
    """How many labels the detector contradicts."""
    cases = [result.case for result in results.cases]
    doubted = [case for case in cases if case.doubtful is not None]
    if not doubted:
        return "not checked"
    count = sum(int(case.doubtful.sum()) for case in doubted if case.doubtful is not None)
    images = sum(len(case.samples) for case in doubted)
    return (
        f"the detector contradicts {count:,} of {images:,} (is the class there?); they count in "
        "no test. A detector that repeats the data's own annotations contradicts none"
    )


def describe_limit(results: Results) -> str:
    """What would have been found, had it been there."""
    limits = [result.limit for result in results.cases]
    known = sorted(limit for limit in limits if limit is not None)
    if not known:
        return "no gap, however large, would have been found surely: there are too few images"
    middle, hardest = 100 * known[len(known) // 2], 100 * known[-1]
    several = f" in the middle class and {hardest:.0f} in the hardest" if len(known) > 1 else ""
    missing = len(limits) - len(known)
    more = f" (in {missing} of {len(limits)} classes and tasks none)" if missing else ""
    return (
        f"a cue with a gap of {middle:.0f} points{several}{more} would have been found in 8 of 10 "
        "such audits; smaller ones may be there"
    )


def explain(result: CaseResult) -> str:
    """What makes a gap that would be a finding, were nothing set aside."""
    case, cue, tests = result.case, result.largest, result.tests
    alone = [words for words in ("size", "labels") if words in tests]
    level = result.tests[""].p_value[cue]
    causes = [w for w in alone if tests[w].p_value[cue] > max(0.05, 2 * level)] or alone
    meanings = {
        "size": "the object's size",
        "labels": f"labels that the detector contradicts ({_doubted_keys(result)})",
    }
    return (
        f"the gap of {100 * result.gap[cue]:.0f} points with {case.cues[cue]} goes with "
        f"{' and '.join(meanings[words] for words in causes)}: set aside, p = "
        f"{result.p_value[cue]:.2f}"
    )


def _doubted_keys(result: CaseResult) -> str:
    case = result.case
    if case.doubtful is None:
        return ""
    rows = case.asked_rows[case.doubtful[case.asked_rows]].tolist()
    return shorten_list([case.samples[row].key for row in rows])


def count_answers(results: Results) -> str:
    """How many, and how many of them are neither yes nor no."""
    asked, unparsed = len(results.answers), results.unparsed
    share = f" ({unparsed / asked:.1%})" if unparsed else ""
    return f"{asked:,} distinct questions; {unparsed:,}{share} answered neither yes nor no"


def describe_blank(results: Results) -> str:
    """Hallucination rate where there is nothing to see, and for which classes."""
    rows = results.study.blank_questions
    rates = dict(zip(rows, yes_rates(list(rows.values()), results.answers).tolist(), strict=True))
    classes = [f"{label} {rate:.0%}" for label, rate in rates.items() if rate > 0]
    mean = sum(rates.values()) / max(len(rates), 1)
    text = f"the model says yes to {mean:.1%} of the questions about an all-black image"
    return text + f" ({shorten_list(classes)})" * bool(classes)


def shorten_list(words: Sequence[str]) -> str:
    """The first few, and how many more."""
    more = f" and {len(words) - LISTED} more" if len(words) > LISTED else ""
    return ", ".join(words[:LISTED]) + more
