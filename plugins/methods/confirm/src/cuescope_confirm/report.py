"""Rows, sentences and tables of the dossier."""

from collections.abc import Iterator, Sequence

from cuescope_confirm.locating.placebos import said
from cuescope_confirm.measuring import COARSE, Measured, Results, Row, differences
from cuescope_confirm.merging.modalities import NO_CUE
from cuescope_confirm.options import ConfirmOptions
from cuescope_confirm.scores import Control, Effect
from cuescope_confirm.trials import NOTHING, Answers
from cuescope_sdk import Audit, Cell, Score, Table

CONTROLS: tuple[Control, ...] = ("without the cue", "unfound cue", "other labels")
RULE = (
    "causes: most of the interventions that decide move the answers more than their placebo. "
    "They also move them more than they do without the cue, at a cue that nobody found, and on "
    "labels where the cue makes no difference. Holm's correction is over findings and "
    "interventions. Accompanies: the placebo does as much. Cannot tell: neither"
)
NEXT = (
    "Learn how the model can do without a cause, and measure whether that helps: "
    "`cuescope mitigate RUN --with NAME`, with the run that found it."
)

MISSING = (
    "No cue is shown to be a cause. Beside each cue stands what is missing for a decision. More "
    "samples (`--on SPLIT`) or a tool (`--tool detector=SPEC`) may help."
)
ALONE = "One finding is tested by itself with `cuescope confirm RUN --feature KEY`."
NONE = (
    "More samples find weaker cues. What each method could have missed stands in its own report, "
    "in the folder `found`."
)


def points(value: float) -> str:
    """A share in points, with its sign."""
    return f"{100 * value:+.0f}"


def bounded(effect: Effect) -> str:
    """An effect with its interval, in points."""
    return f"{points(effect.value)} ({points(effect.low)} to {points(effect.high)})"


def scores(audit: Audit, options: ConfirmOptions, results: Results) -> Iterator[Score]:
    """A row a cue and metric, causes first, the most harmful first; tables are attached."""
    audit.note("rule", RULE)
    counts = {
        verdict: sum(row.ruling.verdict == verdict for row in results.rows)
        for verdict in ("causes", "accompanies", "cannot tell")
    }
    without_rows = ALONE if NO_CUE in audit.notes else NONE
    step = NEXT if counts["causes"] else MISSING if results.rows else without_rows
    audit.note("next step", step)
    audit.note("result", ", ".join(f"{name}: {count}" for name, count in counts.items()))
    for table in tables(results, options) if results.rows else ():
        audit.attach(table)
    for row in results.rows:
        yield from scores_of(row)
    if not results.rows:
        words = audit.notes.get(NO_CUE) or "No method has a finding, so there is no cue to test."
        yield Score(feature=NOTHING, label=None, metric="effect", value=None, statement=words)


def scores_of(row: Row) -> Iterator[Score]:
    """The figures of one cue."""
    cue, decisive = row.target.cue, row.decisive
    effect = decisive.effect if decisive else None
    about = {"feature": cue.feature.key, "label": cue.label}
    yield Score(
        **about,
        metric="effect",
        value=effect.value if effect else None,
        low=effect.low if effect else None,
        high=effect.high if effect else None,
        n=effect.n if effect else None,
        p_value=effect.p_value if effect else None,
        q_value=effect.corrected if effect else None,
        finding=row.ruling.verdict == "causes",
        always_reported=True,
        statement=statement(row),
    )
    if effect is not None:
        yield Score(**about, metric="excess", value=effect.least, n=effect.n)
    if row.lost is not None:
        value, low, high = row.lost
        yield Score(**about, metric="accuracy_lost", value=value, low=low, high=high)
    located = row.target.located
    if located is not None and located.quality.auroc is not None:
        yield Score(
            **about, metric="localisation", value=located.quality.auroc, n=located.quality.n
        )


