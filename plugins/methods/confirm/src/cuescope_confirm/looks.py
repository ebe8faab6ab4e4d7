"""Two looks: where half of the samples decide, the others are not asked about.

Nor where more samples would say the same: each change surely does no more than its placebo, or does
less than half of what counts where none of them could acquit.

Within each look, placebo cues are asked about last, and only where a change of the finding surely
moves answers: they can take such a verdict back, and nothing else.

The error that is allowed is shared out over both looks (Bonferroni), so the rule keeps its level.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from cuescope_confirm.analysis import Results, measure
from cuescope_confirm.locating import Target
from cuescope_confirm.scores import NO_MORE
from cuescope_confirm.testimony.effects import harm_of
from cuescope_confirm.testimony.votes import ENOUGH
from cuescope_confirm.testimony.witnesses import AS_IS, Dossier, Witness
from cuescope_confirm.trials import (
    SEEN,
    ask,
    slots,
    with_answers,
    with_left_out,
    with_next,
)
from cuescope_confirm.verdicts.row import Row
from cuescope_confirm.verdicts.undecided import NOTHING_TO_EXPLAIN
from cuescope_sdk import Audit, Outcome
from cuescope_sdk.report import count_of

UNNEEDED = "nothing that is done to a finding surely moves answers"
FIRST = 0.2  # of the error that is allowed
FEW = 30  # pairs that tell whether a placebo moves answers by itself
# times the fewest samples that decide: what has fewer pairs is asked about whole at once
LEAST = 3
# of what may follow, for the time left: how much likely does
OF_SECOND_LOOK = 0.5
OF_PLACEBOS = 0.3
OF_READING = 0.1  # few cues are causes,
OF_MOVING = 0.5  # and more of those that move answers


@dataclass(frozen=True)
class Later:
    """Trials that may follow a look: answers to be `read`, and a second look at the `rest`."""

    read: int
    share_read: float = OF_READING
    rest: int = 0

    def say(self, audit: Audit, placebos: int = 0) -> None:
        """How many follow the next call, these of placebo cues among them."""
        likely = self.share_read * self.read
        likely += OF_SECOND_LOOK * self.rest + OF_PLACEBOS * placebos
        audit.expect_more(self.read + self.rest + placebos, likely)


def ask_in_looks(dossier: Dossier) -> tuple[Dossier, Sequence[Outcome]]:
    """As `ask`, but of what the first half of each witness's pairs decides only this half."""
    # for the time left: what is read of the model's reasoning in the end
    later = Later(dossier.study.audit.more_trials or 0)
    dossier = _within_budget(_gentle(dossier, later))
    study = dossier.study
    # a plan counts what is asked at most; pairs of the user's own have no placebo cues
    if study.audit.context.planning or study.options.pairs is not None:
        return ask(dossier)
    # of fewer pairs a half would decide nothing
    fewest = LEAST * study.options.least
    many = {
        witness
        for witness in dossier.witnesses
        if witness.answers.with_cue.sum() >= fewest
    }
    audit = study.audit
    if study.options.looks == 1 or not many:
        return _ask_placebos_last(dossier, later)
    in_half = [
        _part(witness, 0.5) if witness in many else witness
        for witness in dossier.witnesses
    ]
    half = replace(dossier, witnesses=in_half)
    rest = _count(dossier) - _count(half)
    first, outcomes = _ask_placebos_last(
        _at_share(half, FIRST), replace(later, rest=rest)
    )
    results = measure(with_answers(first, outcomes))
    margin = study.options.margin
    decided = {row.target for row in results.rows if _is_decided(row, margin)}
    asked_in_half = {
        (witness.target, witness.spec): witness
        for witness in half.witnesses
        if witness.answers.pairs
    }
    dossier = with_left_out(dossier, _unmoved(results), SEEN)
    witnesses = []
    for witness in dossier.witnesses:
        # a placebo goes on as long as a finding that is held against it
        owners = {
            target
            for target in dossier.targets
            if witness.target in _with_placebos(target)
        }
        asked = asked_in_half.get((witness.target, witness.spec), witness)
        is_half = owners <= decided or _is_of_other_property(results, witness)
        witnesses.append(asked if is_half else witness)
    audit.note(
        "looks",
        f"half of the samples were asked about first, which saves time: {len(decided)} of "
        f"{count_of(len(results.rows), 'cues')} decided by half of the samples",
    )
    share_read = OF_MOVING * len(_moving(results)) / max(len(results.rows), 1)
    second = _at_share(replace(dossier, witnesses=witnesses), 1 - FIRST)
    later = replace(later, share_read=share_read)
    return _ask_placebos_last(second, later, asked=_count_placebos(first))


