"""The stock open_clip network: new for training, and as the folder that open_clip loads.

A checkpoint here is a state dict whose token embedding has the rows of the words in use alone,
and the ids of these words beside it: CLIP's whole vocabulary would be nine tenths of the file.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import open_clip
import torch
from jaxtyping import Bool, Float, Int
from safetensors.torch import save
from torch import Tensor, nn

from cuescope_toy.clip.architecture import MODEL, PREPROCESS, VOCABULARY_SIZE
from cuescope_toy.loading import Weights, write_whole

VOCABULARY = "vocabulary"
EMBEDDING = "token_embedding.weight"
WORD_SPREAD = 0.5  # standard deviation of a word's first embedding
# standard deviation of the text tower's first position embeddings
POSITION_SPREAD = 0.125
# patches: least and greatest side of a window that is shown alone
VISIBLE_SIDES = (6, 10)
HIDDEN_SIDES = (5, 8)  # of one that is left out


def new_network(words: int) -> Any:
    """A stock open_clip model with so many words; weights from torch's generator.

    The words start far apart. From CLIP's own start (0.02) prompts that differ in one word are
    all but equal, and minutes pass before the label counts.
    """
    text = {**MODEL["text_cfg"], "vocab_size": words}
    network = open_clip.model.CLIP(**{**MODEL, "text_cfg": text})
    network.visual.patch_dropout = WindowDropout(network.visual.grid_size[0])
    nn.init.normal_(network.token_embedding.weight, std=WORD_SPREAD)
    nn.init.normal_(network.positional_embedding, std=POSITION_SPREAD)
    return network


@contextmanager
def draw_from(generator: torch.Generator) -> Iterator[None]:
    """What draws from torch's global state draws from `generator`; then all is as it was.

    open_clip initialises its weights that way and takes no generator.
    """
    # the CPU's state alone: nothing here draws on a GPU
    with torch.random.fork_rng(devices=[]):
        torch.set_rng_state(generator.get_state())  # the fork puts it back
        yield


class WindowDropout(nn.Module):
    """In place of open_clip's patch dropout: a window of each picture, or all but a window.

    Tokens are a CLS and a grid of `side` x `side`. One size a batch, another place a picture. It
    costs half, and hidden regions become nothing new: with patches left out here and there, no
    object would ever be missing as a whole. `whole` switches it off.
    """

    def __init__(self, side: int) -> None:
        super().__init__()
        self.side = side
        self.whole = False

    def forward(
        self, tokens: Float[Tensor, "image token dim"]
    ) -> Float[Tensor, "image visible dim"]:
        """The visible tokens; all of them in use, or where `whole` is set."""
        if self.whole or not self.training:
            return tokens
        hide = bool(torch.rand(()) < 0.5)
        patches = window_mask(len(tokens), self.side, hide)
        cls = patches.new_ones(len(tokens), 1)
        visible = torch.cat([cls, patches.flatten(1)], dim=1)
        # All pictures keep equally many patches, so the rest is a tensor again.
        return tokens[visible].reshape(len(tokens), -1, tokens.shape[-1])


def window_mask(count: int, side: int, hide: bool) -> Bool[Tensor, "image row col"]:
    """Which patches are visible: one rectangle a picture, or with `hide` all others."""
    least, greatest = HIDDEN_SIDES if hide else VISIBLE_SIDES
    inside = torch.ones(count, side, side, dtype=torch.bool)
    for axis in (1, 2):
        length = int(torch.randint(least, greatest + 1, ()))
        start = torch.randint(side - length + 1, (count, 1))
        position = torch.arange(side)
        along = (position >= start) & (position < start + length)
        inside &= along.unsqueeze(3 - axis)
    return inside ^ hide


# ------------------------------------------------------------------------------------- checkpoints


def pack_weights(state: Weights, vocabulary: Int[Tensor, " word"]) -> Weights:
    """The state of a network with this vocabulary, in half precision, with the ids."""
    packed = {
        # safetensors refuses a tensor that is not contiguous
        name: tensor.detach().half().contiguous()
        for name, tensor in state.items()
    }
    packed[VOCABULARY] = vocabulary.int()
    return packed


def unpack_weights(weights: Weights) -> Weights:
    """The state dict of the whole model; words that were never seen are as if newly drawn."""
    full = {name: tensor.float() for name, tensor in weights.items()}
    del full[VOCABULARY]
    rows = full[EMBEDDING]
    # fixed: a word that was never trained on must not answer otherwise next time
    generator = torch.Generator().manual_seed(0)
    unseen = torch.randn(VOCABULARY_SIZE, rows.shape[1], generator=generator)
    table = WORD_SPREAD * unseen
    table[weights[VOCABULARY].long()] = rows
    full[EMBEDDING] = table
    return full


def write_model_folder(weights: Weights, folder: Path) -> Path:
    """Write the folder that open_clip loads; each file whole or not at all."""
    config = {"model_cfg": MODEL, "preprocess_cfg": PREPROCESS}
    text = json.dumps(config, indent=2)
    write_whole(folder / "open_clip_config.json", text.encode())
    state = unpack_weights(weights)
    write_whole(folder / "open_clip_model.safetensors", save(state))
    return folder
