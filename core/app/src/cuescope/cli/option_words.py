"""Options of plugins in words: what they take, and their defaults."""

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin


def type_in_words(annotation: Any) -> str:
    """The type of an option, as it is written on a command line.

    >>> type_in_words(tuple[Literal["a", "b"], ...] | None)
    'a or b, several, or none'
    """
    kind = get_origin(annotation)
    parts = get_args(annotation)
    if kind is Annotated:
        return type_in_words(parts[0])
    if kind is Literal:
        return " or ".join(map(str, parts))
    # `A | B` has another origin than `Optional[A]`
    if kind in (Union, UnionType):
        return ", or ".join(map(type_in_words, parts))
    if isinstance(kind, type) and issubclass(kind, Mapping):
        return "{key: value}"
    if kind in (tuple, list, frozenset, set):
        return f"{type_in_words(parts[0])}, several"
    words = {str: "text", float: "number", int: "whole number", bool: "true or false"}
    words |= {NoneType: "none", Any: "anything"}
    return words.get(
        annotation, getattr(annotation, "__name__", str(annotation)).lower()
    )


def default_in_words(value: Any) -> str:
    """A default as it is written on a command line."""
    if isinstance(value, (tuple, list, frozenset, set)):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value in (None, {}) else str(value)
