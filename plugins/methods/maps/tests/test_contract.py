"""The sdk's contract suites: the method, and each explainer."""

from cuescope_maps import Maps
from cuescope_maps.explainers.sampling import Occlusion, Random, Rise, Shapley
from cuescope_maps.explainers.searching import Greedy
from cuescope_testing import ExplainerContract, MethodContract


class TestMaps(MethodContract):
    plugin = Maps
    options = {"samples": 6, "budget": 80}
    # of noise a model that guesses makes its answers: there is always something that causes them
    model_options = {"noise": 0}
    paradigm = "reliance"
    # a finding is about all answers, of which the corner causes one
    finds_planted_cue = False


class TestGreedy(ExplainerContract):
    plugin = Greedy


class TestOcclusion(ExplainerContract):
    plugin = Occlusion


class TestRise(ExplainerContract):
    plugin = Rise


class TestShapley(ExplainerContract):
    plugin = Shapley


class TestRandom(ExplainerContract):
    plugin = Random
    finds_planted_part = False
