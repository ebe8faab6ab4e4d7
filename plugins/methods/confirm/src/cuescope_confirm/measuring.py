"""From answers to verdicts: each witness's effect beyond its placebo, and what all of them say."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from cuescope_confirm.asking import is_of_label
from cuescope_confirm.cases import Pair
from cuescope_confirm.locating import Target
from cuescope_confirm.options import ConfirmOptions
from cuescope_confirm.scores import (
    POWER,
    Control,
    Decision,
    Effect,
    Measure,
    Ruling,
    attributable,
    corrected,
    decide,
    effect_of,
    enough,
    rule,
)
from cuescope_confirm.study import Study, root
from cuescope_confirm.trials import Answers, Dossier, Named, Witness
from cuescope_sdk import Audit
from cuescope_sdk.statistics import Groups

SHOWN_EFFECT = 0.25  # that enough samples would show
EXACT = ("words", "name", "modality", "question")  # what nobody has to locate
OF_GAP = 0.25  # of what the run shows; a place that is learned never holds all of a cue
DIFFERENCE = "a difference: answers move as much where a cause would have no effect"
UNEXPLAINED = "something to explain: in the run answers are as right with it as without it"
COARSE = ("frames",)  # what holds more than the cue


@dataclass(frozen=True, eq=False)
class Measured:
    """A witness with its effect; without one where nothing could be measured."""

    witness: Witness
    effect: Effect | None = None
    decision: Decision | None = None

    @property
    def name(self) -> str:
        """What the intervention is called."""
        return self.witness.named.spec

    @property
    def removes(self) -> bool:
        """Whether the cue is taken out."""
        return self.witness.named.kind.effect == "removes"


@dataclass(frozen=True, eq=False)
class Row:
    """A cue with all that was measured of it; `lost` is accuracy over all samples, its interval."""

    target: Target
    witnesses: tuple[Measured, ...]
    ruling: Ruling
    lost: tuple[float, float, float] | None = None

    @property
    def decisive(self) -> Measured | None:
        """The witness with the clearest effect; of whole frames where no finer one decides."""
        able = [each for each in self.witnesses if each.effect is not None and each.decision]
        fine = [each for each in able if each.witness.named.kind.needs not in COARSE]
        able = fine or able
        key = lambda each: (each.effect.corrected, -each.effect.least)  # noqa: E731
        return min(able, key=key) if able else None


@dataclass(frozen=True, eq=False)
class Results:
    """All cues, the worst first."""

    rows: tuple[Row, ...]
    tests: int
    confidence: float

    def name_of(self, row: Row) -> str:
        """The cue's name, with what it is about where several have this name."""
        names = [each.target.cue.name for each in self.rows]
        cue = row.target.cue
        return f"{cue.name} on {cue.about or 'any'}" if names.count(cue.name) > 1 else cue.name


def measure(audit: Audit, options: ConfirmOptions, dossier: Dossier) -> Results:
    """Every witness's effect; p-values are corrected over all findings and witnesses (Holm)."""
    # what is known before the answers: whether a place is known, and how many samples have it
    findings = [w for w in dossier.witnesses if w.target.role == "finding"]
    tested = [w for w in findings if is_tested(w, options)]
    # two-sided intervals whose lower ends are those of one-sided tests
    confidence = 1 - 2 * (1 - options.confidence) / max(len(tested), 2)
    effects = corrected([_effect(audit, options, dossier, each, confidence) for each in tested])
    by_witness = {id(w): effect for w, effect in zip(tested, effects, strict=True)}
    rows = []
    for target in dossier.targets:
        own = [w for w in dossier.witnesses if w.target is target]
        measured = tuple(_judged(w, by_witness.get(id(w)), options) for w in own)
        ruling = _ruling(target, measured)
        rows.append(Row(target, measured, ruling, _lost(target, measured, ruling, options)))
    ranked = sorted(rows, key=_rank)
    return Results(tuple(ranked), len(tested), confidence)


def is_tested(witness: Witness, options: ConfirmOptions) -> bool:
    """Whether a witness can decide: it applies, has a placebo, and its place is well known."""
    if witness.answers is None or witness.named.kind.placebo == "none":
        return False
    if (~witness.answers.control).sum() < options.least:
        return False
    located = witness.target.located
    exact = witness.named.kind.needs in EXACT
    return exact or (located is not None and located.quality.good)


def _rank(row: Row) -> tuple[bool, float, float]:
    decisive = row.decisive
    effect = decisive.effect.value if decisive and decisive.effect else -1.0
    return row.ruling.verdict != "causes", -(row.lost[0] if row.lost else 0.0), -effect


def differences(witness: Witness) -> Float[np.ndarray, " pair"]:
    """What the intervention does beyond the placebo, positive where it is what a cause would do."""
    return _change(witness, 0 if witness.named.kind.placebo == "none" else 2)


def _change(witness: Witness, beside: int) -> Float[np.ndarray, " pair"]:
    """The same beyond a column of the answers."""
    assert witness.answers is not None
    values, sign = witness.answers.values, witness.target.direction.sign
    change = sign * (values[:, 1] - values[:, beside])
    return np.asarray(change if witness.named.kind.effect == "removes" else -change)


def groups_of(answers: Answers, rows: np.ndarray) -> Groups:
    """The groups of the samples of some pairs."""
    chosen = np.flatnonzero(rows).tolist()
    return Groups.of([answers.pairs[row].case.sample for row in chosen])


