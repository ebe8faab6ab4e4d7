"""`confirm` beside plain estimators, all on the same kept rows of worlds.

    python benchmarks/confirm_worlds.py --world 21 --rows FOLDER
    python benchmarks/confirm_estimators.py --rows FOLDER [--cases]

The first keeps every sample, intervention, dose and answer of a world's cases; the second asks no
model. Of each estimator the verdict is that its effect is more than the margin, with probability
.95 or more (a cause) or .05 or less (none).
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import norm, t as student
from sklearn.linear_model import BayesianRidge, LogisticRegression
from sklearn.metrics import roc_auc_score
from worlds.rows import GRADED, Kept

from cuescope_sdk import generator
from cuescope_sdk.statistics import (
    Estimate,
    Observed,
    PrognosticGap,
    Shift,
    dose_response,
)

MARGIN = 0.1  # the default of confirm
NONE = 0.05  # a decoy has less
LARGE = 0.15
LEVEL = 0.95
LEAST = 10  # samples: the default of confirm
# of what pictures cannot tell, anything between none and all: mean and standard deviation
UNKNOWN = 0.5, 12**-0.5
EXACT = ("words", "name", "modality", "question", "pair")
AS_IS, CHANGED, PLACEBO = range(3)
Change = Mapping[str, Any]
Marks = np.ndarray


@dataclass(frozen=True)
class Said:
    """What an estimator says of a case: it ranks by `score`; None where it says nothing."""

    verdict: str = "inconclusive"
    score: float = 0.0
    effect: Estimate[float] | None = None


Estimator = Callable[[Kept], Said]


# ------------------------------------------------------------------------------------ estimators


def confirm(kept: Kept) -> Said:
    """What `confirm` said; it ranks by the probability of a cause."""
    graded = kept.graded
    effect = None
    if graded["effect"] is not None:
        effect = Estimate(graded["effect"], graded["low"], graded["high"])
    return Said(graded["verdict"], graded["probability"] or 0.0, effect)


def gap(kept: Kept, *, alike: bool) -> Said:
    """Of samples as they are, the plain gap, or what is left with all else held alike."""
    gaps = _gaps(kept)
    return _by_interval(gaps[int(alike)] if gaps else None)


def weighted(kept: Kept) -> Said:
    """Augmented inverse propensity weights of samples as they are, cross-fitted (5 folds).

    Over samples with the cue (Chernozhukov and others, 2018): a ridge regression of values without
    it, and a logistic one of whether it is there, both on label and looks.
    """
    return _by_interval(_weighted(kept, kept.columns) if kept.columns else None)


def best_single(kept: Kept) -> Said:
    """The intervention that takes most of the cue, beside its placebo, less its control."""
    able = []
    for change in _changes(kept):
        shows = np.array(change["with_cue"], bool)
        if shows.sum() >= LEAST and change["placebo"] != "none":
            dose, _ = _dose(change) or UNKNOWN
            able.append((dose, change, shows))
    if not able:
        return Said()
    _, change, shows = max(able, key=lambda one: one[0])
    value, variance = _mean(_moved(kept, change, shows, PLACEBO))
    if (~shows).sum() >= LEAST:
        elsewhere, more = _mean(_moved(kept, change, ~shows, PLACEBO))
        value, variance = value - elsewhere, variance + more
    reach = float(student.isf(0.025, shows.sum() - 1) * np.sqrt(variance))
    return _by_interval(Estimate(value, value - reach, value + reach))


def napkin(kept: Kept, spread: float) -> Said:
    """Random-effects dose-response over the means of what `confirm` asked, on a grid."""
    means, variances, doses = [], [], []
    for change in _changes(kept):
        shows = np.array(change["with_cue"], bool)
        if change["used"] is not None and shows.sum() >= LEAST:
            beyond = PLACEBO if change["placebo"] != "none" else AS_IS
            mean, variance = _mean(_moved(kept, change, shows, beyond))
            means.append(mean)
            variances.append(variance)
            doses.append((_dose(change) or UNKNOWN)[0])
    if not means:
        return Said()
    effects = np.linspace(-1.2, 1.2, 601)[:, None]
    spreads = np.linspace(0.002, 3 * spread, 60)
    log = norm.logpdf(effects, 0, 0.4) + norm.logpdf(spreads, 0, spread)
    for mean, variance, dose in zip(means, variances, doses, strict=True):
        scale = np.sqrt(variance + spreads**2)
        log = log + student.logpdf((mean - effects * dose) / scale, 3) - np.log(scale)
    weights = np.exp(log - log.max()).sum(axis=1)
    cumulated = weights.cumsum() / weights.sum()
    at = np.searchsorted(cumulated, [0.5, 0.025, 0.975])
    above = weights[effects[:, 0] > MARGIN].sum() / weights.sum()
    return _by_probability(float(above), Estimate(*effects[at, 0].tolist()))


def model(
    kept: Kept,
    *,
    observes: bool = True,
    edits: bool = False,
    extra: bool = True,
    **given: float,
) -> Said:
    """`dose_response` over every row: changes, placebos, controls and samples as they are.

    An intervention without a dose, as an edit of the embedding, is a row where it `edits`, or where
    there is no other. With `extra` interventions that `confirm` left out are rows, too.
    """
    able = [change for change in _changes(kept) if extra or change["used"] is not None]
    known = [change for change in able if change["doses"] or change["needs"] in EXACT]
    shifts = list(_shifts(kept, able if edits or not known else known))
    if not shifts:
        return Said()
    rng = generator(0, "model", kept.graded["world"], kept.graded["case"])
    observed = _observed(kept) if observes else None
    found = dose_response(shifts, rng, observed, **given)
    return _by_probability(found.above(MARGIN), found.effect)


def _observed(kept: Kept) -> Observed | None:
    gaps = _gaps(kept)
    if gaps is None:
        return None
    gap = PrognosticGap(*gaps, n=0)
    return Observed(gap.alike, gap.bias, kept.rows["purity"] or 1.0)


ESTIMATORS: Mapping[str, Estimator] = {
    "confirm": confirm,
    "plain gap": partial(gap, alike=False),
    "all else alike": partial(gap, alike=True),
    "weighted (AIPW)": weighted,
    "best single": best_single,
    "napkin": partial(napkin, spread=0.2),
    "model": model,
    "model, spread .1": partial(model, spread=0.1),
    "model, spread .4": partial(model, spread=0.4),
    "model, effect .2": partial(model, effect=0.2),
    "model, effect .8": partial(model, effect=0.8),
    "model, changes alone": partial(model, observes=False),
    "model, asked alone": partial(model, extra=False),
    "model, embedding too": partial(model, edits=True),
}


# ------------------------------------------------------------------------------------------ rows


def _changes(kept: Kept) -> Sequence[Change]:
    found: Sequence[Change] = kept.rows.get("changes", [])
    return found


def _moved(
    kept: Kept, change: Change, rows: Marks, column: int, to: int = CHANGED
) -> Any:
    """What some samples' answers move by, beyond a column; positive as a cause would."""
    values = np.array(change["values"], float)[rows]
    sign = kept.rows["direction"]["sign"]
    if change["effect"] == "inserts":
        sign = -sign
    return sign * (values[:, to] - values[:, column])


