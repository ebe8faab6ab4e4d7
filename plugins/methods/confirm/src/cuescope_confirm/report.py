"""Scores, findings and tables of a test."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import get_args

from cuescope_confirm.experiment.arms import CONTROL, Arm
from cuescope_confirm.experiment.doses import UNKNOWN
from cuescope_confirm.merging.modalities import NO_CUE
from cuescope_confirm.sample_plan import POWER_NOTE, SamplePlan, power
from cuescope_confirm.scores import Results, Row, estimate_of
from cuescope_confirm.sentences import MORE_TESTED, points, statement, with_interval
from cuescope_confirm.study import Cue, Study, folders_of
from cuescope_confirm.trials import NOTHING
from cuescope_sdk import Audit, Cell, Finding, Score, Table
from cuescope_sdk.report import count_of, shares_row
from cuescope_sdk.statistics import Verdict

VERDICTS = get_args(Verdict)
RULE = """\
Cause: the probability that the cue moves the answer's probability by more than {margin} points is \
so high that, of all verdicts of the run, at most {error:g} false ones are expected.
Not a cause: the same of moving it by less. Inconclusive: neither.
The probability is that of one dose-response model of every answer: to samples as they are, \
changed, and changed by a control that leaves the cue. An intervention that changes more of the \
cue has to do more; what it does beside the cue, its control does too, or it is unlike others."""
RULE_OF_PAIRS = (
    "the user's own pairs decide alone, as they differ in the cue and in nothing else"
)
CLAIMS: Mapping[Verdict, str] = {
    "cause": "{feature} causes the answer",
    "not a cause": "{feature} does not cause the answer",
    "inconclusive": "{feature}: whether it causes the answer is open",
}
NEXT = (
    "Try a remedy for a cause, and measure whether it helps: {step}. Other remedies for `--with`: "
    "`cuescope plugins list --kind mitigator`."
)
REMEDY = "last-layer"  # the first to try: it looks at the cues, and is quick
MISSING = (
    "More samples{ways}, a detector (`--tool detector=SPEC`) or pairs of your own (`--feature KEY "
    "--pairs FOLDER`) may decide."
)
ALONE = "To test one finding by itself: `cuescope confirm RUN --feature KEY`."
NONE = (
    "More samples can find weaker cues. The reports in the folder `found` say what each method "
    "could have missed."
)


def scores(results: Results, plan: SamplePlan | None) -> Iterator[Score]:
    """A row a cue and metric, the worst first; tables are attached."""
    audit = results.study.audit
    options = results.study.options
    is_of_pairs = options.pairs is not None
    rule = RULE.format(margin=f"{100 * options.margin:g}", error=1 - options.confidence)
    audit.note("rule", RULE_OF_PAIRS if is_of_pairs else rule)
    step = missing_step(results.study)
    if results.count("cause"):
        # a cause asks for a remedy, and nothing else does
        step = NEXT.format(step=_remedy_step(results))
    elif not results.rows:
        step = NONE
        # findings were left out as no cues: by name they can be tested all the same
        if NO_CUE in audit.notes:
            step = ALONE
    audit.note("next step", step)
    if results.rows:
        audit.note("result", result(results))
    if plan is not None:
        told = power(results)
        audit.note(POWER_NOTE, f"{told}; {plan.sentence}" if told else plan.sentence)
    if results.rows:
        audit.attach_each(tables(results))
    for row in results.rows:
        name = results.name_of(row)
        words = f"{{feature}}: {row.verdict}."
        with audit.spare(f"sentence on {name}"):
            words = statement(row, results.study.options)
        with audit.spare(f"scores of {name}"):
            yield from scores_of(row, words, options.margin)
    if not results.rows:
        # that nothing was found is a result too, and a report needs a score to say it
        words = (
            audit.notes.get(NO_CUE)
            or "No method has a finding, so there is no cue to test."
        )
        # why a method has found nothing may be its own doubt, and stands in its report
        doubts: dict[str, None] = {}
        for run in results.study.reports.values():
            doubts |= dict.fromkeys(run.doubts)
        words = " ".join([words, *doubts])
        yield Score(
            feature=NOTHING,
            label=None,
            metric="effect",
            value=None,
            statement=words,
        )


def result(results: Results) -> str:
    """How many cues were tested, and what came of them; the causes, or the only one, by name."""
    parts = []
    for verdict in VERDICTS:
        names = [results.name_of(r) for r in results.rows if r.verdict == verdict]
        if names:
            is_named = verdict == "cause" or len(results.rows) == 1
            listed = f" ({', '.join(names)})" if is_named else ""
            parts.append(f"{len(names)} {verdict.upper()}{listed}")
    return f"{count_of(len(results.rows), 'cues')} tested: {', '.join(parts)}"


def findings(results: Results) -> Iterator[Finding]:
    """Each cue with its verdict: the effect by all interventions, then what each did."""
    confidence = results.study.options.confidence
    for row in results.rows:
        cue = row.target.cue
        effect = None if row.posterior is None else row.posterior.effect
        rows = [shares_row("all interventions", None, None, effect, label=cue.label)]
        for arm in by_dose(row):
            as_is, changed, _ = arm.accuracy.tolist()
            made = shares_row(
                arm.spec,
                as_is,
                changed,
                estimate_of(arm, confidence),
                n=int(arm.answers.with_cue.sum()),
            )
            # a feature of its own: the cue's score is of all of them
            about = f"{cue.feature.key}: {arm.spec}"
            rows.append(made.model_copy(update={"feature": about}))
        yield Finding(
            feature=cue.feature.key,
            claim=CLAIMS[row.verdict],
            columns=("as is", "changed"),
            rows=tuple(rows),
            status=row.verdict,
        )


def by_dose(row: Row) -> list[Arm]:
    """The interventions, that which changes most of the cue first."""
    return sorted(row.measured, key=lambda arm: (-row.measured[arm].share, arm.spec))


def missing_step(study: Study) -> str:
    """What may help where no cue is shown to be a cause."""
    # by folds all samples are tested already
    return MISSING.format(ways="" if study.folds else f" ({MORE_TESTED})")


def _remedy_step(results: Results) -> str:
    """How a remedy is tried for the first cause: by the run that found it."""
    study = results.study
    options = study.options
    first = next(row for row in results.rows if row.verdict == "cause")
    found = _folder_of(first.target.cue, study)
    tested = replace(options.tested, run=found)
    fitting = _fitting_mitigators(study.audit)
    if not fitting:
        return tested.next_step
    mitigator = REMEDY if REMEDY in fitting else fitting[0]
    return replace(tested, mitigator=mitigator).next_step


def _fitting_mitigators(audit: Audit) -> list[str]:
    """Names of the installed remedies whose needs the model meets."""
    context = audit.context
    has = audit.capabilities
    fitting = []
    for entry in context.registry.of_kind("mitigator"):
        # one that is broken is no remedy
        with suppress(Exception):
            needs = context.resolve("mitigator", entry.name).plugin.requires
            if (
                needs.outputs <= has.outputs
                and needs.edits <= has.edits
                and needs.exposes <= has.exposes
            ):
                fitting.append(entry.name)
    return fitting


def _folder_of(cue: Cue, study: Study) -> Path:
    """The run that found a cue; of a cue of several runs, the first one."""
    options = study.options
    if cue.folds:
        (number, cue), *_ = cue.folds
        run = (options.run, *options.others)[number]
        options = options.model_copy(update={"run": run, "others": ()})
        study = study.folds[number]
    folders, _ = folders_of(options)
    runs = cue.runs | {cue.run}
    for name, folder in zip(study.reports, folders, strict=False):
        if name in runs:
            return folder
    return options.run


def scores_of(row: Row, words: str, margin: float) -> Iterator[Score]:
    """The figures of one cue."""
    cue = row.target.cue
    score = partial(Score, feature=cue.feature.key, label=cue.label)
    headline = partial(
        score,
        metric="effect",
        finding=row.verdict == "cause",
        always_reported=True,
        statement=words,
    )
    # a cue without a figure keeps its line, which says what is missing
    if row.posterior is None:
        yield headline(value=None)
    else:
        yield headline(**vars(row.posterior.effect), n=row.samples, q_value=row.error)
        yield score(metric="probability", value=row.posterior.above(margin))
    if row.lost is not None:
        yield score(metric="accuracy_lost", **vars(row.lost))
    located = row.target.located
    if located is not None and located.auroc is not None:
        yield score(metric="localisation", value=located.auroc, n=len(located.places))


# ---------------------------------------------------------------------------------------- tables


def tables(results: Results) -> dict[str, Callable[[], Table | None]]:
    """The cues, their interventions, their places, and what was not asked about."""
    # each by itself: a table that fails costs itself
    tables = {
        "table of cues": cues_table,
        "table of interventions": interventions_table,
        "table of what effects rest on": grounds_table,
        "table of places": places_table,
        "table of what was not asked about": left_out_table,
    }
    return {part: partial(table, results) for part, table in tables.items()}


def _name(row: Row) -> tuple[str, str]:
    return row.target.cue.name, row.target.cue.about or "any"


def cues_table(results: Results) -> Table:
    """A cue a line."""
    margin = results.study.options.margin
    rows: list[Sequence[Cell]] = []
    for row in results.rows:
        effect: tuple[Cell, Cell] = None, None
        if row.posterior is not None:
            above = round(row.posterior.above(margin), 3)
            effect = with_interval(row.posterior.effect), above
        lost = None if row.lost is None else 100 * row.lost.value
        rows.append((*_name(row), row.verdict, *effect, lost))
    return Table.of(
        "Cues by harm (effects in points)",
        ("cue", "label", "verdict", "effect", "probability", "accuracy lost"),
        rows,
        "Effect: of all of the cue on the probability of the answer, with its 95% interval. "
        f"Probability: that it is more than {points(margin)} points.",
    )


def grounds_table(results: Results) -> Table | None:
    """What each effect rests on: how unlike interventions are, and unchanged samples."""
    rows = []
    for row in results.rows:
        if row.posterior is not None:
            unlike = round(row.posterior.heterogeneity, 2)
            beside = points(row.posterior.spread)
            rows.append((results.name_of(row), unlike, beside, *_as_they_are(row)))
    if not rows:
        return None
    return Table.of(
        "What the effects rest on",
        ("cue", "I²", "beside the cue", "as they are", "robustness"),
        rows,
        "I²: share of the variance of what interventions did that dose and chance do not explain. "
        "Beside the cue: how far an intervention moves answers by what else it changes, in points.",
        "As they are: unchanged samples with the cue beside others that are alike in all else "
        "(prognostic score; Hansen, 2008). Robustness: the share of the variance, of the cue and "
        "of the answers, that something unseen has to explain to make this figure 0 (Cinelli and "
        "Hazlett, 2020).",
    )


def _as_they_are(row: Row) -> tuple[Cell, Cell]:
    if row.beside is None:
        return None, None
    return with_interval(row.beside.alike), round(row.beside.robustness, 2)


def places_table(results: Results) -> Table:
    """Where each cue is, and how sure that is."""
    rows: list[Sequence[Cell]] = []
    for row in results.rows:
        located = row.target.located
        if located is None:
            rows.append((*_name(row), 0, row.target.reason, None, None))
            continue
        auroc = None if located.auroc is None else round(located.auroc, 2)
        area = None if located.area is None else f"{located.area:.0%}"
        rows.append((*_name(row), len(located.places), located.by, auroc, area))
    return Table.of(
        "Where each cue is",
        ("cue", "label", "samples with it", "located by", "AUROC", "area"),
        rows,
        "Samples with it: held-out samples of any label in which the localiser sees the cue. Only "
        "those with a label of the finding are changed. The localiser is a model that tells which "
        "samples show the cue, and where; it learns this from the run. AUROC: how well it does so "
        "in samples of the run that it did not learn from (0.5 is chance). Annotated places have "
        "no AUROC. Area: share of the pixels.",
    )


def interventions_table(results: Results) -> Table:
    """What each intervention did: the dose, the accuracy, and the change beyond its control."""
    confidence = results.study.options.confidence
    rows = []
    for row in results.rows:
        for arm in by_dose(row):
            shares = (100 * arm.accuracy).tolist()
            dose = row.measured[arm]
            shown = None if dose == UNKNOWN else round(100 * dose.share)
            count = int(arm.answers.with_cue.sum())
            moved = with_interval(estimate_of(arm, confidence))
            elsewhere = _without_the_cue(arm)
            own = (results.name_of(row), arm.spec, count, shown, *shares)
            rows.append((*own, moved, elsewhere))
    return Table.of(
        "Interventions (accuracy in %, effects in points)",
        (
            "cue",
            "intervention",
            "samples",
            "dose",
            "as it is",
            "changed",
            "control",
            "beyond control",
            "without the cue",
        ),
        rows,
        "Samples: those with the cue where it is taken out, those without it where it is put in. "
        "Dose: the share of the cue, in %, that goes or comes beyond the control, by a model of "
        "whole pictures that knows no places; - where pictures do not tell. Beyond control: the "
        "change of the answer's probability less that by the control. Without the cue: the same in "
        "samples that do not show it, where a cause does nothing.",
    )


def _without_the_cue(arm: Arm) -> str | None:
    without = ~arm.answers.with_cue
    moved = arm.beyond(CONTROL)[without]
    return points(float(moved.mean())) if len(moved) else None


def left_out_table(results: Results) -> Table | None:
    """Each intervention that was not asked about, and why."""
    reasons = _reasons(results)
    if not reasons:
        return None
    return Table.of(
        "Interventions that were not asked about",
        ("intervention", "cue", "why"),
        reasons,
    )


def _reasons(results: Results) -> list[tuple[str, str, str]]:
    """What does not apply, and why; what is so for all cues stands once."""
    cues: dict[tuple[str, str], list[str]] = {}
    for row in results.rows:
        for arm in row.unmeasured:
            count = arm.answers.with_cue.sum()
            reason = arm.reason or f"only {count_of(count, 'samples')} could be changed"
            # one line a reason: a kind of change rarely fits one cue alone
            of_reason = cues.setdefault((arm.spec, reason), [])
            of_reason.append(results.name_of(row))
    reasons = []
    for (name, reason), names in cues.items():
        is_everywhere = len(names) == len(results.rows)
        about = "all" if is_everywhere else ", ".join(dict.fromkeys(names))
        reasons.append((name, about, reason))
    return reasons
