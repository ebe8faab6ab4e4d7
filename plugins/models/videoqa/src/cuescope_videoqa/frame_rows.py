"""What an image encoder makes of frames, each frame once."""

from collections import OrderedDict
from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from cuescope_sdk import Frame

AT_ONCE = 32


class FrameRows:
    """A memory of what `encode` made of the last `most` frames."""

    def __init__(self, encode: Callable[[Sequence[Frame]], Tensor], most: int) -> None:
        self._encode, self._most = encode, most
        self._known: OrderedDict[str, Tensor] = OrderedDict()

    def of(self, frames: Sequence[Frame]) -> Float[Tensor, "frame ..."]:
        """A row a frame; there is one at least."""
        rows = {f.key: self._known[f.key] for f in frames if f.key in self._known}
        fresh = [f for key, f in {f.key: f for f in frames}.items() if key not in rows]
        for start in range(0, len(fresh), AT_ONCE):
            some = fresh[start : start + AT_ONCE]
            rows.update(zip((f.key for f in some), self._encode(some), strict=True))
        for key, row in rows.items():
            self._known[key] = row
            self._known.move_to_end(key)
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return torch.stack([rows[f.key] for f in frames])
