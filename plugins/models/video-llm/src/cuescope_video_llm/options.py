"""The options of both models."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from cuescope_sdk import Names, Options
from cuescope_sdk.models import PromptWords, RepositoryName

BLIP2 = "blip2_pretrained_flant5xxl.pth"


class VideoLLMOptions(Options):
    """Options of both models; the part after `NAME:` is `checkpoint`."""

    argument = "checkpoint"

    checkpoint: Path = Field(
        description="the authors' checkpoint (.pth): what they trained"
    )
    vision: Path = Field(
        description="the frozen image encoder: eva_vit_g.pth of BLIP-2"
    )
    qformer: Path = Field(description=f"the frozen Q-Former of BLIP-2: {BLIP2}")
    llm: RepositoryName = Field(
        description="folder or hub id of the language model, with its tokenizer"
    )
    revision: Annotated[str | None, Names.repository()] = Field(
        None, description="commit or tag of the hub, of `llm`"
    )
    vision_layers: PositiveInt = Field(
        39,
        description="layers of the image encoder that are used; the file has one more",
    )
    vision_head_dim: PositiveInt = Field(
        88, description="width of an attention head in there"
    )
    head_dim: PositiveInt = Field(
        64, description="width of an attention head of the Q-Formers"
    )
    system: PromptWords = Field("", description="text before the conversation")
    note: PromptWords = Field(
        "",
        description="text after the video; {frames} is their number, {seconds} their times",
    )
    max_new_tokens: PositiveInt = Field(512, description="longest answer, in tokens")


class VideoLLaMAOptions(VideoLLMOptions):
    """Options of `video-llama`."""

    conversation: Literal["vicuna", "llama-2"] = Field(
        "vicuna", description="how turns are marked: as the language model was tuned"
    )


class ClipViLOptions(Options):
    """Options of `clip-vil`; the part after `NAME:` is `checkpoint`."""

    argument = "checkpoint"

    checkpoint: Path = Field(
        description="the authors' checkpoint, fine-tuned for VQA (.pth)"
    )
    answers: Path = Field(
        description="their answers in the order of classes: a JSON list"
    )
    tokenizer: RepositoryName = Field(
        "bert-base-uncased", description="folder or hub id of the tokenizer"
    )
    head_dim: PositiveInt = Field(64, description="width of an attention head")


class VideoChatOptions(VideoLLMOptions):
    """Options of `video-chat`."""