def _gentle(dossier: Dossier, later: Later) -> Dossier:
    """Of each kind a change whose placebo leaves answers as they are, as far as a few pairs tell.

    The one that changes least in pictures, else another. Where one of two kinds that seemed enough
    does damage, what changes a part; where all that is done to the pictures of a cue does, what is
    done inside the model. The few pairs are asked about anyway.
    """
    options = dossier.study.options
    # what a user names is asked about in any case, and a budget has no place for what is in vain
    if options.interventions or options.max_calls is not None:
        return dossier
    if dossier.study.audit.context.planning:
        return _with_all_that_may_follow(dossier)
    has_inside = _left_out(dossier, SEEN)
    has_partial = _left_out(dossier, ENOUGH)
    trying = [
        witness
        for witness in dossier.witnesses
        if witness.answers.pairs
        and (witness.instead or witness.target in has_inside | has_partial)
    ]
    dossier, harmful = _try(dossier, trying, later)
    lost = {
        target
        for target in has_inside
        if harmful.keys() >= set(_asked(dossier, target))
    }
    witnesses = []
    for witness in dossier.witnesses:
        if witness in harmful and witness.target in lost:
            witness = witness.unasked(harmful[witness])
        # others of its kind are not kept any longer
        witnesses.append(replace(witness, instead=()))
    dossier = replace(dossier, witnesses=witnesses)
    too_few = has_partial & {witness.target for witness in harmful}
    dossier = with_left_out(dossier, too_few, ENOUGH)
    return with_left_out(dossier, lost, SEEN)


def _left_out(dossier: Dossier, reason: str) -> set[Target]:
    """The cues of which some witness is left out for this reason."""
    return {witness.target for witness in dossier.witnesses if witness.reason == reason}


def _with_all_that_may_follow(dossier: Dossier) -> Dossier:
    """With a few pairs of others of each kind, and what is done inside the model."""
    others = chain.from_iterable(first.instead for first in dossier.witnesses)
    for reason in (ENOUGH, SEEN):
        dossier = with_left_out(dossier, dossier.targets, reason)
    return replace(dossier, witnesses=[*dossier.witnesses, *map(_few, others)])


def _try(
    dossier: Dossier,
    trying: Sequence[Witness],
    later: Later,
) -> tuple[Dossier, Mapping[Witness, str]]:
    """With the next of its kind in place of each that does damage, and those that have no next."""
    study = dossier.study
    last: dict[Witness, str] = {}
    while trying:
        replace(later, rest=_count(dossier)).say(study.audit)
        few = replace(dossier, witnesses=list(map(_few, trying)))
        told = with_answers(*ask(few)).witnesses
        failed: dict[Witness, str] = {}
        for witness, of_few in zip(trying, told, strict=True):
            reason = of_few.reason or harm_of(study, of_few)
            if reason is not None:
                side = failed if witness.instead else last
                side[witness] = reason
        known = set(dossier.witnesses)
        dossier = with_next(dossier, failed)
        asked = chain.from_iterable(
            _asked(dossier, target) for target in dossier.targets
        )
        trying = [witness for witness in asked if witness not in known]
    return dossier, last


def _asked(dossier: Dossier, target: Target) -> list[Witness]:
    return [
        witness for witness in dossier.witnesses_of(target) if witness.answers.pairs
    ]


def _few(witness: Witness) -> Witness:
    return replace(witness, answers=witness.answers.first(FEW), instead=())


def _count(dossier: Dossier) -> int:
    """How many trials are asked about: a sample as it is once, whatever is done to it."""
    plain = set()
    changed = 0
    for _, _, column, trial in slots(dossier):
        if column == AS_IS:
            plain.add((trial.sample.key, trial.sample.question))
        else:
            changed += 1
    return len(plain) + changed


def _unmoved(results: Results) -> set[Target]:
    """The undecided cues of which nothing that was done to pictures surely moves answers.

    It may have been done to something else, or harm both: samples as they are, with all else alike,
    say that something does.
    """
    options = results.study.options
    return {
        row.target
        for row in results.rows
        if row.ruling.verdict == "cannot tell"
        and row.is_said_as_they_are(options.margin)
        and not row.moves(1 - options.confidence)
    }


