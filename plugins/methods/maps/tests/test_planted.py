"""Planted causes are proved, decoys and answers without a cause are not; plans count the calls."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from cuescope_maps import Maps
from cuescope_maps.explainers.searching import Greedy
from cuescope_maps.options import WAYS
from cuescope_maps.proof import elsewhere
from cuescope_maps.report import NOT_SHOWN
from cuescope_maps.trials import Map, Target
from cuescope_sdk import Context, Report, Sample, UserError, generator
from cuescope_sdk.explain import Explained, Grid, RegionExplainer, Steps
from cuescope_testing import FakeDataset, Setup

SURE = {"noise": 0}
HELPS = {"cue": "helps", "frames": 1, "samples": 60, "scale": 7}


class Decoy(RegionExplainer):
    """Claims the blue corner, whatever the answer."""

    title = "the blue corner"

    def explain(self, case: Explained) -> Steps:
        yield from ()
        _, rows, cols = np.indices(case.grid.shape)
        return np.asarray(rows - cols, float).ravel()


@cache
def audit(
    signal: float = 1, explainer: type[Any] = Greedy, ways: tuple[str, ...] = WAYS
) -> Report:
    own = {("explainer", "own"): explainer}
    given = {"explainers": ("own",), "samples": 12, "interventions": ways}
    model = {"signal": signal, "lean": signal, "noise": 0}
    return Setup(
        Maps, options=given, model_options=model, data_options=HELPS, others=own
    ).report()


def share_held(report: Report) -> float:
    [share] = [score.value for score in report.scores if score.metric == "held"]
    assert share is not None
    return share


def test_what_causes_answers_is_proved() -> None:
    report = audit()
    [finding] = report.findings
    assert finding.value is not None
    assert finding.value > 0.5
    # the others have a part of the green patch in a cell beside their region
    assert share_held(report) > 0.6
    assert report.cues[0].status == "used"


def test_regions_lie_on_the_planted_cue() -> None:
    report = audit()
    [feature] = report.features
    data = FakeDataset(FakeDataset.Options(**HELPS), Context())
    labels = {data[index].key: data[index].label for index in range(len(data))}
    boxes = [
        each.region for each in feature.occurrences if labels[each.sample] == "top"
    ]
    # the red corner: three of eight cells, top left, of 7 pixels each
    assert boxes
    assert all(box and box[0] < 21 and box[1] < 21 for box in boxes)


def test_a_decoy_is_not_shown_to_matter() -> None:
    report = audit(explainer=Decoy)
    assert not report.findings
    assert share_held(report) == 0
    assert NOT_SHOWN in report.statements[0]


def test_of_a_model_that_uses_nothing_no_map_holds() -> None:
    report = audit(signal=0)
    assert not report.findings
    assert share_held(report) == 0


def test_the_page_has_pictures_of_both_sides() -> None:
    report = audit()
    [contrast] = report.contrasts
    held, others = contrast.sides
    assert held.exhibits
    assert all(exhibit.drawing for exhibit in held.exhibits)
    assert held.title.startswith("hold")
    assert others.title.startswith(NOT_SHOWN)


def test_the_prior_says_what_stands_without_a_picture() -> None:
    report = audit()
    words = report.notes["language prior"]
    assert "0.33 without" in words  # three answers, and nothing is seen


def test_a_plan_bounds_the_calls() -> None:
    setup = Setup(
        Maps,
        options={"samples": 6},
        model_options=SURE,
        data_options=HELPS,
    )
    plan = setup.plan()
    assert plan.more is not None
    most = plan.model_calls + plan.more
    calls = setup.report().cost.model_calls
    assert calls <= most <= 1.1 * calls
    assert most / 6 <= 300


def test_a_white_box_needs_what_it_looks_at() -> None:
    class Looks(Decoy):
        requires = Decoy.requires.model_copy(
            update={"exposes": frozenset({"no such thing"})}
        )

    with pytest.raises(UserError, match="no such thing"):
        audit(explainer=Looks)


def test_an_intervention_that_needs_no_region_is_refused() -> None:
    with pytest.raises(UserError, match="cannot prove a region"):
        audit(ways=("blur", "freeze"))


def test_controls_share_nothing_with_the_region() -> None:
    grid = Grid(2, 4, 4)
    target = Target(Sample(key="a", frames=()), "yes")
    for seed in range(20):
        rng = generator(seed, "regions")
        region = rng.permutation(grid.count) < 10
        one = Map("own", target, grid, 1.0, region=region)
        control = elsewhere(one, rng)
        assert control.sum() == region.sum()
        assert not (control & region).any()