def _effect(
    audit: Audit, options: ConfirmOptions, dossier: Dossier, witness: Witness, confidence: float
) -> Effect:
    answers = witness.answers
    assert answers is not None
    own = ~answers.control
    return effect_of(
        differences(witness)[own],
        groups_of(answers, own),
        controls_of(options, dossier, witness),
        audit.rng("confirm", "effect", witness.target.cue.id, witness.named.spec),
        confidence,
        _change(witness, 0)[own],
    )


def controls_of(
    options: ConfirmOptions, dossier: Dossier, witness: Witness
) -> dict[Control, Measure]:
    """What a witness does where a cause would do nothing, as far as enough samples tell it."""
    answers = witness.answers
    assert answers is not None
    found: list[tuple[Control, Witness, np.ndarray]] = [
        ("without the cue", witness, answers.control)
    ]
    for role, placebo in witness.target.placebos.items():
        for other in dossier.witnesses:
            same = other.target is placebo and other.named.spec == witness.named.spec
            if same and role != "finding" and is_tested(other, options):
                found.append((role, other, np.full(len(_pairs(other)), True)))
    # fewer would decide nothing, and cost the power
    return {
        name: (differences(other)[rows], groups_of(other.answers, rows))
        for name, other, rows in found
        if other.answers is not None and int(rows.sum()) >= options.least
    }


def _pairs(witness: Witness) -> Sequence[Pair]:
    return witness.answers.pairs if witness.answers is not None else ()


def _judged(witness: Witness, effect: Effect | None, options: ConfirmOptions) -> Measured:
    if effect is None:
        return Measured(witness)
    level = 1 - options.confidence
    claimed = witness.target.direction.sure_gap * OF_GAP
    decision = decide(effect, level=level, margin=options.margin, claimed=claimed)
    return Measured(witness, effect, decision)


def _ruling(target: Target, measured: Sequence[Measured]) -> Ruling:
    if target.located is None:
        return Ruling("cannot tell", missing=f"a place for the cue: {target.reason}")
    decided = [(each, each.decision) for each in measured if each.decision]
    few = not decided and any(each.witness.answers is not None for each in measured)
    if few and target.located.quality.good:
        return Ruling("cannot tell", missing="samples with the cue")
    fine = [
        (each.removes, said)
        for each, said in decided
        if each.witness.named.kind.needs not in COARSE
        and (said == "confirms" or not each.witness.named.kind.partial)
    ]
    ruling = rule(
        [said for removes, said in fine if removes],
        [said for removes, said in fine if not removes],
        [said for each, said in decided if each.witness.named.kind.needs in COARSE],
        located=bool(decided) or target.located.quality.good,
    )
    if ruling.verdict == "causes" and not target.direction.shown:
        return Ruling("cannot tell", missing=UNEXPLAINED)
    moved = [each.effect for each, said in decided if said == "undecided" and each.effect]
    if ruling.missing == POWER and any(e.low > 0 and e.controls for e in moved):
        return replace(ruling, missing=DIFFERENCE)
    return ruling


def _lost(
    target: Target, measured: Sequence[Measured], ruling: Ruling, options: ConfirmOptions
) -> tuple[float, float, float] | None:
    """By the clearest witness that confirms, one that takes the cue out before others."""
    if ruling.verdict != "causes" or target.located is None:
        return None
    if target.direction.toward == "its own answer":  # right ones and wrong ones
        return None
    yes = [each for each in measured if each.decision == "confirms" and each.effect]
    # a clip that stands still is no sample as it is
    yes = [each for each in yes if each.removes or each.witness.named.kind.needs not in COARSE]
    if not yes:
        return None
    yes.sort(key=lambda each: (not each.removes, each.effect.corrected if each.effect else 1))
    best = yes[0]
    answers = best.witness.answers
    assert answers is not None
    own = ~answers.control
    gain = answers.right[own, 1] - answers.right[own, 2]
    if not best.removes:
        gain = -gain
    return attributable(gain, groups_of(answers, own), share_showing(target), options.confidence)


def share_showing(target: Target) -> float:
    """Of the held-out samples, the share that is judged and shows the cue."""
    located = target.located
    if located is None:
        return 0.0
    judged = [key for key, sample in target.samples.items() if target.is_judged(sample)]
    known = [key for key in judged if key in located.places or key in located.without]
    if not known:
        return 0.0
    showing = sum(key in located.places for key in known) / len(known)
    return showing * len(judged) / len(target.samples)


def power_line(study: Study, named: Sequence[Named], options: ConfirmOptions) -> str:
    """How many samples are enough, and how many there probably are."""
    tests = len(study.cues) * len(named)
    wanted = enough(SHOWN_EFFECT, tests, level=1 - options.confidence)
    lowest: tuple[int, str] | None = None
    for cue in study.cues:
        if not cue.feature.occurrences:
            continue
        shows = {root(o.sample, study.seen) for o in cue.feature.occurrences} - {None}
        own = [key for key in shows if is_of_label(cue, study.seen[str(key)])] or list(shows)
        there = round(len(own) / max(len(study.seen), 1) * len(study.held))
        if lowest is None or there < lowest[0]:
            lowest = there, cue.name
    words = (
        f"{wanted} changed samples show an effect of {SHOWN_EFFECT:.0%} with 80% power, corrected "
        f"for up to {tests} tests"
    )
    if lowest is None:
        return words
    least = f"about {lowest[0]} of {len(study.held)} held-out samples show '{lowest[1]}'"
    return f"{words}; {least}, the rarest finding: {'enough' if lowest[0] >= wanted else 'too few'}"
