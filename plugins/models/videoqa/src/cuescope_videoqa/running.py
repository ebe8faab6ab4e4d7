"""Trials through a network: in batches, under their edits, read inside."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int8
from torch import Tensor, nn

from cuescope_sdk import Edit, Frame, Response, Sample, Trial, UserError
from cuescope_sdk.fusion import OTHER, AverageAttention, AverageTokens, FusionShape
from cuescope_sdk.torch import Fusion, group_by_edit, require_layers, use_fusion


class Asked(NamedTuple):
    """One forward pass: what is shown of a sample, and the text beside it."""

    sample: str
    frames: tuple[Frame, ...]
    text: str


@dataclass(frozen=True, eq=False)
class Batch:
    """Passes of one forward: what each token is, and what the network takes.

    `cross` says it of the keys of cross-attention. A pass may have several rows, `rows` of them,
    one after another.
    """

    modality: Int8[Tensor, "row token"]
    inputs: dict[str, Tensor] = field(default_factory=dict)
    cross: Int8[Tensor, "row key"] | None = None
    rows: int = 1


class Network(nn.Module):
    """A model of the paper: its passes, their states, and the scores of answers."""

    owner: str
    fusion: FusionShape
    vocabulary: tuple[str, ...] = ()
    without_vocabulary: str = "Give the authors' file with -M answers=FILE."

    @property
    def device(self) -> torch.device:
        """Where it is."""
        return next(self.parameters()).device

    @property
    def dtype(self) -> torch.dtype:
        """In which precision it runs."""
        return next(self.parameters()).dtype

    def asks(self, sample: Sample) -> list[Asked]:
        """The passes that answer a sample."""
        return [Asked(sample.key, sample.frames, sample.question or "")]

    @abstractmethod
    def batch(self, asked: Sequence[Asked]) -> Batch:
        """Tensors for passes that show equally many frames."""

    @abstractmethod
    def forward(self, batch: Batch) -> list[Any]:
        """A state for each pass."""

    @abstractmethod
    def score(
        self, states: Sequence[Any], sample: Sample, answers: tuple[str, ...]
    ) -> Float[Tensor, " answer"]:
        """Logits of the answers, from the states of `asks(sample)`."""

    def on_device(
        self, modality: Int8[Tensor, "row token"], rows: int = 1, **inputs: Tensor
    ) -> Batch:
        """A batch, where the network is."""
        moved = {name: tensor.to(self.device) for name, tensor in inputs.items()}
        return Batch(modality.to(self.device), moved, rows=rows)

    def crosses(self, layer: int) -> bool:
        """Whether the keys of a fusion layer are another sequence."""
        return False

    def content(self) -> object:
        """What answers depend on beside weights, vocabulary and options."""
        return ()


class Runner:
    """A network that answers trials. A batch shows equally many frames a sample."""

    def __init__(self, network: Network, batch_size: int) -> None:
        self.network, self._batch_size = network, batch_size

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """The responses, in order."""
        answers = [self._answers(trial.sample) for trial in trials]
        found: dict[int, Response] = {}
        for edit, indices in group_by_edit(trials):
            require_layers(self.network.owner, edit, self.network.fusion.layers)
            asked = [self.network.asks(trials[index].sample) for index in indices]
            states = self._states([one for several in asked for one in several], edit)
            for index, several in zip(indices, asked, strict=True):
                own = [next(states) for _ in several]
                found[index] = self._response(own, trials[index].sample, answers[index])
        return [found[index] for index in range(len(trials))]

    @torch.inference_mode()
    def _response(self, states: list[Any], sample: Sample, answers: tuple[str, ...]) -> Response:
        logits = self.network.score(states, sample, answers).float().cpu().numpy()
        return Response(
            logits=logits if sample.choices else None, text=answers[int(logits.argmax())]
        )

    def _answers(self, sample: Sample) -> tuple[str, ...]:
        answers = sample.choices or self.network.vocabulary
        if not answers:
            raise UserError(
                f"{self.network.owner}: sample '{sample.key}' is an open question",
                expected="a vocabulary to answer it from",
                remedy=self.network.without_vocabulary,
            )
        return answers

    def _states(self, asked: list[Asked], edit: Edit | None) -> Iterator[Any]:
        found: dict[int, Any] = {}
        for indices in self._batches(asked):
            with torch.inference_mode():
                batch = self.network.batch([asked[index] for index in indices])
                with use_fusion(Fusion(batch.modality, _quag(edit), batch.cross)):
                    found.update(zip(indices, self.network(batch), strict=True))
        return (found[index] for index in range(len(asked)))

    def _batches(self, asked: Sequence[Asked]) -> Iterator[list[int]]:
        alike: dict[int, list[int]] = {}
        for index, one in enumerate(asked):
            alike.setdefault(len(one.frames), []).append(index)
        for indices in alike.values():
            for start in range(0, len(indices), self._batch_size):
                yield indices[start : start + self._batch_size]

    def modalities(
        self, trials: Sequence[Trial], layer: int
    ) -> list[Int8[np.ndarray, " query_then_key"]]:
        """What the tokens of each trial's first pass are."""
        found = []
        for trial in trials:
            batch = self._first(trial, layer)
            sides = self._sides(batch, layer)
            found.append(np.concatenate([side[side != OTHER].cpu().numpy() for side in sides]))
        return found

    def attention(
        self, trials: Sequence[Trial], layer: int
    ) -> list[Float[np.ndarray, "head query key"]]:
        """Weights of each trial's first pass; the heads of its rows one after another."""
        return [self._attention(trial, layer) for trial in trials]

    @torch.inference_mode()
    def _attention(self, trial: Trial, layer: int) -> Float[np.ndarray, "head query key"]:
        require_layers(self.network.owner, trial.edit, self.network.fusion.layers)
        if isinstance(trial.edit, AverageTokens):
            raise UserError(f"{self.network.owner}: no weights of tokens that are averaged away")
        batch = self._first(trial, layer)
        seen: dict[int, Tensor] = {}
        with use_fusion(Fusion(batch.modality, _quag(trial.edit), batch.cross, seen.__setitem__)):
            self.network(batch)
        queries, keys = (side != OTHER for side in self._sides(batch, layer))
        heads = batch.rows * self.network.fusion.heads
        if layer not in seen:  # nothing to attend to
            return np.zeros((heads, int(queries.sum()), 0), dtype=np.float32)
        weights = seen[layer].flatten(0, 1)[:, queries][:, :, keys]
        return np.asarray(weights.float().cpu().numpy())

    def _first(self, trial: Trial, layer: int) -> Batch:
        layers = self.network.fusion.layers
        if not 0 <= layer < layers:
            raise UserError(
                f"{self.network.owner} has no fusion layer {layer}",
                expected=f"layers 0 to {layers - 1}",
            )
        return self.network.batch(self.network.asks(trial.sample)[:1])

    def _sides(self, batch: Batch, layer: int) -> tuple[Tensor, Tensor]:
        """Queries and keys of a pass; all its rows are laid out alike."""
        crossed = batch.cross if self.network.crosses(layer) else None
        return batch.modality[0], (batch.modality if crossed is None else crossed)[0]


def _quag(edit: Edit | None) -> AverageAttention | AverageTokens | None:
    """An edit of attention; others are refused before."""
    return edit if isinstance(edit, AverageAttention | AverageTokens) else None
