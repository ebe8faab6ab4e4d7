"""Checks the shapes in signatures while tests run.

    pytest --jaxtyping-packages=my_package,tests.shapes.check_shapes

Every function whose signature names a jaxtyping shape is checked, in every module of the package;
types without a shape are left to mypy.
"""

from collections.abc import Callable
from inspect import isfunction
from typing import Any, TypeVar, get_args

F = TypeVar("F", bound=Callable[..., Any])


def check_shapes(function: F) -> F:
    """The function with its jaxtyping annotations checked by beartype at each call."""
    if not isfunction(function):
        return function
    shaped = {name: hint for name, hint in function.__annotations__.items() if has_shape(hint)}
    if not shaped:
        return function
    from beartype import beartype

    # beartype refuses what only a type checker understands (Self, Protocols that do not run), so
    # that one such hint in a signature would cost the check of its arrays.
    function.__annotations__ = shaped
    return beartype(function)


def has_shape(hint: object) -> bool:
    """Whether a hint names an array with a shape, at any depth."""
    return getattr(hint, "__module__", "") == "jaxtyping" or any(map(has_shape, get_args(hint)))
