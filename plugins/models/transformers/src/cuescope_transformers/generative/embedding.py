"""A sample's embedding: the mean of its visual tokens, as the language side reads them.

These are the tokens after the projector or merger, at the door of the first layer that sees words
and frames together, so that no question has touched them. (InstructBLIP's Q-Former reads the
question before: its tokens depend on it.) Hidden tokens are not among them.
"""

from inspect import signature

import numpy as np
from jaxtyping import Bool, Float
from torch import Tensor

from cuescope_sdk.fusion import VIDEO
from cuescope_sdk.torch import to_array
from cuescope_transformers.generative.batches import (
    Rows,
    batches,
    require_visual_tokens,
)
from cuescope_transformers.generative.generation import reach
from cuescope_transformers.generative.inputs import Batch
from cuescope_transformers.generative.loading import GenerativeModel
from cuescope_transformers.generative.modules import blocks, language_side


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


def _read(
    model: GenerativeModel, batch: Batch
) -> tuple[Float[Tensor, "row token dim"], Bool[Tensor, "row token"]]:
    """What the first layer gets, and which of it is visual; all else of the pass is left out."""
    side = language_side(model.network)
    first = blocks(side)[0]
    got = reach(model, batch, first)
    if batch.cross is None:
        # families differ in what their layers call their tokens
        tokens = got[next(iter(signature(first.forward).parameters))]
        # Gemma 3n's layers work on several versions of a token at once
        if tokens.ndim > 3:
            tokens = reach(model, batch, side)["inputs_embeds"]
        return tokens, (batch.modality == VIDEO).to(tokens.device)
    # Mllama's layers are handed the tiles of a row one by one
    tiles = got["cross_attention_states"]
    tiles = tiles.reshape(len(batch.cross), -1, tiles.shape[-1])
    return tiles, (batch.cross == VIDEO).to(tiles.device)
