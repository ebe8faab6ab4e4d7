"""The swap null: a trace that was written without its video is as true of other videos.

Each claim is held in its own place, and in the other places of its block: other videos, other clips
of the same source, or other moments of its trace. A place that is dealt at random within the block
is what a blind trace has. Pure functions of arrays; no model is asked.
"""

from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.random import Generator
from scipy.optimize import minimize
from scipy.special import betaln

from cuescope_sdk.statistics import (
    DetectionLimit,
    Estimate,
    Placement,
    share_beyond_chance,
)

HOLDS = 1
FAILS = 0
OPEN = -1
ASSUMED = 0.1  # share of grounded claims at which the test is most powerful
DRAWS = 9999
# Of a smallest share: how often it is found, of so many spiked audits.
POWER = 0.8
COPIES = 60
# Tried for the share of claims that are grounded, a row each, and for the luck of the others;
# short of 0 and 1, whose logarithms are not finite.
SHARES = np.linspace(0.001, 0.999, 100)[:, None]
LUCK = np.linspace(0.01, 1.0, 34)


@dataclass(frozen=True, eq=False)
class Swaps(Placement):
    """Verdicts of claims in the places of their blocks.

    `verdicts` are HOLDS, FAILS or OPEN; a place that a block does not have is OPEN. `wording`
    numbers claims that say the same, `unit` whose claim it is. By unit: its `block`, and which of
    the block's places is its own. `group` numbers, by unit, what was drawn independently. `shown`
    is, by unit, the place of the video that its blind trace was shown.
    """

    verdicts: Int[np.ndarray, "claim place"]
    wording: Int[np.ndarray, " claim"]
    unit: Int[np.ndarray, " claim"]
    group: Int[np.ndarray, " unit"]
    shown: Int[np.ndarray, " unit"] | None = None

    @cached_property
    def own(self) -> Int[np.ndarray, " claim"]:
        """The verdict of each claim in its own place."""
        column = self.place[self.unit]
        return np.asarray(self.verdicts[np.arange(len(column)), column])

    @cached_property
    def elsewhere(self) -> Float[np.ndarray, "2 claim"]:
        """How often each claim holds in places that are not its own, and how often it is decided.

        Claims that say the same are counted together, each without its own place.
        """
        return np.asarray(self._counts[:, self.wording] - self._in_own_place)

    @cached_property
    def _in_own_place(self) -> Bool[np.ndarray, "2 claim"]:
        return np.stack([self.own == HOLDS, self.own != OPEN])

    @cached_property
    def _counts(self) -> Float[np.ndarray, "2 wording"]:
        # without any claim there is no highest number
        size = int(self.wording.max(initial=-1)) + 1
        count = partial(np.bincount, self.wording, minlength=size)
        held = (self.verdicts == HOLDS).sum(axis=1)
        decided = (self.verdicts != OPEN).sum(axis=1)
        return np.stack([count(held), count(decided)])

    @property
    def rate_elsewhere(self) -> float | None:
        """The share of the claims, of those decided in other places of their block, that hold."""
        own = self._in_own_place.sum(axis=1)
        held, decided = (self._counts.sum(axis=1) - own).tolist()
        return held / decided if decided else None

    @cached_property
    def telling(self) -> Bool[np.ndarray, " claim"]:
        """Claims that hold in some places and not in others: all that a swap can show."""
        held, decided = self._counts
        telling = (held > 0) & (held < decided)
        return np.asarray(telling[self.wording])

    def table(self) -> Float[np.ndarray, "unit place"]:
        """The log-likelihood ratio of each unit's claims in each place of its block.

        Against chance stands that the share `ASSUMED` of claims is grounded: then a claim holds in
        its own place with chance share + (1 - share) * rate, where `rate` is how often it holds
        anywhere. So a claim that holds nearly everywhere tells little, and a false one costs the
        same whatever it says.
        """
        held, decided = self._counts
        # one that holds nowhere tells nothing, see below: the floor only saves the logarithm
        rates = np.clip(held / np.maximum(decided, 1), 1e-9, 1.0)
        rate = rates[self.wording, None]
        # the log of (share + (1 - share) * rate) / rate
        gain = np.log1p(ASSUMED * (1 / rate - 1))
        values = np.select(
            [self.verdicts == HOLDS, self.verdicts == FAILS],
            [gain, np.log1p(-ASSUMED)],
            0.0,
        )
        values[~self.telling] = 0.0
        # So that a place where nothing can be said is as good as the claim's other places.
        known = self.verdicts != OPEN
        middle = values.sum(axis=1) / np.maximum(known.sum(axis=1), 1)
        values -= np.where(known, middle[:, None], 0.0)
        _, places = self.verdicts.shape
        table = np.zeros((len(self.block), places))
        # add.at, for a unit has several claims: += would add only one of them
        np.add.at(table, self.unit, values)
        return table


def swap_p_value(swaps: Swaps, rng: Generator, *, draws: int = DRAWS) -> float:
    """How often places that are dealt anew within blocks fit the traces as well as their own."""
    return swaps.p_value(swaps.table(), rng, draws=draws)


