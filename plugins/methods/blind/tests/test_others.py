"""Tells of other packages: tested as our own, and refused by name where they leak."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from test_blind import Drawn

from cuescope_blind import Blind
from cuescope_blind.none import NoModel
from cuescope_sdk import Options, Report, Sample, UserError
from cuescope_sdk.tells import Tell
from cuescope_testing import PluginShelf, Setup, temporary_cache


class NoOptions(Options):
    """None."""


class MostWords(Tell):
    """A rule: the option with the most words."""

    title = "the option with the most words"
    learns = False
    Options = NoOptions

    def strengths(
        self, samples: Sequence[Sample], training: np.ndarray
    ) -> list[list[float]]:
        return [[float(len(text.split())) for text in s.choices] for s in samples]


class Leaky(MostWords):
    """The right answer."""

    title = "the answer that it should not know"

    def strengths(
        self, samples: Sequence[Sample], training: np.ndarray
    ) -> list[list[float]]:
        return [[float(text == s.label) for text in s.choices] for s in samples]


def audit(**options: Any) -> Report:
    setup = Setup(Blind, NoModel, Drawn, {"redraws": 0, **options})
    with temporary_cache() as cache:
        session = setup.session(cache)
        plugins = {
            ("tell", "most-words"): MostWords,
            ("tell", "leaky"): Leaky,
        }
        session.audit.context = replace(
            session.audit.context, registry=PluginShelf(plugins)
        )
        return session.run()


def test_a_tell_of_another_package_is_found_and_a_leak_is_left_out() -> None:
    report = audit()
    sentences = {score.feature: report.sentence(score) for score in report.findings}
    assert "Taking the option with the most words is right in" in (
        sentences["most-words"] or ""
    )
    assert "leaky" not in {feature.key for feature in report.features}
    assert (
        "tell 'leaky' is refused: it reads the labels" in report.notes["tells left out"]
    )


def test_a_leak_that_was_asked_for_is_refused_by_name() -> None:
    assert "leaky" not in audit(tells=["most-words"]).notes
    with pytest.raises(UserError, match="tell 'leaky' is refused"):
        audit(tells=["leaky"])
