"""The four models of QUAG and CLAVI, from their authors' checkpoints."""

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, PositiveInt

from cuescope_sdk import Options
from cuescope_videoqa.answering import HeadedOptions, VideoQA, VideoQAOptions

if TYPE_CHECKING:
    from cuescope_videoqa.running import Network


class JustAskOptions(HeadedOptions):
    """Options of `just-ask`."""

    features: Path | None = Field(
        default=None,
        description="S3D features of the videos: the authors' s3d.pth, or a folder of ID.npy",
    )
    text_encoder: str = Field(
        default="distilbert-base-uncased", description="folder or hub id of the tokenizer"
    )
    question_tokens: PositiveInt = Field(20, description="places of the question")
    answer_tokens: PositiveInt = Field(10, description="an answer is cut after so many tokens")


class JustAsk(VideoQA):
    """JustAsk (Yang et al., 2021): text first, two fusion layers, answers compared by embedding."""

    Options: ClassVar[type[Options]] = JustAskOptions
    options: JustAskOptions
    owner = "just-ask"

    def load(self) -> "Network":
        """From the authors' best_model.pth."""
        from cuescope_videoqa.just_ask import load

        return load(self.options)


class FrozenBiLMOptions(VideoQAOptions):
    """Options of `frozen-bilm`."""

    features: Path | None = Field(
        default=None,
        description="CLIP ViT-L/14 features of the videos: the authors' clipvitl14.pth, or a "
        "folder of ID.npy; without it they are computed with `vision`",
    )
    vision: str = Field(
        default="openai/clip-vit-large-patch14",
        description="folder or hub id of the CLIP that frames go through",
    )
    text_encoder: str = Field(
        default="microsoft/deberta-v2-xlarge",
        description="folder or hub id of the language model: its config, tokenizer, and the "
        "frozen weights that the checkpoint leaves out",
    )
    video_features: PositiveInt = Field(10, description="places of the video")
    text_tokens: PositiveInt = Field(256, description="the prompt is cut after so many tokens")
    answer_tokens: PositiveInt = Field(5, description="an answer is cut after so many tokens")
    prefix: str = Field("", description="what stands before the question")
    suffix: str = Field(".", description="what stands after the mask; '' hides the end token too")
    multiple_choice: Literal["auto", "vocabulary", "yes-no"] = Field(
        "auto",
        description="choices are answers at the mask (vocabulary), or each is asked for in a "
        "prompt of its own (yes-no); auto: yes and no are answers, others are asked for",
    )
    answer_bias: Literal["none", "mean"] = Field(
        "none",
        description="of an answer's logit: none, as in the published code, or the mean of its "
        "tokens', as that code sets out to",
    )


class FrozenBiLM(VideoQA):
    """FrozenBiLM (Yang et al., 2022): video first, a masked language model answers at its mask."""

    Options: ClassVar[type[Options]] = FrozenBiLMOptions
    options: FrozenBiLMOptions
    owner = "frozen-bilm"

    def load(self) -> "Network":
        """From the authors' checkpoint over the weights of the language model."""
        from cuescope_videoqa.frozen_bilm import load

        return load(self.options)


class SingularityOptions(VideoQAOptions):
    """Options of `singularity`."""

    text_encoder: str = Field(
        default="bert-base-uncased", description="folder or hub id of the tokenizer"
    )
    question_tokens: PositiveInt = Field(25, description="a question is cut after so many tokens")
    answer_tokens: PositiveInt = Field(5, description="an answer is cut after so many tokens")
    considered: PositiveInt = Field(
        128, description="answers of the vocabulary that are ranked, by their first token"
    )


class Singularity(VideoQA):
    """Singularity (Lei et al., 2023), with temporal encoder or without: fused by cross-attention.

    Each fusion block counts as two layers: even numbers are the self-attention of the text, odd
    ones its attention to the video.
    """

    Options: ClassVar[type[Options]] = SingularityOptions
    options: SingularityOptions
    owner = "singularity"

    def load(self) -> "Network":
        """From the authors' ckpt_best.pth of question answering."""
        from cuescope_videoqa.singularity import load

        return load(self.options)


class AllInOneOptions(HeadedOptions):
    """Options of `all-in-one`."""

    text_encoder: str = Field(
        default="bert-base-uncased", description="folder or hub id of the tokenizer"
    )


class AllInOne(VideoQA):
    """All-in-one (Wang et al., 2023): one ViT over the words and the patches of each frame.

    Some patches are handed from frame to frame before every layer. In `attention` the heads of the
    frames follow one another.
    """

    Options: ClassVar[type[Options]] = AllInOneOptions
    options: AllInOneOptions
    owner = "all-in-one"

    def load(self) -> "Network":
        """From the authors' .ckpt of open-ended or multiple-choice question answering."""
        from cuescope_videoqa.all_in_one import load

        return load(self.options)


__all__ = [
    "AllInOne", "AllInOneOptions", "FrozenBiLM", "FrozenBiLMOptions", "JustAsk", "JustAskOptions",
    "Singularity", "SingularityOptions",
]  # fmt: skip
