"""From answers to verdicts: each witness's effect beyond its placebo, and what all of them say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from operator import itemgetter

import numpy as np
from jaxtyping import Bool, Float

from cuescope_confirm.asking import is_of_label
from cuescope_confirm.locating import Target
from cuescope_confirm.manipulation import LEAST, recogniser_of, share_changed
from cuescope_confirm.scores import (
    NO_MORE,
    POWER,
    SECOND,
    SPREAD,
    Control,
    Decision,
    Effect,
    Measure,
    Ruling,
    Verdict,
    correct,
    decide,
    effect_of,
    rule,
)
from cuescope_confirm.study import Study, roots
from cuescope_confirm.trials import AS_IS, CHANGED, PLACEBO, Answers, Dossier, Witness
from cuescope_sdk.statistics import Estimate, Groups, change_interval

EXACT = ("words", "name", "modality", "question", "pair")  # what nobody has to locate
A_PART = 0.25  # of the way: a change of whole pictures that takes less is about something else
ALIKE = 2  # times as large is a region of the same size
OF_GAP = 0.25  # of what the run shows; a place that is learned never holds all of a cue
DIFFERENCE = (
    "a difference from the controls: answers change as much where a cause has no effect"
)
PAIRS = "power: more pairs"
UNLIKE = "a second kind of change that does no more than its placebo"
UNEXPLAINED = (
    "a difference in the run: there, answers are as often right with the cue as without"
)


Party = tuple[Witness, ...]
Part = tuple[Witness, Bool[np.ndarray, " pair"]]


def is_coarse(witness: Witness) -> bool:
    """Whether all of a frame is changed, with whatever is in it."""
    return witness.plugin.needs == "frames"


def is_full(witness: Witness, taken: float | None) -> bool:
    """Whether it changes all of the cue, as far as is known, and no more than its region."""
    # what changes a whole picture is about this cue only as far as pictures show it
    took_it = witness.plugin.needs != "still" if taken is None else taken >= LEAST
    return took_it and not witness.plugin.partial and not is_coarse(witness)


@dataclass(frozen=True, eq=False, kw_only=True)
class Testimony(Witness):
    """A witness with its effect, and what this says of the cue.

    `taken` is how much of the cue its change takes out of pictures, or puts into them, beyond the
    placebo; None where pictures cannot tell.
    """

    effect: Effect
    decision: Decision
    taken: float | None = None

    @property
    def removes(self) -> bool:
        """Whether the cue is taken out."""
        return self.plugin.effect == "removes"

    @property
    def is_partial(self) -> bool:
        """Whether it changes a part of the cue: whole pictures may be matched in other things."""
        return self.plugin.needs != "still" or (self.taken or 0.0) >= A_PART

    @property
    def confirms(self) -> bool:
        """Whether it shows the cue to be a cause."""
        return self.decision == "confirms"

    @property
    def accuracy(self) -> Float[np.ndarray, "3"]:
        """Share of right answers as the samples are, changed, and with the placebo."""
        with_cue = self.answers.right[self.answers.with_cue]
        return np.asarray(with_cue.mean(axis=0))


@dataclass(frozen=True, eq=False)
class Row:
    """A cue with all that was measured of it; `lost` is accuracy over all samples.

    `effect` is how large it is, `together` the test of all full witnesses.
    """

    target: Target
    measured: Sequence[Testimony]
    unmeasured: Sequence[Witness]
    ruling: Ruling
    effect: Estimate[float] | None = None
    together: Effect | None = None
    lost: Estimate[float] | None = None

    @property
    def fine(self) -> list[Testimony]:
        """The witnesses that change less than a whole frame."""
        return [testimony for testimony in self.measured if not is_coarse(testimony)]

    @property
    def pooled(self) -> list[Testimony]:
        """The witnesses whose figures make that of the cue: the fullest that there are."""
        return fullest(self.measured)

    @property
    def excess(self) -> float:
        """The effect beyond all controls, in the middle of these witnesses."""
        return float(np.median([testimony.effect.least for testimony in self.pooled]))

    @property
    def decisive(self) -> Testimony | None:
        """The witness with the clearest effect; of whole frames where no finer one decides."""
        return min(self.fine or self.measured, key=_clearness, default=None)

    @property
    def confirming(self) -> list[Testimony]:
        """The witnesses that confirm, those that take the cue out before others, clearest first."""
        return sorted(
            [testimony for testimony in self.measured if testimony.confirms],
            key=lambda testimony: (not testimony.removes, testimony.effect.corrected),
        )

    def clearest(self, *, removes: bool) -> list[Testimony]:
        """Of the finer ones those that confirm in one direction, the largest sure effect first."""
        able = [
            testimony
            for testimony in self.fine
            if testimony.confirms and testimony.removes == removes
        ]
        return sorted(able, key=lambda testimony: -testimony.effect.low)


def fullest(measured: Sequence[Testimony]) -> list[Testimony]:
    """The witnesses that change all of a cue and no more, else what leaves some, else all of it."""
    fine = [testimony for testimony in measured if not is_coarse(testimony)]
    full = [testimony for testimony in fine if is_full(testimony, testimony.taken)]
    region = [testimony for testimony in fine if testimony.plugin.needs != "still"]
    return full or region or fine or list(measured)


def _clearness(testimony: Testimony) -> tuple[float, float]:
    # p-values have a least value: among many of these the size decides
    return testimony.effect.corrected, -testimony.effect.least


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
    """Every witness's effect, and that of all full ones together; p-values are corrected (Holm)."""
    study = dossier.study
    # placebos are no tests of their own, and cost no correction
    tested = [
        witness
        for witness in dossier.witnesses
        if witness.target.role == "finding" and is_tested(study, witness)
    ]
    taken: dict[Witness, float | None] = {}
    full: dict[Target, Party] = {}
    for target in dossier.targets:
        of_target = [witness for witness in tested if witness.target is target]
        taken |= _shares_taken(study, target, of_target)
        party = tuple(
            witness for witness in of_target if is_full(witness, taken[witness])
        )
        if len(set(map(_kind, party))) > 1:
            full[target] = party
    parties: list[Party] = [(witness,) for witness in tested]
    parties += full.values()
    # two-sided intervals whose lower ends are those of one-sided tests
    confidence = 1 - 2 * (1 - study.options.confidence) / max(len(parties), 2)
    effects = correct([_effect_of(dossier, party, confidence) for party in parties])
    by_party = dict(zip(parties, effects, strict=True))
    rows = []
    for target in dossier.targets:
        measured = []
        for witness in tested:
            if witness.target is target:
                effect = by_party[(witness,)]
                measured.append(_testimony(study, witness, effect, taken[witness]))
        together = by_party[full[target]] if target in full else None
        rows.append(_row(dossier, target, measured, together))
    rows.sort(key=_rank)
    return Results(study, rows, len(parties), confidence)


