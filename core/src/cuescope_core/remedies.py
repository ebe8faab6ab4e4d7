"""Clauses that say how to get a package; the application knows where packages come from."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import cuescope_core


def _ask(name: str, *words: str) -> Any:
    """The answer of the application; None where it is not there."""
    module = cuescope_core.remedies_module
    return None if module is None else getattr(import_module(module), name)(*words)


def is_own(dist: str) -> bool:
    """True if a dist of this name, however it is spelled, is one of this project."""
    return bool(_ask("is_own", dist))


def dists_of(kind: str) -> Mapping[str, str]:
    """Names of the listed plugins of a kind, with the dist that brings each."""
    return _ask("dists_of", kind) or {}


def how_to_install(wanted: str) -> str:
    """How to get a dist of this project, or the extra of one: `cuescope-folder[hf]`."""
    return _ask("how_to_install", wanted) or f"install {wanted}"


def how_to_install_listed(wanted: str) -> str:
    """How to get a dist of the list of plugins, ours or somebody else's."""
    return _ask("how_to_install_listed", wanted) or f"install {wanted}"


def how_to_install_what_it_needs(dist: str, package: str) -> str:
    """How to get a package that an installed dist declares and that is not here."""
    return _ask("how_to_install_what_it_needs", dist, package) or f"install {package}"


def how_to_remove(dist: str) -> str:
    """How to take an installed dist away."""
    return _ask("how_to_remove", dist) or f"uninstall {dist}"


def how_to_reinstall(dist: str) -> str:
    """How to get the files of an installed dist anew that are damaged."""
    return _ask("how_to_reinstall", dist) or f"install {dist} anew"


def how_to_update(dist: str) -> str:
    """How to get another version of an installed dist, one that fits the rest."""
    return _ask("how_to_update", dist) or f"install another version of {dist}"
