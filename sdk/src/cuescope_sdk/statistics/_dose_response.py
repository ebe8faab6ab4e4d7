"""One effect behind what unlike changes do: a dose-response meta-analysis of interventions."""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator
from scipy.optimize import brentq
from scipy.stats import norm

from cuescope_sdk.maths import on_one_thread
from cuescope_sdk.statistics._estimate import NORMAL, Estimate
from cuescope_sdk.statistics._shapes import PerSample

# of what changes do beside the cue (Student): Lange, Little and Taylor (1989) found that it does
# in many applications
FREEDOM = 4
# before anything is seen, as shares of probability: an effect spreads as one from -1 to 1 does of
# which all are as likely; half and twice of either moved one verdict of 45 (results/confirm.md)
EFFECT = 3**-0.5
SPREAD = 0.2
# of the Gibbs sampler: with these R-hat (Gelman and Rubin, 1992) is below 1.1 on all kept rows
CHAINS = 64
UNUSED = 80
SWEEPS = 250
# of one answer, below which no standard error is: three alike answers of three may be luck
LEAST_ERROR = 1 / 3
MOST = 1e4  # times the samples: more are none that anybody takes
SCALES = np.geomspace(0.01, 5, 80)  # of a spread, beside that of its prior
SHARED, APART = range(2)  # what an effect beside the cue is of
PerShift = Float[np.ndarray, " shift"]
Covariance = Float[np.ndarray, "shift shift"]
Members = Float[np.ndarray, "shift effect"]
PerChain = Float[np.ndarray, " chain"]
Draws = Float[np.ndarray, "sweep chain"]


@dataclass(frozen=True, eq=False)
class Shift:
    """What one intervention did to some samples, positive where it is what a cause would do.

    `dose` is the share of the cue that went or came, with its standard error; 0 for a control,
    which is the same done where it leaves the cue as it is. `beside` names what it does to answers
    beside the cue and shares with its control, such as the intervention. Changes of one `kind` may
    take the same company of the cue along. `groups` name what was drawn together, over all shifts.
    """

    beside: Sequence[Hashable]
    kind: Hashable
    values: PerSample
    groups: Sequence[Hashable]
    dose: float = 0.0
    dose_error: float = 0.0

    @property
    def is_control(self) -> bool:
        """Whether the cue stays as it is."""
        return self.dose == 0 and self.dose_error == 0


@dataclass(frozen=True)
class Observed:
    """What samples as they are say of the effect, adjusted for what can be seen.

    `bias` is the standard deviation of what it may be off by, however many samples there are.
    `dose` is the share of those taken for the cue's that show it.
    """

    estimate: Estimate[float]
    bias: float
    dose: float = 1.0


@dataclass(frozen=True, eq=False)
class Design:
    """What shifts can tell of an effect: their doses, their covariance, and what moves them beside.

    `beside` has a column for each effect beside the cue, 1 in the shifts that have it. `bias` is
    the standard deviation of what else a shift is off by, which no number of samples mends.
    """

    doses: PerShift
    beside: Members
    covariance: Covariance
    bias: PerShift

    def error(self, spread: float = SPREAD, *, samples: float = 1.0) -> float:
        """The standard deviation of the effect with so many times the samples.

        Where effects beside the cue have this `spread`. The least one is chosen (c-optimal design;
        Chaloner and Verdinelli, 1995).
        """
        errors = spread**2 * self.beside @ self.beside.T + self.covariance / samples
        errors += np.diag(self.bias**2)
        told = self.doses @ np.linalg.solve(errors, self.doses)
        return float(1 / np.sqrt(told + 1 / EFFECT**2))


