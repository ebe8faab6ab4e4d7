"""The authors' files: questions with situation graphs, and the classes that their codes name."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, FiniteFloat

from cuescope_sdk import UserError, nearest
from cuescope_sdk.data import find_file, read_classes, read_lines

Box = tuple[FiniteFloat, FiniteFloat, FiniteFloat, FiniteFloat]
FrameId = Annotated[str, Field(pattern=r"^\d*[1-9]\d*$")]
PERSON = "o000"


class Function(BaseModel):
    """A step of a program."""

    function: str
    value_input: tuple[Any, ...] = ()


class Choice(BaseModel):
    """An answer to choose, and the program that tells whether it is right."""

    choice_id: int
    choice: str
    choice_program: tuple[Function, ...] = ()


class Situation(BaseModel):
    """The graph of an annotated frame; boxes are (x0, y0, x1, y1) in pixels, None for none."""

    rel_pairs: tuple[tuple[str, str], ...]
    rel_labels: tuple[str, ...]
    bbox: tuple[Box | None, ...]
    bbox_labels: tuple[str, ...]
    actions: tuple[str, ...]


class QuestionRow(BaseModel):
    """An entry of `STAR_{split}.json`; the published test split has no answers and no graphs.

    `situations` are by the number of a frame of the whole video, counted from 1. `start` and `end`
    are in seconds of it.
    """

    question_id: str
    question: str
    video_id: str
    start: FiniteFloat
    end: FiniteFloat
    choices: tuple[Choice, ...]
    answer: str | None = None
    question_program: tuple[Function, ...] = ()
    situations: dict[FrameId, Situation] = {}

    @property
    def answers(self) -> tuple[str, ...]:
        """The choices in the order of their numbers."""
        return tuple(c.choice for c in sorted(self.choices, key=lambda choice: choice.choice_id))

    @property
    def annotated(self) -> dict[int, Situation]:
        """The situations by index of the frame, counted from 0."""
        return {int(number) - 1: self.situations[number] for number in sorted(self.situations)}


class ActionClass(BaseModel):
    """What is done: the verb class, other words for it ("tidy up"), and the object's code."""

    verb: str
    phrases: tuple[str, ...]
    object: str


class Classes(BaseModel):
    """Names by code."""

    objects: Mapping[str, str]
    relations: Mapping[str, str]
    actions: Mapping[str, ActionClass]
    verbs: tuple[str, ...]

    @property
    def things(self) -> tuple[str, ...]:
        """The names of all objects but the person."""
        return tuple(name for code, name in self.objects.items() if code != PERSON)


def read_all_classes(root: Path, title: str) -> Classes:
    """The five files of `STAR_classes`; raises UserError for one that is missing or broken."""
    objects = read_classes(find_file(root, "object_classes.txt", title), title)
    verbs = read_classes(find_file(root, "verb_classes.txt", title), title)
    texts = read_classes(find_file(root, "action_classes.txt", title), title)
    actions = {}
    for place, line in read_lines(find_file(root, "action_mapping.txt", title), title):
        words = line.split()
        if len(words) != 3:
            raise UserError(place, expected="'a000 v004 o019'", got=f"'{line[:60]}'")
        action, verb, thing = words
        for code, known in ((action, texts), (verb, verbs), (thing, objects)):
            require(code, known, place)
        phrases = phrases_of(texts[action], objects[thing])
        actions[action] = ActionClass(verb=verbs[verb], phrases=phrases, object=thing)
    relations = read_classes(find_file(root, "relationship_classes.txt", title), title)
    return Classes(
        objects=objects, relations=relations, actions=actions, verbs=tuple(verbs.values())
    )


def phrases_of(text: str, thing: str) -> tuple[str, ...]:
    """The verbs of an action class: "watch/read/look at a book" has "watch", "read", "look at"."""
    words: list[str] = []
    for word in text.split():
        starts = word.startswith(tuple(thing.split("/")))
        if words and (starts or word in ("a", "an", "some", "the", "their")):
            break
        words.append(word)
    return tuple(phrase.strip() for phrase in " ".join(words).replace(" and ", "/").split("/"))


def check(row: QuestionRow, classes: Classes, place: str) -> None:
    """Raise UserError for what no sample can be made of: codes, counts, times, answers."""
    if row.end < row.start:
        raise UserError(place, expected="a start before the end",
                        got=f"{row.start:g} s to {row.end:g} s")  # fmt: skip
    if row.answer is not None and row.answer not in row.answers:
        raise UserError(place, expected="an answer among the choices", got=f"'{row.answer[:60]}'")
    for number, situation in row.situations.items():
        where = f"{place} frame {number}"
        for one, other in (("rel_pairs", "rel_labels"), ("bbox", "bbox_labels")):
            counts = len(getattr(situation, one)), len(getattr(situation, other))
            if counts[0] != counts[1]:
                raise UserError(where, expected=f"as many {one} as {other}",
                                got=f"{counts[0]} and {counts[1]}")  # fmt: skip
        for code in _objects_of(situation):
            require(code, classes.objects, where)
        for code in situation.rel_labels:
            require(code, classes.relations, where)
        for code in situation.actions:
            require(code, classes.actions, where)


def require(code: str, known: Collection[str], place: str) -> None:
    """Raise UserError where a code is of no class."""
    if code not in known:
        raise UserError(f"{place}: no class '{code[:60]}'", remedy=nearest(code, known))


def _objects_of(situation: Situation) -> Iterator[str]:
    yield from situation.bbox_labels
    for pair in situation.rel_pairs:
        yield from pair
