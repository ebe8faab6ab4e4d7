"""`NAME[:ARG]` and `key=value` from the command line -> validated options."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Self, Union, get_args, get_origin

import yaml
from pydantic import ValidationError

from cuescope_core.atomic_files import require_path
from cuescope_core.class_files import names_class_file
from cuescope_core.errors import UserError, nearest, with_article
from cuescope_core.registry import Entry
from cuescope_core.types import Options

# option of every model: a folder that `cuescope mitigate` wrote
MITIGATED = "mitigated"
# in place of pydantic's "should have at least 1 item after validation, not 0"
IN_WORDS = {
    "too_short": "at least one",
    "tuple_type": "a list",
    "model_type": "a mapping",
    "dict_type": "a mapping",
    "int_parsing_size": "a whole number of at most 4,300 digits",
}


@dataclass(frozen=True)
class Spec:
    """A plugin by name, with the argument that its options give a meaning to."""

    name: str
    arg: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """From `NAME` or `NAME:ARG`; ARG may hold colons. `FILE.py:CLASS` is a name too."""
        name, colon, arg = text.partition(":")  # the first: paths and hub ids hold more
        if names_class_file(name) and arg:
            attribute, colon, arg = arg.partition(":")
            name = f"{name}:{attribute}"
        if not name or (colon and not arg):
            raise UserError(f"'{text}' is no SPEC", expected="NAME or NAME:ARG")
        return cls(name, arg or None)

    def __str__(self) -> str:
        return self.name if self.arg is None else f"{self.name}:{self.arg}"


# a folder is named after it, and a report shows it
def name_of(text: str) -> str:
    """A text as a name: no colons, for those part a SPEC, and nothing that a folder cannot have."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-.") or "unnamed"


def pairs(flag: str, items: Iterable[str]) -> dict[str, str]:
    """`["k=v", ...]` as a mapping; raises UserError for anything else, and for a repeated key."""
    values: dict[str, str] = {}
    for item in items:
        key, equals, value = item.partition("=")
        if not equals or not key.strip():
            raise UserError(f"{flag} {item}", expected="key=value", got=f"'{item}'")
        if key.strip() in values:
            raise UserError(
                f"{flag} {key.strip()} is given twice", remedy="Keep one of them"
            )
        values[key.strip()] = value
    return values


def validate(entry: Entry, cls: Any, spec: Spec, options: Mapping[str, Any]) -> Options:
    """The plugin's options; raises UserError naming the option, what it takes and what came."""
    given = dict(options)
    help_line = f"`cuescope plugins info {entry.name}` lists the options"
    # what a command of its own starts is typed as that command
    if (command := getattr(cls, "started_by", None)) is not None:
        help_line = f"It is started by `{command}`"
    argument = cls.Options.argument
    if entry.kind == "model":
        given.pop(MITIGATED, None)  # see Context.resolve
    if spec.arg is not None:
        if argument is None:
            raise UserError(
                f"{entry.name} takes no ARG",
                got=f"'{spec}'",
                remedy=help_line,
            )
        if argument in given:
            raise UserError(
                f"{entry.name}: {argument} is given twice",
                got=f"'{spec.arg}' after the colon and '{given[argument]}' as an option",
                remedy="Keep one of them",
            )
        given[argument] = spec.arg
    fields = cls.Options.model_fields
    for name, value in given.items():
        if name in fields and isinstance(value, str):
            where = f"{entry.name}: option '{name}'"
            given[name] = _parse_text(where, value, fields[name].annotation)
    try:
        return cls.Options(**given)  # type: ignore[no-any-return]
    except UserError as error:
        # of a type of options, which knows no plugin
        raise UserError(f"{entry.name}: {error}") from error
    except ValidationError as error:
        # the options of a bench follow its name
        is_bench = entry.kind == "bench"
        written = "--{name} VALUE" if is_bench else "{name}=VALUE"
        raise fault(entry.name, error, fields, help_line, argument, written) from error


