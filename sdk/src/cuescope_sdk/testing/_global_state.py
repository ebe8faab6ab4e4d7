"""The state that all code of a process shares, and who changes it.

As a script it imports a plugin's module in a process of its own, and prints what that loads and
changes. What the plugin imports may itself warn or draw (numpy seeds itself, torch adds filters),
so the first import of the libraries is not held against it: the module runs twice, and only the
second run is compared. Nothing but the standard library is imported here.
"""

import importlib.util
import json
import random
import sys
import warnings
from collections.abc import Callable
from typing import Any


def touched(action: Callable[[], object]) -> list[str]:
    """The libraries whose global random state `action` moved; their states are put back."""
    saved = _random_states()
    try:
        _stir()  # seeding with a constant shows only if the state was another before
        before = _random_states()
        action()
        after = _random_states()
    finally:
        _put_back(saved)
    return [name for name, state in before.items() if _text(state) != _text(after[name])]


def _random_states() -> dict[str, Any]:
    states: dict[str, Any] = {"random": random.getstate()}
    if numpy := sys.modules.get("numpy"):
        states["numpy.random"] = numpy.random.get_state()
    if torch := sys.modules.get("torch"):
        states["torch"] = torch.get_rng_state()
    return states


def _stir() -> None:
    random.random()
    if numpy := sys.modules.get("numpy"):
        numpy.random.random()
    if torch := sys.modules.get("torch"):
        torch.rand(1)


def _put_back(states: dict[str, Any]) -> None:
    random.setstate(states["random"])
    if "numpy.random" in states:
        sys.modules["numpy"].random.set_state(states["numpy.random"])
    if "torch" in states:
        sys.modules["torch"].set_rng_state(states["torch"])


def _text(state: Any) -> str:
    parts = state if isinstance(state, tuple) else (state,)
    return repr([part.tolist() if hasattr(part, "tolist") else part for part in parts])


# --------------------------------------------------------------------------------------- importing


def _load(name: str, file: str) -> None:
    """Import a module by its name, or where nobody can find it by that, from its file."""
    if importlib.util.find_spec(name.partition(".")[0]):
        importlib.import_module(name)
        return
    spec = importlib.util.spec_from_file_location(name.rpartition(".")[2], file)
    if spec is None or spec.loader is None:
        raise ImportError(f"no module in {file}")
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


def _import_report(name: str, file: str, *heavy: str) -> dict[str, list[str]]:
    _load(name, file)
    loaded = [library for library in heavy if library in sys.modules]
    package = name.partition(".")[0]
    for module in list(sys.modules):
        if module.partition(".")[0] == package and not package.startswith("cuescope_sdk"):
            del sys.modules[module]
    warnings.resetwarnings()
    filters = repr(warnings.filters)
    changed = touched(lambda: _load(name, file))
    if repr(warnings.filters) != filters:
        changed.append("warnings filters")
    return {"heavy": loaded, "changed": changed}


if __name__ == "__main__":
    sys.stdout.write("\n" + json.dumps(_import_report(*sys.argv[1:])) + "\n")
