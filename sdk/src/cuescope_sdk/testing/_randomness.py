"""Whether code touches the random state that everybody shares."""

import random
import sys
from collections.abc import Callable

import numpy as np

from cuescope_sdk import digest


def touched(action: Callable[[], object]) -> list[str]:
    """The libraries whose global random state `action` moved; their states are put back."""
    saved = _states()
    try:
        _stir()  # seeding with a constant shows only if the state was another before
        before = {name: _digest(state) for name, state in _states().items()}
        action()
        after = {name: _digest(state) for name, state in _states().items()}
    finally:
        _put_back(saved)
    return [name for name in before if before[name] != after[name]]


def _states() -> dict[str, object]:
    states: dict[str, object] = {"random": random.getstate(), "numpy": np.random.get_state()}  # noqa: NPY002
    if torch := sys.modules.get("torch"):
        states["torch"] = torch.get_rng_state().numpy()
    return states


def _stir() -> None:
    random.random()
    np.random.random()  # noqa: NPY002
    if torch := sys.modules.get("torch"):
        torch.rand(1)


def _put_back(states: dict[str, object]) -> None:
    random.setstate(states["random"])  # type: ignore[arg-type]
    np.random.set_state(states["numpy"])  # type: ignore[arg-type]  # noqa: NPY002
    if "torch" in states:
        torch = sys.modules["torch"]
        torch.set_rng_state(torch.from_numpy(states["torch"]))


def _digest(state: object) -> str:
    return digest(state) if isinstance(state, np.ndarray) else repr(state)
