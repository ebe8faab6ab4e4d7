"""Errors that typer finds in a line, in the words of the other errors."""

import re
from typing import Any

from cuescope_core.errors import nearest

_INVALID = re.compile(
    r"Invalid value for '(?P<name>.*?)'(?: / .*?)?: (?P<why>.*)", re.DOTALL
)
_NO_NUMBER = re.compile(
    r"'(?P<got>.*)' is not a valid (?P<kind>int|float)\w*( range)?\.", re.DOTALL
)
_OUT_OF_RANGE = re.compile(r"(?P<got>\S+) is not in the range .*\.")
_NO_CHOICE = re.compile(r"'(?P<got>.*)' is not one of .*\.", re.DOTALL)
_NO_VALUE = re.compile(r"Option '(?P<name>.*)' requires an argument\.")
_TOO_MANY = re.compile(
    r"Got unexpected extra arguments?(?:\(s\))? \((?P<got>.*)\)", re.DOTALL
)
_KINDS = {"int": "a whole number", "float": "a number"}


def usage_words(error: Any) -> str:
    """The line for a malformed command; `error` is typer's."""
    text: str = error.format_message()
    if (invalid := _INVALID.fullmatch(text)) is not None:
        fault = _fault_of_value(invalid["why"], error.param.type)
        return text if fault is None else f"{invalid['name']}: {fault}"
    context = getattr(error, "ctx", None)
    help_line = "" if context is None else f" (`{context.command_path} --help`)"
    if (without := _NO_VALUE.fullmatch(text)) is not None:
        return f"{without['name']}: expected a value, got none{help_line}"
    if context is None:
        return text
    if text.startswith("Missing "):
        return f"{text.rstrip()} Type `{example(context)}`{help_line}"
    if (extra := _TOO_MANY.fullmatch(text)) is not None:
        return (
            f"one word too many for `{example(context)}`: got '{extra['got']}' too. "
            f"A word with blanks needs quotes{help_line}"
        )
    if (option := getattr(error, "option_name", None)) is not None:
        remedy = _nearest_option(option, context.command)
        return f"{error.message}{f'. {remedy}' if remedy else ''}{help_line}"
    return text


def _nearest_option(typed: str, command: Any) -> str | None:
    names = [name for parameter in command.params for name in parameter.opts]
    # without the dashes: all options begin with them, and are alike so far
    words = {name.removeprefix("--"): name for name in names if name.startswith("--")}
    remedy = nearest(typed.lstrip("-"), words)
    return None if remedy is None else remedy.replace("'", "'--", 1)


def _fault_of_value(why: str, takes: Any) -> str | None:
    """Return what was expected of a value and what came; None for a reason in words of our own.

    `takes` is the type that typer gave the option.
    """
    if (found := _NO_NUMBER.fullmatch(why)) is not None:
        return f"expected {_KINDS[found['kind']]}, got '{found['got']}'"
    if (found := _OUT_OF_RANGE.fullmatch(why)) is not None:
        return f"expected {_range_words(takes)}, got {found['got']}"
    if (found := _NO_CHOICE.fullmatch(why)) is not None:
        choices = [str(getattr(choice, "value", choice)) for choice in takes.choices]
        remedy = nearest(found["got"], choices)
        line = f"expected one of {', '.join(choices)}, got '{found['got']}'"
        return line if remedy is None else f"{line}. {remedy}"
    return None


def _range_words(takes: Any) -> str:
    kind = _KINDS["int" if takes.name.startswith("int") else "float"]
    if takes.max is None:
        return f"{kind} of at least {takes.min}"
    if takes.min is None:
        return f"{kind} of at most {takes.max}"
    return f"{kind} from {takes.min} to {takes.max}"


def example(context: Any) -> str:
    """The shortest line of a command: its name, and all that it cannot do without."""
    words = [context.command_path]
    for parameter in context.command.params:
        if not parameter.required:
            continue
        value = parameter.metavar or parameter.name.upper()
        if parameter.param_type_name == "option":
            words.append(parameter.opts[0])
        words.append(value)
    return " ".join(words)