def fault(
    where: str,
    error: ValidationError,
    known: Iterable[str],
    remedy: str | None = None,
    argument: str | None = None,
    written: str = "{name}=VALUE",
) -> UserError:
    """The first fault of options, a file or a command line, in one line."""
    # of a union the deepest fault, and of those a name that is wrong
    first = max(
        error.errors(), key=lambda f: (len(f["loc"]), f["type"] == "extra_forbidden")
    )
    *outer, last = map(str, first["loc"]) if first["loc"] else ("",)
    # pydantic adds class names of a union; a name that is none of ours begins as it likes
    is_unknown = first["type"] == "extra_forbidden"
    parts = [part for part in outer if part[:1].islower()]
    if is_unknown or last[:1].islower():
        parts.append(last)
    name = ".".join(parts)
    if is_unknown:
        # kinds of a union share names
        options = ", ".join(dict.fromkeys(known))
        return UserError(
            f"{where} has no option '{name}'",
            expected=f"one of {options}" if options else "no options",
            remedy=nearest(parts[-1] if parts else name, known) or remedy,
        )
    if first["type"] == "missing":
        wanted = f"{where}:ARG" if name == argument else written.format(name=name)
        return UserError(f"{where} needs '{name}'", expected=wanted, remedy=remedy)
    message = in_words(first)
    if first["type"] in ("literal_error", "union_tag_invalid"):
        given = first.get("ctx", {}).get("tag", first["input"])
        remedy = nearest(str(given), re.findall(r"'([^']*)'", message)) or remedy
    return UserError(
        f"{where}: option '{name}'" if name else where,
        expected=message,
        got=_what_came(first, name),
        remedy=remedy,
    )


def in_words(fault: Any) -> str:
    """Word what was expected, of a fault that pydantic tells."""
    if fault["type"].startswith("union_tag"):
        kinds = fault["ctx"].get("expected_tags")
        name = fault["ctx"]["discriminator"]
        return f"{name} in each entry" if kinds is None else f"{name} one of {kinds}"
    words = fault["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
    # it goes on about how it tried to read the text
    return str(IN_WORDS.get(fault["type"], words)).partition(", unable")[0]


def _what_came(first: Any, name: str) -> str | None:
    """The value of an option; of a whole file its kind, since its text says too much."""
    # what says which of several kinds an entry is stands in the message
    if first["type"].startswith("union_tag"):
        return None
    if name:
        return repr(first["input"])
    # a rule about several options, which says itself what it found
    if first["type"] == "value_error":
        return None
    if first["input"] is None:
        return "nothing: it is empty"
    return f"{with_article(type(first['input']).__name__)} ({first['input']!r:.60})"


def _parse_text(option: str, text: str, annotation: Any) -> Any:
    """A list or mapping where the option takes one ("2,3,5" or YAML); other text as it is.

    Raises UserError for a text that is no YAML, and for a path that is empty.
    """
    is_union = get_origin(annotation) in (Union, UnionType)
    alternatives = get_args(annotation) if is_union else (annotation,)
    kinds = {get_origin(kind) or kind for kind in alternatives}
    if Path in kinds:
        require_path(option, text)
    takes_list = bool(kinds & {tuple, list, frozenset, set})
    takes_mapping = bool(kinds & {dict, Mapping})
    if text.startswith(("[", "{")) and (takes_list or takes_mapping):
        from cuescope_core.plain_yaml import load_yaml

        try:
            return load_yaml(text)
        except yaml.YAMLError as error:
            raise UserError(
                option,
                expected="YAML, or a,b,c",
                got=text,
            ) from error
    if takes_list:
        # a trailing comma makes a list of one
        return [part.strip() for part in text.split(",") if part.strip()]
    for kind in alternatives:
        if get_origin(kind) is Literal:
            for choice in get_args(kind):
                # Literal[2, 3]: a number on the command line is text
                if str(choice) == text:
                    return choice
    # a text option may mean the word
    if text == "none" and type(None) in kinds and str not in kinds:
        return None
    return text
