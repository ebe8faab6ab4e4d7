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
    """How to get a dist, or the extra of one: `cuescope-folder[hf]`."""
    return _ask("how_to_install", wanted) or f"install {wanted}"


def how_to_get_anew(dist: str) -> str:
    """How to get an installed dist again, whose files are damaged or too old."""
    # the name of a stranger's says nothing about where it came from
    return (
        how_to_install(dist)
        if is_own(dist)
        else f"get {dist} anew from where you got it"
    )
