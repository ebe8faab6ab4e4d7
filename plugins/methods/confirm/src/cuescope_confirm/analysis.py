"""From answers to verdicts: the effect of each kind of change, and what all of them say."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import itemgetter
from typing import TypeVar

import numpy as np

from cuescope_confirm.asking import is_of_label
from cuescope_confirm.companions import Discordant, discordant
from cuescope_confirm.companions.difficulty import Drawn, drawn_answer
from cuescope_confirm.companions.unnamed import as_they_are, beside_all_else
from cuescope_confirm.locating import Target
from cuescope_confirm.scores import Decision, Effect, Verdict, correct, decide
from cuescope_confirm.study import Study, prepare, roots
from cuescope_confirm.testimony.effects import (
    Party,
    effect_of_party,
    harm_of,
    is_tested,
)
from cuescope_confirm.testimony.sizes import accuracy_lost, size_of
from cuescope_confirm.testimony.votes import (
    Kind,
    Taken,
    Testimony,
    Vote,
    cases_of,
    jointly_telling,
    kinds_of,
    party_of,
    shares_taken,
)
from cuescope_confirm.testimony.witnesses import Dossier, Witness
from cuescope_confirm.verdicts.row import Row, clearness
from cuescope_confirm.verdicts.rulings import claim_of, ruling_on
from cuescope_sdk.statistics import PrognosticGap

Case = tuple[Kind, ...]  # kinds that tell of one cue, of whole pictures by one property
Tested = TypeVar("Tested", Kind, Case, Kind | Case)
Said = TypeVar("Said", PrognosticGap, Drawn)


@dataclass(frozen=True, eq=False)
class Results:
    """All cues, the worst first."""

    study: Study
    rows: Sequence[Row]
    tests: int
    confidence: float

    def name_of(self, row: Row) -> str:
        """The cue's name, with what it is about where several have this name."""
        names = [other.target.cue.name for other in self.rows]
        cue = row.target.cue
        if names.count(cue.name) > 1:
            return f"{cue.name} on {cue.about or 'any'}"
        return cue.name

    def count(self, verdict: Verdict) -> int:
        """How many cues have this verdict."""
        return [row.ruling.verdict for row in self.rows].count(verdict)


def measure(dossier: Dossier) -> Results:
    """The effect of each kind, and of several together; p-values are corrected (Holm)."""
    study = dossier.study
    tested = _tested(dossier)
    taken: dict[Witness, float | None] = {}
    kinds: list[Kind] = []
    cases: dict[Target, list[Case]] = {}
    together: dict[Case, Party] = {}
    for target, witnesses in tested.items():
        taken |= shares_taken(study, witnesses)
        of_target = kinds_of(witnesses, taken)
        kinds += of_target
        cases[target] = list(map(tuple, cases_of(of_target)))
        for case in cases[target]:
            joined = jointly_telling(case)
            if joined:
                together[case] = party_of(joined)
    parties = [*(kind.party for kind in kinds), *together.values()]
    # two-sided intervals whose lower ends are those of one-sided tests
    confidence = 1 - 2 * (1 - study.options.confidence) / max(len(parties), 2)
    effects = [effect_of_party(dossier, party, confidence) for party in parties]
    of_kinds, of_all = _correct_in_order(
        dict(zip(kinds, effects[: len(kinds)], strict=True)),
        dict(zip(together, effects[len(kinds) :], strict=True)),
    )
    votes = {kind: _vote(study, kind, effect) for kind, effect in of_kinds.items()}
    rows = []
    doing = "weighing the evidence"
    with study.audit.context.progress(doing, len(tested)) as advance:
        for target, witnesses in tested.items():
            case = min(
                cases[target], key=lambda some: _clearness_of(some, of_kinds, of_all)
            )
            measured = [
                _testimony(dossier, witness, votes.values(), taken, confidence)
                for witness in witnesses
            ]
            own = [votes[kind] for kind in case]
            rows.append(_row(dossier, target, own, measured, of_all.get(case)))
            advance(1)
    rows.sort(key=lambda row: row.rank(1 - study.options.confidence))
    return Results(study, rows, len(parties), confidence)


def _clearness_of(
    case: Case,
    of_kinds: Mapping[Kind, Effect],
    of_all: Mapping[Case, Effect],
) -> tuple[float, float]:
    """Of the effect of some kinds together, else of the clearest of them; the less the clearer.

    Of whole pictures that property counts which moves answers most clearly. All of them are tests,
    and are corrected for.
    """
    joint = of_all.get(case)
    effects = [of_kinds[kind] for kind in case] if joint is None else [joint]
    return min(map(clearness, effects), default=(1.0, 0.0))


def _tested(dossier: Dossier) -> dict[Target, list[Witness]]:
    """The witnesses of each finding: all tests are known before any is corrected."""
    study = dossier.study
    tested: dict[Target, list[Witness]] = {target: [] for target in dossier.targets}
    for witness in dossier.witnesses:
        # placebos are no tests of their own, and cost no correction
        if witness.target not in tested or not is_tested(study, witness):
            continue
        if study.audit.once(harm_of, study, witness) is None:
            tested[witness.target].append(witness)
    return tested


