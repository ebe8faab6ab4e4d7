"""Tables of the dossier: verdicts, witnesses, places, placebos, and what found each cue."""

from collections.abc import Iterator

from cuescope_confirm.locating.placebos import said
from cuescope_confirm.measuring import Measured, Results, Row, differences
from cuescope_confirm.merging import RULE as MERGING
from cuescope_confirm.options import ConfirmOptions
from cuescope_confirm.scores import Control, Effect
from cuescope_confirm.study import Cue, Study
from cuescope_confirm.trials import Answers
from cuescope_sdk import Accuracy, Cell, Table

CONTROLS: tuple[Control, ...] = ("without the cue", "unfound cue", "other labels")


def points(value: float) -> str:
    """A share in points, with its sign."""
    return f"{100 * value:+.0f}"


def bounded(effect: Effect) -> str:
    """An effect with its interval, in points."""
    return f"{points(effect.value)} ({points(effect.low)} to {points(effect.high)})"


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
            "Necessary: taking the cue out moves the answers. Sufficient: putting it into samples "
            "without it does.",
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
            "AUROC: how well the localiser tells samples of the run that it has not learned from; "
            "annotated places have none. Area: share of the pixels.",
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
            "Positive is what a cause would do. (*) confirms a cause, (0) the placebo does as "
            "much, (?) undecided, - does not apply or has too few samples.",
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
            row.target.cue.name,
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
        notes=("Beyond placebo: of the probability of the answer that the cue moves.",),
    )


def controls_table(results: Results) -> Table:
    """Each witness where a cause would do nothing."""
    columns = ("cue", "intervention", "with the cue", *CONTROLS, "p", "corrected")
    rows = []
    for row, each, _, effect in _measured(results):
        values: tuple[Cell, ...] = (
            row.target.cue.name,
            each.name,
            points(effect.value),
            *(points(effect.controls[c]) if c in effect.controls else None for c in CONTROLS),
            f"{effect.p_value:.2g}",
            f"{effect.corrected:.2g}",
        )
        rows.append(dict(zip(columns, values, strict=True)))
    return Table(
        title="Each witness where a cause would do nothing (points beyond the placebo)",
        columns=columns,
        rows=tuple(rows),
        notes=(
            "Without the cue: the same change beyond the same placebo in samples that do not show "
            "it. Unfound cue, other labels: the same at a cue that nobody found, and on labels "
            "that this cue leaves alone. A cause does more than all three.",
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
        title="What each finding is held against beside its placebos",
        columns=columns,
        rows=tuple(dict(zip(columns, values, strict=True)) for values in rows),
        notes=(
            "Unfound cue: one of the same kind and about as frequent, which is no finding and goes "
            "with no answers in the run. Other labels: the cue goes with no answers there.",
        ),
    )


def reasons(results: Results) -> tuple[dict[str, Cell], ...]:
    """What does not apply, and why; what is so for all cues stands once."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in results.rows:
        for each in row.witnesses:
            reason = each.witness.reason or _unmeasured(each)
            if reason:
                found.setdefault((each.name, reason), []).append(row.target.cue.name)
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
        return f"it has no placebo, and decides nothing alone ({points(moved)} points)"
    located, answers = measured.witness.target.located, measured.witness.answers
    if located is not None and not located.quality.good:
        return "the cue is located too badly: what is changed may be something else"
    count = 0 if answers is None else int((~answers.control).sum())
    return f"only {count} samples could be changed"


def sources(study: Study, results: Results) -> Iterator[Table | Accuracy]:
    """Nothing where one run's findings are taken as they are.

    How often the model is right is told from the runs: the test asks about chosen samples alone.
    """
    cues = [row.target.cue for row in results.rows]
    if any(cue.members for cue in cues):
        yield found_by(cues)
        known = [r.accuracy for r in study.reports.values() if r.accuracy is not None]
        yield from sorted(known, key=lambda accuracy: accuracy.answered)[-1:]
    if len(study.reports) + len(study.left_out) > 1:
        yield methods(study, cues)


def found_by(cues: list[Cue]) -> Table:
    """A cue a line, with the findings that are this cue."""
    rows = []
    for cue in cues:
        runs: dict[str, list[str]] = {}
        for member in cue.members or (cue,):
            runs.setdefault(member.run, []).append(member.id.removeprefix(f"{member.run} "))
        rows.append(
            {
                "cue": cue.name,
                "methods": len(runs),
                "findings": "; ".join(f"{run}: {', '.join(ids)}" for run, ids in runs.items()),
            }
        )
    return Table(
        title="What found each cue",
        columns=("cue", "methods", "findings"),
        rows=tuple(rows),
        notes=(MERGING,),
    )


def methods(study: Study, cues: list[Cue]) -> Table:
    """A method a line: how many findings it has and of how many cues, or why it was left out."""
    rows: list[dict[str, Cell]] = []
    for run, count in study.counts.items():
        own = sum(any(member.run == run for member in cue.members) for cue in cues)
        rows.append({"method": run, "findings": count, "cues": own, "left out because": None})
    for name, why in study.left_out.items():
        rows.append({"method": name, "findings": None, "cues": None, "left out because": why})
    return Table(
        title="Methods",
        columns=("method", "findings", "cues", "left out because"),
        rows=tuple(rows),
    )