def _shares_taken(
    study: Study,
    target: Target,
    witnesses: Sequence[Witness],
) -> dict[Witness, float | None]:
    """How much of the cue each witness takes out or puts in; None where pictures cannot tell."""
    recogniser = recogniser_of(study, target) if witnesses else None
    if recogniser is None:
        return dict.fromkeys(witnesses)
    taken: dict[Witness, float | None] = {}
    for witness in witnesses:
        # the user's own pairs are what the change is told by, and not the other way round
        is_given = witness.plugin.needs == "pair"
        taken[witness] = None if is_given else share_changed(recogniser, witness)
    # edits of the model leave the pictures: of their region the others' changes tell
    shares = [
        share
        for witness, share in taken.items()
        if share is not None and witness.plugin.needs == "region"
    ]
    for witness in witnesses:
        if shares and witness.edits_model and witness.plugin.needs == "region":
            taken[witness] = max(shares)
    return taken


def _kind(witness: Witness) -> tuple[str, str]:
    """What it is beside, and which way it goes: witnesses of one kind may err alike."""
    return witness.plugin.placebo, witness.plugin.effect


def _effect_of(
    dossier: Dossier,
    party: Party,
    confidence: float,
) -> Effect:
    """What some witnesses do to a cue: of each sample the mean over those that changed it."""
    study = dossier.study
    showing = [(witness, witness.answers.with_cue) for witness in party]
    change, groups = _mean_changes(showing, PLACEBO)
    alone, _ = _mean_changes(showing, AS_IS)
    controls: dict[Control, Measure] = {}
    for name, parts in controls_of(dossier, party).items():
        controls[name] = _mean_changes(parts, PLACEBO)
    names = [witness.spec for witness in party]
    rng = study.rng("effect", party[0].target.cue.id, *names)
    return effect_of(change, groups, controls, rng, confidence, alone)


