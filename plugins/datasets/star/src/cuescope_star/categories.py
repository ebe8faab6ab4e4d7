"""What a question is about and what it shows, by which it is in or out of distribution."""

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from cuescope_star.layout import Classes, Function, QuestionRow

Part = Literal["iid", "ood"]


def part_of(row: QuestionRow, held: frozenset[str], classes: Classes) -> Part | None:
    """`ood` where the question or its answer names a held-out category, `iid` where nothing does.

    None is for those between: a held-out category is on screen or among the wrong choices.
    """
    right = [choice for choice in row.choices if choice.choice == row.answer]
    if held & asked_in((row.question_program, *(c.choice_program for c in right)), classes):
        return "ood"
    known = asked_in((c.choice_program for c in row.choices), classes) | shown_in(row, classes)
    return None if held & known else "iid"


def asked_in(programs: Iterable[tuple[Function, ...]], classes: Classes) -> frozenset[str]:
    """The verbs and objects that programs name."""
    words = {word for program in programs for step in program for word in _texts(step.value_input)}
    verbs = {word.replace("_", " ").partition(" ")[0] for word in words}
    return frozenset(verbs & set(classes.verbs)) | (words & set(classes.things))


def shown_in(row: QuestionRow, classes: Classes) -> frozenset[str]:
    """The verbs and objects of its situation graphs."""
    names = set()
    for situation in row.situations.values():
        names |= {classes.objects[code] for code in situation.bbox_labels}
        for action in (classes.actions[code] for code in situation.actions):
            names |= {action.verb, classes.objects[action.object]}
    return frozenset(names)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)
