"""Reasoners by annotated scenes, by boxes that are found, and by tracks of them."""

import re
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

from cuescope_core.context import Context
from cuescope_core.engine import Session
from cuescope_core.request import Request
from cuescope_sdk import Report
from cuescope_testing import PluginShelf, temporary_cache

VIDEOS = 24
VERIFIERS = ("box-geometry:shape-detector", "tracks:shape-detector")
SCENES = "annotated scenes"
REASONERS: tuple[dict[str, Any], ...] = (
    {"grounding": 0.2, "accuracy": 0.9},
    {"grounding": 0.3, "stale": 0.3},
    {"grounding": 0.55, "decay": 0.3, "accuracy": 0.3},
    {"grounding": 0.52, "steps": 6},
    {"grounding": 0.65, "stale": 0.2, "accuracy": 0.6},
    {"hallucination": 0.45},
    {"grounding": 0.95, "decay": 0.15, "accuracy": 0.4},
    {"grounding": 1.0, "accuracy": 0.2},
)
FEW = (0,)  # of the reasoners, which `make test` asks
Rates = dict[str, list[float]]


@pytest.fixture(
    scope="module",
    params=[FEW, pytest.param(range(len(REASONERS)), marks=pytest.mark.long)],
)
def reports(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> list[Report]:
    """An audit of each reasoner."""
    context = Context(
        PluginShelf({}, installed=True),
        tmp_path_factory.mktemp("cache"),
        device="cpu",
    )
    made = []
    with temporary_cache() as cache:
        for dials in (REASONERS[number] for number in request.param):
            asked = Request(
                method="step-grounding",
                model="scripted",
                data="shape-world",
                model_options=dials,
                data_options={"val": VIDEOS},
                method_options={
                    "other_verifiers": VERIFIERS,
                    "perturbations": (),
                    "partners": 1,
                    "shown": 0,
                },
            )
            made.append(Session(asked, context, cache).run())
    return made


@pytest.fixture(scope="module")
def rates(reports: list[Report]) -> Rates:
    """SGR of each reasoner by each verifier, as its report tells it."""
    return {SCENES: list(map(by_scenes, reports))} | {
        verifier: [told(report, verifier)[0] for report in reports]
        for verifier in VERIFIERS
    }


def by_scenes(report: Report) -> float:
    (score,) = (
        s
        for s in report.scores
        if (s.feature, s.metric) == ("reasoning", "step_grounding_rate")
    )
    assert score.value is not None
    return score.value


def told(report: Report, verifier: str) -> tuple[float, float]:
    """SGR by another verifier and by the scenes, out of the words of the check."""
    (check,) = (e for e in report.evidence if e.check == f"verifier {verifier}")
    other, own = re.findall(r"([\d.]+)%", check.detail)[:2]
    return float(other) / 100, float(own) / 100


@pytest.mark.long
def test_verifiers_rank_the_reasoners_alike(rates: Rates) -> None:
    for one, other in combinations(rates, 2):
        rho = float(spearmanr(rates[one], rates[other]).statistic)
        assert rho >= 0.9, (one, other, rates[one], rates[other])


@pytest.mark.long
def test_boxes_and_tracks_say_what_scenes_say(
    rates: Rates,
) -> None:
    for verifier in VERIFIERS:
        near = [
            abs(one - own)
            for one, own in zip(rates[verifier], rates[SCENES], strict=True)
        ]
        assert max(near) <= 0.05


@pytest.mark.long
def test_a_report_says_of_each_verifier_what_it_finds(reports: list[Report]) -> None:
    for report in reports:
        for verifier in VERIFIERS:
            other, own = told(report, verifier)
            (check,) = (e for e in report.evidence if e.check == f"verifier {verifier}")
            assert own == pytest.approx(by_scenes(report), abs=0.001)
            assert 0 <= other <= 1
            agreed = re.search(
                r"kappa (-?[\d.]+) \[(-?[\d.]+), (-?[\d.]+)\]", check.detail
            )
            # a reasoner of whom all is true leaves nothing to disagree about
            if agreed is None:
                assert check.verdict == "inconclusive"
                continue
            value, low, high = map(float, agreed.groups())
            assert check.value == pytest.approx(value, abs=0.006)
            assert low <= value <= high
            if check.verdict == "supported":
                assert low >= 0.595
            elif check.verdict == "refuted":
                assert high < 0.605


def test_boxes_agree_with_scenes_claim_by_claim(
    reports: list[Report],
) -> None:
    kappas: dict[str, list[float]] = {verifier: [] for verifier in VERIFIERS}
    for report in reports:
        for verifier in VERIFIERS:
            (check,) = (e for e in report.evidence if e.check == f"verifier {verifier}")
            if check.value is not None and 0.1 < by_scenes(report) < 0.9:
                kappas[verifier].append(check.value)
    print({verifier: np.round(of, 2).tolist() for verifier, of in kappas.items()})
    assert float(np.mean(kappas[VERIFIERS[0]])) > 0.85