def _correct_in_order(
    of_kinds: Mapping[Kind, Effect],
    together: Mapping[Case, Effect],
) -> tuple[Mapping[Kind, Effect], Mapping[Case, Effect]]:
    """The tests of kinds, and those of several together, corrected (Holm).

    What tells of a finding is tested first: its kinds together, or each where none are. What kinds
    that are tested together say by themselves comes after, and none is surer than all of them
    (serial gatekeeping; Dmitrienko and Tamhane, 2007). So they cost the first tests no power.
    """
    joined = set(chain.from_iterable(together))
    alone = {kind: effect for kind, effect in of_kinds.items() if kind not in joined}
    first = _correct({**together, **alone})
    corrected = {}
    for kind, effect in _correct(of_kinds).items():
        if kind in alone:
            corrected[kind] = first[kind]
        else:
            gates = [first[case].corrected for case in together if kind in case]
            gate = max(effect.corrected, min(gates))
            corrected[kind] = replace(effect, corrected=gate)
    return corrected, {case: first[case] for case in together}


def _correct(effects: Mapping[Tested, Effect]) -> dict[Tested, Effect]:
    return dict(zip(effects, correct([*effects.values()]), strict=True))


def _vote(study: Study, kind: Kind, effect: Effect) -> Vote:
    options = study.options
    decision = decide(
        effect,
        level=1 - options.confidence,
        margin=options.margin,
        claimed=claim_of(kind.target),
        part=kind.part,
    )
    return Vote(**vars(kind), effect=effect, decision=decision)


def _testimony(
    dossier: Dossier,
    witness: Witness,
    votes: Collection[Vote],
    taken: Taken,
    confidence: float,
) -> Testimony:
    """Its own effect, with the p-value and the decision of its kind."""
    effect = effect_of_party(dossier, [witness], confidence)
    decision: Decision = "undecided"
    for vote in votes:
        if witness in vote.party:
            effect = replace(effect, corrected=vote.effect.corrected)
            decision = vote.decision
            break
    return Testimony(
        **vars(witness), effect=effect, decision=decision, taken=taken[witness]
    )


def _row(
    dossier: Dossier,
    target: Target,
    votes: Sequence[Vote],
    measured: Sequence[Testimony],
    together: Effect | None,
) -> Row:
    study = dossier.study
    asked = {testimony.spec for testimony in measured}
    unmeasured = []
    for witness in dossier.witnesses_of(target):
        if witness.spec not in asked:
            harm = study.audit.once(harm_of, study, witness)
            reason = witness.reason or harm
            unmeasured.append(replace(witness, reason=reason))
    beside, drawn = _as_they_are(dossier, target)
    row = Row(
        target,
        measured,
        unmeasured,
        votes,
        together=together,
        discordant=_come_apart(study, target),
        beside=beside,
        drawn=drawn,
    )
    if votes:
        alike = None if beside is None else beside.alike
        row = replace(row, effect=size_of(row.fullest, study, alike))
    row = replace(row, ruling=ruling_on(study, row))
    if row.ruling.verdict != "causes":
        # what is not shown to cause answers has cost none
        return row
    return replace(row, lost=accuracy_lost(target, row.fullest, study))


def _come_apart(study: Study, target: Target) -> Sequence[Discordant]:
    """What goes with a cue, in the run; of folds, in each."""
    found: list[Discordant] = []
    with study.audit.spare(f"companions of {target.cue.name}"):
        if not target.parts:
            # looks differ in the error that they may spend, and not in what the run says
            whole = study.audit.once(prepare, study.audit, study.audit.options)
            found += study.audit.once(discordant, whole, target)
        for part in target.parts:
            found += study.audit.once(discordant, part.study, part.target)
    return found


def _as_they_are(
    dossier: Dossier, target: Target
) -> tuple[PrognosticGap | None, Drawn | None]:
    """What samples as they are say of a cue: of right answers, and of the one that it brings."""
    study = dossier.study
    # pairs of the user's own decide alone, on the size as well
    if study.options.pairs is not None:
        return None, None
    besides: list[PrognosticGap | None] = []
    drawns: list[Drawn | None] = []
    with study.audit.spare(f"what else goes with {target.cue.name}"):
        for view in as_they_are(dossier, target):
            besides.append(beside_all_else(study, target, view))
            drawns.append(drawn_answer(study, target, view))
    return _least_said(besides), _least_said(drawns)


def _least_said(said: Sequence[Said | None]) -> Said | None:
    """What has the lowest figure with all else held alike; None where one view says nothing."""
    least = None
    lowest = np.inf
    for view in said:
        if view is None or view.alike is None:
            return view
        if view.alike.low < lowest:
            least = view
            lowest = view.alike.low
    return least


def rarest_finding(study: Study) -> tuple[int, str] | None:
    """In how many held-out samples the rarest finding probably is, and its name.

    None where no finding says where it occurs.
    """
    counts = []
    for cue in study.cues:
        if cue.feature.occurrences:
            shown = roots(cue.feature.occurrences, study.seen)
            of_label = [key for key in shown if is_of_label(cue, study.seen[key])]
            share = len(of_label or shown) / max(len(study.seen), 1)
            counts.append((round(share * len(study.held)), cue.name))
    return min(counts, key=itemgetter(0), default=None)
