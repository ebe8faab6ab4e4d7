"""The samples of a run, and of two: what was answered, with which confidence, and what flipped."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from cuescope.application import root
from cuescope_sdk import Report

Row = Mapping[str, Any]
# sample and question: one picture may be asked about in several ways
Asked = tuple[str, str | None]
BASELINE = "baseline"
OTHERS = 4  # answers under other conditions that are told of a sample
PAGE = 100
# each line loads a picture
MOST_PAGE = 500
MOST_WORDS = 100  # labels or answers to choose from; more are found by search


@dataclass(frozen=True)
class Answer:
    """What the model said, `confidence` being the probability of it where one is known."""

    condition: str
    answer: str | None
    confidence: float | None
    correct: bool | None


@dataclass(frozen=True)
class Line:
    """A sample with its plain answer, and what was answered otherwise: changed, or in another run.

    `with_cue` and `flipped` are None where the run does not say.
    """

    sample: str
    question: str | None
    label: str | None
    plain: Answer
    others: tuple[Answer, ...] = ()
    with_cue: bool | None = None
    flipped: bool | None = None


class Wanted(BaseModel):
    """Which lines are asked for, in which order; the query of the page's address."""

    model_config = ConfigDict(extra="ignore")

    feature: str | None = None
    side: Literal["with", "without", "all"] = "all"
    label: str | None = None
    answer: str | None = None
    correct: Literal["yes", "no"] | None = None
    flipped: Literal["yes", "no"] | None = None
    least: float = 0.0
    most: float = 1.0
    text: str = ""
    sort: Literal["sample", "label", "answer", "confidence", "correct", "flipped"] = (
        "sample"
    )
    descending: bool = False
    offset: int = Field(0, ge=0)
    count: int = Field(PAGE, ge=1, le=MOST_PAGE)


class SampleTable:
    """The answers of a run, by sample."""

    def __init__(self, report: Report, rows: Iterable[Row]) -> None:
        self._features = {feature.key: feature for feature in report.features}
        # what was measured of a sample is no answer
        answers = [row for row in rows if row.get("figure") is None]
        conditions = [row["condition"] for row in answers]
        plain = BASELINE if BASELINE in conditions else next(iter(conditions), BASELINE)
        self.plain: dict[Asked, Row] = {}
        for row in answers:
            if row["condition"] == plain:
                self.plain.setdefault((row["sample"], row.get("question")), row)
        self.samples = {sample: None for sample, _ in self.plain}
        self._changed = defaultdict[Asked, list[Row]](list)
        for row in answers:
            # what a changed sample was made of stands before a / in its key
            key = root(row["sample"], self.samples)
            if row["condition"] != plain and key is not None:
                self._changed[key, row.get("question")].append(row)
        self._lines: dict[str | None, list[Line]] = {}

    def lines(self, feature: str | None) -> list[Line]:
        """All samples, told with or without a cue where a `feature` is named."""
        if feature not in self._lines:
            shown = self.where(feature)
            lines = [
                self._line(asked, row, feature, shown)
                for asked, row in self.plain.items()
            ]
            if shown is not None:
                # first the samples that show the cue most
                lines.sort(key=lambda line: shown.get(line.sample, len(shown)))
            self._lines[feature] = lines
        return self._lines[feature]

    def where(self, feature: str | None) -> dict[str, int] | None:
        """The samples that show a cue, with their rank, the first showing it most.

        None where no cue is named, or its places are not known.
        """
        known = self._features.get(feature or "")
        if known is None or not known.occurrences:
            return None
        roots = (root(shown.sample, self.samples) for shown in known.occurrences)
        samples = dict.fromkeys(filter(None, roots))
        return {sample: rank for rank, sample in enumerate(samples)}

    def _line(
        self,
        asked: Asked,
        row: Row,
        feature: str | None,
        shown: Mapping[str, int] | None,
    ) -> Line:
        plain = _answer(row, row["condition"])
        changed = self._changed.get(asked, [])
        if feature is not None:
            # a change that was made for no one cue is about each of them
            changed = [o for o in changed if o["feature"] in (feature, None)]
        others = [_answer(other, other["condition"]) for other in changed]
        return Line(
            sample=asked[0],
            question=asked[1],
            label=row["label"],
            plain=plain,
            others=tuple(others[:OTHERS]),
            with_cue=None if shown is None else asked[0] in shown,
            flipped=_flips(plain, others),
        )


