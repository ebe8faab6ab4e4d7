"""Edits that bring their own hooks into any stock image encoder."""

from contextlib import AbstractContextManager
from typing import Any

from cuescope_core.types import Edit


class TowerEdit(Edit):
    """A change inside an image encoder, by hooks that its author writes.

    Subclass it at module level with a `kind` of its own and `hooks`. Every model that exposes
    "image-tower" (open_clip and transformers CLIP, SigLIP, X-CLIP ...) answers it unchanged, so a
    method that uses one asks for `Requirements(exposes={"image-tower"})`.
    """

    # hooks: an edit works in any library's encoder, without a patch of it (docs/adr/0009)
    def hooks(self, tower: Any) -> AbstractContextManager[None]:
        """Change the tower (`cuescope_sdk.torch.ImageTower`) while open, and put it back after.

        The forward pass within may hold several images, all with this edit.
        """
        raise NotImplementedError
