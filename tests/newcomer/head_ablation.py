"""Head ablation: the attention heads of an image encoder that right answers need."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

import cuescope_sdk as sdk
from cuescope_sdk.models import TowerEdit
from cuescope_sdk.statistics import Groups, benjamini_hochberg, paired_flips


class AblateHead(TowerEdit):
    """One attention head of one block adds nothing."""

    kind: ClassVar[str] = "ablate-head"
    layer: int
    head: int

    @contextmanager
    def hooks(self, tower: Any) -> Iterator[None]:
        from cuescope_sdk.torch import hook_input, hook_output

        block, tokens = tower.blocks[self.layer], []

        def keep(entering: Any) -> None:
            tokens[:] = [entering]

        def subtract(output: Any) -> Any:
            query, key, value = (
                part[:, self.head] for part in block.project(tokens[0])
            )
            mixed = (query @ key.transpose(-1, -2)).softmax(-1) @ value
            size = mixed.shape[-1]
            # Heads stand side by side, so a head has its own columns of the output weights.
            columns = block.out_weight()[:, self.head * size : (self.head + 1) * size]
            return output - mixed @ columns.T

        with hook_input(block.attention, keep), hook_output(block.attention, subtract):
            yield


class CountHeads(sdk.Readout):
    """How many blocks the encoder has, and how many heads each of them."""

    name: ClassVar[str] = "count-heads"

    def read(self, model: Any, trials: Sequence[sdk.Trial]) -> list[np.ndarray]:
        blocks = model.image_tower.blocks
        weight = blocks[0].out_weight()
        query, _, _ = blocks[0].project(weight.new_zeros(1, 1, len(weight)))
        return [np.array([len(blocks), query.shape[1]]) for _ in trials]


class HeadAblation(sdk.Plugin):
    """Ablates each head; where right answers get lost, the model needs it."""

    title = "Head ablation: the attention heads that right answers need"
    requires = sdk.Requirements(exposes=frozenset({"image-tower"}))
    metrics = (
        sdk.Metric(name="loss", title="Loss", meaning="accuracy lost by ablating it"),
    )

    class Options(sdk.Options):
        min_loss: float = Field(
            0.1, description="a finding loses at least this accuracy"
        )
        fdr: float = Field(
            0.05, description="false discovery rate over all that was tried"
        )

    @sdk.hookimpl
    def propose_features(self, audit: sdk.Audit) -> Iterator[sdk.Feature]:
        (outcome,) = audit.respond([CountHeads().of(audit.samples[0])])
        layers, heads = np.asarray(outcome.response.readout).tolist()
        for layer, head in np.ndindex(layers, heads):
            yield sdk.Feature(
                key=f"{layer}.{head}", kind="head", name=f"head {head} of {layer}"
            )

    @sdk.hookimpl
    def perturb(
        self, audit: sdk.Audit, features: Sequence[sdk.Feature]
    ) -> Iterator[sdk.Trial]:
        for sample in audit.samples:
            yield sdk.Trial(sample=sample)
            for key in (feature.key for feature in features):
                layer, head = map(int, key.split("."))
                edit = AblateHead(layer=layer, head=head)
                yield sdk.Trial(
                    sample=sample, edit=edit, feature=key, condition="ablated"
                )

    @sdk.hookimpl
    def compute_scores(
        self,
        audit: sdk.Audit,
        features: Sequence[sdk.Feature],
        outcomes: Sequence[sdk.Outcome],
    ) -> list[sdk.Score]:
        def right(key: str | None) -> list[bool]:
            return [o.correct() for o in outcomes if o.trial.feature == key]

        keys, groups = [feature.key for feature in features], Groups.of(audit.samples)
        flips = [
            paired_flips(
                right(key), right(None), groups, audit.rng(key), alternative="greater"
            )
            for key in keys
        ]
        q_values = benjamini_hochberg([flip.p_value for flip in flips])
        scores = [
            sdk.Score(
                feature=key,
                label=None,
                metric="loss",
                value=flip.change,
                low=flip.low,
                high=flip.high,
                n=flip.n,
                p_value=flip.p_value,
                q_value=q_value,
                finding=flip.change >= self.options.min_loss
                and (q_value or 0) <= self.options.fdr,
                statement=f"Ablating {{feature}} loses {flip.change:.0%} accuracy.",
            )
            for key, flip, q_value in zip(keys, flips, q_values, strict=True)
        ]
        return sorted(
            scores, key=lambda score: (not score.finding, -(score.value or 0))
        )
