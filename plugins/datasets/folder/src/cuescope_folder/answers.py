"""What each sample is answered from: choices of its own, those of all, or free words."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cuescope_folder.layout import Item
from cuescope_folder.options import Answers
from cuescope_sdk import UserError, inside, nearest
from cuescope_sdk.data import TextFile
from cuescope_sdk.language import normalise_answer

YES_NO = {"yes", "no"}


def common_choices(
    items: Sequence[Item],
    choices: Sequence[str] | None,
    answers: Answers,
    root: Path,
) -> tuple[str, ...]:
    """What items without choices of their own are answered from: () for open answers.

    The given choices in their order, or the labels (of every split) in alphabetical order. Raises
    UserError where a label is none of the given choices, or these stand beside open answers.
    """
    # items with choices of their own have no say in what is common
    others = [item for item in items if not item.choices]
    if choices is not None:
        if answers == "open":
            raise UserError(
                "folder: -O data.choices with -O data.answers=open",
                remedy="Leave one out",
            )
        # a label that the file lists twice is one choice
        given = tuple(dict.fromkeys(_read_choices(choices, root)))
        for label in _labels(others):
            if label not in given:
                raise UserError(
                    f"folder: label '{label}' is none of the choices",
                    expected=f"one of {shorten_list(given)}",
                    remedy=nearest(label, given),
                )
        return given
    # where some rows have choices, those without are taken for open questions
    if answers == "auto" and len(others) == len(items) and has_shared_answers(items):
        answers = "pooled"
    return _labels(others) if answers == "pooled" else ()


def one_spelling(items: Sequence[Item], choices: Sequence[str] | None) -> list[Item]:
    """The items whose answers to questions are one word each: "Yes", "YES" and "yes." are "yes".

    The commonest spelling stays, or the one of the given choices. Names of classes stay as they
    are: two folders are two classes.
    """
    asked = [
        item for item in items if item.question and item.label and not item.choices
    ]
    spellings: dict[str, Counter[str]] = {}
    for item in asked:
        assert item.label is not None
        spellings.setdefault(normalise_answer(item.label), Counter())[item.label] += 1
    usual = {
        # of equals the first in alphabetical order: it must not depend on the order of rows
        plain: max(sorted(found, reverse=True), key=lambda name: found[name])
        for plain, found in spellings.items()
    }
    if choices and len(choices) > 1:
        usual |= {normalise_answer(choice): choice for choice in choices}
    elif usual.keys() == YES_NO and any(len(found) > 1 for found in spellings.values()):
        usual = {plain: plain for plain in usual}
    respelled = {
        id(item): name
        for item in asked
        if item.label and (name := usual[normalise_answer(item.label)]) != item.label
    }
    return [
        replace(item, label=respelled[id(item)]) if id(item) in respelled else item
        for item in items
    ]


def has_shared_answers(items: Sequence[Item]) -> bool:
    """Whether all labels are one set to choose from: where nothing is asked, they are.

    Answers are where they are yes and no, or where every question has the same two or more, which
    are at most half as many as the items.
    """
    if not any(item.question for item in items):
        return True
    labels = _labels(items)
    # a question of yes or no often stands in one row, with one of the two
    if sorted(map(str.lower, labels)) == ["no", "yes"]:
        return True
    # more: free words, most of them seen once
    if not 2 <= len(labels) <= len(items) / 2:
        return False
    answers: dict[str | None, set[str]] = {}
    for item in items:
        if item.label is not None:
            answers.setdefault(item.question, set()).add(item.label)
    return all(choices == set(labels) for choices in answers.values())


def shared_choices(items: Sequence[Item], common: tuple[str, ...]) -> tuple[str, ...]:
    """The choices that all items have, () where they differ."""
    sets = {item.choices or common for item in items}
    # one set: an audit can tell classes apart
    return sets.pop() if len(sets) == 1 else ()


def answer_facts(items: Sequence[Item], common: tuple[str, ...]) -> dict[str, str]:
    """Where something is asked: from what it is answered, and how to have it otherwise."""
    if not any(item.question for item in items):
        return {}
    with_choices = sum(bool(item.choices) for item in items)
    others = len(items) - with_choices
    parts = []
    if with_choices:
        parts.append(f"{with_choices:,} with the choices of their rows")
    if others and common:
        choices = shorten_list(common)
        parts.append(
            f"{others:,} with the choices {choices} (-O data.answers=open for free words)"
        )
    elif others:
        parts.append(
            f"{others:,} in free words (-O data.answers=pooled for a choice of all labels, or "
            "-O data.choices)"
        )
    return {"answers": "; ".join(parts)}


def _labels(items: Sequence[Item]) -> tuple[str, ...]:
    return tuple(sorted({item.label for item in items if item.label is not None}))


def _read_choices(choices: Sequence[str], root: Path) -> Sequence[str]:
    # one word is a file: a choice of one label would be none
    if len(choices) != 1:
        return choices
    file = Path(choices[0]).expanduser()
    # as a person writes it, from here or from the data
    if not file.is_file():
        below = file
        file = root / below
        if file.is_file() and not below.is_absolute():
            # a link in the data may lead anywhere
            inside(root, below, "folder: choices")
    if not file.is_file():
        raise UserError(
            "folder: choices",
            expected="two labels or more, or a file with a label a line",
            got=f"'{choices[0]}', which is no file",
        )
    return read_names(file, "choices")


def read_names(file: Path, what: str) -> list[str]:
    """The lines of a text file, without empty ones."""
    lines = TextFile(file, f"folder: {what}").text().splitlines()
    return [line.strip() for line in lines if line.strip()]


def shorten_list(names: Sequence[str], most: int = 8, separator: str = ", ") -> str:
    """The first few, and how many more."""
    more = len(names) - most
    return separator.join(names[:most]) + (f" and {more} more" if more > 0 else "")
