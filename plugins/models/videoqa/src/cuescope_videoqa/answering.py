"""What the four plugins share: options, capabilities, and how trials reach the network."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from jaxtyping import Float, Int8
from pydantic import Field, PositiveInt

from cuescope_sdk import Capabilities, Context, Options, Plugin, Response, Trial
from cuescope_sdk.fusion import FusionShape
from cuescope_sdk.models import refuse_unanswerable

if TYPE_CHECKING:
    from cuescope_videoqa.running import Network


class VideoQAOptions(Options):
    """Options of every model here; the part after `NAME:` is `checkpoint`."""

    argument: ClassVar[str | None] = "checkpoint"

    checkpoint: Path = Field(description="the authors' checkpoint (.pth, .ckpt, .safetensors)")
    answers: Path | None = Field(
        default=None, description="the authors' vocabulary for open questions: JSON, answer: number"
    )


class HeadedOptions(VideoQAOptions):
    """Options of a model whose sizes are those of its checkpoint's tensors."""

    head_dim: PositiveInt = Field(
        default=64, description="width of an attention head, which no tensor tells"
    )


class VideoQA(Plugin):
    """Answers by choices or from a vocabulary; QUAG's edits act in its fusion layers.

    A sample without frames is answered with the video masked out, one without a question from the
    video and an empty text. `attention` and `modalities` are of a question's first forward pass.
    """

    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset({"logits", "text"}),
        edits=frozenset({"average-attention", "average-tokens"}),
        exposes=frozenset({"fusion"}),
        min_frames=0,
    )
    owner: ClassVar[str]

    def __init__(self, options: VideoQAOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_sdk.torch import resolve_device, resolve_dtype
        from cuescope_videoqa.fingerprints import fingerprint
        from cuescope_videoqa.running import Runner
        from cuescope_videoqa.vocabulary import facts

        network = self.load()
        device, dtype = resolve_device(context.device), resolve_dtype(context.dtype)
        network.eval().requires_grad_(False).to(device, dtype)
        self._runner = Runner(network, context.batch_size)
        self.fusion: FusionShape = network.fusion
        self.fingerprint = fingerprint(self.owner, network, options)
        self.facts = {"weights": options.checkpoint.name, **facts(network.vocabulary)}

    def load(self) -> "Network":
        """The network, whole; raises UserError for whatever a person can mend."""
        raise NotImplementedError

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Logits of the choices, and the best answer as text."""
        for trial in trials:
            refuse_unanswerable(self.owner, self.capabilities, trial)
        return self._runner.respond(trials)

    def modalities(
        self, trials: Sequence[Trial], layer: int
    ) -> list[Int8[np.ndarray, " query_then_key"]]:
        """VIDEO or TEXT for each query of a fusion layer, and then for each of its keys."""
        return self._runner.modalities(trials, layer)

    def attention(
        self, trials: Sequence[Trial], layer: int
    ) -> list[Float[np.ndarray, "head query key"]]:
        """Weights after the softmax, and after the trial's edit."""
        return self._runner.attention(trials, layer)
