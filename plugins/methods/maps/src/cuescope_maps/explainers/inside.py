"""Explainers that look inside: what attention passes on, and what of it serves the answer."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Float32

from cuescope_sdk import Readout, Requirements, Sample, Trial, UserError
from cuescope_sdk.explain import Explained, RegionExplainer, Steps
from cuescope_sdk.fusion import VIDEO, HasAttentionGradients, HasFusion

Flow = Float[np.ndarray, "query key"]
Map = Float32[np.ndarray, "frame row col"]


class AttentionRollout(Readout):
    """What the last token takes from each place by attention alone: (frame, row, col)."""

    name: ClassVar[str] = "maps-rollout"
    gives: ClassVar[Any] = Map

    def read(self, model: HasFusion, trials: Sequence[Trial]) -> list[Map]:
        """Mean over heads of each layer, halved with the identity, one after another."""
        found = []
        for trial in trials:
            layers = [
                model.attention([trial], layer)[0].mean(axis=0)
                for layer in range(model.fusion.layers)
            ]
            _require_square(layers, trial.sample)
            found.append(map_of(model, trial, rollout(layers)))
        return found


class AttentionRelevance(Readout):
    """The same of what attention does for an answer: (frame, row, col)."""

    name: ClassVar[str] = "maps-relevance"
    gives: ClassVar[Any] = Map
    answer: str

    def read(self, model: HasAttentionGradients, trials: Sequence[Trial]) -> list[Map]:
        """Weights times gradients of each layer, added up through the layers."""
        found = []
        for trial in trials:
            [layers] = model.attention_gradients([trial], self.answer)
            found.append(map_of(model, trial, relevance([*layers])))
        return found


class Rollout(RegionExplainer):
    """Attention rollout (Abnar and Zuidema, 2020); it knows nothing of the answer."""

    title = "what attention passes on to the answer, whatever the answer is"
    requires = Requirements(outputs=frozenset(), exposes=frozenset({"fusion"}))

    def explain(self, case: Explained) -> Steps:
        """The flow from each part."""
        flow = yield AttentionRollout()
        return case.grid.pool(flow)

    def calls(self, parts: int, budget: int) -> int:
        """One."""
        return 1


class Relevance(RegionExplainer):
    """Attention times its gradient, through all layers (Chefer, Gur and Wolf, 2021)."""

    title = "what attention passes on that makes the answer likelier"
    requires = Requirements(
        outputs=frozenset(), exposes=frozenset({"attention-gradients"})
    )

    def explain(self, case: Explained) -> Steps:
        """The relevance of each part."""
        flow = yield AttentionRelevance(answer=case.answer)
        return case.grid.pool(flow)

    def calls(self, parts: int, budget: int) -> int:
        """One."""
        return 1


def rollout(layers: Sequence[Flow]) -> Flow:
    """The product of attention and residual, each by half (Abnar and Zuidema, 2020)."""
    flow = np.eye(len(layers[0]))
    for layer in layers:
        flow = (layer + np.eye(len(layer))) / 2 @ flow
    return flow


def relevance(layers: Sequence[Flow]) -> Flow:
    """R += A R, with A the positive part of attention times gradient (Chefer, eqs. 5 and 6)."""
    flow = np.eye(len(layers[0]))
    for layer in layers:
        flow = flow + layer @ flow
    return flow


def _require_square(layers: Sequence[np.ndarray], sample: Sample) -> None:
    for layer in layers:
        if layer.shape[0] != layer.shape[1]:
            raise UserError(
                f"maps: the layers attend to another sequence in sample '{sample.key}'",
                expected="as many queries as keys",
                got=f"{layer.shape[0]} and {layer.shape[1]}",
            )


def map_of(model: Any, trial: Trial, flow: Flow) -> Map:
    """What the last token takes from each visual token, on the grid of the model."""
    [modality] = model.modalities([trial], 0)
    of_visual = flow[-1][np.asarray(modality[: len(flow)]) == VIDEO]
    rows, cols = _grid_of(model, trial.sample, len(of_visual))
    on_grid = of_visual.reshape(-1, rows, cols)
    return np.asarray(on_grid, np.float32)


def _grid_of(model: Any, sample: Sample, count: int) -> tuple[int, int]:
    """Rows and columns of the visual tokens of a frame: a square, or as patches lie."""
    frames = max(len(sample.frames), 1)
    side = round((count / frames) ** 0.5)
    if count and side * side * frames == count:
        return side, side
    if count and hasattr(model, "patch_features"):
        rows, cols = model.patch_features([sample.frames[0]])[0].shape[:2]
        if count % (rows * cols) == 0:
            return int(rows), int(cols)
    raise UserError(
        f"maps: the visual tokens of sample '{sample.key}' lie on no grid",
        expected="rows and columns of tokens in each frame",
        got=f"{count} tokens of {frames} frames",
        remedy="Take an explainer that looks at answers alone: greedy, shapley, rise.",
    )
