"""From answers to verdicts: the effect of each kind of change, and what all of them say."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import itemgetter
from typing import TypeVar

import numpy as np

from cuescope_confirm.asking import is_of_label
from cuescope_confirm.companions import Discordant, discordant
from cuescope_confirm.companions.difficulty import Drawn, drawn_answer, is_own_look
from cuescope_confirm.companions.unnamed import as_they_are, beside_all_else
from cuescope_confirm.locating import Target
from cuescope_confirm.scores import (
    NO_MORE,
    Decision,
    Effect,
    Ruling,
    Verdict,
    correct,
    decide,
    rule,
)
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
    suffice,
)
from cuescope_confirm.testimony.witnesses import Dossier, Witness
from cuescope_confirm.verdicts.undecided import (
    ALL_ELSE,
    HARD_TO_SEE,
    MORE_PAIRS,
    MORE_SAMPLES,
    NO_SAMPLES,
    NOTHING_TO_EXPLAIN,
    ONLY_DAMAGE,
    OTHER_WAY,
    PERHAPS_ALL_ELSE,
    SAME_ELSEWHERE,
    SECOND_NONE,
    SPREAD,
    Undecided,
    its_company,
    nowhere,
    own_look,
)
from cuescope_sdk.statistics import Estimate, PrognosticGap

Case = tuple[Kind, ...]  # kinds that tell of one cue, of whole pictures by one property
Tested = TypeVar("Tested", Kind, Case, Kind | Case)
Said = TypeVar("Said", PrognosticGap, Drawn)
OF_GAP = 0.25  # of what the run shows; a place that is learned never holds all of a cue


@dataclass(frozen=True, eq=False)
class Row:
    """A cue with all that was measured of it; `lost` is accuracy over all samples.

    `effect` is how large it is, `together` the test of several kinds. `drawn` is the wrong answer
    that a cause brings most.
    """

    target: Target
    measured: Sequence[Testimony]
    unmeasured: Sequence[Witness]
    votes: Sequence[Vote]
    ruling: Ruling
    effect: Estimate[float] | None = None
    together: Effect | None = None
    lost: Estimate[float] | None = None
    discordant: Sequence[Discordant] = ()
    beside: PrognosticGap | None = None
    drawn: Drawn | None = None

    @property
    def draws_answers(self) -> bool:
        """Whether what is tested is that the cue makes its label a likelier answer to others."""
        return self.target.direction.toward == "the label"

    @property
    def fullest(self) -> list[Vote]:
        """The kinds that change all of the cue, else its inside, a part of it, or all frames."""
        joined = jointly_telling(self.votes)
        # what is tested together gives the size, too
        if joined and all(vote.standing != "full" for vote in joined):
            return joined
        # the best standing that any kind has: weaker ones do not dilute it
        for standing in ("full", "inside", "partial", "coarse"):
            of_standing = [vote for vote in self.votes if vote.standing == standing]
            if of_standing:
                return of_standing
        return []

    @property
    def telling(self) -> list[Vote]:
        """The kinds that are tested together, else the one that changes most of the cue."""
        return jointly_telling(self.votes) or self.fullest

    @property
    def tested(self) -> Effect:
        """The test of these kinds; raises IndexError where nothing was measured."""
        return self.together or self.telling[0].effect

    @property
    def excess(self) -> float:
        """The effect beyond all controls: of the kinds that are tested together, else their middle.

        The mean of several kinds in each sample; a middle of two is as lucky as the luckier one.
        Where samples as they are tell it too, with all else alike, both have to say so.
        """
        if self.together is not None:
            changed = self.together.least
        else:
            least = [vote.effect.least for vote in self.fullest]
            changed = float(np.median(least))
        if self.beside is None:
            return changed
        alike = self.beside.alike.value
        # samples of all labels are more
        if self.drawn is not None and self.drawn.alike is not None:
            alike = min(alike, self.drawn.alike.value)
        if min(changed, alike) <= 0:
            return min(changed, alike)
        # the geometric mean: where one says next to nothing, the other is no reason to believe it
        return float(np.sqrt(changed * alike))

    @property
    def stated(self) -> Estimate[float] | None:
        """The effect as it is told: of what is not decided its interval holds that there is none.

        What goes with the cue may do all that was measured.
        """
        if self.effect is None or self.ruling.verdict != "cannot tell":
            return self.effect
        value, low, high = self.effect.value, self.effect.low, self.effect.high
        # none, as surely told as the effect
        return Estimate(value, min(low, low - value), max(high, high - value))

    def stands_for_one(self, margin: float) -> bool:
        """Whether one answer surely comes with the cue in samples of all labels, all else alike."""
        return self.drawn is not None and self.drawn.stands_out(margin)

    def is_said_as_they_are(self, margin: float) -> bool:
        """Whether samples as they are say that the cue moves answers, all else alike.

        Those of its own label, surely by half of a margin, or one answer in those of all labels.
        """
        is_sure = self.beside is not None and self.beside.alike.low > margin / 2
        return is_sure or self.stands_for_one(margin)

    def moves(self, level: float) -> bool:
        """Whether a kind of change, or several together, surely move answers."""
        effects = [vote.effect for vote in self.votes]
        if self.together is not None:
            effects.append(self.together)
        return any(effect.corrected <= level for effect in effects)

    @property
    def fine(self) -> list[Testimony]:
        """The witnesses that change less than a whole frame."""
        return [
            testimony
            for testimony in self.measured
            if testimony.plugin.needs != "frames"
        ]

    @property
    def decisive(self) -> Testimony | None:
        """The witness with the clearest effect; of whole frames where no finer one decides."""
        # the clearest by itself is what a table of one figure shows
        return min(
            self.fine or self.measured,
            key=lambda testimony: _clearness(testimony.effect),
            default=None,
        )

    @property
    def confirming(self) -> list[Testimony]:
        """The witnesses that confirm, those that take the cue out before others, clearest first."""
        return sorted(
            [testimony for testimony in self.measured if testimony.confirms],
            key=lambda testimony: (not testimony.removes, testimony.effect.corrected),
        )

    def clearest(self, *, removes: bool) -> list[Testimony]:
        """Of the finer ones those that confirm in one direction, the largest sure effect first.

        One that does nothing by itself is left out, whatever others of its kind do.
        """
        able = [
            testimony
            for testimony in self.fine
            if testimony.confirms and testimony.removes == removes
        ]
        able.sort(key=lambda testimony: -testimony.effect.low)
        return [testimony for testimony in able if testimony.effect.low > 0] or able


def _clearness(effect: Effect) -> tuple[float, float]:
    # p-values have a least value: among many of these the size decides
    return effect.corrected, -effect.least


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
    rows.sort(key=_rank)
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
    return min(map(_clearness, effects), default=(1.0, 0.0))


def _tested(dossier: Dossier) -> dict[Target, list[Witness]]:
    """The witnesses of each finding: all tests are known before any is corrected."""
    study = dossier.study
    tested: dict[Target, list[Witness]] = {target: [] for target in dossier.targets}
    for witness in dossier.witnesses:
        # placebos are no tests of their own, and cost no correction
        if witness.target not in tested or not is_tested(study, witness):
            continue
        if harm_of(study, witness) is None:
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
        claimed=_claim(kind.target),
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


def _claim(target: Target) -> float:
    # an effect far below the gap in the run would not explain it
    return target.direction.sure_gap * OF_GAP


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
            reason = witness.reason or harm_of(study, witness)
            unmeasured.append(replace(witness, reason=reason))
    beside, drawn = _as_they_are(dossier, target)
    ruling = _ruling(
        target,
        votes,
        unmeasured,
        study.options.margin,
        is_shown=_is_shown(target, beside),
    )
    row = Row(
        target,
        measured,
        unmeasured,
        votes,
        ruling,
        together=together,
        discordant=_come_apart(study, target),
        beside=beside,
        drawn=drawn,
    )
    if not votes:
        return row
    alike = None if row.beside is None else row.beside.alike
    effect = size_of(row.fullest, study, alike)
    row = replace(row, effect=effect)
    if ruling.verdict == "cannot tell":
        row = replace(row, ruling=_by_all(study, row, effect))
    if row.ruling.verdict != "causes":
        return row
    # what several kinds cannot tell from nothing is no cause, however sure one of them is
    if effect.low <= 0 or effect.high < study.options.margin:
        return replace(row, ruling=Ruling("cannot tell", missing=SPREAD))
    explained = _by_companion(study, row) or _by_all_else(study, row)
    if explained is not None:
        return replace(row, ruling=Ruling("cannot tell", missing=explained))
    doubted = _by_embedding_alone(row, study.options.margin)
    if doubted is not None:
        return replace(row, ruling=Ruling("cannot tell", missing=doubted))
    # what is not shown to cause answers has cost none
    return replace(row, lost=accuracy_lost(target, row.fullest, study))


def _by_embedding_alone(row: Row, margin: float) -> Undecided | None:
    """What is missing where the embedding alone decides, and what it tells may be no cue.

    In any embedding there is a direction of pictures that are hard to see, and one of each label.
    It tells a cue from its company worse than pictures do, so samples of all labels, all else
    alike, have to say that one answer comes with the cue.
    """
    if not row.ruling.inside:
        return None
    answer = row.target.cue.label if row.draws_answers else None
    if row.drawn is not None:
        if not row.drawn.is_one:
            return HARD_TO_SEE
        if row.drawn.alike is not None and not row.drawn.stands_out(margin):
            return PERHAPS_ALL_ELSE
        answer = row.drawn.answer
    if answer is not None and is_own_look(row.target, answer):
        return own_look(answer)
    return None


def _by_companion(study: Study, row: Row) -> Undecided | None:
    """What is missing where a companion does all that the cue seems to do; None where none does."""
    margin = max(study.options.margin, _claim(row.target))
    # pairs differ in the cue alone
    if study.options.pairs is not None:
        return None
    for comparison in row.discordant:
        if comparison.vetoes(study.options.least, margin):
            companion = comparison.companion
            return its_company(companion.words, companion.name)
    return None


def _by_all_else(study: Study, row: Row) -> Undecided | None:
    """What is missing where pictures without the cue tell all that it seems to do.

    Or where they may, and the cue is all over the frame, or only the embedding says what it does.
    """
    if row.beside is None:
        return None
    margin = max(study.options.margin, _claim(row.target))
    alike = row.beside.alike
    if alike.high < margin:
        return ALL_ELSE
    # what changes all of a picture takes the cue's company along, and an embedding tells the two
    # apart worse, so samples as they are have to say so
    is_apart = row.target.has_place and not row.ruling.inside
    is_said = row.is_said_as_they_are(study.options.margin)
    return None if is_apart or is_said else PERHAPS_ALL_ELSE


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
    for each in said:
        if each is None or each.alike is None:
            return each
        if each.alike.low < lowest:
            least, lowest = each, each.alike.low
    return least


def _by_all(study: Study, row: Row, effect: Estimate[float]) -> Ruling:
    """A cause by all that was measured, where no single kinds decide.

    It takes three things. What is done to the cue surely moves answers, more than all that it is
    held against: one test of the kinds together. There are two unlike witnesses: two kinds of
    change, or changes and samples as they are. And their `effect` is large enough, and surely above
    0, for all that they disagree.
    """
    options = study.options
    kinds = row.telling
    is_sure = row.tested.corrected <= 1 - options.confidence
    if kinds[0].standing == "coarse" or not is_sure:
        return row.ruling
    is_seconded = row.beside is not None
    size = effect.value
    if kinds[0].standing == "inside":
        # an embedding tells a cue from its company worse: it takes what goes out and what comes
        # in, or samples of all labels; and what samples as they are say makes it no larger
        is_seconded = row.stands_for_one(options.margin)
        size = min(size, row.tested.value / kinds[0].part)
    are_unlike = is_seconded or suffice(kinds)
    if not are_unlike or not _is_shown(row.target, row.beside):
        return row.ruling
    margin = max(options.margin, _claim(row.target))
    if effect.low <= 0 or size < margin:
        return row.ruling
    sides = {vote.removes for vote in kinds}
    return Ruling(
        "causes",
        necessary=True in sides,
        sufficient=False in sides,
        together=True,
        inside=kinds[0].standing == "inside",
    )


def _rank(row: Row) -> tuple[bool, float, float]:
    lost = row.lost.value if row.lost else 0.0
    # below any effect: what was not measured stands last
    effect = row.effect.value if row.effect else -1.0
    return row.ruling.verdict != "causes", -lost, -effect


def _ruling(
    target: Target,
    votes: Sequence[Vote],
    unmeasured: Sequence[Witness],
    margin: float,
    *,
    is_shown: bool,
) -> Ruling:
    if any(vote.needs == "pair" for vote in votes):
        return _by_pairs(votes)
    if target.located is None:
        return Ruling("cannot tell", missing=nowhere(target.reason))
    is_located = target.located.is_sure
    has_pairs = any(witness.answers.pairs for witness in unmeasured)
    # pairs were made, but too few, or harmful by themselves: no tool would help
    if has_pairs and is_located and not votes:
        # of those with pairs only damage has a reason
        harm = [witness.reason for witness in unmeasured if witness.answers.pairs]
        missing = ONLY_DAMAGE if any(harm) else NO_SAMPLES
        return Ruling("cannot tell", missing=missing)
    ruling = _by_decisions(votes, located=bool(votes) or is_located)
    # what goes both ways is a cause where the run has too few samples to show it, or to deny it
    goes_both_ways = ruling.necessary and ruling.sufficient
    is_explained = is_shown or (goes_both_ways and target.direction.most >= margin)
    if ruling.verdict == "causes" and not is_explained:
        return Ruling("cannot tell", missing=NOTHING_TO_EXPLAIN)
    if ruling.verdict == "accompanies" and _is_of_one_kind(target, votes):
        return Ruling("cannot tell", missing=SECOND_NONE)
    if ruling.verdict == "accompanies" and _goes_the_other_way(target, votes, margin):
        return Ruling("cannot tell", missing=OTHER_WAY)
    # beyond its placebo but not its controls: more samples need not help
    if ruling.missing == MORE_SAMPLES and any(map(_fails_controls, votes)):
        return replace(ruling, missing=SAME_ELSEWHERE)
    return ruling


def _fails_controls(vote: Vote) -> bool:
    """Whether a kind does more than its placebo, and perhaps no more than its controls."""
    is_beyond = vote.effect.low > 0
    return vote.decision == "undecided" and is_beyond and bool(vote.effect.controls)


def _by_decisions(votes: Sequence[Vote], *, located: bool) -> Ruling:
    """What the decisions on all kinds of change say together."""
    removing: list[Decision] = []
    inserting: list[Decision] = []
    coarse: list[Decision] = []
    partial: list[Decision] = []
    inside = [vote for vote in votes if vote.standing == "inside"]
    for vote in votes:
        if vote.standing == "full":
            side = removing if vote.removes else inserting
            side.append(vote.decision)
        elif vote.standing == "coarse":
            coarse.append(vote.decision)
        # what leaves something of the cue proves nothing where it has no effect, and where it has
        # one, what it changed may be the company of the cue
        elif vote.decision == "confirms":
            partial.append(vote.decision)
    ruling = rule(
        removing,
        inserting,
        coarse,
        partial,
        located=located,
        exact=all(vote.is_exact for vote in votes),
    )
    if not removing and not inserting and _goes_both_ways(inside):
        return Ruling("causes", necessary=True, sufficient=True, inside=True)
    return ruling


def _is_shown(target: Target, beside: PrognosticGap | None) -> bool:
    """Whether samples as they are show a difference to be caused: the run's, or all of them.

    Those held out that are asked about are as many again as the run's.
    """
    return target.direction.shown or (beside is not None and beside.plain.low > 0)


def _goes_both_ways(votes: Sequence[Vote]) -> bool:
    """Whether what the model makes of the cue takes answers as it goes, and as it comes."""
    confirming = [vote for vote in votes if vote.decision == "confirms"]
    return len({vote.removes for vote in confirming}) > 1


def _goes_the_other_way(target: Target, votes: Sequence[Vote], margin: float) -> bool:
    """Whether answers surely move, and against a direction that the run does not surely show."""
    if target.direction.shown:
        return False
    return any(vote.effect.high < 0 and vote.effect.value <= -margin for vote in votes)


def _by_pairs(votes: Sequence[Vote]) -> Ruling:
    """The user's own pairs differ in the cue alone: no second kind of change has to agree."""
    [vote] = votes
    if vote.decision == "confirms":
        return Ruling("causes", necessary=True)
    if vote.decision == NO_MORE:
        return Ruling("accompanies")
    return Ruling("cannot tell", missing=MORE_PAIRS)


def _is_of_one_kind(target: Target, votes: Sequence[Vote]) -> bool:
    """Whether all that says that nothing moves is one kind of change, of a place that was learned.

    What is blanked, blurred or hidden takes a part of the object along, and the damage may be as
    large as what the cue does; what comes from a donor leaves edges. A change of whole pictures has
    to take nearly all of the cue: the model may use what is left.
    """
    saying = [vote for vote in votes if vote.decision == NO_MORE]
    is_learned = target.located is not None and target.located.auroc is not None
    is_exact = all(vote.is_exact or vote.standing == "coarse" for vote in saying)
    return is_learned and not is_exact and sum(vote.acquits for vote in saying) < 2


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
