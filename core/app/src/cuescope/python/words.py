"""Words of a caller for a function of the application: found by name, checked by its signature."""

import inspect
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import TypeAdapter, ValidationError

from cuescope.cli.paths import NamedPath
from cuescope.rerun import Rerun
from cuescope_core.atomic_files import at_home, require_path
from cuescope_core.errors import UserError, nearest
from cuescope_core.registry import Registry
from cuescope_core.request import Draft, make_draft
from cuescope_core.spec import in_words

Function = Callable[..., Any]
# parameters that are made of several words
BUNDLES: Mapping[Any, Callable[..., Any]] = {Draft: make_draft, Rerun: Rerun}
# words of 0.1, and what stands for them
FORMER = {"method_options": "options", "method_option": "options"}


def load_function(name: str, registry: Registry | None = None) -> Function:
    """The function of a command that a package brings; raises UserError where none does."""
    registry = registry or Registry()
    command = registry.load(registry.find("command", name))
    # a package brings one command an entry point, so there is one to take
    (registered,) = command.registered_commands
    target = getattr(registered.callback, "function", None)
    if target is None:
        raise UserError(
            f"{name} cannot be called from Python",
            expected="a command that names its function by `calls`",
            remedy=f"Run it in a shell: `cuescope {name}`",
        )
    module, _, attribute = target.partition(":")
    function: Function = getattr(import_module(module), attribute)
    return function


def values_of(
    name: str, function: Function, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Values for the parameters of a function; raises UserError for words that it does not take."""
    hints = get_type_hints(function, include_extras=True)
    # the runner and the run are no words
    _, *parameters = inspect.signature(function).parameters
    taken = {key: hints[key] for key in parameters}
    bundles: dict[str, dict[str, Any]] = {}
    owners: dict[str, str] = {}
    for key, hint in list(taken.items()):
        if hint in BUNDLES:
            del taken[key]
            bundles[key] = {}
            of_bundle = get_type_hints(hint, include_extras=True)
            fields = inspect.signature(hint).parameters
            for word in fields:
                taken[word] = of_bundle[word]
                owners[word] = key
    values: dict[str, Any] = {}
    for word, value in given.items():
        key = _parameter(name, word, taken)
        valid = _value(name, word, value, taken[key])
        if key in owners:
            bundles[owners[key]][key] = valid
        else:
            values[key] = valid
    for key, fields_given in bundles.items():
        values[key] = BUNDLES[hints[key]](**fields_given)
    return values


def _parameter(name: str, word: str, taken: Mapping[str, Any]) -> str:
    """The parameter that a word means; raises UserError where there is none."""
    for key in (word, f"{word}s"):
        if key in taken:
            return key
    if (now := FORMER.get(word)) in taken:
        warnings.warn(
            f"{name}: use {now}=, {word}= ends in 0.3", DeprecationWarning, stacklevel=5
        )
        return str(now)
    raise UserError(
        f"{name} has no option '{word}'",
        remedy=nearest(word, taken) or f"`cuescope {name} --help` lists them",
    )


def _value(name: str, word: str, value: Any, hint: Any) -> Any:
    """A value of this type; one text stands for a list of one."""
    if isinstance(value, tuple):
        value = list(value)
    try:
        valid = TypeAdapter(hint).validate_python(value)
    except ValidationError as error:
        if isinstance(value, str | Path):
            with suppress(ValidationError):
                return TypeAdapter(hint).validate_python([value])
        # the first is enough: the caller has given one value
        wanted = in_words(error.errors()[0])
        raise UserError(f"{name}: {word}", expected=wanted, got=repr(value)) from error
    if isinstance(valid, Path):
        # as it was given: a Path of nothing is the folder that one is in
        require_path(word, value)
        valid = at_home(valid)
        kinds = getattr(hint, "__metadata__", ())
        for kind in [*(k for k in kinds if isinstance(k, NamedPath)), NamedPath()]:
            kind.require(word, valid)
    return valid