def statement(row: Row) -> str:
    """The verdict in words, with what it rests on."""
    cue, ruling, direction = row.target.cue, row.ruling, row.target.direction
    labels = ", ".join(f"'{label}'" for label in cue.labels or (cue.label,) if label)
    where = "{feature}" + (f" on {labels}" if labels else "")
    if ruling.verdict == "cannot tell":
        tried = _list(row, ("confirms", "undecided", "placebo does as much"))
        found = f" Beyond their placebos: {tried}." if tried else ""
        return (
            f"{where}: cannot tell whether it is a cause. What is missing: {ruling.missing}.{found}"
        )
    if ruling.verdict == "accompanies":
        tried = _list(row, ("placebo does as much", "undecided"))
        return f"{where} accompanies the answers and is not shown to cause them: {tried}."
    what = "wrong answers" if direction.harms else "right answers"
    verbs = ("mends them", "brings them") if direction.harms else ("takes them away", "brings them")
    if direction.toward == "the label":
        what, verbs = f"the answer '{cue.label}'", ("takes it away", "brings it")
    if direction.toward == "its own answer":
        what, verbs = "answers, right and wrong", ("changes them", "brings them")
    ways = []
    if ruling.necessary:
        ways.append(f"taking it out {verbs[0]} ({_clearest(row, removes=True)})")
    if ruling.sufficient:
        ways.append(f"putting it in {verbs[1]} ({_clearest(row, removes=False)})")
    cost = ""
    if row.lost is not None:
        lost = row.lost if direction.harms else tuple(-each for each in row.lost)
        low, high = (f"{100 * each:.1f}" for each in sorted(lost[1:]))
        verb = "costs" if direction.harms else "gives"
        cost = (
            f" It {verb} {100 * lost[0]:.1f} points of accuracy over all samples ({low} to {high})."
        )
    rests = " and ".join(ways)
    return f"{where} causes {what}: {rests}, in points of probability beyond its placebo.{cost}"


def _clearest(row: Row, *, removes: bool) -> str:
    """The figure of the clearest intervention that confirms, and the names of the others."""
    yes = [
        (each.effect.low, each)
        for each in row.witnesses
        if each.effect is not None
        and each.decision == "confirms"
        and each.removes == removes
        and each.witness.named.kind.needs not in COARSE
    ]
    first, *more = (each for _, each in sorted(yes, key=lambda pair: -pair[0]))
    assert first.effect is not None
    others = f"; also {', '.join(each.name for each in more)}" if more else ""
    return f"{first.name} {bounded(first.effect)}{others}"


def _list(row: Row, decisions: Sequence[str]) -> str:
    named = [
        f"{each.name} {bounded(each.effect)}"
        for each in row.witnesses
        if each.effect is not None and each.decision in decisions
    ]
    return ", ".join(named)


# ---------------------------------------------------------------------------------------- tables


def tables(results: Results, options: ConfirmOptions) -> Iterator[Table]:
    """The dossier, the matrix of cues and witnesses, what each did, and what does not apply."""
    yield dossier_table(results)
    yield matrix(results)
    yield places_table(results)
    yield figures_table(results)
    yield controls_table(results)
    yield placebo_table(results)
    if rows := reasons(results):
        yield Table(
            title="Interventions that do not apply",
            columns=("intervention", "cue", "why"),
            rows=rows,
        )


def dossier_table(results: Results) -> Table:
    """A cue a line."""
    columns = ("cue", "label", "verdict", "necessary", "sufficient", "accuracy lost")
    rows = []
    for row in results.rows:
        ruling = row.ruling
        values: tuple[Cell, ...] = (
            row.target.cue.name,
            row.target.cue.about or "any",
            ruling.verdict,
            "yes" if ruling.necessary else "-",
            "yes" if ruling.sufficient else "-",
            None if row.lost is None else 100 * row.lost[0],
        )
        rows.append(dict(zip(columns, values, strict=True)))
    return Table(
        title="Cues by harm (accuracy lost in points, over all samples)",
        columns=columns,
        rows=tuple(rows),
        notes=(
            "Necessary: taking the cue out moves the answers. Sufficient: putting the cue into "
            "samples without it moves them.",
        ),
    )


def places_table(results: Results) -> Table:
    """Where each cue is, and how sure that is."""
    columns = ("cue", "label", "samples with it", "located by", "AUROC", "area")
    rows = []
    for row in results.rows:
        located = row.target.located
        quality = located.quality if located else None
        values: tuple[Cell, ...] = (
            row.target.cue.name,
            row.target.cue.about or "any",
            quality.n if quality else 0,
            quality.by if quality else row.target.reason,
            None if quality is None or quality.auroc is None else round(quality.auroc, 2),
            None if quality is None or quality.area is None else f"{quality.area:.0%}",
        )
        rows.append(dict(zip(columns, values, strict=True)))
    return Table(
        title="Where each cue is",
        columns=columns,
        rows=tuple(rows),
        notes=(
            "AUROC: how well the localiser tells samples with the cue from others, in samples of "
            "the run that it has not learned from; annotated places have none. Area: share of "
            "the pixels.",
        ),
    )


