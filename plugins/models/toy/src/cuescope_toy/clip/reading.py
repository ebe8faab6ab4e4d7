"""A data set as arrays for CLIP: pictures as bytes, captions and prompts as tokens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import open_clip
import torch
from jaxtyping import Float, Int, UInt8
from open_clip.transform import PreprocessCfg, image_transform_v2
from torch import Tensor

from cuescope_sdk import Dataset, Sample, UserError
from cuescope_toy.clip.folder import CONTEXT_LENGTH, PREPROCESS

PROMPTS = (
    "a photo of a {label}.",
    "a photo of the {label}.",
    "a picture of a {label}.",
    "an image of a {label}.",
    "a {label}",
)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pictures with what is said of them, and every label in every prompt.

    `captions` and `foils` are, for each picture, the rows of `texts` that are true of it and that
    are not; no `label` where the data set has none. Tokens are rows of `vocabulary`, which holds
    CLIP's own ids, rising; so the end of a text remains its highest token.
    """

    pixels: UInt8[Tensor, "sample channel row col"]
    texts: Int[Tensor, "text token"]
    captions: tuple[Int[Tensor, " caption"], ...]
    foils: tuple[Int[Tensor, " foil"], ...]
    label: Int[Tensor, " sample"] | None
    prompts: Int[Tensor, "prompt label token"]
    vocabulary: Int[Tensor, " word"]

    @property
    def told_in_parts(self) -> bool:
        """Whether pictures have several captions, each of a part."""
        return any(len(rows) > 1 for rows in self.captions)


def read_pairs(dataset: Dataset, advance: Callable[[int], None]) -> Pairs:
    """Everything that is trained on; raises UserError where that cannot be."""
    transform = image_transform_v2(PreprocessCfg(**PREPROCESS), is_train=False)
    pixels, captions, foils, labels = [], [], [], []
    places: dict[str, int] = {}
    for index in range(len(dataset)):
        sample = dataset[index]
        _check(sample, dataset.labels)
        pixels.append(to_bytes(transform(sample.frames[0].load())))
        captions.append(_rows(captions_of(sample), places))
        foils.append(_rows(sample.annotations.get("foils", ()), places))
        if dataset.labels:
            labels.append(dataset.labels.index(str(sample.label)))
        advance(1)
    prompts = [[prompt.format(label=label) for label in dataset.labels] for prompt in PROMPTS]
    tokens = tokenised([*places, *(text for row in prompts for text in row)])
    vocabulary = torch.unique(tokens)
    rows = torch.searchsorted(vocabulary, tokens)
    return Pairs(
        torch.stack(pixels),
        rows[: len(places)],
        tuple(captions),
        tuple(foils),
        torch.tensor(labels) if labels else None,
        rows[len(places) :].reshape(len(PROMPTS), len(dataset.labels), CONTEXT_LENGTH),
        vocabulary,
    )


def captions_of(sample: Sample) -> tuple[str, ...]:
    """The annotation "captions", or "caption"; without one the first prompt, with the label."""
    given = sample.annotations
    one = (given["caption"],) if "caption" in given else ()
    label = () if sample.label is None else (PROMPTS[0].format(label=sample.label),)
    return tuple(map(str, given.get("captions") or one or label))


def _rows(texts: Sequence[str], places: dict[str, int]) -> Int[Tensor, " text"]:
    """The place of each text, each in the first one that it was given."""
    return torch.tensor([places.setdefault(text, len(places)) for text in texts], dtype=torch.long)


def tokenised(texts: Sequence[str]) -> Int[Tensor, "text token"]:
    """CLIP's own ids."""
    tokens: Tensor = open_clip.SimpleTokenizer(context_length=CONTEXT_LENGTH)(list(texts))
    return tokens


def to_bytes(pixels: Float[Tensor, "channel row col"]) -> UInt8[Tensor, "channel row col"]:
    """Pixels between -1 and 1, a quarter of the memory; exact for pictures that fit the canvas."""
    return ((pixels + 1) * 127.5).round().to(torch.uint8)


def from_bytes(pixels: UInt8[Tensor, "*sample"]) -> Float[Tensor, "*sample"]:
    """Pixels between -1 and 1."""
    return pixels.float() / 127.5 - 1


def _check(sample: Sample, labels: Sequence[str]) -> None:
    if len(sample.frames) != 1:
        raise UserError(
            f"toy-clip: sample '{sample.key}' is a sequence",
            expected="one frame in every sample",
            got=str(len(sample.frames)),
            remedy="Use -M data=SPEC of pictures, or the model toy for sequences.",
        )
    if labels and sample.label not in labels:
        raise UserError(
            f"toy-clip: sample '{sample.key}' cannot be trained on",
            expected="a label of the data set",
            got="no label" if sample.label is None else f"'{sample.label}'",
        )
    if not labels and not captions_of(sample):
        raise UserError(
            f"toy-clip: sample '{sample.key}' cannot be trained on",
            expected="a label, or the annotation 'captions'",
            got="neither",
        )