def _mean(values: np.ndarray) -> tuple[float, float]:
    """With its squared error, never below that of a third of one answer."""
    least = (1 / 3 / len(values)) ** 2
    return float(values.mean()), float(values.var(ddof=1) / len(values) + least)


def _dose(change: Change) -> tuple[float, float] | None:
    """The share of the cue that goes or comes beyond the placebo, and its error, if it is seen."""
    if not change["doses"]:
        return None
    left, beside = np.array(change["doses"], float).T
    shares = left - beside if change["effect"] == "inserts" else beside - left
    error = shares.std() / np.sqrt(len(shares))
    return float(shares.mean().clip(-1, 1)), float(error)


def _shifts(kept: Kept, changes: Sequence[Change]) -> Iterator[Shift]:
    """Of each intervention the change, its placebo, and both in samples without the cue."""
    off = _off(kept)
    for change in changes:
        shows = np.array(change["with_cue"], bool)
        if shows.sum() < LEAST:
            continue
        dose, error = 1.0, 0.0
        if change["needs"] not in EXACT:
            share, unsure = _dose(change) or UNKNOWN
            # samples that are taken for the cue's and are not cannot be moved by it
            purity = kept.rows["purity"] or 1.0
            dose, error = purity * share, purity * float(np.hypot(unsure, off))
        kind = change["needs"], change["changes"]
        yield _shift(kept, change, shows, kind, CHANGED, dose, error)
        if change["placebo"] != "none":
            yield _shift(kept, change, shows, kind, PLACEBO)
        if (~shows).sum() >= LEAST:
            yield _shift(kept, change, ~shows, kind, CHANGED)
            yield _shift(kept, change, ~shows, kind, PLACEBO)


