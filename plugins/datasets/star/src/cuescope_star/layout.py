"""The authors' files: questions with situation graphs, and the classes that their codes name.

By the categories that a question names and shows it is in or out of distribution.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from operator import attrgetter
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, FiniteFloat

from cuescope_sdk import UserError, nearest
from cuescope_sdk.data import TextFile

Box = tuple[FiniteFloat, FiniteFloat, FiniteFloat, FiniteFloat]
# counted from 1: no '0' and no '000000'
FrameId = Annotated[str, Field(pattern=r"^\d*[1-9]\d*$")]
Part = Literal["iid", "ood"]
PERSON = "o000"  # in every graph, and never held out


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
        ordered = sorted(self.choices, key=attrgetter("choice_id"))
        return tuple(map(attrgetter("choice"), ordered))

    @property
    def annotated(self) -> dict[int, Situation]:
        """The situations by index of the frame, counted from 0."""
        return {
            int(number) - 1: self.situations[number]
            for number in sorted(self.situations)
        }


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
        names = dict(self.objects)
        names.pop(PERSON, None)
        return tuple(names.values())


def read_all_classes(find: Callable[[str], TextFile]) -> Classes:
    """The five files of `STAR_classes`; raises UserError for one that is missing or broken."""
    objects = find("object_classes.txt").codes()
    verbs = find("verb_classes.txt").codes()
    texts = find("action_classes.txt").codes()
    actions = {}
    for location, line in find("action_mapping.txt").lines():
        words = line.split()
        if len(words) != 3:
            raise UserError(location, expected="'a000 v004 o019'", got=f"'{line[:60]}'")
        action, verb, thing = words
        require_class(action, texts, location)
        require_class(verb, verbs, location)
        require_class(thing, objects, location)
        phrases = phrases_of(texts[action], objects[thing])
        actions[action] = ActionClass(verb=verbs[verb], phrases=phrases, object=thing)
    relations = find("relationship_classes.txt").codes()
    return Classes(
        objects=objects,
        relations=relations,
        actions=actions,
        verbs=tuple(verbs.values()),
    )


def phrases_of(text: str, thing: str) -> tuple[str, ...]:
    """The verbs of an action class: "watch/read/look at a book" has "watch", "read", "look at"."""
    words: list[str] = []
    for word in text.split():
        # The verbs end where the object begins: at its own word ("cup/glass"), or at an article.
        starts = word.startswith(tuple(thing.split("/")))
        if words and (starts or word in ("a", "an", "some", "the", "their")):
            break
        words.append(word)
    phrases = " ".join(words).replace(" and ", "/").split("/")
    return tuple(map(str.strip, phrases))


def check_question(row: QuestionRow, classes: Classes, location: str) -> None:
    """Raise UserError for what no sample can be made of: codes, counts, times, answers."""
    if row.end < row.start:
        raise UserError(
            location,
            expected="a start before the end",
            got=f"{row.start:g} s to {row.end:g} s",
        )
    # the published test split has no answers
    if row.answer is not None and row.answer not in row.answers:
        got = f"'{row.answer[:60]}'"
        raise UserError(location, expected="an answer among the choices", got=got)
    for number, situation in row.situations.items():
        frame = f"{location} frame {number}"
        for names, labels in (("rel_pairs", "rel_labels"), ("bbox", "bbox_labels")):
            count = len(getattr(situation, names))
            count_of_labels = len(getattr(situation, labels))
            if count != count_of_labels:
                raise UserError(
                    frame,
                    expected=f"as many {names} as {labels}",
                    got=f"{count} and {count_of_labels}",
                )
        for code in (*situation.bbox_labels, *chain(*situation.rel_pairs)):
            require_class(code, classes.objects, frame)
        for code in situation.rel_labels:
            require_class(code, classes.relations, frame)
        for code in situation.actions:
            require_class(code, classes.actions, frame)


def require_class(code: str, classes: Collection[str], location: str) -> None:
    """Raise UserError where a code is of no class."""
    if code not in classes:
        raise UserError(
            f"{location}: no class '{code[:60]}'", remedy=nearest(code, classes)
        )


# ---------------------------------------------------------------------- in or out of distribution


def part_of(row: QuestionRow, held: frozenset[str], classes: Classes) -> Part | None:
    """`ood` where the question or its answer names a held-out category, `iid` where nothing does.

    None is for those between: a held-out category is on screen or among the wrong choices.
    """
    question = named_categories(row.question_program, classes)
    shown = visible_categories(row, classes)
    for choice in row.choices:
        names = named_categories(choice.choice_program, classes)
        shown |= names
        # the answer's program names what the question may leave open
        if choice.choice == row.answer:
            question |= names
    if held & question:
        return "ood"
    return None if held & shown else "iid"


def video_parts(
    rows: Iterable[QuestionRow],
    held: frozenset[str],
    classes: Classes,
) -> list[Part | None]:
    """The part of each row; a video with an `ood` row has no `iid` row, so that none is in both."""
    rows = list(rows)
    parts: list[Part | None] = []
    outside = set()
    for row in rows:
        part = part_of(row, held, classes)
        parts.append(part)
        if part == "ood":
            outside.add(row.video_id)
    # after all rows: a later one may have put the video outside
    for index, row in enumerate(rows):
        if parts[index] == "iid" and row.video_id in outside:
            parts[index] = None
    return parts


def named_categories(program: Iterable[Function], classes: Classes) -> set[str]:
    """The verbs and objects that a program names."""
    verbs: set[str] = set()
    things: set[str] = set()
    for step in program:
        for text in _texts(step.value_input):
            # a text may name a thing or an action, so it is tried as both
            things.add(text)
            # The value that names an action begins with its verb; a space or an underscore follows.
            verbs.add(text.replace("_", " ").partition(" ")[0])
    # other texts of a program are of no category
    return verbs.intersection(classes.verbs) | things.intersection(classes.things)


def visible_categories(row: QuestionRow, classes: Classes) -> set[str]:
    """The verbs and objects of its situation graphs."""
    names: set[str] = set()
    for situation in row.situations.values():
        names.update(map(classes.objects.__getitem__, situation.bbox_labels))
        for code in situation.actions:
            action = classes.actions[code]
            names |= {action.verb, classes.objects[action.object]}
    return names


def _texts(value: Any) -> Iterator[str]:
    # Not recursive: brackets of a stranger's file may be nested by the hundred.
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, list | tuple):
            waiting.extend(part)
