"""Models of whole clips: VideoPrism, and X-CLIP, whose texts are embedded with the video in view.

Frames of X-CLIP exchange messages. A row of its tower is the video's embedding, followed by what
its prompt generator sees of the video: a vector for each place, the mean over frames; 0 for a place
that is hidden in all of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from PIL import Image
from torch import Tensor

from cuescope_sdk.models import Templates, require_frames, unit
from cuescope_sdk.torch import ImageTower, Inputs, Pooling, to_array
from cuescope_transformers.loading import ContrastiveModel
from cuescope_transformers.towers import as_image, block, canvas, image_tower, vision_of

Texts = Float[np.ndarray, "text dim"]
Places = Float[np.ndarray, "place dim"]

MESSAGE_TOKENS = 1


def video_tower(model: ContrastiveModel) -> ImageTower:
    """The video encoder; its inputs are `frames` frames each. Opens the weights."""
    return videoprism(model) if model.kind == "videoprism" else xclip(model)


def videoprism(model: ContrastiveModel) -> ImageTower:
    """VideoPrism's, which shows no tokens."""
    network = model.files.network
    name = "pixel_values_videos"

    def prepare(frames: Sequence[Image.Image]) -> Inputs:
        require_frames(model.files.title, frames, model.frames)
        # the data set has chosen them
        inputs = model.image_processor(
            list(frames), do_sample_frames=False, return_tensors="pt"
        )
        return {name: inputs[name]}

    def canvas_of(image: Image.Image) -> np.ndarray:
        pixels = prepare([image] * model.frames)[name][0, 0]
        return as_image(pixels.permute(1, 2, 0), model.image_processor)

    def encode(inputs: Inputs) -> Tensor:
        pixels = inputs[name].to(model.files.device)
        output = network.get_video_features(pixel_values_videos=pixels)
        return torch.as_tensor(output.pooler_output).flatten(1)

    return ImageTower(
        name=model.files.title,
        prepare=prepare,
        canvas=canvas_of,
        encode=encode,
        grid=lambda inputs: (0, 0),
        blocks=(),
        pooling=Pooling("token"),
        device=model.files.device,
        frames=model.frames,
    )


def xclip(model: ContrastiveModel) -> ImageTower:
    """X-CLIP's, with what its texts look at."""
    network = model.files.network
    count = model.frames
    layers = vision_of(model).encoder.layers

    def pixel_values(frames: Sequence[Image.Image]) -> Inputs:
        inputs = model.image_processor(list(frames), return_tensors="pt")
        values = inputs["pixel_values"]
        return {"pixel_values": values.reshape(1, len(frames), *values.shape[-3:])}

    def prepare(frames: Sequence[Image.Image]) -> Inputs:
        # another number would fail only inside the library's layers
        require_frames(model.files.title, frames, count)
        return pixel_values(frames)

    def encode(inputs: Inputs) -> Tensor:
        pixels = inputs["pixel_values"].to(model.files.device)
        output = network.get_video_features(pixels)
        # the class token is no place
        patches = network.prompts_visual_layernorm(output.last_hidden_state[:, 1:])
        patches = (patches @ network.prompts_visual_projection).float()
        by_frame = patches.unflatten(0, (-1, count))
        # hidden patches are NaN: the mean is over the frames in which a place is seen
        places = by_frame.nanmean(dim=1).nan_to_num(0.0)
        embedding = output.pooler_output.float()
        return torch.cat([embedding, places.flatten(1)], dim=1)

    return replace(
        image_tower(model),
        prepare=prepare,
        # of one image, which `prepare` would refuse
        canvas=lambda image: canvas(model, pixel_values([image])),
        encode=encode,
        blocks=tuple(block(layer, MESSAGE_TOKENS) for layer in layers),
        pooling=Pooling("token", module=layers[-1]),
        frames=count,
    )


@dataclass
class PromptedTexts:
    """Embeddings of choices as a video conditions them (Ni et al., 2022, section 3.3)."""

    network: Any
    encode: Callable[[list[str]], Texts]
    templates: Templates
    _embedded: dict[str, np.ndarray] = field(default_factory=dict)

    def rows(
        self,
        choices: Sequence[str],
        places: Places,
    ) -> Float[np.ndarray, "choice dim"]:
        """Unit means over the templates."""
        for choice in choices:
            # only what `condition` adds depends on the video
            if choice not in self._embedded:
                self._embedded[choice] = self.encode(self.templates.prompts(choice))
        embedded = [self._embedded[choice] for choice in choices]
        conditioned = condition(self.network, np.concatenate(embedded), places)
        rows = unit(conditioned)
        # labels may have prompts of their own, more or fewer
        ends = np.cumsum(list(map(len, embedded)))
        by_choice = np.split(rows, ends[:-1])
        # in float64, as of every ensemble: near-equal rows lose digits
        means = [part.mean(axis=0, dtype=np.float64) for part in by_choice]
        return unit(np.stack(means))


@torch.inference_mode()
def condition(network: Any, texts: Texts, places: Places) -> Texts:
    """Text features after the prompt generator has seen the places that are there.

    A place of zeros is hidden; where all are, there is nothing to see, and the texts stay.
    """
    visible = places[places.any(axis=1)]
    if not len(visible):
        return texts
    features = torch.from_numpy(texts)[None].to(network.device, network.dtype)
    video = torch.from_numpy(visible)[None].to(features)
    conditioned = features + network.prompts_generator(features, video)
    return to_array(conditioned[0])