def _mean_changes(parts: Sequence[Part], column: int) -> Measure:
    """Beyond a column, of each sample the mean over some pairs of several witnesses."""
    changes: dict[str, list[float]] = {}
    samples = {}
    for witness, rows in parts:
        values = change_beyond(witness, column)[rows].tolist()
        for pair, value in zip(
            compress(witness.answers.pairs, rows), values, strict=True
        ):
            sample = pair.case.sample
            samples[sample.key] = sample
            changes.setdefault(sample.key, []).append(value)
    means = np.array(list(map(np.mean, changes.values())))
    return means, Groups.of(list(samples.values()))


def _testimony(
    study: Study,
    witness: Witness,
    effect: Effect,
    taken: float | None,
) -> Testimony:
    options = study.options
    decision = decide(
        effect,
        level=1 - options.confidence,
        margin=options.margin,
        claimed=_claimed(witness.target),
    )
    return Testimony(**vars(witness), effect=effect, decision=decision, taken=taken)


def _claimed(target: Target) -> float:
    # an effect far below the gap in the run would not explain it
    return target.direction.sure_gap * OF_GAP


def _row(
    dossier: Dossier,
    target: Target,
    measured: Sequence[Testimony],
    together: Effect | None,
) -> Row:
    study = dossier.study
    asked = {testimony.spec for testimony in measured}
    unmeasured = [
        witness for witness in dossier.witnesses_of(target) if witness.spec not in asked
    ]
    ruling = _ruling(target, measured, unmeasured)
    row = Row(target, measured, unmeasured, ruling, together=together)
    if not measured:
        return row
    sizes = {
        testimony: _size_of(testimony, testimony.answers.values, study)
        for testimony in row.pooled
    }
    pooled = Estimate.pooled(list(sizes.values()))
    row = replace(row, effect=pooled)
    if together is not None and ruling.missing in (POWER, SECOND, DIFFERENCE):
        row = replace(row, ruling=_by_all(study, row, together, sizes))
    if row.ruling.verdict != "causes":
        return row
    # what several witnesses cannot tell from nothing is no cause, however sure one of them is
    if pooled.low <= 0 or pooled.high < study.options.margin:
        return replace(row, ruling=Ruling("cannot tell", missing=SPREAD))
    # what is not shown to cause answers has cost none
    return replace(row, lost=_lost(row, study))


def _by_all(
    study: Study,
    row: Row,
    together: Effect,
    sizes: Mapping[Testimony, Estimate[float]],
) -> Ruling:
    """A cause by all full witnesses together, where each alone has too few samples.

    Witnesses of two kinds must have a size worth the name.
    """
    options = study.options
    is_sure = together.corrected <= 1 - options.confidence
    is_small = together.high < max(options.margin, _claimed(row.target))
    if not is_sure or is_small or not row.target.direction.shown:
        return row.ruling
    telling = [
        testimony
        for testimony, size in sizes.items()
        if size.value >= options.margin / 2
    ]
    if len(set(map(_kind, telling))) < 2:
        return row.ruling
    sides = {testimony.removes for testimony in telling}
    return Ruling(
        "causes", necessary=True in sides, sufficient=False in sides, together=True
    )


