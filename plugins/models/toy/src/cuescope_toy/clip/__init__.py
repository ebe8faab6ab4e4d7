"""A small CLIP that is trained here, and then runs as any other model of open_clip."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from jaxtyping import Float

from cuescope_sdk import (
    Capabilities,
    Context,
    Frame,
    LazyWeights,
    Response,
    Trial,
    UserError,
    digest,
    how_to_install,
)
from cuescope_sdk.models import PromptTower, ZeroShotModel, ZeroShotOptions
from cuescope_toy.clip.architecture import MODEL, PREPROCESS, PROMPTS
from cuescope_toy.clip.options import ToyCLIPOptions
from cuescope_toy.loading import Checkpoint, TrainedModel, Weights, training_splits

if TYPE_CHECKING:
    from cuescope_sdk.torch import ImageTower

SHIPPED = Path(__file__).parent / "shipped"
# raise it when equal recipes train other weights, and train the shipped ones
TRAINING_VERSION = 1
EXTRA = ("open_clip", "cuescope_open_clip")  # what the extra [clip] brings


class ToyCLIP(TrainedModel):
    """Image and text towers trained from nothing on a data set's pictures and captions.

    Trains before the first answer, unless the cache or the package holds the weights of an equal
    training. They are unpacked to a folder as open_clip saves models, and the plugin `open-clip`
    answers; what methods look at inside that model, they find here by the same names.
    """

    Options = ToyCLIPOptions
    options: ToyCLIPOptions
    owner = "toy-clip"
    capabilities: ClassVar[Capabilities] = ZeroShotModel.capabilities

    def __init__(self, options: ToyCLIPOptions, context: Context) -> None:
        super().__init__(options, context)
        # the plugin is needed only after the training: what is missing is said before it
        if any(find_spec(module) is None for module in EXTRA):
            raise UserError(
                "toy-clip runs on open_clip, which is not installed",
                remedy=how_to_install("cuescope-toy[clip]"),
            )
        (self._data,) = training_splits(
            options, context, self.owner, "train", needs_labels=True
        )
        self.name_weights(
            TRAINING_VERSION,
            MODEL,
            PREPROCESS,
            PROMPTS,
            options.epochs,
            self.seed,
            self._data.fingerprint,
            tuple(self._data.labels),
            shipped=SHIPPED,
            # open_clip draws the first weights, so its version decides them too
            libraries=("torch", "open-clip-torch"),
        )
        # texts change answers and no weight: one file serves all of them
        # open_clip has the texts of this set; here its name will do
        named = {"openai80": ("openai80 {label}",)}
        texts = digest(*options.text_content(self.owner, named))
        self.fingerprint = digest(self.fingerprint, texts)

    def train(self) -> Checkpoint:
        from cuescope_toy.clip import training

        return training.train(self.options, self.context, self._data, self.seed)

    def use(self, weights: Weights, dtype: Any) -> None:
        """Answer as open-clip does from a folder with these weights."""
        from cuescope_toy.clip.network import write_model_folder

        # named by the weights alone: models with other texts share the folder
        folder = self.context.cache / self.owner / self.weights_file.fingerprint
        write_model_folder(weights, folder)
        texts = {
            name: getattr(self.options, name) for name in ZeroShotOptions.model_fields
        }
        self._clip: ZeroShotModel = self.context.build(
            "model", f"open-clip:{folder}", texts
        )
        # its facts can be told only once it is open
        if isinstance(self._clip, LazyWeights):
            self._clip.open_weights()

    @property
    def facts(self) -> Mapping[str, str]:
        """What the training reached, and once it is open what open-clip tells of it."""
        inner = self._clip.facts if self._opened else {}
        return {**inner, **super().facts}

    @property
    def _model(self) -> ZeroShotModel:
        self.open_weights()
        return self._clip

    @property
    def image_tower(self) -> "ImageTower":
        return self._model.image_tower

    @property
    def passes(self) -> int:
        """Pictures that went through the image tower so far, with nothing changed inside it."""
        return self._clip.passes if self._opened else 0

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        return self._model.respond(trials)

    def embed_texts(self, texts: Sequence[str]) -> Float[np.ndarray, "text dim"]:
        """Unit rows of the text tower."""
        return self._model.embed_texts(texts)

    def prompt_tower(self) -> PromptTower:
        """The text tower, to learn prompts with."""
        return self._model.prompt_tower()

    def logits(
        self,
        rows: Float[np.ndarray, "input size"],
        choices: Sequence[str],
    ) -> Float[np.ndarray, " choice"]:
        """scale * cosine + bias."""
        return self._model.logits(rows, choices)

    def embed_choices(self, choices: Sequence[str]) -> Float[np.ndarray, "choice dim"]:
        """Unit rows that image embeddings are compared with."""
        return self._model.embed_choices(choices)

    def canvas(self, frames: Sequence[Frame]) -> list[np.ndarray]:
        return self._model.canvas(frames)

    def patch_features(
        self,
        frames: Sequence[Frame],
        layer: int = -1,
    ) -> list[Float[np.ndarray, "row col dim"]]:
        return self._model.patch_features(frames, layer)


__all__ = ["ToyCLIP", "ToyCLIPOptions"]
