"""What typer finds wrong with a line, in the words of the other errors."""

import re
from typing import Any

_NO_NUMBER = re.compile(
    r"^(?P<head>.*): '(?P<got>.*)' is not a valid (?P<kind>int|float)\w*( range)?\.$",
    re.DOTALL,
)
_KINDS = {"int": "a whole number", "float": "a number"}


def usage_words(error: Any) -> str:
    """The line for a malformed command; `error` is typer's."""
    text: str = error.format_message()
    if (number := _NO_NUMBER.match(text)) is not None:
        expected = _KINDS[number["kind"]]
        return f"{number['head']}: expected {expected}, got '{number['got']}'"
    context = getattr(error, "ctx", None)
    if text.startswith("Missing ") and context is not None:
        return f"{text.rstrip()} Type `{example(context)}` (`{context.command_path} --help`)"
    return text


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
