"""Contract of QUAG's edits on models that show their fusion layers."""

from dataclasses import replace
from itertools import chain, cycle
from typing import cast

import numpy as np

from cuescope_sdk import Edit, Trial
from cuescope_sdk.fusion import OTHER, TEXT, VIDEO, AverageAttention, HasFusion
from cuescope_testing._contract import NotApplicable, expect, expect_no_error
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

    def test_tells_video_from_text(self) -> None:
        """Queries and keys of every layer are video, text or neither, and both kinds occur."""
        layers = self.fusing.fusion.layers
        occurring: set[int] = set()
        for layer in range(layers):
            maps = self.fusing.modalities(self.questions(), layer)
            weights = self.fusing.attention(self.questions(), layer)
            for kinds, matrix in zip(maps, weights, strict=True):
                # heads, queries, keys: queries and keys are told one after the other
                fits = matrix.ndim == 3 and len(kinds) == sum(matrix.shape[1:])
                expect(
                    fits and set(kinds.tolist()) <= {OTHER, VIDEO, TEXT},
                    "OTHER, VIDEO or TEXT for each query, then each key",
                    got=f"{len(kinds)} for attention of shape {matrix.shape}",
                    remedy="Leave padding out of both",
                )
                occurring |= set(kinds.tolist())
        expect(
            occurring >= {VIDEO, TEXT},
            "video and text among the tokens",
            got=sorted(occurring),
            remedy="Map the placeholders of frames to VIDEO and the words to TEXT",
        )

    def test_shows_attention_that_sums_to_one(self) -> None:
        """Captured attention is a softmax over the keys."""
        for layer in range(self.fusing.fusion.layers):
            for weights in self.fusing.attention(self.questions(), layer):
                worst = float(np.abs(weights.sum(-1) - 1).max())
                expect(
                    # sums of many weights round more than one answer does
                    worst <= 10 * TOLERANCE[self.dtype] and float(weights.min()) >= 0,
                    "rows of weights that sum to 1",
                    got=f"{worst:.2g} off",
                    remedy="Give the weights after the softmax, without padding",
                )

    def test_averages_the_quadrants_it_is_told(self) -> None:
        """A row's weights in an averaged quadrant are equal and keep their mass in the first layer.

        Keys that a query may not see have no weight before and after.
        """
        for quadrants in SHORT_CIRCUITS:
            edit = AverageAttention(quadrants=frozenset(quadrants))
            # layer 0: later ones see what the first has changed
            plain = self.fusing.attention(self.questions(), 0)
            edited = self.fusing.attention(self.questions(edit), 0)
            modalities = self.fusing.modalities(self.questions(), 0)
            for kinds, before, after in zip(modalities, plain, edited, strict=True):
                worst = _off(before, after, kinds, edit.quadrants)
                expect(
                    worst <= 10 * TOLERANCE[self.dtype],
                    f"the row-wise average of {' and '.join(quadrants)}, the rest as it was",
                    got=f"{worst:.2g} off",
                    remedy="Average after the softmax over the visible keys of the quadrant",
                )

    def test_averages_trial_by_trial(self) -> None:
        """Edited and plain trials of all lengths go together as they go alone."""
        crossmodal = AverageAttention(quadrants=frozenset(("VT", "TV")))
        pairs = zip(self._any(None), self._any(crossmodal), strict=True)
        self.expect_as_alone(
            list(chain.from_iterable(pairs)),
            "each trial answered as by itself",
            "Group a batch by edit, and leave padding out of averages",
        )

    def test_refuses_fusion_layers_it_has_not(self) -> None:
        """A layer outside the model would be an edit without effect."""
        # layers count from 0, so this is the first that is not there
        beyond = self.fusing.fusion.layers
        # NotApplicable where the model has no such edit
        self._any(None)
        edit = AverageAttention(quadrants=frozenset(("VV",)), layers=(beyond,))
        self.refuses(self.questions(edit)[0], f"layer {beyond}")

    def test_answers_without_a_video(self) -> None:
        """A model that says `min_frames` 0 answers the question alone, and the video alone."""
        if self.capabilities.min_frames > 0:
            raise NotApplicable(
                "asks about questions without a video, and the model needs frames"
            )
        for trial in self.questions():
            for half in (
                replace(trial.sample, frames=()),
                replace(trial.sample, question=None),
            ):
                with expect_no_error(
                    "an answer to a question without frames, and to frames without a question",
                    remedy="Answer them, or declare min_frames=1",
                ):
                    self.model.respond([replace(trial, sample=half)])

    def _any(self, edit: Edit | None) -> list[Trial]:
        if "average-attention" not in self.capabilities.edits:
            raise NotApplicable(
                "asks about average-attention, which this model does not declare"
            )
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
