"""Packages whose names are imported when they are first asked for (PEP 562)."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from sys import modules
from typing import Any


def attach(
    package: str, names: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package, by the names that its modules have."""
    homes = {name: module for module, of_module in names.items() for name in of_module}
    exported = sorted(homes)

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name], package), name)
        # the next time it is found without this function
        setattr(modules[package], name, value)
        return value

    return get, lambda: exported, exported
