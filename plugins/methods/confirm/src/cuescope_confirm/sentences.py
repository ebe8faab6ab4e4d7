"""A verdict in words that are read once: what a cue does, by how much, and what that rests on."""

import math
from collections.abc import Iterator

from cuescope_confirm.options import ConfirmOptions
from cuescope_confirm.scores import Row, estimate_of
from cuescope_sdk.report import count_of, signed, with_sign
from cuescope_sdk.statistics import DoseResponse, Estimate

MORE_TESTED = "`--on SPLIT`, or `--folds 4` where there are few"
PAIRS = "Pairs of your own would tell: scenes with the cue and without it (`--pairs FOLDER`)."


def points(value: float) -> str:
    """A share in points, with its sign."""
    return signed(100 * value, 0)


def with_interval(effect: Estimate[float]) -> str:
    """An effect with its interval, in points."""
    return f"{points(effect.value)} ({points(effect.low)} to {points(effect.high)})"


def statement(row: Row, options: ConfirmOptions) -> str:
    """The verdict in words, with what it rests on."""
    labels = ", ".join(f"'{label}'" for label in row.target.cue.labels)
    # the report puts the feature's name in
    where = "{feature}"
    # what draws answers to its label does so in samples of others
    if labels and not row.draws_answers:
        where += f" on {labels}"
    if row.posterior is None:
        because = row.target.reason or "no intervention could change enough samples"
        return f"{where}: inconclusive, because {because}. {PAIRS}"
    return " ".join(_told(row, row.posterior, where, options))


def _told(
    row: Row, posterior: DoseResponse, where: str, options: ConfirmOptions
) -> Iterator[str]:
    effect = with_interval(posterior.effect)
    above = f"{posterior.above(options.margin):.2f}"
    margin = f"{100 * options.margin:.0f} points"
    answers = _answers(row)
    if row.verdict == "cause":
        yield f"{where} causes {answers}, by {effect} points of probability."
        yield from _cost(row)
    elif row.verdict == "not a cause":
        yield f"{where} does not cause {answers}: {effect} points of probability."
    else:
        yield f"{where}: it is open whether it causes {answers}: {effect} points of probability."
    yield f"The probability that it moves them by more than {margin} is {above}."
    if row.verdict == "inconclusive":
        yield settled_by(row, posterior, options)
    fullest = row.fullest
    if fullest is not None:
        does = "takes out" if fullest.removes else "puts in"
        share = row.measured[fullest].share
        moved = with_interval(estimate_of(fullest, options.confidence))
        yield (
            f"Of {len(row.measured)} interventions {fullest.spec} {does} most of it ({share:.0%}): "
            f"{moved} beyond its control."
        )
    if row.beside is not None:
        yield (
            "Unchanged pictures with it, beside others that are alike in all else: "
            f"{with_interval(row.beside.alike)}."
        )


def settled_by(row: Row, posterior: DoseResponse, options: ConfirmOptions) -> str:
    """What would decide: so many samples that show the cue, or else another kind of change."""
    if options.pairs is not None:
        return "More pairs would decide."
    times = posterior.settled_by(options.margin, options.confidence)
    if not math.isfinite(times):
        unlike = (
            f"the interventions do unlike things (I² {posterior.heterogeneity:.2f})"
        )
        return f"More samples would not decide, since {unlike}. {PAIRS}"
    needed = rounded_up(times * row.samples)
    more = "" if options.folds else f" ({MORE_TESTED})"
    return (
        f"{count_of(row.samples, 'samples')} changed; about {needed:,} would decide{more}, if the "
        "effect is as large as it seems."
    )


def rounded_up(count: float) -> int:
    """To two figures, as nobody knows it better.

    >>> rounded_up(1234.5), rounded_up(87.2), rounded_up(4)
    (1300, 88, 4)
    """
    step: int = 10 ** max(len(str(int(count))) - 2, 0)
    return math.ceil(count / step) * step


def _answers(row: Row) -> str:
    """The answers that a cue moves."""
    direction = row.target.direction
    if row.draws_answers:
        return f"the answer '{row.target.cue.label}'"
    if direction.toward == "its own answer":
        return "answers, right and wrong"
    return "wrong answers" if direction.harms else "right answers"


def _cost(row: Row) -> Iterator[str]:
    if row.lost is None:
        return
    harms = row.target.direction.harms
    verb = "cost" if harms else "give"
    # "gives" turns the sign of what is lost
    points_of_share = 100 if harms else -100
    shares = (row.lost.value, row.lost.low, row.lost.high)
    value, *ends = (points_of_share * share for share in shares)
    # with the sign turned, the ends have changed places
    low, high = sorted(ends)
    does = f"{verb}s" if low > 0 else f"may {verb}"
    interval = " to ".join(map(with_sign, (low, high)))
    yield f"It {does} {with_sign(value)} points of accuracy over all samples ({interval})."
