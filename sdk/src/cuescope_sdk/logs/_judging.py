"""Which figure of a log says what is correct, in which direction, and whether the words agree."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cuescope_sdk import UserError, nearest
from cuescope_sdk.data import shorten_names
from cuescope_sdk.language import normalise_answer, strip_thinking
from cuescope_sdk.logs._choices import Choices
from cuescope_sdk.logs._records import Judgement, Log, Record
from cuescope_sdk.logs._scores import is_missing, score_of

WORDS = (
    "words"  # of the option `metric`: the words are compared, whatever the figures say
)
# share of a figure's values that may not be understood (issue tracker: 1% is what a join may miss)
MOST_UNKNOWN = 0.01
# of Fisher's exact test, one-sided: with 5% one log in 40 without a direction would be turned
LEVEL = 0.01
PASS = (
    0.5  # more than half of the points is correct, as half right is not (inspect's "P")
)


@dataclass(frozen=True)
class Figure:
    """One figure of a log: its score of each answer, None where it says none."""

    name: str
    scores: Sequence[float | None]
    unknown: Mapping[str, int]

    @classmethod
    def of(cls, name: str, records: Sequence[Record]) -> "Figure":
        scores: list[float | None] = []
        unknown: Counter[str] = Counter()
        for record in records:
            value = record.figures.get(name)
            score = None if is_missing(value) else score_of(value)
            scores.append(score)
            if score is None and not is_missing(value):
                unknown[f"{value!s:.40}"] += 1
        return cls(name, scores, unknown)

    @property
    def known(self) -> list[float]:
        return [score for score in self.scores if score is not None]

    @property
    def is_judgement(self) -> bool:
        """True if all but a hundredth of its values are understood."""
        unknown = sum(self.unknown.values())
        return bool(self.known) and unknown <= MOST_UNKNOWN * len(self.scores)

    @property
    def mean(self) -> float:
        return sum(self.known) / len(self.known)


def judge(log: Log, where: str, metric: str | None = None) -> Log:
    """The log with `right` in each record, as one of its figures says, and what was read.

    Without a `metric` it is the first that the harness wrote; "words" compares words alone. Raises
    UserError for a figure that is not there or not understood, and where figures contradict each
    other and nothing says which counts.
    """
    records = log.records
    names = list(dict.fromkeys(name for record in records for name in record.figures))
    figures = [Figure.of(name, records) for name in names]
    literal = literal_matches(records)
    figure = _choose(figures, metric, where)
    if figure is None:
        source = "the words of the answers, compared with the right ones"
        return replace(log, judgement=Judgement(figure=None, source=source))
    readable = [other for other in figures if other.is_judgement]
    higher, source = _direction(figure, log.higher_is_better, literal)
    stated = figure.name in log.higher_is_better
    others = _others(figure, readable, log.higher_is_better, higher)
    if metric is None and not stated:
        _refuse_opposites(figure, readable, log.higher_is_better, literal, where)
    judged = []
    for record, score in zip(records, figure.scores, strict=True):
        right = record.right
        if score is not None:
            right = score > PASS if higher else score < PASS
        judged.append(replace(record, right=right))
    against, examples = _against(judged, literal)
    judgement = Judgement(
        figure=figure.name,
        source=source,
        higher_is_better=higher,
        means={other.name: other.mean for other in readable},
        judged=len(figure.known),
        partial=sum(0 < score < 1 for score in figure.known),
        unknown=figure.unknown,
        others=others,
        against=against,
        examples=examples,
        stated=stated,
        contradicted=stated and _goes_against(figure.scores, literal, higher=higher),
    )
    return replace(log, records=tuple(judged), judgement=judgement)


def literal_matches(records: Sequence[Record]) -> list[bool | None]:
    """Return whether each answer is the right one word for word, None where words do not show it.

    A letter or text that is another choice, or the right answer of other questions, is not it.
    """
    right_words = {
        normalise_answer(text) for record in records for text in record.right_texts
    }
    return [_literal_match(record, right_words) for record in records]


def _literal_match(record: Record, right_words: Iterable[str]) -> bool | None:
    said = strip_thinking(record.said).strip()
    if not said or not (record.label is not None or record.labels):
        return None
    if record.labels and record.choices:  # several letters are no lone one
        return None
    choices = Choices(record.choices)
    labels = record.labels or (record.label,)
    if record.choices:
        chosen = None if record.shuffled else choices.stated(said)
        if chosen is None:
            return None
        numbers = {
            label if isinstance(label, int) else choices.index(str(label))
            for label in labels
        }
        return None if numbers == {None} else chosen in numbers
    words = normalise_answer(said)
    accepted = {normalise_answer(str(label)) for label in labels}
    if words in accepted:
        return True
    return False if words in right_words else None


def _choose(figures: Sequence[Figure], metric: str | None, where: str) -> Figure | None:
    if metric == WORDS:
        return None
    if metric is not None:
        named = [figure for figure in figures if figure.name == metric]
        if not named:
            names = [figure.name for figure in figures]
            raise UserError(
                f"{where}: no figure '{metric}'",
                expected=f"{', '.join(names) or 'no other'} or {WORDS}",
                remedy=nearest(metric, names),
            )
        if not named[0].is_judgement:
            raise _not_understood(named[0], where)
        return named[0]
    for figure in figures:
        if figure.is_judgement:
            return figure
    # partly understood, or numbers of another scale: never replaced in silence by the words
    for figure in figures:
        if figure.known or any(map(_is_number, figure.unknown)):
            raise _not_understood(figure, where)
    return None


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def _not_understood(figure: Figure, where: str) -> UserError:
    common = Counter(figure.unknown).most_common()
    values = shorten_names([f"'{value}' ({count:,})" for value, count in common])
    return UserError(
        f"{where}: the figure '{figure.name}' has values that are no judgement",
        expected="0 to 1, correct or incorrect, true or false, pass or fail, yes or no",
        got=f"{values} of {len(figure.scores):,}",
        remedy=f"metric=NAME takes another figure, metric={WORDS} compares the words (-M and -D)",
    )


def _direction(
    figure: Figure,
    stated: Mapping[str, bool],
    literal: Sequence[bool | None],
) -> tuple[bool, str]:
    """Return True where a higher figure is better, and the source of that in words."""
    if figure.name in stated:
        higher = stated[figure.name]
        return higher, f"{_words(higher)}, as the harness states"
    if _goes_against(figure.scores, literal):
        return False, "lower is better, as the words of the answers show"
    return True, "higher is better, which the log does not state"


def _words(higher: bool) -> str:
    return "higher is better" if higher else "lower is better"


def _goes_against(
    scores: Sequence[float | None],
    literal: Sequence[bool | None],
    *,
    higher: bool = True,
) -> bool:
    """True if answers that are right word for word have the worse figures, beyond chance."""
    # late: scipy takes a second
    from cuescope_sdk.statistics import Overlap

    pairs = [
        (match, (score > PASS) != higher)
        for score, match in zip(scores, literal, strict=True)
        if score is not None and match is not None
    ]
    matches, worse = np.array(pairs, bool).reshape(-1, 2).T
    return Overlap.p_value(matches, worse) <= LEVEL


def _refuse_opposites(
    figure: Figure,
    readable: Sequence[Figure],
    stated: Mapping[str, bool],
    literal: Sequence[bool | None],
    where: str,
) -> None:
    """Raise UserError where another figure says the opposite and no direction is known."""
    for other in readable:
        if other is figure or other.name in stated:
            continue
        as_matches = [None if s is None else s > PASS for s in other.scores]
        if _goes_against(figure.scores, as_matches) and not any(
            match is not None for match in literal
        ):
            raise UserError(
                f"{where}: the figures '{figure.name}' and '{other.name}' say the opposite of each "
                "other",
                expected="one that says what is correct",
                remedy=f"Say which: metric={figure.name} or metric={other.name} (-M and -D)",
            )


def _others(
    figure: Figure,
    readable: Sequence[Figure],
    stated: Mapping[str, bool],
    higher: bool,
) -> dict[str, float]:
    """The share of answers that each other figure judges otherwise."""
    shares = {}
    for other in readable:
        if other is figure:
            continue
        pairs = [
            (mine, theirs)
            for mine, theirs in zip(figure.scores, other.scores, strict=True)
            if mine is not None and theirs is not None
        ]
        other_higher = stated.get(other.name, True)
        differ = sum(
            ((mine > PASS) == higher) != ((theirs > PASS) == other_higher)
            for mine, theirs in pairs
        )
        if differ:
            shares[other.name] = differ / len(pairs)
    return shares


def _against(
    records: Sequence[Record], literal: Sequence[bool | None]
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Answers whose judgement contradicts their words, by what it is, and some keys."""
    counts: Counter[str] = Counter()
    examples = []
    for record, match in zip(records, literal, strict=True):
        if match is None or record.right is None or match == record.right:
            continue
        reason = "another answer counts as correct"
        if match:
            reason = "the right answer counts as incorrect"
        counts[reason] += 1
        examples.append(record.key)
    return dict(counts), tuple(examples)


def figures_of(line: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The figures of these names that a line has, in this order."""
    return {name: line[name] for name in names if name in line}
