"""The segments and questions that the authors of CLAVI publish, instead of newly curated ones.

`{train,test}_annotations.json` give each segment by its two actions and four cuts.
`{train,test}_q.json` and `_a.json` beside them, where they are there, give its questions:
`video_name` is the segment with _1 for the original and _2 for the complement video, `type` a
number. That they are records joined by `question_id` is not said; files of these names are so in
ActivityNet-QA.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ValidationError

from cuescope_clavi.charades import Classes, authors_split, belongs
from cuescope_clavi.curation import Action, Segment
from cuescope_clavi.entries import Entry, Rules, asked_of, chosen
from cuescope_clavi.footage import Listed
from cuescope_clavi.questions import SUBSETS, YES, Kind, Question
from cuescope_sdk import UserError, generator
from cuescope_sdk.data import find_file, read_json

# `type` of a question about the original video; of the complement video it is 16 more.
KINDS: dict[int, Kind] = {
    0: "E", 1: "E-NC", 4: "BE", 5: "BE", 8: "BA", 9: "BA", 10: "BA-NC",
}  # fmt: skip
OF_COMPLEMENT = 16
Asked = Mapping[str, tuple[Sequence[Question], Sequence[Question]]]


class Cuts(BaseModel):
    """Outer and inner borders of the first and of the second action's region, in seconds."""

    out_a: float
    in_a: float
    in_b: float
    out_b: float


class Annotation(BaseModel):
    """A segment as it is published: two (class, start, end), the cuts, what else occurs."""

    vid_id: str
    info: tuple[tuple[str, float, float], tuple[str, float, float]]
    other_actions: tuple[str, ...] = ()
    ext: Cuts


class Asking(BaseModel):
    """A record of the questions."""

    question_id: str | int
    video_name: str
    question: str


class Answer(BaseModel):
    """A record of the answers."""

    question_id: str | int
    answer: str
    type: int


@dataclass(frozen=True, slots=True)
class Published:
    """A segment of a video, with all actions of that video that the annotation names."""

    key: str
    video: str
    segment: Segment
    actions: frozenset[str]


def published_entries(
    place: Path, split: str, classes: Classes, listed: Sequence[Listed], rules: Rules
) -> tuple[list[Entry], int]:
    """The published segments of a split, and how many lack a negative control.

    Their questions are the published ones where these files are there, or else newly made of the
    templates, with a negative control that is unlike all that `listed` says of the video.
    """
    file = place if place.is_file() else find_file(
        place, f"{authors_split(split)}_annotations.json", "clavi"
    )  # fmt: skip
    stem = file.name.removesuffix("_annotations.json")
    asked = read_questions(file.with_name(f"{stem}_q.json"), file.with_name(f"{stem}_a.json"))
    segments: dict[str, list[Published]] = {}
    for one in read_published(file, classes.names):
        if belongs(one.video, split):
            segments.setdefault(one.video, []).append(one)
    occurring = {video.video: {action.name for action in video.actions} for video in listed}
    entries: list[Entry | None] = []
    for video, _, one in chosen(segments, rules):
        rng = generator(rules.seed, "clavi", one.key)
        seen = one.actions.union(occurring.get(video, ()))
        made = None if asked else asked_of(one.segment, seen, classes.parts, rng)
        both = asked.get(one.key) if asked else made
        entries.append(Entry(one.key, video, one.segment, both) if both else None)
    kept = [entry for entry in entries if entry is not None]
    return kept, len(entries) - len(kept)


def read_published(file: Path, names: Mapping[str, str]) -> list[Published]:
    """The segments; raises UserError naming the one that is not as published."""
    try:
        entries = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"clavi: cannot read {file.name}", got=str(error)[:100]) from None
    if not isinstance(entries, dict) or not entries:
        raise UserError(f"clavi: {file.name}", expected="a JSON object of segments by key",
                        got=f"a JSON {type(entries).__name__}")  # fmt: skip
    return [_segment(key, entry, names, file.name) for key, entry in entries.items()]


def read_questions(questions: Path, answers: Path) -> Asked | None:
    """Segment -> the questions about its original and its complement video; None without files."""
    if not questions.is_file() or not answers.is_file():
        return None
    answered = {row.question_id: row for row in read_json(answers, Answer, "clavi")}
    asked: dict[str, tuple[list[Question], list[Question]]] = {}
    for row in read_json(questions, Asking, "clavi"):
        place = f"clavi: {questions.name}: question {row.question_id}"
        answer = answered.get(row.question_id)
        name = re.fullmatch(r"(.+)_([12])", row.video_name)
        if answer is None or name is None or answer.type % OF_COMPLEMENT not in KINDS:
            raise UserError(
                place, expected="an answer of a known type, and video_name KEY_1 or KEY_2",
                got=f"{'no answer' if answer is None else f'type {answer.type}'}, "
                f"'{row.video_name}'",
            )  # fmt: skip
        kind = KINDS[answer.type % OF_COMPLEMENT]
        complement = name[2] == "2"
        flipped = complement and SUBSETS[kind] == "complement"
        original = (answer.answer.lower() == YES) != flipped
        both = asked.setdefault(name[1], ([], []))
        both[complement].append(Question(kind, row.question, original))
    return asked


def _segment(key: str, entry: object, names: Mapping[str, str], file: str) -> Published:
    try:
        read = Annotation.model_validate(entry)
        first, second = (Action(names[code], start, end) for code, start, end in read.info)
        others = {names[code] for code in read.other_actions}
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        raise UserError(f"clavi: {file}: segment {key}: {where}", expected=fault["msg"],
                        got=repr(fault["input"])[:60]) from None  # fmt: skip
    except KeyError as error:
        raise UserError(f"clavi: {file}: segment {key}", expected="a class of Charades",
                        got=str(error)) from None  # fmt: skip
    cuts = (read.ext.out_a, read.ext.in_a, read.ext.in_b, read.ext.out_b)
    return Published(
        key,
        read.vid_id,
        Segment(first, second, cuts),
        frozenset(others | {first.name, second.name}),
    )
