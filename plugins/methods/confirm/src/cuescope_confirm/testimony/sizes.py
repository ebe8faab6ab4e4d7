"""How large the effect of a cue is, and what it costs: one figure of all that was measured."""

from collections.abc import Callable, Sequence
from operator import attrgetter

import numpy as np
from jaxtyping import Bool, Float

from cuescope_confirm.locating import Target
from cuescope_confirm.study import Study
from cuescope_confirm.testimony.effects import EXACT, groups_of, turn_to_effect
from cuescope_confirm.testimony.votes import Vote, party_of
from cuescope_confirm.testimony.witnesses import (
    AS_IS,
    CHANGED,
    PLACEBO,
    Answers,
    Witness,
)
from cuescope_sdk.statistics import Estimate, change_interval

# spread of what all interventions do wrong alike: with so much, 95% intervals of the cases in
# worlds that were opened once hold as many truths as they say
UNSEEN = 0.035


def size_of(
    votes: Sequence[Vote],
    study: Study,
    alike: Estimate[float] | None = None,
) -> Estimate[float]:
    """What the cue does to the probability of the answer that it moves.

    Changes are one figure, and what samples as they are say of it, with all else `alike`, another:
    whatever is wrong with changes is wrong with several of them.
    """
    changed = _middle(votes, study, attrgetter("values"))
    if alike is None:
        return changed
    size = Estimate.weighed([changed, alike], UNSEEN)
    # what two unlike figures leave open is no more than there is
    ends = np.array(
        [_ends(witness, witness.answers.values) for witness in party_of(votes)]
    )
    figures = np.array([size.value, size.low, size.high])
    return Estimate(*figures.clip(ends.min(), ends.max()).tolist())


def _middle(
    votes: Sequence[Vote],
    study: Study,
    figures: Callable[[Answers], Float[np.ndarray, "pair 3"]],
) -> Estimate[float]:
    """The middle of the kinds, each of which is the middle of its witnesses.

    So three ways to destroy a region are one figure, beside one of what a donor gives.
    """
    kinds = []
    for vote in votes:
        sizes = [
            _size_by(witness, vote.part, figures(witness.answers), study)
            for witness in vote.party
        ]
        kinds.append(Estimate.pooled(sizes, [vote.removes] * len(sizes)))
    sets = [vote.removes for vote in votes]
    # pairs of the user's own are no intervention
    is_given = all(vote.needs == "pair" for vote in votes)
    return Estimate.pooled(kinds, sets, 0.0 if is_given else UNSEEN)


def _size_by(
    witness: Witness,
    part: float,
    values: Float[np.ndarray, "pair 3"],
    study: Study,
) -> Estimate[float]:
    """What all of the cue does to these values, with an interval of its own, not for all tests.

    A test asks for more than the placebo. A size is told from what the same change does where there
    is no cue, at a place as like it as any, where that is known: another place is other damage
    (difference in differences). Samples that are taken for the cue's and are not dilute it, and
    that is put right. Where a part of the cue was changed, all of it is taken to do more (after
    Wald, 1940, with the cue in the picture as the treatment); how much more is not known, so the
    interval holds both ends.
    """
    shows = witness.answers.with_cue
    confidence = study.options.confidence

    def mean_of(rows: Bool[np.ndarray, " pair"], beyond: int) -> Estimate[float]:
        changes = turn_to_effect(witness, values[:, CHANGED] - values[:, beyond])
        change = changes[rows]
        groups = groups_of(witness.answers, rows)
        low, high = change_interval(change, groups, confidence=confidence)
        mean = float(change.mean())
        return Estimate(
            mean, mean if low is None else low, mean if high is None else high
        )

    is_elsewhere = witness.plugin.placebo in ("elsewhere", "other frames")
    if is_elsewhere and (~shows).sum() >= study.options.least:
        size = mean_of(shows, AS_IS).minus(mean_of(~shows, AS_IS))
    else:
        size = mean_of(shows, PLACEBO)
    # in proportion: of twice the distance from all to the part
    taken = part / (2 - part)
    purity = _purity(witness)
    figures = np.array(
        [
            size.value / (part * purity),
            min(size.low, size.low / (taken * purity)),
            max(size.high, size.high / (taken * purity)),
        ]
    )
    return Estimate(*figures.clip(*_ends(witness, values)).tolist())


def _ends(witness: Witness, values: Float[np.ndarray, "pair 3"]) -> tuple[float, float]:
    """Between what an effect may be: no more answers can be moved than there are."""
    as_is = values[witness.answers.with_cue, AS_IS].mean()
    # of nothing to 0, and of all to 1
    ends = turn_to_effect(witness, np.array([-as_is, 1 - as_is]))
    return float(ends.min()), float(ends.max())


def _purity(witness: Witness) -> float:
    """Of the samples that are taken for the cue's, the share that can be moved by it."""
    located = witness.target.located
    # nobody had to tell where words or a pair of the user's own show it
    if located is None or witness.plugin.needs in EXACT:
        return 1.0
    return located.purity


def accuracy_lost(
    target: Target,
    votes: Sequence[Vote],
    study: Study,
) -> Estimate[float] | None:
    """What the cue does to right answers times how often it is there.

    The population-attributable risk (Levin, 1953) by intervention, in the middle of the kinds, of
    those that take the cue out where there are any.
    """
    # right answers and wrong ones alike; and of pairs alone nobody knows how common the cue is
    is_of_both = target.direction.toward == "its own answer"
    if is_of_both or target.located is None:
        return None
    # a clip that stands still is no sample as it is
    able = [vote for vote in votes if vote.removes or vote.standing != "coarse"]
    removing = [vote for vote in able if vote.removes] or able
    if not removing:
        return None
    lost = _middle(removing, study, attrgetter("right"))
    # right answers are won where the cue goes, whichever answer the cue pulls to
    share = target.direction.sign * share_showing(target)
    low, high = sorted((share * lost.low, share * lost.high))
    # that share counts samples that do not show it, too; the interval holds that some are missed
    purity = np.mean([_purity(witness) for vote in removing for witness in vote.party])
    value = float(np.clip(purity * share * lost.value, low, high))
    return Estimate(value, low, high)


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
