"""A data set as tensors for CLIP: pictures as bytes, captions and prompts as tokens."""

from collections.abc import Sequence
from dataclasses import dataclass

import open_clip
import torch
from jaxtyping import Float, Int, UInt8
from open_clip.transform import PreprocessCfg, image_transform_v2
from torch import Tensor

from cuescope_sdk import Dataset, Sample, UserError
from cuescope_toy.clip.architecture import CONTEXT_LENGTH, PREPROCESS, PROMPTS
from cuescope_toy.training import Advance, Labels, label_index


@dataclass(frozen=True, eq=False)
class ImageTextPairs:
    """Pictures with what is said of them, and every label in every prompt.

    `captions` are the rows of `texts` that are told of the pictures. Tokens are rows of
    `vocabulary`, which holds CLIP's own ids, rising; so the end of a text remains its highest
    token.
    """

    pixels: UInt8[Tensor, "sample channel row col"]
    texts: Int[Tensor, "text token"]
    captions: Int[Tensor, " sample"]
    label: Labels
    prompts: Int[Tensor, "prompt label token"]
    vocabulary: Int[Tensor, " word"]


def read_pairs(dataset: Dataset, advance: Advance) -> ImageTextPairs:
    """Everything that is trained on; raises UserError where that cannot be."""
    # no random crops: each picture is kept once, and seen in every epoch
    transform = image_transform_v2(PreprocessCfg(**PREPROCESS), is_train=False)
    pixels = []
    captions = []
    labels = []
    # equal texts share a row: by it the loss knows of which pictures a text is true
    rows: dict[str, int] = {}
    for index in range(len(dataset)):
        sample = dataset[index]
        if len(sample.frames) != 1:
            raise UserError(
                f"toy-clip: sample '{sample.key}' is a sequence",
                expected="one frame in every sample",
                got=f"{len(sample.frames)}",
                remedy="Use -O model.data=SPEC of pictures, or the model toy for sequences.",
            )
        picture = sample.frames[0].load()
        pixels.append(to_bytes(transform(picture)))
        captions.append(rows.setdefault(sample_caption(sample), len(rows)))
        labels.append(label_index("toy-clip", sample, dataset.labels))
        advance(1)
    prompts = [
        prompt.format(label=label) for prompt in PROMPTS for label in dataset.labels
    ]
    # in one call, for captions and prompts share a vocabulary
    ids = tokenize([*rows, *prompts])
    # Only ids in use get an embedding: CLIP's whole vocabulary would be most of the parameters.
    vocabulary = torch.unique(ids)
    tokens = torch.searchsorted(vocabulary, ids)
    caption_tokens, prompt_tokens = tokens.tensor_split([len(rows)])
    return ImageTextPairs(
        torch.stack(pixels),
        caption_tokens,
        torch.tensor(captions),
        torch.tensor(labels),
        prompt_tokens.reshape(len(PROMPTS), len(dataset.labels), CONTEXT_LENGTH),
        vocabulary,
    )


def sample_caption(sample: Sample) -> str:
    """The annotation "caption", or the first of "captions"; else the first prompt."""
    annotations = sample.annotations
    captions = annotations.get("captions") or [annotations.get("caption")]
    return str(captions[0] or PROMPTS[0].format(label=sample.label))


def tokenize(texts: Sequence[str]) -> Int[Tensor, "text token"]:
    """CLIP's own ids."""
    tokenizer = open_clip.SimpleTokenizer(context_length=CONTEXT_LENGTH)
    return torch.as_tensor(tokenizer(list(texts)))


def to_bytes(
    pixels: Float[Tensor, "channel row col"],
) -> UInt8[Tensor, "channel row col"]:
    """Pixels between -1 and 1, a quarter of the memory; exact for pictures that fit the canvas."""
    return ((pixels + 1) * 127.5).round().to(torch.uint8)


def from_bytes(pixels: UInt8[Tensor, "*sample"]) -> Float[Tensor, "*sample"]:
    """Pixels between -1 and 1."""
    return pixels.float() / 127.5 - 1