def pair(
    first: SampleTable,
    second: SampleTable,
    feature: str | None,
    name: str,
) -> tuple[list[Line], int]:
    """The samples that both runs asked about, the second's answer under `name`.

    Also how many are left out, because one key shows other pictures in the two runs.
    """
    shown = first.where(feature)
    lines = []
    unlike = 0
    for asked, row in first.plain.items():
        other = second.plain.get(asked)
        if other is None:
            continue
        contents = (row.get("content"), other.get("content"))
        # where a run does not say what it showed, the key must do
        if None not in contents and contents[0] != contents[1]:
            unlike += 1
            continue
        plain = _answer(row, row["condition"])
        answer = _answer(other, name)
        line = Line(
            sample=asked[0],
            question=asked[1],
            label=row["label"],
            plain=plain,
            others=(answer,),
            with_cue=None if shown is None else asked[0] in shown,
            flipped=_flips(plain, [answer]),
        )
        lines.append(line)
    return lines, unlike


def select(lines: Sequence[Line], wanted: Wanted) -> list[Line]:
    """The lines that are wanted, sorted; what is not known comes last."""
    chosen = [line for line in lines if _fits(line, wanted)]
    # twice, as sorting is stable: the unknown stay last in both directions
    if wanted.sort != "sample" or wanted.descending:
        chosen.sort(
            key=lambda line: _rank(line, wanted.sort), reverse=wanted.descending
        )
        chosen.sort(key=lambda line: _value(line, wanted.sort) is None)
    return chosen


def words_of(lines: Iterable[Line]) -> tuple[list[str], list[str]]:
    """The labels and the answers that occur, to choose from."""
    labels = dict[str, None]()
    answers = dict[str, None]()
    for line in lines:
        if line.label is not None:
            labels[line.label] = None
        if line.plain.answer is not None:
            answers[line.plain.answer] = None
    return sorted(labels)[:MOST_WORDS], sorted(answers)[:MOST_WORDS]


def accuracy(lines: Iterable[Line]) -> tuple[int, int]:
    """How many plain answers are right, of how many that a label judges."""
    judged = [line.plain.correct for line in lines if line.plain.correct is not None]
    return sum(judged), len(judged)


def _answer(row: Row, condition: str) -> Answer:
    return Answer(
        condition=condition,
        answer=row["prediction"] if row["prediction"] is not None else row["text"],
        confidence=row["p_prediction"],
        correct=row["correct"],
    )


def _flips(plain: Answer, others: Sequence[Answer]) -> bool | None:
    return any(other.answer != plain.answer for other in others) if others else None


def _fits(line: Line, wanted: Wanted) -> bool:
    if wanted.side != "all" and line.with_cue is not (wanted.side == "with"):
        return False
    if wanted.label is not None and line.label != wanted.label:
        return False
    if wanted.answer is not None and line.plain.answer != wanted.answer:
        return False
    if wanted.correct and line.plain.correct is not (wanted.correct == "yes"):
        return False
    if wanted.flipped and line.flipped is not (wanted.flipped == "yes"):
        return False
    confidence = line.plain.confidence
    if (wanted.least > 0 or wanted.most < 1) and (
        confidence is None or not wanted.least <= confidence <= wanted.most
    ):
        return False
    text = wanted.text.casefold()
    return text in f"{line.sample} {line.question or ''}".casefold()


def _value(line: Line, sort: str) -> str | float | None:
    plain = {
        "sample": line.sample,
        "label": line.label,
        "answer": line.plain.answer,
        "confidence": line.plain.confidence,
        "correct": line.plain.correct,
    }
    return line.flipped if sort == "flipped" else plain[sort]


def _rank(line: Line, sort: str) -> tuple[str, float]:
    value = _value(line, sort)
    # pairs: a text cannot be compared with a number
    return (value, 0.0) if isinstance(value, str) else ("", float(value or 0))
