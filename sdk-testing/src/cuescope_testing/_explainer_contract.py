"""Contract of explainers: a number a part, within the budget, the same every time."""

from typing import ClassVar

import numpy as np

from cuescope_core.types import Readout
from cuescope_sdk import Frame, Sample, generator
from cuescope_sdk.explain import Explained, Grid
from cuescope_testing._contract import Contract, NotApplicable, expect

PARTS = 16
BUDGET = 120
ANSWER = "yes"
PLANTED = 6  # the part that the answer rests on
LITTLE = 0.2  # probability of the answer without it


class ExplainerContract(Contract):
    """Checks of an explainer on an answer that rests on one part; no model is asked.

    What looks inside the model, by a readout, is checked by its declarations alone. An explainer
    that knows nothing of the answer sets `finds_planted_part = False`.
    """

    kind = "explainer"
    finds_planted_part: ClassVar[bool] = True

    def exercise(self) -> None:
        """Build it, and use it once."""
        self.explain()

    @property
    def case(self) -> Explained:
        """A picture of four by four parts."""
        frame = Frame.from_array(np.full((8, 8, 3), 128, np.uint8))
        sample = Sample(key="picture", frames=(frame,), choices=(ANSWER, "no"))
        rng = generator(0, "contract explainer")
        return Explained(sample, ANSWER, 0, Grid(1, 4, 4), 1.0, BUDGET, rng)

    def explain(self) -> tuple[np.ndarray, int]:
        """The map, and how many answers it took."""
        steps = self.build().explain(self.case)
        asked = 0
        reply = None
        while True:
            try:
                request = steps.send(reply)
            except StopIteration as end:
                return np.asarray(end.value, float), asked
            if isinstance(request, Readout):
                raise NotApplicable("looks inside a model: its own tests have one")
            shown = np.asarray(request)
            fits = shown.dtype == bool and shown.ndim == 2 and shown.shape[1] == PARTS
            expect(fits, f"subsets, bool (subset, {PARTS})", got=shown.shape)
            asked += len(shown)
            reply = np.where(shown[:, PLANTED], 1.0, LITTLE)

    def test_says_what_it_is(self) -> None:
        """A report names each explainer: set `title`."""
        expect(getattr(self.plugin, "title", ""), "a title in words", got="none")

    def test_gives_a_number_for_each_part(self) -> None:
        """Return an array of finite numbers, one a part of `case.grid`."""
        importance, _ = self.explain()
        is_map = importance.shape == (PARTS,) and np.isfinite(importance).all()
        expect(is_map, f"{PARTS} finite numbers", got=importance)

    def test_stays_within_its_budget(self) -> None:
        """A plan rests on it: override `calls` where it is not `case.budget`."""
        _, asked = self.explain()
        most = self.build().calls(PARTS, BUDGET)
        expect(asked <= most, f"at most {most}", got=asked)

    def test_gives_the_same_twice(self) -> None:
        """Draw from `case.rng` alone."""
        (first, _), (second, _) = self.explain(), self.explain()
        expect(np.array_equal(first, second), "the same map twice", got="another")

    def test_ranks_the_planted_part_first(self) -> None:
        """The answer rests on one part: it is the most important one."""
        if not self.finds_planted_part:
            raise NotApplicable("needs an explainer that looks at answers")
        importance, _ = self.explain()
        first = int(importance.argmax())
        expect(first == PLANTED, f"part {PLANTED} first", got=f"part {first}")
