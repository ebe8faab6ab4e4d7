"""Rows, sentences and tables of the dossier."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import get_args

from cuescope_confirm.analysis import Results
from cuescope_confirm.locating.placebos import name_of_placebo
from cuescope_confirm.merging.modalities import NO_CUE
from cuescope_confirm.sample_plan import POWER_NOTE, SamplePlan
from cuescope_confirm.scores import Control, Decision, Verdict
from cuescope_confirm.study import Cue, Study, folders_of
from cuescope_confirm.testimony.effects import change_beyond
from cuescope_confirm.testimony.witnesses import AS_IS, Witness
from cuescope_confirm.trials import NOTHING
from cuescope_confirm.verdicts.row import Row
from cuescope_confirm.verdicts.sentences import points, statement, with_interval
from cuescope_confirm.verdicts.undecided import MORE_TESTED
from cuescope_sdk import Audit, Cell, Finding, Score, Status, Table
from cuescope_sdk.report import count_of, shares_row
from cuescope_sdk.statistics import Estimate

CONTROLS = get_args(Control)
VERDICTS = get_args(Verdict)
MARKS: Mapping[Decision, str] = {
    "confirms": "*",
    "placebo does as much": "0",
    "undecided": "?",
}
RULE = """\
Causes: two kinds of change or more move the answers more than their placebos do. One is enough \
where the cue needs no locating.
Three kinds are told apart: what destroys a place, what another sample gives, what puts the cue in.
A change counts in full if pictures show that it takes half of the cue or more.
Where no change of pictures does, what the model's embedding says of the cue is erased and put in.
Where no single kinds decide, all evidence does: changes together surely move answers; a second \
kind, or unchanged samples with all else in their pictures held alike, say so too; and the effect \
of all of them is large enough.
The effect is also larger than in three controls, as far as the data have them: samples without \
the cue, another cue that is no finding, and labels that the cue does not affect.
All tests are corrected together (Holm).
Accompanies: the placebo does as much.
Cannot tell: neither is shown."""
RULE_OF_PAIRS = (
    "the user's own pairs decide alone, as they differ in the cue and in nothing else. Causes: "
    "answers surely change by the margin. Accompanies: they surely change by less"
)
CLAIMS: Mapping[Verdict, tuple[str, Status]] = {
    "causes": ("{feature} causes the answer", "cause"),
    "accompanies": ("{feature} does not cause the answer", "not a cause"),
    "cannot tell": ("{feature}: whether it causes the answer is open", "inconclusive"),
}
NEXT = (
    "Try a remedy for a cause, and measure whether it helps: {step}. Other remedies for `--with`: "
    "`cuescope plugins list --kind mitigator`."
)
REMEDY = "last-layer"  # the first to try: it looks at the cues, and is quick
MISSING = (
    "No cue is shown to be a cause. For each cue the report says what is missing for a decision. "
    "More samples{ways} or a tool (`--tool detector=SPEC`) may help. So do pairs of your own, of "
    "the same scenes with the cue and without it: `--feature KEY --pairs FOLDER`."
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
    audit.note("rule", RULE_OF_PAIRS if is_of_pairs else RULE)
    step = missing_step(results.study)
    if results.count("causes"):
        # a cause asks for a remedy, and nothing else does
        step = NEXT.format(step=_remedy_step(results))
    elif not results.rows:
        step = NONE
        # findings were left out as no cues: by name they can be tested all the same
        if NO_CUE in audit.notes:
            step = ALONE
    # of other options the command would lose some
    if results.rows and audit.options.model_fields_set == {"run"}:
        other_seed = options.tested.other_seed_step
        if other_seed is not None:
            step += f" See that another seed says the same: {other_seed}."
    audit.note("next step", step)
    if results.rows:
        audit.note("result", result(results))
    if plan is not None:
        audit.note(POWER_NOTE, plan.sentence_when_decided(results))
    if results.rows:
        audit.attach_each(tables(results))
    for row in results.rows:
        name = results.name_of(row)
        words = f"{{feature}}: {row.ruling.verdict}."
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
    """How many cues were tested, and what came of them."""
    counts = [(results.count(verdict), CLAIMS[verdict][1]) for verdict in VERDICTS]
    words = ", ".join(f"{count} {status.upper()}" for count, status in counts if count)
    return f"{count_of(len(results.rows), 'cues')} tested: {words}"


def findings(results: Results) -> Iterator[Finding]:
    """Each cue with its verdict: the effect of all interventions, then that of each."""
    for row in results.rows:
        cue = row.target.cue
        claim, status = CLAIMS[row.ruling.verdict]
        rows = [
            shares_row("all interventions", None, None, row.stated, label=cue.label)
        ]
        for testimony in sorted(row.measured, key=lambda some: some.effect.corrected):
            as_is, changed, _ = testimony.accuracy.tolist()
            effect = testimony.effect
            made = shares_row(
                testimony.spec,
                as_is,
                changed,
                Estimate(effect.value, effect.low, effect.high),
                n=effect.n,
                q_value=effect.corrected,
            )
            # a feature of its own: the cue's score is of all of them
            about = f"{cue.feature.key}: {testimony.spec}"
            rows.append(made.model_copy(update={"feature": about}))
        yield Finding(
            feature=cue.feature.key,
            claim=claim,
            columns=("as is", "changed"),
            rows=tuple(rows),
            status=status,
        )


def missing_step(study: Study) -> str:
    """What may help where no cue is shown to be a cause."""
    # by folds all samples are tested already
    return MISSING.format(ways="" if study.folds else f" ({MORE_TESTED})")


def _remedy_step(results: Results) -> str:
    """How a remedy is tried for the first cause: by the run that found it."""
    study = results.study
    options = study.options
    first = next(row for row in results.rows if row.ruling.verdict == "causes")
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
    """The figures of one cue; an effect below the margin is none."""
    cue = row.target.cue
    score = partial(Score, feature=cue.feature.key, label=cue.label)
    headline = partial(
        score,
        metric="effect",
        finding=row.ruling.verdict == "causes",
        always_reported=True,
        statement=words,
    )
    # a cue without a figure keeps its line, which says what is missing
    if row.decisive is None or row.stated is None:
        yield headline(value=None)
    else:
        # the p-value is of the clearest change, the size of all of them
        decisive = row.decisive.effect
        yield headline(
            **vars(row.stated),
            n=decisive.n,
            p_value=decisive.p_value,
            q_value=decisive.corrected,
        )
    if row.posterior is not None:
        yield score(metric="probability", value=row.posterior.above(margin))
    if row.lost is not None:
        yield score(metric="accuracy_lost", **vars(row.lost))
    located = row.target.located
    if located is not None and located.auroc is not None:
        yield score(metric="localisation", value=located.auroc, n=len(located.places))


# ---------------------------------------------------------------------------------------- tables


def tables(results: Results) -> dict[str, Callable[[], Table | None]]:
    """The dossier, the matrix of cues and witnesses, what each did, and what does not apply."""
    # each by itself: a table that fails costs itself
    tables = {
        "table of cues": dossier_table,
        "table of cues and witnesses": matrix,
        "table of places": places_table,
        "table of witnesses": figures_table,
        "table of controls": controls_table,
        "table of placebos": placebo_table,
        "table of companions": companions_table,
        "table of samples as they are": as_they_are_table,
        "table of the dose-response model": dose_response_table,
        "table of what does not apply": inapplicable_table,
    }
    return {part: partial(table, results) for part, table in tables.items()}


def _name(row: Row) -> tuple[str, str]:
    return row.target.cue.name, row.target.cue.about or "any"


def dossier_table(results: Results) -> Table:
    """A cue a line."""
    rows = []
    for row in results.rows:
        ruling = row.ruling
        necessary = "yes" if ruling.necessary else "-"
        sufficient = "yes" if ruling.sufficient else "-"
        lost = None if row.lost is None else 100 * row.lost.value
        rows.append((*_name(row), ruling.verdict, necessary, sufficient, lost))
    return Table.of(
        "Cues by harm (accuracy lost in points, over all samples)",
        ("cue", "label", "verdict", "necessary", "sufficient", "accuracy lost"),
        rows,
        "Necessary: taking the cue out changes the answers. Sufficient: putting the cue into "
        "samples without it changes them.",
    )


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


def matrix(results: Results) -> Table:
    """Cues against witnesses: the effect beyond the placebo, marked where it confirms."""
    # all witnesses of all rows, so that rows have the same columns
    names = {}
    for row in results.rows:
        for testimony in row.measured:
            names[testimony.spec] = "-"
    rows = []
    for row in results.rows:
        cells = dict(names)
        for testimony in row.measured:
            mark = MARKS[testimony.decision]
            cells[testimony.spec] = f"{with_interval(testimony.effect)} ({mark})"
        rows.append((*_name(row), *cells.values()))
    return Table.of(
        "Cues and witnesses: points of probability beyond the placebo",
        ("cue", "label", *names),
        rows,
        "A witness is one way to take the cue out or to put it in, held against a placebo: a like "
        "change that neither removes nor brings the cue. A cause has positive figures. Its kind of "
        "change (*) confirms a cause, (0) does as much "
        f"with the placebo or less than {points(results.study.options.margin)} more, (?) is "
        "undecided; - does not apply or has too few samples.",
        f"Intervals hold for all {results.tests} tests together ({results.confidence:.2%} each).",
    )


def figures_table(results: Results) -> Table:
    """What each witness measured: accuracy as it is, changed, and with the placebo."""
    rows = []
    for row in results.rows:
        for testimony in row.measured:
            effect = testimony.effect
            # three columns: as it is, changed, placebo
            shares = (100 * testimony.accuracy).tolist()
            name = results.name_of(row)
            taken = None if testimony.taken is None else 100 * testimony.taken
            own = (name, testimony.spec, effect.n, *shares, with_interval(effect))
            rows.append((*own, taken))
    return Table.of(
        "Each witness beside its placebo (accuracy in %, effects in points)",
        (
            "cue",
            "intervention",
            "samples",
            "as it is",
            "changed",
            "placebo",
            "beyond placebo",
            "cue taken out",
        ),
        rows,
        "Samples: those that this intervention changed: with the cue where it takes it out, "
        "without it where it puts it in. Beyond placebo: the change of the answer's probability, "
        "minus that with the placebo, in points (10 points: 0.1 more probable).",
        "Cue taken out (or put in), in %: how far the change brings pictures to those without the "
        "cue, beyond the placebo, by a model of whole pictures that knows no places. Below 50 it "
        "changes a part of the cue, and decides nothing alone. - where pictures do not tell.",
    )


def controls_table(results: Results) -> Table:
    """Each witness where a cause would do nothing."""
    rows = []
    for row in results.rows:
        for testimony in row.measured:
            effect = testimony.effect
            # what it does with the cue stands beside what it does where a cause would do nothing
            cells: list[str | None] = [points(effect.value)]
            for control in CONTROLS:
                value = effect.controls.get(control)
                cells.append(None if value is None else points(value))
            p_value = f"{effect.corrected:.2g}"
            rows.append((results.name_of(row), testimony.spec, *cells, p_value))
    return Table.of(
        "Each witness where a cause would have no effect (points beyond the placebo)",
        ("cue", "intervention", "with the cue", *CONTROLS, "corrected p"),
        rows,
        "Without the cue: the same change and placebo in samples that do not show it. Unfound "
        "cue: the same for another cue, which is no finding. Other labels: the same on labels "
        "that this cue does not affect. A cause has a larger effect with the cue than in all "
        "three.",
    )


def placebo_table(results: Results) -> Table:
    """The cue that nobody found and the labels that are left alone, a finding a line."""
    rows = []
    for row in results.rows:
        placebos = row.target.placebos
        unfound = name_of_placebo(placebos, "unfound cue")
        rows.append((*_name(row), unfound, name_of_placebo(placebos, "other labels")))
    return Table.of(
        "What each finding is compared with, beside its placebos",
        ("cue", "label", "unfound cue", "other labels"),
        rows,
        "Unfound cue: a cue of the same kind and about as frequent, which is no finding. In the "
        "run, answers do not depend on it. Other labels: labels whose answers in the run do not "
        "depend on the cue.",
    )


def companions_table(results: Results) -> Table | None:
    """What goes with each cue, and what moves answers where the two come apart."""
    if not any(row.discordant for row in results.rows):
        return None
    rows = []
    for row in results.rows:
        for comparison in row.discordant:
            companion = comparison.companion
            # shares of samples: how closely the two go together
            shares = f"{companion.with_cue:.0%}", f"{companion.without:.0%}"
            effects = [
                None if effect is None else with_interval(effect)
                for effect in (comparison.of_cue, comparison.of_companion)
            ]
            own = (*_name(row), companion.name, *shares, comparison.alone)
            rows.append((*own, *effects))
    return Table.of(
        "What goes with each cue, and what moves answers where they come apart",
        (
            "cue",
            "label",
            "companion",
            "with the cue",
            "without",
            "samples apart",
            "the cue",
            "the companion",
        ),
        rows,
        "Of the run, in points of probability, positive as a cause would be. The cue: samples with "
        "it beside others, alike in label, in difficulty and in the companion (overlap weights; Li "
        "et al., 2018). The companion: the same, alike in the cue. Samples apart: those that show "
        "one of the two alone, the rarer ones.",
    )


def as_they_are_table(results: Results) -> Table | None:
    """What each cue does where nothing is changed, and with all else in pictures held alike."""
    rows = []
    for row in results.rows:
        if row.beside is not None:
            figures = map(with_interval, (row.beside.plain, row.beside.alike))
            rows.append((*_name(row), *figures))
    if not rows:
        return None
    return Table.of(
        "Samples as they are: with the cue beside without it",
        ("cue", "label", "gap", "all else held alike"),
        rows,
        "In points of probability, positive as a cause would be. Gap: samples with the cue beside "
        "others of the same label. All else held alike: beyond what pictures without the cue tell "
        "of the answers (prognostic score; Hansen, 2008). A gap that is gone there is the work of "
        "something else in the pictures.",
    )


def dose_response_table(results: Results) -> Table | None:
    """What one model of all interventions and controls says of each cue."""
    margin = results.study.options.margin
    rows = []
    for row in results.rows:
        found = row.posterior
        if found is not None:
            figures = (
                round(found.above(margin), 3),
                with_interval(found.effect),
                round(found.heterogeneity, 2),
                points(found.spread),
            )
            rows.append((*_name(row), *figures))
    if not rows:
        return None
    return Table.of(
        "One effect behind all interventions (dose-response model)",
        ("cue", "label", "probability", "effect", "heterogeneity", "beside the cue"),
        rows,
        f"Probability: that the effect is more than {points(margin)} points. Effect: of the whole "
        "cue, in points of probability, with its 95% interval. The model has a row for each "
        "intervention, control and group of unchanged samples, and knows how much of the cue each "
        "changes (dose). Heterogeneity: share of the variance of the rows that neither dose nor "
        "chance explains (I squared). Beside the cue: how far an intervention moves answers by "
        "what else it changes. The verdict does not depend on this table.",
    )


def inapplicable_table(results: Results) -> Table | None:
    """Each intervention that does not apply, and why."""
    reasons = _reasons(results)
    if not reasons:
        return None
    return Table.of(
        "Interventions that do not apply", ("intervention", "cue", "why"), reasons
    )


def _reasons(results: Results) -> list[tuple[str, str, str]]:
    """What does not apply, and why; what is so for all cues stands once."""
    cues: dict[tuple[str, str], list[str]] = {}
    for row in results.rows:
        for witness in row.unmeasured:
            reason = witness.reason or _why_unmeasured(witness)
            # one line a reason: a kind of change rarely fits one cue alone
            of_reason = cues.setdefault((witness.spec, reason), [])
            of_reason.append(results.name_of(row))
    reasons = []
    for (name, reason), names in cues.items():
        is_everywhere = len(names) == len(results.rows)
        about = "all" if is_everywhere else ", ".join(dict.fromkeys(names))
        reasons.append((name, about, reason))
    return reasons


def _why_unmeasured(witness: Witness) -> str:
    if witness.plugin.placebo == "none":
        moved = change_beyond(witness, AS_IS).mean()
        return f"it has no placebo, so it cannot decide alone ({points(moved)} points)"
    count = witness.answers.with_cue.sum()
    return f"only {count_of(count, 'samples')} could be changed"
