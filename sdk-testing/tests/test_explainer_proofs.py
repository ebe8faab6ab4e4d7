"""Bad explainers fail the contract, each at the check that is about it; a good one passes."""

from typing import Any

import numpy as np
import pytest

from cuescope_sdk.explain import Explained, RegionExplainer, Steps
from cuescope_testing import ExplainerContract


class LeaveOneOut(RegionExplainer):
    title = "what is lost without a part"

    def explain(self, case: Explained) -> Steps:
        left = yield ~np.eye(case.grid.count, dtype=bool)
        return case.intact - left


class NoTitle(LeaveOneOut):
    title = ""


class Half(LeaveOneOut):
    def explain(self, case: Explained) -> Steps:
        importance = yield from super().explain(case)
        return importance[::2]


class Undefined(LeaveOneOut):
    def explain(self, case: Explained) -> Steps:
        importance = yield from super().explain(case)
        return importance / 0 * 0


class Spends(LeaveOneOut):
    def explain(self, case: Explained) -> Steps:
        yield np.ones((case.budget, case.grid.count), bool)
        importance = yield from super().explain(case)
        return importance


class OtherEachTime(LeaveOneOut):
    made = 0

    def explain(self, case: Explained) -> Steps:
        type(self).made += 1
        importance = yield from super().explain(case)
        return importance + self.made


class Backwards(LeaveOneOut):
    def explain(self, case: Explained) -> Steps:
        importance = yield from super().explain(case)
        return -importance


class Numbers(LeaveOneOut):
    def explain(self, case: Explained) -> Steps:
        left = yield np.eye(case.grid.count)
        return left


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("explainer", "check"),
    [
        (NoTitle, "says_what_it_is"),
        (Half, "number_for_each_part"),
        (Undefined, "number_for_each_part"),
        (Numbers, "number_for_each_part"),
        (Spends, "within_its_budget"),
        (OtherEachTime, "same_twice"),
        (Backwards, "planted_part_first"),
    ],
)
def test_a_bad_one_fails(explainer: type[RegionExplainer], check: str) -> None:
    contract: Any = type("Check", (ExplainerContract,), {"plugin": explainer})
    [result] = contract.run_checks(check)
    assert result.status == "failed", result


class TestAGoodOne(ExplainerContract):
    plugin = LeaveOneOut
