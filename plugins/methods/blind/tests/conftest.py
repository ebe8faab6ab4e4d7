"""Tests import what they share by its name, and grow small forests."""

import sys
from functools import partial
from pathlib import Path

import pytest
from sklearn import ensemble

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    # what is planted here needs no more, and a hundred take seconds
    trees = partial(ensemble.ExtraTreesClassifier, 10)
    monkeypatch.setattr(ensemble, "ExtraTreesClassifier", trees)
