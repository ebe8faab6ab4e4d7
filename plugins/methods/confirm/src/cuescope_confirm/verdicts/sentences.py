"""A verdict in words that are read once: what a cue does, by how much, and what that rests on."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from cuescope_confirm.options import ConfirmOptions
from cuescope_confirm.scores import Decisions, Effect
from cuescope_confirm.study import guess_in
from cuescope_confirm.testimony.votes import party_of
from cuescope_confirm.testimony.witnesses import Witness
from cuescope_confirm.verdicts.row import Row
from cuescope_confirm.verdicts.undecided import PART_ALONE, SECOND_CAUSE
from cuescope_sdk.report import count_of, signed, with_sign
from cuescope_sdk.statistics import Estimate

ALIKE = "another finding, which looks the same"
MOSTLY = 0.5  # of its samples, those that show what it goes with
INSIDE = (
    "The pictures stay as they are, and only the model's embedding is changed: no change of "
    "pictures takes it out, or puts it in."
)


def points(value: float) -> str:
    """A share in points, with its sign."""
    return signed(100 * value, 0)


def with_interval(effect: Effect | Estimate[float]) -> str:
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
    tellers = {
        "causes": _of_cause,
        "accompanies": _of_company,
        "cannot tell": _of_undecided,
    }
    told = tellers[row.ruling.verdict](row, where, options)
    return " ".join(told)


def _of_cause(row: Row, where: str, options: ConfirmOptions) -> Iterator[str]:
    answers, without, with_cue = _verbs(row)
    by = ""
    if row.effect is not None:
        by = f", by {with_interval(row.effect)} points of probability"
        # no witness in the tables has this figure
        if row.beside is not None or len(party_of(row.fullest)) > 1:
            by += ", one estimate from several measurements"
    # first what it does and what that costs, then how it is known
    yield f"{where} {_how_surely(row, options)} {answers}{by}."
    yield from _cost(row)
    yield from answer_drawn(row, options)
    if row.ruling.together:
        yield from _of_all_evidence(row)
    inside = ", in the model's embedding," if row.ruling.inside else ""
    if row.ruling.necessary and not row.ruling.together:
        yield f"Taking it out{inside} {without}: {_clearest(row, removes=True)}."
    if row.ruling.sufficient and not row.ruling.together:
        yield f"Putting it in{inside} {with_cue}: {_clearest(row, removes=False)}."
    if row.ruling.inside:
        yield INSIDE
    yield from _of_whole_picture(row)
    yield from _as_they_are(row, options)
    yield from hanging_together(row, options)


def _of_company(row: Row, where: str, _options: ConfirmOptions) -> Iterator[str]:
    company = f"{where} accompanies the answers, and is not shown to cause them."
    if row.draws_answers:
        answer = f"the answer '{row.target.cue.label}'"
        company = f"{where} accompanies {answer}, and is not shown to cause it."
    yield company
    effects = _effects(row, ("placebo does as much", "undecided"))
    yield f"Changes do no more than their placebos: {effects}."


def _of_undecided(row: Row, where: str, options: ConfirmOptions) -> Iterator[str]:
    missing = row.ruling.missing
    why = "" if missing is None else f", because {missing.because}"
    if row.draws_answers:
        where += f", with the answer '{row.target.cue.label}'"
    yield f"{where}: cannot tell whether it is a cause{why}{how_many(row, options)}."
    if row.stated is not None:
        yield (
            f"Measured: without it {_moved(row)} {points(row.stated.value)} points of probability "
            f"({points(row.stated.low)} to {points(row.stated.high)}). "
            "This range holds 0, so it may have no effect at all."
        )
    effects = _effects(row, ("confirms", "undecided", "placebo does as much"))
    if effects:
        yield f"By each change, beyond its placebo: {effects}."
    company = list(hanging_together(row, options))
    yield from company
    # what would tell it from its company decides more than samples of both
    if missing is not None and not company:
        yield missing.decides_next(folds=options.folds)


def _of_all_evidence(row: Row) -> Iterator[str]:
    names = [witness.spec for witness in party_of(row.telling)]
    by = with_interval(row.tested)
    if len(names) == 1:
        [name] = names
        yield (
            f"{name} surely moves answers, by {by} more than its placebo; it does not decide "
            "alone."
        )
    else:
        yield (
            f"{_listed(names)} together surely move answers, by {by} more than their placebos; "
            "none decides alone."
        )


def how_many(row: Row, options: ConfirmOptions) -> str:
    """Of which samples more are missing, and how many, if the effect is as large as it seems."""
    missing = row.ruling.missing
    if missing in (PART_ALONE, SECOND_CAUSE):
        return _too_few(row.unmeasured, options.least)
    if missing is None or not missing.of_samples or row.effect is None:
        return ""
    # the nearer verdict: an effect above 0, or one below the margin
    distance = max(row.effect.value, options.margin - row.effect.value)
    reach = (row.effect.high - row.effect.low) / 2
    # the middle of the kinds: each could change another number of samples
    count = int(np.median([vote.effect.n for vote in row.fullest]))
    # an interval narrows with the root of the number
    needed = count * (reach / distance) ** 2
    if needed <= count:
        return ""
    return f" ({count} could be changed; about {rounded_up(needed):,} are needed)"


def _too_few(witnesses: Sequence[Witness], least: int) -> str:
    """Which of these had samples to change, but not enough."""
    counts = {}
    for witness in witnesses:
        # those that show it: the others are controls, of which there are always enough
        count = int(witness.answers.with_cue.sum())
        if 0 < count < least:
            counts[witness.spec] = count
    if not counts:
        return ""
    listed = ", ".join(f"{count} by {name}" for name, count in counts.items())
    return f" (too few samples could be changed: {listed}; {least} are needed)"


def rounded_up(count: float) -> int:
    """To two figures, as nobody knows it better.

    >>> rounded_up(1234.5), rounded_up(87.2), rounded_up(4)
    (1300, 88, 4)
    """
    step: int = 10 ** max(len(str(int(count))) - 2, 0)
    return math.ceil(count / step) * step


def _how_surely(row: Row, options: ConfirmOptions) -> str:
    """How surely it is a cause: less where a check doubts it."""
    if row.drawn is not None and not row.drawn.is_told(options.margin):
        return "may cause"
    return "probably causes" if row.ruling.inside else "causes"


def _verbs(row: Row) -> tuple[str, str, str]:
    """What a cause does: the answers it moves, what taking it out does, and putting it in."""
    direction = row.target.direction
    if row.draws_answers:
        return f"the answer '{row.target.cue.label}'", "takes it away", "brings it"
    if direction.toward == "its own answer":
        return "answers, right and wrong", "changes them", "brings them"
    if direction.harms:
        return "wrong answers", "mends them", "brings them"
    return "right answers", "takes them away", "brings them"


def _moved(row: Row) -> str:
    """What an effect moves where the cue is taken out, and which way it counts."""
    direction = row.target.direction
    if row.draws_answers:
        return f"the answer '{row.target.cue.label}' loses"
    if direction.toward == "its own answer":
        return "what is answered loses"
    return "the right answer gains" if direction.harms else "the right answer loses"


def _of_whole_picture(row: Row) -> Iterator[str]:
    """What a cause without a place is, by what the change does that takes it out or puts it in."""
    changes = row.confirming or [
        testimony
        for testimony in row.measured
        if row.ruling.together and testimony.effect.low > 0
    ]
    for testimony in changes:
        if testimony.plugin.needs == "still":
            title = testimony.plugin.title
            yield (
                f"{testimony.spec} changes all of the picture ({title}), so what else goes with "
                "the cue may change too."
            )
            return


def answer_drawn(row: Row, options: ConfirmOptions) -> Iterator[str]:
    """The answer that a cue stands for, where most of its wrong ones are it, or it stands out."""
    if row.drawn is None:
        return
    if row.drawn.is_one:
        yield f"Most of the wrong answers that come with it are '{row.drawn.answer}'."
    elif row.drawn.stands_out(options.margin):
        yield f"The wrong answer that it brings most is '{row.drawn.answer}'."
    else:
        return
    if row.drawn.alike is not None and row.drawn.alike.low > 0:
        yield (
            "In pictures of all labels that are alike in all else, this answer is likelier with it "
            f"by {with_interval(row.drawn.alike)}."
        )


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


def _as_they_are(row: Row, options: ConfirmOptions) -> Iterator[str]:
    """What samples say that nothing was changed in, where they say the same."""
    if row.beside is not None and row.beside.alike.value >= options.margin:
        yield (
            "Unchanged pictures agree: with the cue, compared with pictures without it that are "
            f"alike in all else, {with_interval(row.beside.alike)}."
        )


def hanging_together(row: Row, options: ConfirmOptions) -> Iterator[str]:
    """What the cue never comes apart from, and what would tell them apart."""
    for comparison in row.discordant:
        companion = comparison.companion
        # what is there in few of its samples explains little of it, and may be a part of it
        if comparison.alone < options.least and companion.with_cue >= MOSTLY:
            # what is missing is samples, and a person can take them
            few = "no sample of the label shows"
            if comparison.alone:
                few = f"only {count_of(comparison.alone, 'samples')} of the label show"
            guess = guess_in(companion.name)
            if guess is not None and guess == guess_in(row.target.cue.name):
                companion = replace(companion, name=ALIKE)
            yield (
                f"It goes with {companion.words}, and {few} one of the two alone. More of these, "
                "or pairs (`--pairs FOLDER`), would tell which of the two it is."
            )
            return


def _clearest(row: Row, *, removes: bool) -> str:
    """The figure of the clearest intervention that confirms, and the names of the others."""
    # the finer changes: one of whole frames says least about this cue
    first, *others = row.clearest(removes=removes)
    figure = f"with {first.spec} by {with_interval(first.effect)} points of probability"
    figure += ", beyond its placebo"
    if not others:
        return figure
    return f"{figure}; also with {_listed([other.spec for other in others])}"


def _listed(names: Sequence[str]) -> str:
    """Names as they are read out.

    >>> _listed(["swap"]), _listed(["swap", "blank", "hide"])
    ('swap', 'swap, blank and hide')
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _effects(row: Row, decisions: Decisions) -> str:
    return ", ".join(
        f"{testimony.spec} {with_interval(testimony.effect)}"
        for testimony in row.measured
        if testimony.decision in decisions
    )
