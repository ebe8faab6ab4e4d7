"""A small image encoder with attention, open to edits and readouts."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from cuescope_core.digest import digest
from cuescope_sdk import Capabilities, Context, Plugin, Response, Trial
from cuescope_sdk.models import TowerEdit, refuse_unanswerable
from cuescope_testing._fake_models import pixels_of

if TYPE_CHECKING:
    from cuescope_sdk.torch import ImageTower


class FakeTower(Plugin):
    """A vision transformer of random weights: two blocks of two heads over 2 x 2 patches.

    It reads the first frame, and takes any edit with hooks of its own.
    """

    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset(("logits", "embedding")),
        exposes=frozenset({"image-tower"}),
    )
    facts: ClassVar[dict[str, str]] = {"weights": "random"}

    def __init__(self, options: Any, context: Context) -> None:
        super().__init__(options, context)
        self.fingerprint = digest("fake-tower")

    @cached_property
    def image_tower(self) -> "ImageTower":
        """Its blocks."""
        # late, as in any model: torch takes seconds
        from cuescope_testing._fake_network import build_tower

        return build_tower()

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """One by one, each under its own edit."""
        refuse_unanswerable("fake-tower", self.capabilities, trials)
        return [self.answer(trial) for trial in trials]

    def answer(self, trial: Trial) -> Response:
        """The embedding, and its first numbers as logits."""
        if isinstance(trial.edit, TowerEdit):
            with trial.edit.hooks(self.image_tower):
                embedding = self.embed(trial)
        else:
            embedding = self.embed(trial)
        outputs = trial.outputs
        return Response(
            logits=embedding[: len(trial.sample.choices)]
            if "logits" in outputs
            else None,
            embedding=embedding if "embedding" in outputs else None,
        )

    def embed(self, trial: Trial) -> np.ndarray:
        """Embedding of the first frame."""
        import torch
        from PIL import Image

        pixels = np.rint(pixels_of(trial.sample.frames[0]) * 255).astype(np.uint8)
        tower = self.image_tower
        with torch.inference_mode():
            inputs = tower.prepare([Image.fromarray(pixels)])
            return np.asarray(tower.embed(inputs)[0].numpy())
