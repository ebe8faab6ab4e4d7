"""The options of the four models."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from cuescope_sdk import Options
from cuescope_sdk.models import PromptWords, RepositoryName

HeadDim = Annotated[
    PositiveInt, Field(description="width of an attention head, which no tensor tells")
]


class VideoQAOptions(Options):
    """Options of every model here; the part after `NAME:` is `checkpoint`."""

    argument = "checkpoint"

    checkpoint: Path = Field(
        description="the authors' checkpoint (.pth, .ckpt, .safetensors)"
    )
    answers: Path | None = Field(
        None,
        description="the authors' vocabulary for open questions: JSON, answer: number",
    )
    text_encoder: RepositoryName = Field(
        "bert-base-uncased", description="folder or hub id of the tokenizer"
    )


class JustAskOptions(VideoQAOptions):
    """Options of `just-ask`."""

    head_dim: HeadDim = 64
    features: Path | None = Field(
        None,
        description="S3D features of the videos: the authors' s3d.pth, or a folder of ID.npy",
    )
    text_encoder: RepositoryName = Field(
        "distilbert-base-uncased", description="folder or hub id of the tokenizer"
    )
    question_tokens: PositiveInt = Field(20, description="positions of the question")


class FrozenBiLMOptions(VideoQAOptions):
    """Options of `frozen-bilm`."""

    features: Path | None = Field(
        None,
        description="CLIP ViT-L/14 features of the videos: the authors' clipvitl14.pth, or a "
        "folder of ID.npy; without it they are computed with `vision`",
    )
    vision: RepositoryName = Field(
        "openai/clip-vit-large-patch14",
        description="folder or hub id of the CLIP that frames go through",
    )
    text_encoder: RepositoryName = Field(
        "microsoft/deberta-v2-xlarge",
        description="folder or hub id of the language model: its config, tokenizer, and the "
        "frozen weights that the checkpoint leaves out",
    )
    video_features: PositiveInt = Field(10, description="positions of the video")
    suffix: PromptWords = Field(
        ".", description="text after the mask; '' hides the end token too"
    )
    multiple_choice: Literal["auto", "vocabulary", "yes-no"] = Field(
        "auto",
        description="vocabulary: choices are scored at the mask; yes-no: each choice has a prompt "
        "of its own, answered by yes or no; auto: vocabulary for the choices yes and no, else "
        "yes-no",
    )
    answer_bias: Literal["none", "mean"] = Field(
        "none",
        description="of an answer's logit: none, as in the published code, or the mean of its "
        "tokens', as that code sets out to",
    )


class SingularityOptions(VideoQAOptions):
    """Options of `singularity`."""


class AllInOneOptions(VideoQAOptions):
    """Options of `all-in-one`."""

    head_dim: HeadDim = 64
