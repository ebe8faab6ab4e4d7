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
    SPREAD,
    Control,
    Decision,
    Effect,
    Measure,
    Ruling,
    Verdict,
    accuracy_lost,
    correct,
    decide,
    effect_of,
    rule,
)
from cuescope_confirm.study import Study, roots
from cuescope_confirm.trials import AS_IS, CHANGED, PLACEBO, Answers, Dossier, Witness
from cuescope_sdk.statistics import Estimate, Groups, change_interval

EXACT = ("words", "name", "modality", "question")  # what nobody has to locate
OF_GAP = 0.25  # of what the run shows; a place that is learned never holds all of a cue
DIFFERENCE = (
    "a difference from the controls: answers change as much where a cause has no effect"
)
UNLIKE = "a second kind of change that does no more than its placebo"
UNEXPLAINED = (
    "a difference in the run: there, answers are as often right with the cue as without"
)


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
    def is_coarse(self) -> bool:
        """Whether all of a frame is changed, with whatever is in it."""
        return self.plugin.needs == "frames"

    @property
    def is_full(self) -> bool:
        """Whether it changes all of the cue, as far as is known, and no more than its region."""
        # what changes a whole picture is about this cue only as far as pictures show it
        took_it = (
            self.plugin.needs != "still" if self.taken is None else self.taken >= LEAST
        )
        return took_it and not self.plugin.partial and not self.is_coarse

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
    """A cue with all that was measured of it; `lost` is accuracy over all samples."""

    target: Target
    measured: Sequence[Testimony]
    unmeasured: Sequence[Witness]
    ruling: Ruling
    effect: Estimate[float] | None = None
    lost: Estimate[float] | None = None

    @property
    def fine(self) -> list[Testimony]:
        """The witnesses that change less than a whole frame."""
        return [testimony for testimony in self.measured if not testimony.is_coarse]

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
    fine = [testimony for testimony in measured if not testimony.is_coarse]
    full = [testimony for testimony in fine if testimony.is_full]
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
    """Every witness's effect; p-values are corrected over all findings and witnesses (Holm)."""
    study = dossier.study
    # placebos are no tests of their own, and cost no correction
    tested = [
        witness
        for witness in dossier.witnesses
        if witness.target.role == "finding" and is_tested(study, witness)
    ]
    # two-sided intervals whose lower ends are those of one-sided tests
    confidence = 1 - 2 * (1 - study.options.confidence) / max(len(tested), 2)
    effects = []
    for witness in tested:
        with_cue = witness.answers.with_cue
        effect = effect_of(
            change_beyond(witness, PLACEBO)[with_cue],
            groups_of(witness.answers, with_cue),
            controls_of(dossier, witness),
            study.rng("effect", witness.target.cue.id, witness.spec),
            confidence,
            change_beyond(witness, AS_IS)[with_cue],
        )
        effects.append(effect)
    by_witness = dict(zip(tested, correct(effects), strict=True))
    rows = [_row(dossier, target, by_witness) for target in dossier.targets]
    rows.sort(key=_rank)
    return Results(study, rows, len(tested), confidence)


def _row(
    dossier: Dossier,
    target: Target,
    effects: Mapping[Witness, Effect],
) -> Row:
    options = dossier.study.options
    measured = []
    unmeasured = []
    recogniser = recogniser_of(dossier.study, target)
    # an effect far below the gap in the run would not explain it
    claimed = target.direction.sure_gap * OF_GAP
    for witness in dossier.witnesses_of(target):
        effect = effects.get(witness)
        if effect is None:
            unmeasured.append(witness)
            continue
        level = 1 - options.confidence
        decision = decide(effect, level=level, margin=options.margin, claimed=claimed)
        taken = None if recogniser is None else share_changed(recogniser, witness)
        testimony = Testimony(
            **vars(witness), effect=effect, decision=decision, taken=taken
        )
        measured.append(testimony)
    measured = _with_checks_of_place(measured)
    ruling = _ruling(target, measured, unmeasured)
    row = Row(target, measured, unmeasured, ruling)
    if not measured:
        return row
    pooled = Estimate.pooled(
        [_own_interval(testimony, options.confidence) for testimony in row.pooled]
    )
    row = replace(row, effect=pooled)
    if ruling.verdict != "causes":
        return row
    # what several witnesses cannot tell from nothing is no cause, however sure one of them is
    if pooled.low <= 0 or pooled.value < options.margin:
        return replace(row, ruling=Ruling("cannot tell", missing=SPREAD))
    # what is not shown to cause answers has cost none
    return replace(row, lost=_lost(row, options.confidence))


