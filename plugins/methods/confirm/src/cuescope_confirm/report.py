"""Rows and sentences of the dossier."""

from collections.abc import Iterator, Sequence

from cuescope_confirm.measuring import COARSE, Results, Row
from cuescope_confirm.merging.modalities import NO_CUE
from cuescope_confirm.options import ConfirmOptions
from cuescope_confirm.tables import bounded, tables
from cuescope_confirm.trials import NOTHING
from cuescope_sdk import Audit, Score

RULE = (
    "causes: most of the interventions that decide move the answers beyond their placebo, "
    "and beyond what they do without the cue, at a cue that nobody found and on labels that the "
    "cue leaves alone (Holm over findings and interventions); accompanies: "
    "the placebo does as much; cannot tell: neither"
)
NEXT = (
    "Learn how the model can do without a cause, and measure whether that helps: "
    "`cuescope mitigate RUN --with NAME`, with the run that found it."
)

MISSING = (
    "No cue is shown to be a cause. What a decision lacks stands beside each cue: more samples "
    "(`--on SPLIT`) or a tool (`--tool detector=SPEC`) may bring it."
)
NONE = (
    "More samples find weaker cues. What each method could have missed stands in its own report, "
    "in the folder `found`."
)


def scores(audit: Audit, options: ConfirmOptions, results: Results) -> Iterator[Score]:
    """A row a cue and metric, causes first, the most harmful first; tables are attached."""
    audit.note("rule", RULE)
    counts = {
        verdict: sum(row.ruling.verdict == verdict for row in results.rows)
        for verdict in ("causes", "accompanies", "cannot tell")
    }
    step = NEXT if counts["causes"] else MISSING if results.rows else NONE
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
        value = row.lost[0] if direction.harms else -row.lost[0]
        verb = "costs" if direction.harms else "gives"
        cost = f" It {verb} {100 * value:.1f} points of accuracy over all samples."
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
