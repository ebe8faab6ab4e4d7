"""From test errors to Figure 2: how much the error rises at each coupling, and in which order."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from cuescope_quag.simulation.data import unimodal_error
from cuescope_quag.simulation.training import Errors, Schedule, Training
from cuescope_sdk import Picture, Table
from cuescope_sdk.report import count_of, line_chart
from cuescope_sdk.statistics import Correlation, student_interval

CONFIDENCE = 0.95
PerSeed = Float[np.ndarray, " seed"]


@dataclass(frozen=True, eq=False)
class Rise:
    """Error after a short-circuit over error before it, of every training at one coupling."""

    alpha: float
    plain: float
    cut: float
    crossmodal: PerSeed
    unimodal: PerSeed


class Percent(NamedTuple):
    """An increase in percent, and its interval over seeds, None for one seed."""

    value: float
    low: float | None
    high: float | None


def rises(alphas: Sequence[float], errors: Mapping[Training, Errors]) -> list[Rise]:
    """One for each coupling; errors are means over its seeds."""
    of_alphas = []
    for alpha in alphas:
        of_seeds = [
            astuple(errors[training]) for training in errors if training.alpha == alpha
        ]
        plain, crossmodal, unimodal = np.array(of_seeds).T.copy()
        of_alphas.append(
            Rise(
                alpha=alpha,
                plain=float(plain.mean()),
                cut=float(crossmodal.mean()),
                # seed by seed: a model that learned badly is compared with itself
                crossmodal=crossmodal / plain,
                unimodal=unimodal / plain,
            )
        )
    return of_alphas


def increase(ratios: PerSeed) -> Percent:
    """The geometric mean of `ratios` with Student's interval of their logarithms.

    A ratio of errors spreads over decades, evenly to both sides only in its logarithm.
    """
    logs = np.log(ratios)
    value = _percent(logs.mean())
    if len(logs) < 2:
        return Percent(value, None, None)
    low, high = student_interval(logs, confidence=CONFIDENCE)
    return Percent(value, _percent(low), _percent(high))


def _percent(log_ratio: float) -> float:
    # exp(x) - 1 would lose the digits of a small rise
    return float(100 * np.expm1(log_ratio))


# ------------------------------------------------------------------------ the table and figure


def table(
    of_alphas: Sequence[Rise],
    schedule: Schedule,
    rng: np.random.Generator,
) -> Table:
    """Errors and their rise, a row a coupling; the rank correlation below."""
    rows = tuple(map(_row, of_alphas))
    return Table(
        title="Figure 2: test error after crossmodal short-circuit, against the coupling",
        columns=tuple(rows[0]),
        rows=rows,
        notes=(_correlation_note(of_alphas, rng), _training_note(schedule)),
        decimals=4,
    )


def _row(rise: Rise) -> dict[str, str | float | int | None]:
    crossmodal = increase(rise.crossmodal)
    unimodal = increase(rise.unimodal)
    return {
        "alpha": f"{rise.alpha:g}",
        "MSE": rise.plain,
        "of one modality": unimodal_error(rise.alpha),
        "crossmodal cut": rise.cut,
        "increase %": round(crossmodal.value),
        "low": None if crossmodal.low is None else round(crossmodal.low),
        "high": None if crossmodal.high is None else round(crossmodal.high),
        "unimodal cut %": round(unimodal.value),
    }


def _correlation_note(of_alphas: Sequence[Rise], rng: np.random.Generator) -> str:
    # two couplings can only rise or fall, whatever the theory
    if len(of_alphas) < 3:
        return "Too few couplings for a rank correlation: three or more are needed."
    alphas = np.array([rise.alpha for rise in of_alphas])
    ratios = np.stack([rise.crossmodal for rise in of_alphas])
    rho, low, high = Correlation.spearman_interval(
        alphas, ratios, rng, confidence=CONFIDENCE
    )
    seeds = ratios.shape[1]
    interval = (
        f"[{low:.2f}, {high:.2f}], {count_of(seeds, 'seeds')}"
        if seeds > 1
        else "(one seed: no interval)"
    )
    words = f"Spearman of alpha and increase: {rho:.2f} {interval}, {len(alphas)} couplings."
    if low > 0:
        return f"{words} The error rises more with more coupling, as in the paper."
    return (
        f"{words} Unlike in the paper, the error does not rise more with more coupling."
    )


def _training_note(schedule: Schedule) -> str:
    return (
        f"{count_of(schedule.train, 'training samples')}, "
        f"{count_of(schedule.epochs, 'epochs')}, dropout "
        f"{schedule.dropout:g}. Increase: geometric mean over seeds, {CONFIDENCE:.0%} t interval. "
        "'of one modality' is the least error that a model of one modality alone can have: a model "
        "below it fuses both. The unimodal cut is the control, because no target needs attention "
        "within a modality."
    )


def figure(of_alphas: Sequence[Rise]) -> Picture:
    """The paper's Figure 2, and the unimodal short-circuit beside it."""
    lines = {
        "crossmodal cut": _line(of_alphas, lambda rise: rise.crossmodal),
        "unimodal cut": _line(of_alphas, lambda rise: rise.unimodal),
    }
    return Picture(
        title="Figure 2.",
        caption="How many times larger the mean squared error is after each short-circuit, in "
        "powers of ten, against the coupling of the modalities; bands are intervals over seeds.",
        image=line_chart(
            lines, "", "alpha, the crossmodal coupling", "error after / before, log10"
        ),
    )


def _line(
    of_alphas: Sequence[Rise], ratios: Callable[[Rise], np.ndarray]
) -> tuple[np.ndarray, ...]:
    alphas = np.array([rise.alpha for rise in of_alphas])
    # as floats: the None of one seed becomes NaN
    percents = np.array([increase(ratios(rise)) for rise in of_alphas], dtype=float)
    value, low, high = np.log10(1 + percents.T / 100)
    # One seed has no interval, and so no band.
    if np.isnan(low).any():
        return alphas, value
    return alphas, value, low, high
