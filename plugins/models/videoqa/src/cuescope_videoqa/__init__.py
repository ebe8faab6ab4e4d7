"""The four models of QUAG and CLAVI, from their authors' checkpoints."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from jaxtyping import Float, Int8

from cuescope_sdk import (
    Capabilities,
    Context,
    LazyWeights,
    Plugin,
    Response,
    Trial,
    digest,
)
from cuescope_sdk.fusion import FusionShape
from cuescope_sdk.models import refuse_unanswerable
from cuescope_videoqa.loading import (
    feature_files,
    files_digest,
    find_folder,
    folder_files,
    read_answers,
    require_file,
)
from cuescope_videoqa.options import (
    AllInOneOptions,
    FrozenBiLMOptions,
    JustAskOptions,
    SingularityOptions,
    VideoQAOptions,
)

if TYPE_CHECKING:
    from cuescope_videoqa.answering import NetworkRunner

FINGERPRINT_VERSION = 2  # raise it when equal files and options give other answers
PATHS = {"checkpoint", "answers", "features", "text_encoder", "vision"}


class VideoQA(Plugin, LazyWeights):
    """Answers by choices or from a vocabulary; QUAG's edits act in its fusion layers.

    A sample without frames is answered with the video masked out, one without a question from the
    video and an empty text. `attention` and `modalities` are of a question's first forward pass.

    What it is given is found and digested as it is built; the checkpoint is opened once, for the
    first question.
    """

    options: VideoQAOptions
    answers_version = 1
    capabilities = Capabilities(
        outputs=frozenset({"logits", "text"}),
        edits=frozenset({"average-attention", "average-tokens"}),
        exposes=frozenset({"fusion", "closed-answers"}),
        min_frames=0,
    )
    owner: ClassVar[str]
    network_class: ClassVar[str]  # MODULE:CLASS, which imports torch
    facts: Mapping[str, str]

    def __init__(self, options: VideoQAOptions, context: Context) -> None:
        super().__init__(options, context)
        answers = read_answers(self.owner, options.answers)
        files = [[require_file(self.owner, options.checkpoint)], *self.other_files()]
        # Paths count by what is in them; the same files elsewhere are the same model.
        self.fingerprint = digest(
            self.owner,
            FINGERPRINT_VERSION,
            list(map(files_digest, files)),
            answers,
            options.model_dump(exclude=PATHS),
            context.dtype,
        )
        vocabulary = "the choices of each question"
        if answers:
            vocabulary = f"{len(answers):,} for open questions; no other can be right"
        self.facts = {"weights": options.checkpoint.name, "answers": vocabulary}

    def other_files(self) -> list[list[Path]]:
        """What answers depend on beside the checkpoint; raises UserError for what is not there."""
        return [folder_files(find_folder(self.owner, self.options.text_encoder))]

    @cached_property
    def device(self) -> str:
        """Where it runs; raises UserError for a device that is not there."""
        from cuescope_sdk.torch import resolve_device

        return str(resolve_device(self.context.device))

    @cached_property
    def runner(self) -> "NetworkRunner":
        """The open network; a plan ends here."""
        from cuescope_sdk.torch import resolve_dtype
        from cuescope_videoqa.answering import NetworkRunner

        self.context.stop_plan_before(f"the weights of {self.options.checkpoint.name}")
        # A wrong device or dtype is reported before gigabytes are read.
        device = self.device
        dtype = resolve_dtype(self.context.dtype)
        network = resolve_name(self.network_class).load(self.options)
        network.eval().requires_grad_(False).to(device, dtype)
        return NetworkRunner(network, self.context.batch_size)

    def open_weights(self) -> None:
        """Open the checkpoint now."""
        _ = self.runner

    @property
    def fusion(self) -> FusionShape:
        """As of `HasFusion`; the sizes are those of the checkpoint's tensors."""
        return self.runner.network.fusion

    def require_answerable(self, trials: Sequence[Trial]) -> None:
        """Raises UserError for what is not declared, and for logits over no choices."""
        refuse_unanswerable(self.owner, self.capabilities, trials)

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Logits of the choices, and the best answer as text."""
        self.require_answerable(trials)
        return self.runner.respond(trials)

    def modalities(
        self,
        trials: Sequence[Trial],
        layer: int,
    ) -> list[Int8[np.ndarray, " query_then_key"]]:
        """VIDEO or TEXT for each query of a fusion layer, and then for each of its keys."""
        return [self.runner.modalities(trial, layer) for trial in trials]

    def attention(
        self,
        trials: Sequence[Trial],
        layer: int,
    ) -> list[Float[np.ndarray, "head query key"]]:
        """Weights after the softmax, and after the trial's edit."""
        return [self.runner.attention(trial, layer) for trial in trials]


class JustAsk(VideoQA):
    """JustAsk (Yang et al., 2021): text first, two fusion layers, answers compared by embedding."""

    Options = JustAskOptions
    options: JustAskOptions
    owner = "just-ask"
    network_class = "cuescope_videoqa.just_ask:JustAskNetwork"

    def other_files(self) -> list[list[Path]]:
        """The tokenizer, and the features where they are given."""
        files = super().other_files()
        path = self.options.features
        # a question without a video needs none
        features = [] if path is None else feature_files(self.owner, path)
        return [*files, features]


class FrozenBiLM(VideoQA):
    """FrozenBiLM (Yang et al., 2022): video first, a masked language model answers at its mask."""

    Options = FrozenBiLMOptions
    options: FrozenBiLMOptions
    owner = "frozen-bilm"
    network_class = "cuescope_videoqa.frozen_bilm:FrozenBiLMNetwork"

    def other_files(self) -> list[list[Path]]:
        """The language model with its weights, and the features or the CLIP that computes them."""
        options = self.options
        language_model = self._model_files(options.text_encoder)
        if options.features is None:
            return [language_model, self._model_files(options.vision)]
        return [language_model, feature_files(self.owner, options.features)]

    def _model_files(self, name: str) -> list[Path]:
        return folder_files(find_folder(self.owner, name, weights=True), weights=True)


class Singularity(VideoQA):
    """Singularity (Lei et al., 2023), with temporal encoder or without: fused by cross-attention.

    Each fusion block counts as two layers: even numbers are the self-attention of the text, odd
    ones its attention to the video.
    """

    Options = SingularityOptions
    options: SingularityOptions
    owner = "singularity"
    network_class = "cuescope_videoqa.singularity:SingularityNetwork"


class AllInOne(VideoQA):
    """All-in-one (Wang et al., 2023): one ViT over the words and the patches of each frame.

    Some patches are handed from frame to frame before every layer. In `attention` the heads of the
    frames follow one another.
    """

    Options = AllInOneOptions
    options: AllInOneOptions
    owner = "all-in-one"
    network_class = "cuescope_videoqa.all_in_one:AllInOneNetwork"


__all__ = [
    "AllInOne",
    "AllInOneOptions",
    "FrozenBiLM",
    "FrozenBiLMOptions",
    "JustAsk",
    "JustAskOptions",
    "Singularity",
    "SingularityOptions",
]