def blind_p_value(swaps: Swaps, rng: Generator) -> float:
    """How often each of two traces fits the video that it was shown so much better than the other.

    Units come in pairs of one group: a trace, and a blind one of the same question, which was
    `shown` another video. A model that does not look writes both alike, so that they could be
    exchanged: how much better one fits the first video than the second says nothing then.
    """
    units = np.arange(len(swaps.place))
    blind = units % 2
    table = swaps.table()
    fit = table[units, swaps.place] - table[units, swaps.shown]
    # the place of a pair that is not blind counts, and the other does not
    roles = Placement(block=swaps.group, place=blind)
    counted = np.stack([fit, np.zeros(len(fit))], axis=1)
    return roles.p_value(counted, rng, draws=DRAWS)


# ---------------------------------------------------------------------------- how much is grounded


def grounded_share(swaps: Swaps, *, confidence: float = 0.95) -> Estimate[float] | None:
    """The share of claims that hold in their own place beyond luck, with its interval.

    Of the decided claims a share is grounded and holds; each other one is lucky as often as it
    holds elsewhere, or less often: what a model makes up may be false more often than by chance.
    None where nothing is decided in two places, or all that is claimed holds everywhere.
    """
    held, decided = swaps.elsewhere
    used = (swaps.own != OPEN) & (decided > 0)
    # what holds everywhere tells nothing
    if not used.any() or (held == decided)[used].all():
        return None
    holds = swaps.own[used] == HOLDS
    rate = _shrink(held[used], decided[used])
    rate = rate * _luck(holds, rate)
    # numbered anew: groups without a decided claim would leave gaps
    _, group = np.unique(
        swaps.group[swaps.unit[used]],
        return_inverse=True,
    )
    return share_beyond_chance(
        holds,
        rate,
        group,
        confidence=confidence,
    )


def _shrink(
    held: Float[np.ndarray, " claim"],
    decided: Float[np.ndarray, " claim"],
) -> Float[np.ndarray, " claim"]:
    """How often claims hold, from few places: the posterior mean under a fitted beta prior.

    Without it rates of few places are further apart than they are, and luck seems to be grounding.
    """

    def unlikeliness(logs: Float[np.ndarray, " 2"]) -> float:
        first, second = np.exp(logs)
        posterior = betaln(held + first, decided - held + second)
        return -float((posterior - betaln(first, second)).sum())

    # short of priors that are points
    bounds = [(-5.0, 5.0)] * 2
    fitted = minimize(unlikeliness, np.zeros(2), method="Nelder-Mead", bounds=bounds)
    first, second = np.exp(fitted.x)
    return np.asarray((held + first) / (decided + first + second))


def _luck(
    holds: Bool[np.ndarray, " claim"],
    rate: Float[np.ndarray, " claim"],
) -> float:
    """How often ungrounded claims hold, of the `rate` elsewhere: the likeliest, with any share."""
    best = (-np.inf, 1.0)
    for luck in LUCK:
        by_luck = luck * rate
        true = np.log(SHARES + (1 - SHARES) * by_luck[holds])
        false = np.log((1 - SHARES) * (1 - by_luck[~holds]))
        by_share = true.sum(axis=1) + false.sum(axis=1)
        likelihood = float(by_share.max())
        best = max(best, (likelihood, float(luck)))
    return best[1]


def smallest_share(swaps: Swaps, rng: Generator, *, level: float) -> float | None:
    """The smallest grounded share that 8 of 10 audits like this one find; None where none is.

    The claims of this audit are dealt to places at random, so that none is grounded; then a share
    of those that are decided is made to hold in its own place. Found is what is beyond `level`.
    """
    # the same copies and draws for every share, so that more is found of a larger one
    copies = [replace(swaps, place=swaps.deal(rng)) for _ in range(COPIES)]
    draws = [rng.random(len(swaps.unit)) for _ in range(COPIES)]

    def is_found(share: float) -> bool:
        found = missed = 0
        for copy, draw in zip(copies, draws, strict=True):
            spiked = _spike(copy, draw < share)
            if spiked.fits(spiked.table(), level):
                found += 1
            else:
                missed += 1
            # what the other copies say changes nothing any more
            if found >= POWER * COPIES or missed > COPIES - POWER * COPIES:
                break
        return found >= POWER * COPIES

    smallest = DetectionLimit.bisect(is_found)
    return None if np.isinf(smallest) else smallest


def _spike(swaps: Swaps, chosen: Bool[np.ndarray, " claim"]) -> Swaps:
    """The chosen claims hold in their own place."""
    verdicts = swaps.verdicts.copy()
    # what is open stays open: a grounded claim may be undecidable too
    rows = np.flatnonzero(chosen & (swaps.own != OPEN))
    verdicts[rows, swaps.place[swaps.unit[rows]]] = HOLDS
    return replace(swaps, verdicts=verdicts)


def noisy(swaps: Swaps, rate: float, rng: Generator) -> Swaps:
    """The same audit by a verifier that takes the opposite of this share of its decisions."""
    verdicts = swaps.verdicts
    turned = (rng.random(verdicts.shape) < rate) & (verdicts != OPEN)
    return replace(swaps, verdicts=np.where(turned, 1 - verdicts, verdicts))
