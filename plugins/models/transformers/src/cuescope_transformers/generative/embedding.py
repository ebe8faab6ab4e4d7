"""A sample's embedding: the mean of its visual tokens, as the language side reads them.

These are the tokens after the projector or merger, at the door of the first layer that sees words
and frames together, so that no question has touched them. (InstructBLIP's Q-Former reads the
question before: its tokens depend on it.) Hidden tokens are not among them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from torch import Tensor, nn

from cuescope_sdk.fusion import VIDEO
from cuescope_sdk.torch import to_array
from cuescope_transformers.generative.batches import (
    Rows,
    batches,
    require_visual_tokens,
)
from cuescope_transformers.generative.generation import generate_tokens
from cuescope_transformers.generative.inputs import Batch, Inputs
from cuescope_transformers.generative.loading import GenerativeModel, blocks


def embeds(model: GenerativeModel) -> bool:
    """Whether the configuration says which tokens are visual."""
    # of the files: the weights stay closed
    return bool(model.visual)


def embeddings(
    model: GenerativeModel, rows: Rows
) -> dict[int, Float[np.ndarray, " dim"]]:
    """The embedding of each row, by its index; zeros where there is nothing to see."""
    means = {}
    for part, batch in batches(model, rows):
        require_visual_tokens(model, batch, part[0].trial)
        tokens, visual = _read(model, batch)
        for at, row in enumerate(part):
            # float first: a mean of many tokens in half precision loses digits
            seen = tokens[at][visual[at]].float()
            mean = seen.new_zeros(seen.shape[-1])
            if len(seen):
                mean = seen.mean(dim=0)
            means[row.index] = to_array(mean)
    return means


class _ReachedError(Exception):
    """The language side has got its tokens: nothing more has to run."""


def _read(
    model: GenerativeModel, batch: Batch
) -> tuple[Float[Tensor, "row token dim"], Bool[Tensor, "row token"]]:
    """What the first layer gets, and which of it is visual; all else of the pass is left out."""
    network = model.network
    is_pair = network.config.is_encoder_decoder
    # where there is an encoder, it is the side that frames enter
    reader = network.get_encoder() if is_pair else network.get_decoder()
    got: Inputs = {}
    with _until(blocks(reader)[0], got):
        # the pass ends before the token
        generate_tokens(model, batch, None, most=1)
    if batch.cross is None:
        tokens = got["hidden_states"]
        return tokens, (batch.modality == VIDEO).to(tokens.device)
    # Mllama's layers are handed the tiles of a row one by one
    tiles = got["cross_attention_states"]
    tiles = tiles.reshape(len(batch.cross), -1, tiles.shape[-1])
    return tiles, (batch.cross == VIDEO).to(tiles.device)


@contextmanager
def _until(layer: nn.Module, got: Inputs) -> Iterator[None]:
    """Within it a pass ends as it reaches the layer, whose arguments are then in `got`."""

    def stop(module: nn.Module, args: Any, kwargs: Any) -> None:
        got.update(kwargs)
        # families hand the tokens over by place or by name
        if args:
            got["hidden_states"] = args[0]
        raise _ReachedError

    with layer.register_forward_pre_hook(stop, with_kwargs=True):
        try:
            yield
        except _ReachedError:
            return