def _with_checks_of_place(measured: Sequence[Testimony]) -> list[Testimony]:
    """Edits of the model leave the pictures: of their region the others' changes tell."""
    shares = [
        testimony.taken
        for testimony in measured
        if testimony.taken is not None and testimony.plugin.needs == "region"
    ]
    if not shares:
        return list(measured)
    return [
        replace(testimony, taken=max(shares))
        if testimony.edits_model and testimony.plugin.needs == "region"
        else testimony
        for testimony in measured
    ]


def _own_interval(testimony: Testimony, confidence: float) -> Estimate[float]:
    """What a witness does beyond its placebo, with an interval of its own, not for all tests."""
    rows = testimony.answers.with_cue
    change = change_beyond(testimony, PLACEBO)[rows]
    groups = groups_of(testimony.answers, rows)
    low, high = change_interval(change, groups, confidence=confidence)
    value = float(change.mean())
    return Estimate(
        value, value if low is None else low, value if high is None else high
    )


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
    sign = witness.target.direction.sign
    # putting a cue in does the reverse of taking it out
    if witness.plugin.effect == "inserts":
        sign = -sign
    return np.asarray(sign * (values[:, CHANGED] - values[:, column]))


def groups_of(
    answers: Answers,
    rows: Bool[np.ndarray, " pair"],
) -> Groups:
    """The groups of the samples of some pairs."""
    pairs = compress(answers.pairs, rows)
    return Groups.of([pair.case.sample for pair in pairs])


def controls_of(dossier: Dossier, witness: Witness) -> dict[Control, Measure]:
    """What a witness does where a cause would do nothing, as far as enough samples tell it."""
    study = dossier.study
    controls: dict[Control, Measure] = {}
    without = ~witness.answers.with_cue
    # fewer would decide nothing, and cost the power
    if without.sum() >= study.options.least:
        change = change_beyond(witness, PLACEBO)[without]
        controls["without the cue"] = change, groups_of(witness.answers, without)
    for name, placebo in witness.target.placebos.items():
        for other in dossier.witnesses_of(placebo):
            if other.plugin is witness.plugin and is_tested(study, other):
                # a placebo is changed where it is, and nowhere else
                groups = groups_of(other.answers, other.answers.with_cue)
                controls[name] = change_beyond(other, PLACEBO), groups
    return controls


def _ruling(
    target: Target,
    measured: Sequence[Testimony],
    unmeasured: Sequence[Witness],
) -> Ruling:
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
        if testimony.is_coarse:
            coarse.append(testimony.decision)
        # what leaves something of the cue proves nothing where it has no effect, and where it has
        # one, what it changed may be the company of the cue
        elif testimony.is_full:
            side = removing if testimony.removes else inserting
            side.append(testimony.decision)
        # a whole picture that was matched in something else says nothing of this cue
        elif testimony.confirms and testimony.plugin.needs != "still":
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


def _is_of_one_kind(measured: Sequence[Testimony]) -> bool:
    """Whether all that says that nothing moves is one kind of change, of a place that was learned.

    What is blanked, blurred or hidden takes a part of the object along, and the damage may be as
    large as what the cue does; what comes from a donor leaves edges.
    """
    saying = [testimony for testimony in measured if testimony.decision == NO_MORE]
    kinds = {
        (testimony.plugin.placebo, testimony.removes)
        for testimony in saying
        if testimony.is_full
    }
    located = saying[0].target.located if saying else None
    is_learned = located is not None and located.auroc is not None
    is_exact = all(
        testimony.plugin.needs in EXACT or testimony.is_coarse for testimony in saying
    )
    return is_learned and not is_exact and len(kinds) < 2


def _lost(row: Row, confidence: float) -> Estimate[float] | None:
    """In the middle of the witnesses, of those that take the cue out where there are any."""
    if row.target.direction.toward == "its own answer":  # right ones and wrong ones
        return None
    # a clip that stands still is no sample as it is
    able = [
        testimony
        for testimony in row.pooled
        if testimony.removes or not testimony.is_coarse
    ]
    removing = [testimony for testimony in able if testimony.removes] or able
    share = share_showing(row.target)
    figures = []
    for testimony in removing:
        answers = testimony.answers
        with_cue = answers.with_cue
        right = answers.right[with_cue]
        gain = right[:, CHANGED] - right[:, PLACEBO]
        gain = gain if testimony.removes else -gain
        groups = groups_of(answers, with_cue)
        figures.append(accuracy_lost(gain, groups, share, confidence))
    return Estimate.pooled(figures) if figures else None


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
