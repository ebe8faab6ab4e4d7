"""The explainers of this package for `maps`, which tests the region that each map claims."""

from pydantic import Field

from cuescope_saliency.options import Explainer, Settings
from cuescope_sdk import Requirements
from cuescope_sdk.explain import Explained, RegionExplainer, Steps


class RegionOptions(Settings):
    """Which explainer; the part after `saliency:` is `explainer`."""

    argument = "explainer"

    explainer: Explainer = Field("grad-eclip", description="name of the explainer")


class Saliency(RegionExplainer):
    """An explainer of CLIP's image tower, for the text of the answer."""

    title = "what in the image tower speaks for the text of the answer"
    requires = Requirements(outputs=frozenset(), exposes=frozenset({"image-tower"}))
    Options = RegionOptions
    options: RegionOptions

    def explain(self, case: Explained) -> Steps:
        """The map of the tower; of pictures that are not square it spans what the tower sees."""
        # late: torch is not loaded to list plugins
        from cuescope_saliency.explainers.explanation import Explanation

        asked = Explanation.trial(
            self.options.explainer, case.sample, case.answer, self.options
        )
        assert asked.readout is not None
        importance = yield asked.readout
        return case.grid.pool(importance)

    def calls(self, parts: int, budget: int) -> int:
        """One."""
        return 1