@dataclass(frozen=True, eq=False)
class DoseResponse:
    """What is known of an effect: draws of its posterior, each a normal distribution.

    `heterogeneity` is the share of the variance of shifts beyond dose and chance (I squared;
    Higgins and Thompson, 2002), `spread` the scale of what changes do beside the cue.
    """

    means: Draws
    errors: Draws
    heterogeneity: float
    spread: float
    design: Design

    def above(self, margin: float) -> float:
        """The probability that the effect is larger."""
        return float(norm.sf(margin, self.means, self.errors).mean())

    @cached_property
    def effect(self) -> Estimate[float]:
        """The median, and the middle 95%; it moves a probability, so by 1 at most."""
        return Estimate(*(float(np.clip(end, -1, 1)) for end in self._quantiles))

    @cached_property
    def _quantiles(self) -> tuple[float, float, float]:
        reach = 9 * float(self.errors.max())
        ends = self.means.min() - reach, self.means.max() + reach
        middle, low, high = (
            brentq(lambda x, p=p: self.above(x) - p, *ends) for p in (0.5, 0.975, 0.025)
        )
        return middle, low, high

    @property
    def error(self) -> float:
        """The standard deviation of a normal distribution with the same middle 95%."""
        _, low, high = self._quantiles
        return (high - low) / 2 / NORMAL

    def least_told(self, margin: float, level: float, power: float) -> float:
        """The effect that tests like this one tell from a margin, with this power."""
        return float(margin + (norm.ppf(level) + norm.ppf(power)) * self.error)

    def settled_by(self, margin: float, level: float) -> float:
        """How many times the samples tell on which side of a margin the effect is.

        If it is as large as it seems; infinite where no number of samples does, since what changes
        do beside the cue leaves more open.
        """
        reach = norm.isf(1 - level) / max(abs(self.effect.value - margin), 1e-9)
        scale = self.error / self.design.error(self.spread)

        def missing(times: float) -> float:
            error = self.design.error(self.spread, samples=times)
            return float(reach * scale * error - 1)

        if missing(1.0) <= 0:
            return 1.0
        return float(brentq(missing, 1, MOST)) if missing(MOST) < 0 else float("inf")

    @property
    def mixing(self) -> float:
        """R-hat of the chains (Gelman and Rubin, 1992): 1 where they tell the same."""
        sweeps = len(self.means)
        within = self.means.var(axis=0, ddof=1).mean()
        between = self.means.mean(axis=0).var(ddof=1)
        if within == 0:
            return 1.0
        return float(np.sqrt((sweeps - 1) / sweeps + between / within))


@on_one_thread
def dose_response(
    shifts: Sequence[Shift],
    rng: Generator,
    observed: Observed | None = None,
    *,
    spread: float = SPREAD,
    effect: float = EFFECT,
) -> DoseResponse:
    """The effect of all of a cue, by interventions, their controls and samples as they are.

    A shift is the effect times its dose, and what goes beside the cue: what it shares with its
    controls, of one spread, and what its kind and it alone do, of another. Both have heavy tails.
    So damage that a control shows as well is no effect; the more unlike controls and changes are,
    the wider is the interval; and one unlike all others says little. This is Mendelian
    randomisation with pleiotropy (Bowden, Davey Smith and Burgess, 2015) as a meta-analysis (van
    Houwelingen, Arends and Stijnen, 2002) of means in the same samples. What samples as they are
    say is one more shift, of all of the cue, with a bias of its own (Turner and others, 2009).

    Raises ValueError without any shift.
    """
    if not shifts:
        raise ValueError("expected one shift or more, got none")
    return _Sampler.of(shifts, observed, spread, effect).sample(rng)


def _covariance(shifts: Sequence[Shift]) -> Covariance:
    """Of the means of shifts in the same samples, robust to groups (Liang and Zeger, 1986)."""
    numbers: dict[Hashable, int] = {}
    for shift in shifts:
        for group in shift.groups:
            numbers.setdefault(group, len(numbers))
    influence = np.zeros((len(numbers), len(shifts)))
    counts = np.zeros(len(shifts))
    for column, shift in enumerate(shifts):
        codes = [numbers[group] for group in shift.groups]
        left = (shift.values - shift.values.mean()) / len(shift.values)
        np.add.at(influence[:, column], codes, left)
        counts[column] = len(set(codes))
    # the variance of Student's t, in place of a normal one that knows the error
    wider = np.sqrt(counts / np.maximum(counts - 3, 1))
    errors = np.diag((LEAST_ERROR / counts) ** 2)
    return np.asarray(influence.T @ influence * np.outer(wider, wider) + errors)


def _heterogeneity(means: PerShift, covariance: Covariance, doses: PerShift) -> float:
    inverse = np.linalg.inv(covariance)
    power = doses @ inverse @ doses
    left = means - (doses @ inverse @ means / power if power > 0 else 0.0) * doses
    free = len(means) - int(power > 0)
    unlike = float(left @ inverse @ left)
    return max(0.0, 1 - free / unlike) if unlike > 0 else 0.0


def _members(names: Sequence[Collection[Hashable]]) -> Members:
    """1 where a shift, in rows, has a name."""
    levels = dict.fromkeys(chain.from_iterable(names))
    columns = [[float(level in of_shift) for of_shift in names] for level in levels]
    return np.array(columns).reshape(len(levels), len(names)).T


