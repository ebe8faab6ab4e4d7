"""Contract of QUAG's edits on models that show their fusion layers."""

from dataclasses import replace
from itertools import chain, cycle
from typing import cast

import numpy as np

from cuescope_sdk import Edit, Trial
from cuescope_sdk.fusion import OTHER, TEXT, VIDEO, AverageAttention, HasFusion
from cuescope_testing._contract import NotApplicable, expect, with_sample
from cuescope_testing._model_contract.setting import TOLERANCE, ModelSetting

QUESTIONS = ("what is it", "where does it go after that ?")
SAMPLES = 4
SHORT_CIRCUITS = (("VV", "TT"), ("VT", "TV"), ("VV", "TV"), ("TT", "VT"))


class ModelFuses(ModelSetting):
    """`HasFusion`, of models that expose "fusion", and the edits that average."""

    @property
    def fusing(self) -> HasFusion:
        """The model; raises NotApplicable where it exposes no fusion layers."""
        return cast(HasFusion, self.exposing("fusion"))

    def questions(self, edit: Edit | None = None) -> list[Trial]:
        """Samples with questions of different lengths, unless they bring their own."""
        outputs = self.capabilities.outputs
        trials = []
        # of two lengths, so that a batch has padding
        for sample, question in zip(
            self.samples[:SAMPLES],
            cycle(QUESTIONS),
            strict=False,
        ):
            # a question of the data's own is what the model was made for
            asked = replace(sample, question=sample.question or question)
            trials.append(Trial(sample=asked, edit=edit, outputs=outputs))
        return trials

    def test_shows_attention_over_video_and_text(self) -> None:
        """Weights after the softmax, without padding; queries, then keys, told by modality."""
        occurring: set[int] = set()
        for layer in range(self.fusing.fusion.layers):
            maps = self.fusing.modalities(self.questions(), layer)
            weights = self.fusing.attention(self.questions(), layer)
            for kinds, matrix in zip(maps, weights, strict=True):
                # heads, queries, keys: queries and keys are told one after the other
                fits = matrix.ndim == 3 and len(kinds) == sum(matrix.shape[1:])
                expect(fits, "a kind for each query, then each key", got=len(kinds))
                least = float(matrix.min())
                expect(least >= 0, "weights of 0 or more", got=least)
                worst = float(np.abs(matrix.sum(-1) - 1).max())
                # sums of many weights round more than one answer does
                sums = worst <= 10 * TOLERANCE[self.dtype]
                expect(sums, "rows of weights that sum to 1", got=f"{worst:.2g} off")
                occurring |= set(kinds.tolist())
        known = {VIDEO, TEXT} <= occurring <= {OTHER, VIDEO, TEXT}
        expect(known, "VIDEO, TEXT, and OTHER for neither", got=sorted(occurring))

    def test_averages_the_quadrants_it_is_told(self) -> None:
        """After the softmax, over the visible keys of the quadrant; a layer beyond is refused."""
        for quadrants in SHORT_CIRCUITS:
            edit = AverageAttention(quadrants=frozenset(quadrants))
            # layer 0: later ones see what the first has changed
            plain = self.fusing.attention(self._any(None), 0)
            edited = self.fusing.attention(self.questions(edit), 0)
            modalities = self.fusing.modalities(self.questions(), 0)
            for kinds, before, after in zip(modalities, plain, edited, strict=True):
                worst = _off(before, after, kinds, edit.quadrants)
                near = worst <= 10 * TOLERANCE[self.dtype]
                expect(near, f"{quadrants} averaged by row", got=f"{worst:.2g} off")
        beyond = self.fusing.fusion.layers
        edit = AverageAttention(quadrants=frozenset(("VV",)), layers=(beyond,))
        self.refuses(self.questions(edit)[0], f"layer {beyond}")

    def test_averages_trial_by_trial(self) -> None:
        """Edited and plain trials of all lengths go together: leave padding out of averages."""
        crossmodal = AverageAttention(quadrants=frozenset(("VT", "TV")))
        pairs = zip(self._any(None), self._any(crossmodal), strict=True)
        trials = list(chain.from_iterable(pairs))
        self.expect_as_alone(trials, "each trial answered as by itself")

    def test_answers_without_a_video(self) -> None:
        """A model answers the question alone, and the video alone, or declares min_frames=1."""
        if self.capabilities.min_frames > 0:
            raise NotApplicable("asks about no frames, and the model needs some")
        for trial in self.questions():
            for half in ({"frames": ()}, {"question": None}):
                self.model.respond([with_sample(trial, **half)])

    def _any(self, edit: Edit | None) -> list[Trial]:
        if "average-attention" not in self.capabilities.edits:
            raise NotApplicable("asks about average-attention, which is not declared")
        return self.questions(edit)


def _off(
    before: np.ndarray,
    after: np.ndarray,
    kinds: np.ndarray,
    quadrants: frozenset[str],
) -> float:
    """How far `after` is from the average of `before`'s quadrants."""
    rows = kinds[: before.shape[1]]
    cols = kinds[before.shape[1] :]
    expected = before.copy()
    for quadrant in quadrants:
        query, key = AverageAttention.sides(quadrant)
        here = np.outer(rows == query, cols == key)
        # padding and a causal mask leave no weight
        visible = here & (before > 0)
        mass = (before * visible).sum(-1, keepdims=True)
        # a query may see no key of the quadrant
        count = np.maximum(visible.sum(-1, keepdims=True), 1)
        expected = np.where(visible, mass / count, expected)
    return float(np.abs(after - expected).max())