def _size_of(
    testimony: Testimony,
    values: Float[np.ndarray, "pair 3"],
    study: Study,
) -> Estimate[float]:
    """What all of the cue does to these values, with an interval of its own, not for all tests.

    A test asks for more than the placebo. A size is told from what the same change does where there
    is no cue, at a place as like it as any, where that is known: another place is other damage
    (difference in differences). Where a part of the cue was changed, all of it is taken to do in
    proportion more (the estimator of Wald, 1940, with the cue in the picture as the treatment).
    """
    shows = testimony.answers.with_cue
    confidence = study.options.confidence

    def mean_of(rows: Bool[np.ndarray, " pair"], beyond: int) -> Estimate[float]:
        change = _signed(testimony, values[:, CHANGED] - values[:, beyond])[rows]
        groups = groups_of(testimony.answers, rows)
        low, high = change_interval(change, groups, confidence=confidence)
        mean = float(change.mean())
        return Estimate(
            mean, mean if low is None else low, mean if high is None else high
        )

    is_elsewhere = testimony.plugin.placebo in ("elsewhere", "other frames")
    if is_elsewhere and (~shows).sum() >= study.options.least:
        size = mean_of(shows, AS_IS).minus(mean_of(~shows, AS_IS))
    else:
        size = mean_of(shows, PLACEBO)
    part = 1.0 if testimony.taken is None else min(max(testimony.taken, LEAST), 1.0)
    # no more answers can be moved than there are: of nothing to 0, and of all to 1
    as_is = values[shows, AS_IS].mean()
    ends = _signed(testimony, np.array([-as_is, 1 - as_is]))
    figures = np.clip(
        np.array([size.value, size.low, size.high]) / part, ends.min(), ends.max()
    )
    return Estimate(*figures.tolist())


def is_tested(study: Study, witness: Witness) -> bool:
    """Whether a witness can decide: it applies, has a placebo, and its place is well known.

    All of this is known before the answers.
    """
    count = witness.answers.with_cue.sum()
    if witness.plugin.placebo == "none" or count < study.options.least:
        return False
    if witness.plugin.needs in EXACT:
        return True
    located = witness.target.located
    return located is not None and located.is_sure


def _rank(row: Row) -> tuple[bool, float, float]:
    lost = row.lost.value if row.lost else 0.0
    # below any effect: what was not measured stands last
    effect = row.effect.value if row.effect else -1.0
    return row.ruling.verdict != "causes", -lost, -effect


def change_beyond(
    witness: Witness,
    column: int,
) -> Float[np.ndarray, " pair"]:
    """What the intervention does beyond a column, positive where it is what a cause would do."""
    values = witness.answers.values
    return _signed(witness, values[:, CHANGED] - values[:, column])


def _signed(
    witness: Witness,
    change: Float[np.ndarray, " pair"],
) -> Float[np.ndarray, " pair"]:
    sign = witness.target.direction.sign
    # putting a cue in does the reverse of taking it out
    return np.asarray(
        -sign * change if witness.plugin.effect == "inserts" else sign * change
    )


def groups_of(
    answers: Answers,
    rows: Bool[np.ndarray, " pair"],
) -> Groups:
    """The groups of the samples of some pairs."""
    pairs = compress(answers.pairs, rows)
    return Groups.of([pair.case.sample for pair in pairs])


def controls_of(dossier: Dossier, party: Party) -> dict[Control, list[Part]]:
    """Where a cause would do nothing, as far as enough samples tell what is done there."""
    study = dossier.study
    controls: dict[Control, list[Part]] = {}
    for witness in party:
        without = ~witness.answers.with_cue
        # fewer would decide nothing, and cost the power
        if without.sum() >= study.options.least:
            controls.setdefault("without the cue", []).append((witness, without))
        for name, placebo in witness.target.placebos.items():
            for other in dossier.witnesses_of(placebo):
                if other.plugin is not witness.plugin or not is_tested(study, other):
                    continue
                if _is_as_large(witness, other):
                    # a placebo is changed where it is, and nowhere else
                    part = other, other.answers.with_cue
                    controls.setdefault(name, []).append(part)
    return controls


def _is_as_large(witness: Witness, other: Witness) -> bool:
    """Whether both change about as much of a frame: a larger region is more damage by itself."""
    if witness.plugin.needs != "region":
        return True
    areas = []
    for side in (witness, other):
        located = side.target.located
        areas.append((located.area or 0.0) if located else 0.0)
    return max(areas) <= ALIKE * min(areas)


