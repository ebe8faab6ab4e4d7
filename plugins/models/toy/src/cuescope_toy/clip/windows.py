"""What the image tower is shown in training: a window of each picture, or all but a window."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

SHOWN = (6, 10)  # least and greatest side of a window that is shown alone, patches
HIDDEN = (5, 8)  # of one that is left out


class Windows(nn.Module):
    """In place of open_clip's patch dropout: tokens of a grid of `side` x `side` after a CLS.

    One size a batch, another place a picture. It costs half, and hidden regions become nothing
    new: with patches left out here and there, no object would ever be missing as a whole.
    """

    def __init__(self, side: int) -> None:
        super().__init__()
        self.side = side
        self.whole = False

    def forward(self, tokens: Float[Tensor, "image token dim"]) -> Float[Tensor, "image shown dim"]:
        """The tokens that are shown; all of them in use, or where `whole` is set."""
        if self.whole or not self.training:
            return tokens
        shown = windows(len(tokens), self.side, hide=bool(torch.rand(()) < 0.5))
        prefix = shown.new_ones(len(tokens), 1)
        kept = torch.cat([prefix, shown.flatten(1)], dim=1)
        return tokens[kept].reshape(len(tokens), -1, tokens.shape[-1])


def windows(count: int, side: int, hide: bool) -> Bool[Tensor, "image row col"]:
    """Which patches are shown: one rectangle a picture, or with `hide` all others."""
    least, greatest = HIDDEN if hide else SHOWN
    inside = torch.ones(count, side, side, dtype=torch.bool)
    for axis in (1, 2):
        length = int(torch.randint(least, greatest + 1, ()))
        start = torch.randint(side - length + 1, (count, 1))
        place = torch.arange(side)
        along = (place >= start) & (place < start + length)
        inside &= along.unsqueeze(3 - axis)
    return inside ^ hide
