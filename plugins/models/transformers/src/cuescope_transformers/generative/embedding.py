"""A sample's embedding: the mean of its visual tokens, as the language side reads them.

These are the tokens after the projector or merger, at the door of the first layer that sees words
and frames together, so that no question has touched them. (InstructBLIP's Q-Former reads the
question before: its tokens depend on it.) Hidden tokens are not among them.
"""

import numpy as np
from jaxtyping import Float

from cuescope_sdk.torch import to_array
from cuescope_transformers.generative.batches import (
    Rows,
    batches,
    require_visual_tokens,
)
from cuescope_transformers.generative.generation import visual_tokens
from cuescope_transformers.generative.loading import GenerativeModel


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
        tokens, visual = visual_tokens(model, batch)
        for at, row in enumerate(part):
            # float first: a mean of many tokens in half precision loses digits
            seen = tokens[at][visual[at]].float()
            mean = seen.new_zeros(seen.shape[-1])
            if len(seen):
                mean = seen.mean(dim=0)
            means[row.index] = to_array(mean)
    return means
