"""Trials through a network: in batches, under their edits, and its attention."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int8
from torch import Tensor

from cuescope_sdk import Edit, Response, Sample, Trial, UserError
from cuescope_sdk.fusion import OTHER, AverageTokens
from cuescope_sdk.torch import Fusion, to_array
from cuescope_videoqa.network import Batch, Network, Prompt


@dataclass
class NetworkRunner:
    """A network that answers trials. A batch shows equally many frames a sample."""

    network: Network
    batch_size: int

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """The responses, in order."""
        # first: an open question without a vocabulary is refused before anything runs
        answers = [self._answers(trial.sample) for trial in trials]
        responses: dict[int, Response] = {}
        for edit, indices in Fusion.by_edit(trials):
            self._require_layers(getattr(edit, "layers", None))
            groups = [self.network.prompts(trials[index].sample) for index in indices]
            states = self._states(list(chain.from_iterable(groups)), edit)
            for index, group in zip(indices, groups, strict=True):
                # the prompts of a sample follow one another
                sample_states = list(islice(states, len(group)))
                sample = trials[index].sample
                responses[index] = self._response(sample_states, sample, answers[index])
        return [responses[index] for index in sorted(responses)]

    @torch.inference_mode()
    def _response(
        self,
        states: list[Any],
        sample: Sample,
        answers: tuple[str, ...],
    ) -> Response:
        logits = to_array(self.network.score(states, sample, answers))
        best = answers[int(logits.argmax())]
        # logits are of choices: a vocabulary would give thousands
        return Response(logits=logits if sample.choices else None, text=best)

    def _answers(self, sample: Sample) -> tuple[str, ...]:
        answers = sample.choices or self.network.vocabulary
        if not answers:
            raise UserError(
                f"{self.network.owner}: sample '{sample.key}' is an open question",
                expected="a vocabulary to answer it from",
                remedy=self.network.without_vocabulary,
            )
        return answers

    def _states(self, prompts: list[Prompt], edit: Edit | None) -> Iterator[Any]:
        states: dict[int, Any] = {}
        for indices in self._batches(prompts):
            with torch.inference_mode():
                batch = self.network.collate([prompts[index] for index in indices])
                with Fusion(batch.modality, edit, batch.cross).use():
                    states.update(zip(indices, self.network(batch), strict=True))
        # batches are by number of frames: back to the order of the prompts
        return (states[index] for index in sorted(states))

    def _batches(self, prompts: Sequence[Prompt]) -> Iterator[list[int]]:
        # Videos of other lengths never share a batch: padded frames would enter time and places.
        by_frames: dict[int, list[int]] = {}
        for index, prompt in enumerate(prompts):
            by_frames.setdefault(len(prompt.frames), []).append(index)
        for indices in by_frames.values():
            for start in range(0, len(indices), self.batch_size):
                yield indices[start : start + self.batch_size]

    def modalities(
        self,
        trial: Trial,
        layer: int,
    ) -> Int8[np.ndarray, " query_then_key"]:
        """What the queries and keys of its first prompt are."""
        batch = self._first_batch(trial, layer)
        modality = torch.cat(self._queries_and_keys(batch, layer))
        return to_array(modality[modality != OTHER])

    @torch.inference_mode()
    def attention(
        self,
        trial: Trial,
        layer: int,
    ) -> Float[np.ndarray, "head query key"]:
        """Weights of its first prompt; the heads of its rows one after another."""
        self._require_layers(getattr(trial.edit, "layers", None))
        if isinstance(trial.edit, AverageTokens):
            raise UserError(
                f"{self.network.owner}: no weights of tokens that are averaged away"
            )
        batch = self._first_batch(trial, layer)
        by_layer: dict[int, Tensor] = {}
        fusion = Fusion(batch.modality, trial.edit, batch.cross, by_layer.__setitem__)
        with fusion.use():
            self.network(batch)
        query_modality, key_modality = self._queries_and_keys(batch, layer)
        queries = query_modality != OTHER
        keys = key_modality != OTHER
        heads = batch.rows * self.network.fusion.heads
        if layer not in by_layer:  # no video: its cross-attention was skipped
            return np.zeros((heads, int(queries.sum()), 0), dtype=np.float32)
        weights = by_layer[layer].flatten(0, 1)
        return to_array(weights[:, queries][:, :, keys])

    def _first_batch(self, trial: Trial, layer: int) -> Batch:
        self._require_layers([layer])
        return self.network.collate(self.network.prompts(trial.sample)[:1])

    def _require_layers(self, asked: Iterable[int] | None) -> None:
        self.network.fusion.require_layers(self.network.owner, asked or ())

    def _queries_and_keys(self, batch: Batch, layer: int) -> tuple[Tensor, Tensor]:
        """Modalities of both for one prompt; all its rows are laid out alike."""
        queries = keys = batch.modality
        if batch.cross is not None and self.network.crosses(layer):
            keys = batch.cross
        return queries[0], keys[0]
