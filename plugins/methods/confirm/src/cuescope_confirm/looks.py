"""Two looks: where half of the samples decide, the others are not asked about.

Nor where more samples would say the same: each change surely does no more than its placebo, or does
less than half of what counts where none of them could acquit.

Within each look, placebo cues are asked about last, and only where a change of the finding surely
moves answers: they can take such a verdict back, and nothing else.

The error that is allowed is shared out over both looks (Bonferroni), so the rule keeps its level.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from cuescope_confirm.analysis import UNEXPLAINED, Row, measure
from cuescope_confirm.locating import Target
from cuescope_confirm.scores import NO_MORE
from cuescope_confirm.testimony.witnesses import Answers, Dossier, Witness
from cuescope_confirm.trials import ask, trials_of, with_answers
from cuescope_sdk import Outcome

UNNEEDED = "nothing that is done to a finding surely moves answers"
FIRST = 0.2  # of the error that is allowed
LEAST = (
    4  # times the fewest samples that decide: with fewer pairs half of them is no look
)


def ask_in_looks(dossier: Dossier) -> tuple[Dossier, Sequence[Outcome]]:
    """As `ask`, but of what the first half of each witness's pairs decides only this half."""
    dossier = _within_budget(dossier)
    study = dossier.study
    # a plan counts what is asked at most; pairs of the user's own have no placebo cues
    if study.audit.context.planning or study.options.pairs is not None:
        return ask(dossier)
    half = replace(
        dossier, witnesses=[_part(witness, 0.5) for witness in dossier.witnesses]
    )
    fewest = LEAST * study.options.least
    most = max((len(witness.answers.pairs) for witness in dossier.witnesses), default=0)
    # for the time left: what is read of the model's reasoning in the end
    later = study.audit.more_trials or 0
    if study.options.looks == 1 or most < fewest:
        return _ask_placebos_last(dossier, later)
    # the second look asks as much again at most
    rest = _count(dossier) - _count(half)
    first, outcomes = _ask_placebos_last(_at_share(half, FIRST), later + rest)
    results = measure(with_answers(first, outcomes))
    margin = study.options.margin
    decided = {row.target for row in results.rows if _is_decided(row, margin)}
    witnesses = []
    for witness, in_half in zip(dossier.witnesses, half.witnesses, strict=True):
        # a placebo goes on as long as a finding that is held against it
        owners = {
            target
            for target in dossier.targets
            if witness.target in _with_placebos(target)
        }
        witnesses.append(in_half if owners <= decided else witness)
    study.audit.note(
        "looks",
        f"{len(decided)} of {len(results.rows)} cues decided by half of the samples",
    )
    second = _at_share(replace(dossier, witnesses=witnesses), 1 - FIRST)
    return _ask_placebos_last(second, later)


def _count(dossier: Dossier) -> int:
    """How many trials are asked about."""
    return len(list(trials_of(dossier)))


def _ask_placebos_last(
    dossier: Dossier, later: int
) -> tuple[Dossier, Sequence[Outcome]]:
    """As `ask`, of placebo cues only what is held against a change that surely moves answers.

    At most so many trials follow `later`: that is said before each call, for the time left.
    """
    audit = dossier.study.audit
    needed = set(dossier.targets)
    alone = _only(dossier, needed)
    audit.expect_more(later + _count(dossier) - _count(alone))
    own, outcomes = ask(alone)
    # what was said for an earlier call would be waited for again
    audit.expect_more(later)
    level = 1 - dossier.study.options.confidence
    for row in measure(with_answers(own, outcomes)).rows:
        if row.moves(level):
            needed.update(_with_placebos(row.target))
    if needed == set(dossier.targets):
        return own, outcomes
    return ask(_only(dossier, needed))


def _only(dossier: Dossier, targets: Collection[Target]) -> Dossier:
    """Without what is asked about other targets."""
    witnesses = [
        witness
        if witness.target in targets or not witness.answers.pairs
        else replace(witness, reason=UNNEEDED, answers=Answers.unknown())
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
    if row.ruling.verdict != "cannot tell" or row.ruling.missing == UNEXPLAINED:
        return True
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