def _off(kept: Kept) -> float:
    """How far a recogniser errs on changed pictures, as a standard deviation.

    Each placebo leaves all of the cue: what it seems to leave differs from one to the next.
    """
    left = [
        np.mean(change["doses"], axis=0)[1]
        for change in _changes(kept)
        if change["doses"] and change["effect"] == "removes"
    ]
    return float(np.std(left, ddof=1)) if len(left) > 1 else 0.0


def _shift(
    kept: Kept,
    change: Change,
    rows: Marks,
    kind: object,
    column: int,
    dose: float = 0.0,
    error: float = 0.0,
) -> Shift:
    groups = np.array(change["groups"])[rows].tolist()
    values = _moved(kept, change, rows, AS_IS, to=column)
    return Shift([change["spec"]], kind, values, groups, dose, error)


def _gaps(kept: Kept) -> tuple[Estimate[float], Estimate[float]] | None:
    """Plain and with all else held alike."""
    gaps = kept.columns.get("gap")
    if gaps is None or not gaps.size:
        return None
    plain, alike = gaps
    return Estimate(*plain.tolist()), Estimate(*alike.tolist())


def _weighted(kept: Kept, view: Mapping[str, np.ndarray]) -> Estimate[float] | None:
    known = view["known"]
    shows = view["present"][known]
    own = view["of_label"][known]
    labels = view["labels"][known]
    direction = kept.rows["direction"]
    rows = range(len(labels))
    if direction["toward"] == "the label":
        own = ~own
        answers = np.full(len(labels), kept.rows["label"])
    else:
        answers = labels
    if min((own & shows).sum(), (own & ~shows).sum()) < LEAST:
        return None
    shares = {name: view[f"answer {name}"][known] for name in np.unique(answers)}
    values = -direction["sign"] * np.array([shares[answers[row]][row] for row in rows])
    looks = view["looks"][known] / view["looks"].std()
    told_by = np.hstack([looks, labels[:, None] == np.unique(labels)])
    folds = generator(0, "folds").permutation(len(labels)) % 5
    worth, odds = np.zeros((2, len(labels)))
    for fold in range(5):
        learned = folds != fold
        ridge = BayesianRidge().fit(told_by[learned & ~shows], values[learned & ~shows])
        logistic = LogisticRegression(max_iter=1000).fit(
            told_by[learned], shows[learned]
        )
        worth[~learned] = ridge.predict(told_by[~learned])
        share = logistic.predict_proba(told_by[~learned])[:, 1].clip(0.01, 0.99)
        odds[~learned] = share / (1 - share)
    left = values - worth
    weights = [(own & shows) * 1.0, (own & ~shows) * odds]
    value, variance = 0.0, 0.0
    for sign, weight in zip((1, -1), weights, strict=True):
        share = weight / weight.sum()
        mean = float(share @ left)
        value += sign * mean
        variance += float(share**2 @ (left - mean) ** 2)
    reach = float(norm.isf(0.025) * np.sqrt(variance))
    return Estimate(value, value - reach, value + reach)


def _by_interval(effect: Estimate[float] | None) -> Said:
    """By the normal distribution of a 95% interval; it ranks by the effect."""
    if effect is None:
        return Said()
    error = max((effect.high - effect.low) / 2 / norm.isf(0.025), 1e-3)
    above = float(norm.sf(MARGIN, effect.value, error))
    return Said(_verdict(above), effect.value, effect)


def _by_probability(above: float, effect: Estimate[float]) -> Said:
    return Said(_verdict(above), above, effect)


