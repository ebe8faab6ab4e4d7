"""Checks the shapes in signatures while tests run: a plugin of pytest that conftest.py names.

Every function of `cuescope_*` whose signature names a jaxtyping shape is checked at its first 5
calls of each test, with one size for each name of an axis, and in the first 20 elements of a
list or a dictionary, each of which may have sizes of its own. Nothing random is drawn, so that
tests that watch the global generators run under the checks too. Types without a shape are left
to mypy; what runs in another process is not checked.

Tests that hand over wrong shapes on purpose are marked `wrong_shapes`.
"""

import ast
import functools
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import cache_from_source
from inspect import isfunction, isgeneratorfunction
from itertools import islice
from types import CodeType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin
from unittest.mock import patch

import pytest
from jaxtyping import jaxtyped
from jaxtyping._storage import get_shape_memo, set_shape_memo

T = TypeVar("T")
PREFIX = "cuescope_"
CHECKER = f"{__name__}.checked"
# Where shapes are checked: not yet in tests that train, download or start whole audits.
FOLDERS = (
    "sdk/tests",
    "sdk-testing/tests",
    "plugins/methods",
    "plugins/datasets",
    "plugins/models/toy",
)
LONG = ("long", "real", "browser", "wrong_shapes")
NAMES = ("contract", "bench", "audit", "command", "proofs", "scaffold")
CALLS = 5  # of each function that are checked in each test: loops stay fast
ELEMENTS = 20  # of a list or a dictionary: draws come in thousands
MISSING = object()
calls_left: dict[Callable[..., Any], int] = {}  # of the functions that were called


def checked(thing: T) -> T:
    """A function, or the making of a dataclass, with the shapes in its signature checked."""
    if isinstance(thing, type):
        if {"__dataclass_fields__", "__init__"} <= vars(thing).keys():
            thing.__init__ = checked(thing.__init__)  # type: ignore[misc]
        return thing
    if not isfunction(thing):
        return thing
    hints = {
        name: hint for name, hint in thing.__annotations__.items() if has_shape(hint)
    }
    if not hints:
        return thing
    returned = hints.pop("return", None)
    if isgeneratorfunction(thing):
        returned = None
    code = thing.__code__
    # a function within another is made anew at each call: no signature is read
    positional = code.co_varnames[: code.co_argcount]
    places = {name: place for place, name in enumerate(positional)}

    @functools.wraps(thing)
    def check(*args: Any, **kwargs: Any) -> Any:
        if not calls_left.get(check, CALLS):
            return thing(*args, **kwargs)
        calls_left[check] = calls_left.get(check, CALLS) - 1
        with jaxtyped("context"):
            for name, hint in hints.items():
                place = places.get(name, len(args))
                given = args[place] if place < len(args) else kwargs.get(name, MISSING)
                if given is not MISSING and not fits(given, hint):
                    raise wrong(thing, name, hint, given)
            result = thing(*args, **kwargs)
            if returned is not None and not fits(result, returned):
                raise wrong(thing, "what is returned", returned, result)
            return result

    return check  # type: ignore[return-value]


def has_shape(hint: object) -> bool:
    """Whether a hint names an array with a shape, at any depth."""
    return is_shape(hint) or any(map(has_shape, get_args(hint)))


def is_shape(hint: object) -> bool:
    """Whether a hint is an array with a shape."""
    return getattr(hint, "__module__", "") == "jaxtyping"


def fits(value: object, hint: Any) -> bool:
    """Whether a value has the shapes that a hint names; sizes are those of the call so far."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(fits(value, one) for one in inner)
    if is_shape(hint) or hint is type(None):
        return isinstance(value, hint or type(None))
    if not isinstance(origin or hint, type):
        return True
    if not isinstance(value, origin or hint):
        return False
    if not has_shape(hint):
        return True
    if issubclass(origin, tuple) and inner[-1] is not Ellipsis:
        return len(value) == len(inner) and all(map(fits, value, inner))
    if issubclass(origin, Mapping):
        return all(fits_alone(one, inner[1]) for one in first_of(value.values()))
    if isinstance(value, Sequence | Collection):
        return all(fits_alone(one, inner[0]) for one in first_of(value))
    return True


def first_of(values: Iterable[T]) -> Iterator[T]:
    """As many as are looked at."""
    return islice(values, ELEMENTS)


def fits_alone(value: object, hint: Any) -> bool:
    """The same of one of many, whose own sizes need not be those of the others."""
    sizes = [memo.copy() for memo in get_shape_memo()]
    try:
        return fits(value, hint)
    finally:
        set_shape_memo(*sizes)


def wrong(
    function: Callable[..., Any], name: str, hint: object, value: object
) -> TypeError:
    """The error of a value whose shape is not what its hint says."""
    sizes = ", ".join(f"{axis}={size}" for axis, size in get_shape_memo()[0].items())
    return TypeError(
        f"{function.__module__}.{function.__qualname__}: {name} must be {hint}, got {look(value)}"
        + (f" ({sizes})" if sizes else "")
    )


def look(value: object) -> str:
    """A value in a few characters: an array's type and shape, or what a container holds."""
    if hasattr(value, "shape"):
        return f"{type(value).__name__} {value.dtype}{tuple(value.shape)}"
    if isinstance(value, Mapping):
        return f"{type(value).__name__} of {[look(one) for one in value.values()]}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"{type(value).__name__} of {[look(one) for one in value]}"
    return f"{type(value).__name__}"


class Decorate(ast.NodeTransformer):
    """Puts the check innermost on each function and outermost on each class."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.decorator_list.append(decorator(node))
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.decorator_list.insert(0, decorator(node))
        return self.generic_visit(node)


def decorator(node: ast.AST) -> ast.expr:
    """The expression that finds `checked`, wherever a module stands."""
    module, _, name = CHECKER.rpartition(".")
    expression = ast.parse(f"__import__({module!r}).{name}", mode="eval").body
    return ast.copy_location(expression, node)


class Loader(SourceFileLoader):
    """Compiles a module with the checks, and keeps that apart from the plain bytecode."""

    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> CodeType:
        tree = ast.fix_missing_locations(Decorate().visit(ast.parse(data, path)))
        return compile(tree, path, "exec", dont_inherit=True, optimize=_optimize)  # type: ignore[no-any-return]

    def get_code(self, fullname: str) -> CodeType | None:
        named = functools.partial(cache_from_source, optimization="shapes1")
        with patch("importlib._bootstrap_external.cache_from_source", named):
            return super().get_code(fullname)


class Finder:
    """Finds the modules of the workspace's packages, and has them compiled with the checks."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: Any = None
    ) -> ModuleSpec | None:
        if not name.startswith(PREFIX):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec and type(spec.loader) is SourceFileLoader:
            spec.loader = Loader(spec.loader.name, spec.loader.path)
        return spec


sys.meta_path.insert(0, Finder)  # type: ignore[arg-type]


class Unchecked(dict[Callable[..., Any], int]):
    """No call is left for any function."""

    def get(self, key: Any, default: Any = None) -> Any:
        return 0


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Calls count anew in each test; see FOLDERS, LONG and NAMES for where none is checked."""
    global calls_left
    calls_left = {} if is_checked(item) else Unchecked()


def is_checked(item: pytest.Item) -> bool:
    """Whether shapes are checked while a test runs."""
    return (
        item.nodeid.startswith(FOLDERS)
        and not any(item.get_closest_marker(name) for name in LONG)
        and not any(name in item.nodeid.lower() for name in NAMES)
    )
