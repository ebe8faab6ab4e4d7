"""Maps of the tower, tested by interventions: the audit of another method takes them."""

from cuescope_saliency.regions import Saliency
from cuescope_testing import ExplainerContract


class TestContract(ExplainerContract):
    plugin = Saliency