def matrix(results: Results) -> Table:
    """Cues against witnesses: the effect beyond the placebo, marked where it confirms."""
    names = list(dict.fromkeys(e.name for row in results.rows for e in row.witnesses if e.effect))
    columns = ("cue", "label", *names)
    rows = []
    for row in results.rows:
        by_name = {each.name: each for each in row.witnesses}
        cells: list[Cell] = [row.target.cue.name, row.target.cue.about or "any"]
        cells += [_cell(by_name[name]) for name in names]
        rows.append(dict(zip(columns, cells, strict=True)))
    return Table(
        title="Cues and witnesses: points of probability beyond the placebo",
        columns=columns,
        rows=tuple(rows),
        notes=(
            "A cause has positive figures. (*) confirms a cause, (0) the placebo does as much, "
            "(?) undecided, - does not apply or has too few samples.",
            f"Intervals hold for all {results.tests} tests together "
            f"({results.confidence:.2%} each).",
        ),
    )


def _cell(measured: Measured) -> str:
    marks = {"confirms": "*", "placebo does as much": "0", "undecided": "?"}
    if measured.effect is None or measured.decision is None:
        return "-"
    return f"{bounded(measured.effect)} ({marks[measured.decision]})"


def figures_table(results: Results) -> Table:
    """What each witness measured: accuracy as it is, changed, and with the placebo."""
    columns = ("cue", "intervention", "samples", "as it is", "changed", "placebo", "beyond placebo")
    rows = []
    for row, each, answers, effect in _measured(results):
        right = answers.right[~answers.control].mean(axis=0)
        values: tuple[Cell, ...] = (
            results.name_of(row),
            each.name,
            effect.n,
            *(100 * float(share) for share in right),
            bounded(effect),
        )
        rows.append(dict(zip(columns, values, strict=True)))
    return Table(
        title="Each witness beside its placebo (accuracy in %, effects in points)",
        columns=columns,
        rows=tuple(rows),
        notes=("Beyond placebo: in points of the probability of the answer that the cue moves.",),
    )


def controls_table(results: Results) -> Table:
    """Each witness where a cause would do nothing."""
    columns = ("cue", "intervention", "with the cue", *CONTROLS, "corrected p")
    rows = []
    for row, each, _, effect in _measured(results):
        values: tuple[Cell, ...] = (
            results.name_of(row),
            each.name,
            points(effect.value),
            *(points(effect.controls[c]) if c in effect.controls else None for c in CONTROLS),
            f"{effect.corrected:.2g}",
        )
        rows.append(dict(zip(columns, values, strict=True)))
    return Table(
        title="Each witness where a cause would have no effect (points beyond the placebo)",
        columns=columns,
        rows=tuple(rows),
        notes=(
            "Without the cue: the same change and placebo in samples that do not show it. Unfound "
            "cue: the same at a cue that nobody found. Other labels: the same on labels where "
            "this cue makes no difference. A cause does more with the cue than in all three.",
        ),
    )


def _measured(results: Results) -> Iterator[tuple[Row, Measured, Answers, Effect]]:
    """The witnesses that have figures, cue by cue."""
    for row in results.rows:
        for each in row.witnesses:
            if each.witness.answers is not None and each.effect is not None:
                yield row, each, each.witness.answers, each.effect


def placebo_table(results: Results) -> Table:
    """The cue that nobody found and the labels that are left alone, a finding a line."""
    columns = ("cue", "label", "unfound cue", "other labels")
    rows = [
        (
            row.target.cue.name,
            row.target.cue.about or "any",
            said(row.target.placebos, "unfound cue"),
            said(row.target.placebos, "other labels"),
        )
        for row in results.rows
    ]
    return Table(
        title="What each finding is compared with, beside its placebos",
        columns=columns,
        rows=tuple(dict(zip(columns, values, strict=True)) for values in rows),
        notes=(
            "Unfound cue: a cue of the same kind and about as frequent, which is no finding; in "
            "the run it goes with no answers. Other labels: labels whose answers did not go with "
            "the cue in the run.",
        ),
    )


def reasons(results: Results) -> tuple[dict[str, Cell], ...]:
    """What does not apply, and why; what is so for all cues stands once."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in results.rows:
        for each in row.witnesses:
            reason = each.witness.reason or _unmeasured(each)
            if reason:
                found.setdefault((each.name, reason), []).append(results.name_of(row))
    every = len(results.rows)
    return tuple(
        {
            "intervention": name,
            "cue": "all" if len(cues) == every else ", ".join(dict.fromkeys(cues)),
            "why": reason,
        }
        for (name, reason), cues in found.items()
    )


def _unmeasured(measured: Measured) -> str | None:
    if measured.effect is not None:
        return None
    if measured.witness.named.kind.placebo == "none":
        moved = float(differences(measured.witness).mean())
        return f"it has no placebo, so it cannot decide alone ({points(moved)} points)"
    located, answers = measured.witness.target.located, measured.witness.answers
    if located is not None and not located.quality.good:
        return "the cue is located too badly: what is changed may be something else"
    count = 0 if answers is None else int((~answers.control).sum())
    return f"only {count} samples could be changed"