def _ruling(
    target: Target,
    measured: Sequence[Testimony],
    unmeasured: Sequence[Witness],
) -> Ruling:
    if any(testimony.plugin.needs == "pair" for testimony in measured):
        return _by_pairs(measured)
    if target.located is None:
        return Ruling("cannot tell", missing=f"a place for the cue: {target.reason}")
    is_located = target.located.is_sure
    has_pairs = any(witness.answers.pairs for witness in unmeasured)
    # pairs were made, but too few: no tool would help
    if has_pairs and is_located and not measured:
        return Ruling("cannot tell", missing="samples with the cue")
    removing: list[Decision] = []
    inserting: list[Decision] = []
    coarse = []
    partial = []
    moves_answers = False
    for testimony in measured:
        effect = testimony.effect
        # beyond its placebo but not its controls: more samples need not help
        if testimony.decision == "undecided" and effect.low > 0 and effect.controls:
            moves_answers = True
        if is_coarse(testimony):
            coarse.append(testimony.decision)
        # what leaves something of the cue proves nothing where it has no effect, and where it has
        # one, what it changed may be the company of the cue
        elif is_full(testimony, testimony.taken):
            side = removing if testimony.removes else inserting
            side.append(testimony.decision)
        elif testimony.confirms and testimony.is_partial:
            partial.append(testimony.decision)
    ruling = rule(
        removing,
        inserting,
        coarse,
        partial,
        located=bool(measured) or is_located,
        exact=all(testimony.plugin.needs in EXACT for testimony in measured),
    )
    if ruling.verdict == "causes" and not target.direction.shown:
        return Ruling("cannot tell", missing=UNEXPLAINED)
    if ruling.verdict == "accompanies" and _is_of_one_kind(measured):
        return Ruling("cannot tell", missing=UNLIKE)
    if ruling.missing == POWER and moves_answers:
        return replace(ruling, missing=DIFFERENCE)
    return ruling


def _by_pairs(measured: Sequence[Testimony]) -> Ruling:
    """The user's own pairs differ in the cue alone: no second kind of change has to agree."""
    [decision] = [testimony.decision for testimony in measured]
    if decision == "confirms":
        return Ruling("causes", necessary=True)
    return (
        Ruling("accompanies")
        if decision == NO_MORE
        else Ruling("cannot tell", missing=PAIRS)
    )


def _is_of_one_kind(measured: Sequence[Testimony]) -> bool:
    """Whether all that says that nothing moves is one kind of change, of a place that was learned.

    What is blanked, blurred or hidden takes a part of the object along, and the damage may be as
    large as what the cue does; what comes from a donor leaves edges.
    """
    saying = [testimony for testimony in measured if testimony.decision == NO_MORE]
    kinds = {
        _kind(testimony) for testimony in saying if is_full(testimony, testimony.taken)
    }
    located = saying[0].target.located if saying else None
    is_learned = located is not None and located.auroc is not None
    is_exact = all(
        testimony.plugin.needs in EXACT or is_coarse(testimony) for testimony in saying
    )
    return is_learned and not is_exact and len(kinds) < 2


def _lost(row: Row, study: Study) -> Estimate[float] | None:
    """What the cue does to right answers times how often it is there.

    The population-attributable risk (Levin, 1953) by intervention, in the middle of the witnesses,
    of those that take the cue out where there are any.
    """
    # right answers and wrong ones alike; and of pairs alone nobody knows how common the cue is
    is_of_both = row.target.direction.toward == "its own answer"
    if is_of_both or row.target.located is None:
        return None
    # a clip that stands still is no sample as it is
    able = [
        testimony
        for testimony in row.pooled
        if testimony.removes or not is_coarse(testimony)
    ]
    removing = [testimony for testimony in able if testimony.removes] or able
    if not removing:
        return None
    pooled = Estimate.pooled(
        [_size_of(testimony, testimony.answers.right, study) for testimony in removing]
    )
    share = share_showing(row.target)
    # right answers are won where the cue goes, whichever answer the cue pulls to
    sign = row.target.direction.sign
    figures = sorted((sign * pooled.low, sign * pooled.high))
    return Estimate(sign * pooled.value * share, figures[0] * share, figures[1] * share)


def share_showing(target: Target) -> float:
    """Of the held-out samples, the share that is judged and shows the cue."""
    located = target.located
    if located is None:
        return 0.0
    judged = {key for key, sample in target.samples.items() if target.is_judged(sample)}
    showing = judged & located.places.keys()
    without = judged & located.without
    # of a sample in neither nobody knows
    share = len(showing) / max(len(showing | without), 1)
    # the pool may hold more judged samples than the data: their share is put right
    return share * len(judged) / len(target.samples)


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