def _is_of_other_property(results: Results, witness: Witness) -> bool:
    """Whether it changes whole pictures in another way than what tells most of a finding."""
    if witness.plugin.needs != "still":
        return False
    for row in results.rows:
        if row.target is witness.target:
            return witness.plugin.changes not in {vote.changes for vote in row.votes}
    return False


def _count_placebos(dossier: Dossier) -> int:
    """Of these how many for placebo cues alone."""
    return _count(dossier) - _count(_only(dossier, dossier.targets))


def _ask_placebos_last(
    dossier: Dossier, later: Later, asked: int = 0
) -> tuple[Dossier, Sequence[Outcome]]:
    """As `ask`, of placebo cues only what is held against a change that surely moves answers.

    What follows is said before each call, for the time left: what comes `later`, and placebo cues
    but for the trials of theirs that were `asked` already.
    """
    audit = dossier.study.audit
    findings = set(dossier.targets)
    later.say(audit, max(0, _count_placebos(dossier) - asked))
    own, outcomes = ask(_only(dossier, findings))
    moving = _moving(measure(with_answers(own, outcomes)))
    needed = findings.union(*map(_with_placebos, moving))
    if needed == findings:
        return own, outcomes
    # what was said for an earlier call would be waited for again
    share_read = OF_MOVING * len(moving) / len(findings)
    replace(later, share_read=share_read).say(audit)
    return ask(_only(dossier, needed))


def _moving(results: Results) -> list[Target]:
    """The cues that surely move answers."""
    level = 1 - results.study.options.confidence
    return [row.target for row in results.rows if row.moves(level)]


def _only(dossier: Dossier, targets: Collection[Target]) -> Dossier:
    """Without what is asked about other targets."""
    witnesses = [
        witness
        if witness.target in targets or not witness.answers.pairs
        else witness.unasked(UNNEEDED)
        for witness in dossier.witnesses
    ]
    return replace(dossier, witnesses=witnesses)


def _at_share(dossier: Dossier, share: float) -> Dossier:
    """With a part of the error that is allowed."""
    study = dossier.study
    confidence = 1 - share * (1 - study.options.confidence)
    options = study.options.model_copy(update={"confidence": confidence})
    return replace(dossier, study=replace(study, options=options))


def _is_decided(row: Row, margin: float) -> bool:
    """Whether more of the same samples tell no more."""
    # what the run does not show is shown by no more samples
    if row.ruling.verdict != "cannot tell" or row.ruling.missing == NOTHING_TO_EXPLAIN:
        return True
    if not row.votes:
        return False
    # each kind surely does too little, and they are too few, or too alike, to acquit
    if all(vote.decision == NO_MORE for vote in row.votes):
        return True
    # nothing can acquit, and nothing is on its way to convict
    return not any(
        vote.can_acquit or vote.effect.value >= margin / 2 * vote.part
        for vote in row.votes
    )


def _with_placebos(target: Target) -> list[Target]:
    placebos = [
        placebo for placebo in target.placebos.values() if isinstance(placebo, Target)
    ]
    return [target, *placebos]


def _part(witness: Witness, share: float) -> Witness:
    """With a share of its pairs with the cue, and of those without it: their order is random."""
    answers = witness.answers
    shows = answers.with_cue
    # the place of each pair among those of its side
    rank = np.where(shows, shows.cumsum(), (~shows).cumsum()) - 1
    count = np.where(shows, shows.sum(), (~shows).sum())
    kept = rank < np.ceil(share * count)
    return replace(witness, answers=answers.unanswered(kept.tolist()))


def _within_budget(dossier: Dossier) -> Dossier:
    """With as many pairs of each witness as `max_calls` allows, by equal shares."""
    study = dossier.study
    most = study.options.max_calls
    count = _count(dossier)
    if most is None or count <= most:
        return dossier
    # rounded up for each witness, so a little less than its share
    share = most / count
    while count > most and share > 0:
        witnesses = [_part(witness, share) for witness in dossier.witnesses]
        smaller = replace(dossier, witnesses=witnesses)
        count = _count(smaller)
        share -= 0.01
    study.audit.note(
        "max_calls", f"each intervention changes {share + 0.01:.0%} of the samples"
    )
    return smaller
