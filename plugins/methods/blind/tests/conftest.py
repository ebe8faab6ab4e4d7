"""Tests import what they share by its name, and grow small forests."""

import sys
from pathlib import Path

import pytest

from cuescope_blind.appearance import analysis

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    # what is planted here needs no more, and a hundred take seconds
    monkeypatch.setattr(analysis, "TREES", 10)