@dataclass(frozen=True, eq=False)
class _Sampler:
    """Gibbs sampling of normal means with random effects that are scale mixtures of normals.

    `beside` are the effects beside the cue, each with the number of its spread: what changes share
    with controls, and what they do apart from these.
    """

    means: PerShift
    covariance: Covariance
    doses: PerShift
    dose_errors: PerShift
    beside: Members
    sorts: Int[np.ndarray, " effect"]
    bias: PerShift
    spread: float
    effect: float
    heterogeneity: float

    @classmethod
    def of(
        cls,
        shifts: Sequence[Shift],
        observed: Observed | None,
        spread: float,
        effect: float,
    ) -> "_Sampler":
        """Of shifts, and behind them what was observed."""
        means = np.array([shift.values.mean() for shift in shifts])
        covariance = _covariance(shifts)
        doses = np.array([shift.dose for shift in shifts])
        errors = np.array([shift.dose_error for shift in shifts])
        heterogeneity = _heterogeneity(means, covariance, doses)
        of_kinds = _members([() if one.is_control else [one.kind] for one in shifts])
        shared = _members([shift.beside for shift in shifts])
        beside = np.hstack([of_kinds, shared, np.eye(len(shifts))])
        sorts = np.full(beside.shape[1], APART)
        sorts[of_kinds.shape[1] :][: shared.shape[1]] = SHARED
        bias = np.zeros(len(shifts))
        if observed is not None:
            estimate = observed.estimate
            error = (estimate.high - estimate.low) / 2 / NORMAL
            means = np.append(means, estimate.value)
            doses = np.append(doses, observed.dose)
            errors = np.append(errors, 0.0)
            covariance = np.pad(covariance, (0, 1))
            covariance[-1, -1] = max(error, 1e-3) ** 2
            beside = np.pad(beside, ((0, 1), (0, 0)))
            bias = np.append(bias, observed.bias)
        return cls(
            means,
            covariance,
            doses,
            errors,
            beside,
            sorts,
            bias,
            spread,
            effect,
            heterogeneity,
        )

    def sample(self, rng: Generator) -> DoseResponse:
        """Draws after those that depend on where chains began."""
        count = self.beside.shape[1]
        scales = np.ones((CHAINS, count))
        spreads = self.spread * np.abs(rng.standard_normal((CHAINS, 2)))
        spreads = np.maximum(spreads, self.spread / 10)
        effects = self.effect / 2 * rng.standard_normal(CHAINS)
        means, errors, seen = [], [], []
        for sweep in range(SWEEPS):
            deviations = spreads[:, self.sorts]
            middle, error, effects, beside = self._draw(
                rng, effects, scales * deviations**2
            )
            if sweep >= UNUSED:
                means.append(middle)
                errors.append(error)
                seen.append(spreads[:, APART].copy())
            squares = (beside / deviations) ** 2
            free = rng.chisquare(FREEDOM + 1, (CHAINS, count))
            scales = (FREEDOM + squares) / free
            weighed = beside**2 / scales
            for sort in (SHARED, APART):
                of_sort = weighed[:, self.sorts == sort]
                spreads[:, sort] = self._draw_spread(rng, of_sort)
        return DoseResponse(
            np.array(means),
            np.array(errors),
            self.heterogeneity,
            float(np.mean(seen)),
            Design(self.doses, self.beside, self.covariance, self.bias),
        )

    def _draw(
        self,
        rng: Generator,
        effects: PerChain,
        variances: Float[np.ndarray, "chain effect"],
    ) -> tuple[PerChain, PerChain, PerChain, Float[np.ndarray, "chain effect"]]:
        """Mean and error of the effect, and draws of it and of all else, which are normal together.

        The error of doses counts as it is at the last draw of the effect.
        """
        own = (effects[:, None] * self.dose_errors) ** 2 + self.bias**2
        chains, shifts = own.shape
        errors = self.covariance + own[:, :, None] * np.eye(shifts)
        # the effect stands last: its marginal distribution is the end of the Cholesky factor
        columns = np.hstack([self.beside, self.doses[:, None]])
        weighed = np.linalg.solve(
            errors, np.broadcast_to(columns, (chains, *columns.shape))
        )
        precision = columns.T @ weighed
        of_effect = np.full((chains, 1), self.effect**2)
        diagonal = np.arange(columns.shape[1])
        precision[:, diagonal, diagonal] += 1 / np.hstack([variances, of_effect])
        factor = np.linalg.cholesky(precision)
        towards = np.einsum("csk,s->ck", weighed, self.means)[:, :, None]
        half = np.linalg.solve(factor, towards)
        noise = rng.standard_normal(half.shape)
        drawn = np.linalg.solve(factor.transpose(0, 2, 1), half + noise)[:, :, 0]
        error = 1 / factor[:, -1, -1]
        return half[:, -1, 0] * error, error, drawn[:, -1], drawn[:, :-1]

    def _draw_spread(
        self, rng: Generator, squares: Float[np.ndarray, "chain effect"]
    ) -> PerChain:
        """On a grid, by what the effects beside the cue say; the prior is half-normal."""
        grid = self.spread * SCALES
        # an even step of the logarithm is as wide as the value
        weights = (1 - squares.shape[1]) * np.log(grid)
        weights = weights - grid**2 / (2 * self.spread**2)
        weights = weights - squares.sum(axis=1)[:, None] / (2 * grid**2)
        chosen = (weights + rng.gumbel(size=weights.shape)).argmax(axis=1)
        return np.asarray(grid[chosen])