def _verdict(above: float) -> str:
    if above >= LEVEL:
        return "cause"
    return "not a cause" if above <= 1 - LEVEL else "inconclusive"


# ---------------------------------------------------------------------------------------- tables


def figures(cases: Sequence[Kept], said: Sequence[Said]) -> Iterator[tuple[str, str]]:
    """The row of an estimator."""
    truths = np.array([kept.graded["truth"] for kept in cases])
    planned = np.array([kept.graded["role"] == "decoy" for kept in cases])
    worlds = np.array([kept.graded["world"] for kept in cases])
    scores = np.array([one.score for one in said])
    verdicts = np.array([one.verdict for one in said])
    is_cause = truths >= MARGIN
    is_large = truths >= LARGE
    # as the plan of confirm says
    enough = np.array([kept.graded["enough"] for kept in cases])
    is_decoy = planned & (truths < NONE)
    yield "AUROC", _auroc(is_cause, is_decoy, scores)
    of_worlds = [
        _auroc(is_cause & (worlds == world), is_decoy & (worlds == world), scores)
        for world in np.unique(worlds)
    ]
    yield "in the worst world", min(of_worlds)
    yield "decoys called causes", _count(is_decoy, verdicts == "cause")
    yield "causes of 10 called so", _count(is_cause, verdicts == "cause")
    yield "of 15 where enough", _count(is_large & enough, verdicts == "cause")
    yield "causes called none", _count(is_cause, verdicts == "not a cause")
    yield "decoys called none", _count(is_decoy, verdicts == "not a cause")
    effects = [one.effect for one in said if one.effect is not None]
    measured = truths[[one.effect is not None for one in said]]
    holds = [
        effect.low <= truth <= effect.high
        for effect, truth in zip(effects, measured, strict=True)
    ]
    yield "intervals that hold the truth", f"{sum(holds)} of {len(holds)}"
    wide = [effect.high - effect.low for effect in effects]
    yield "width, median", f"{100 * np.median(wide):.0f}"
    values = [effect.value for effect in effects]
    yield "correlation", f"{np.corrcoef(values, measured)[0, 1]:.2f}"


def _auroc(causes: Marks, decoys: Marks, scores: np.ndarray) -> str:
    # a world without one of both ranks nothing
    if not causes.any() or not decoys.any():
        return "-"
    either = causes | decoys
    return f"{roc_auc_score(causes[either], scores[either]):.2f}"


def _count(among: Marks, holds: Marks) -> str:
    return f"{(among & holds).sum()} of {among.sum()}"


def show(cases: Sequence[Kept], *, by_case: bool) -> None:
    """All estimators, and what each says of every case."""
    console = Console(width=200)
    answers = {name: [say(kept) for kept in cases] for name, say in ESTIMATORS.items()}
    rows = {name: dict(figures(cases, said)) for name, said in answers.items()}
    table = Table("estimator", *rows["confirm"])
    for name, row in rows.items():
        table.add_row(name, *row.values())
    console.print(table)
    if not by_case:
        return
    table = Table("world", "case", "truth", *ESTIMATORS)
    for number, kept in enumerate(cases):
        graded = kept.graded
        cells = [_words(said[number]) for said in answers.values()]
        truth = f"{100 * graded['truth']:+.0f}"
        table.add_row(graded["world"], graded["case"], truth, *cells)
    console.print(table)


def _words(said: Said) -> str:
    if said.effect is None:
        return said.verdict
    ends = [f"{100 * end:+.0f}" for end in vars(said.effect).values()]
    return f"{said.verdict} {ends[0]} ({ends[1]} to {ends[2]})"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--rows",
        type=Path,
        help="folder of confirm_worlds.py --rows",
    )
    parser.add_argument("--cases", action="store_true", help="each case, too")
    given = parser.parse_args()
    if given.rows is None:
        parser.print_help()
        return
    folders = sorted(file.parent for file in given.rows.glob(f"*/*/{GRADED}"))
    if not folders:
        parser.error(
            f"no rows in {given.rows}; make some by confirm_worlds.py --rows {given.rows}"
        )
    show([Kept.read(folder) for folder in folders], by_case=given.cases)


if __name__ == "__main__":
    main()
