"""The options of the three models."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from cuescope_sdk import Names, Options
from cuescope_sdk.models import ZeroShotOptions

PluginOptions = Annotated[dict[str, Any], Names.plugin()]

# Of toy-fusion: its shape is known before its weights.
HEADS = 4
MLP_RATIO = 4  # width of the feed-forward layers over that of a token


class TrainingOptions(Options):
    """What to train on; the part after `NAME:` is `data`."""

    argument: ClassVar[str | None] = "data"

    data: Annotated[str | None, Names.plugin()] = Field(
        None,
        description="SPEC of the data set to train on (its splits train and val; toy-clip takes "
        "train alone); default: the audited one",
    )
    data_options: PluginOptions = Field(
        {}, description="options of `data`, as {train: 2000}"
    )
    seed: int | None = Field(
        None,
        ge=0,
        description="of weights and batches; default: the audit's",
    )


class ToyOptions(TrainingOptions):
    """Options of `toy`."""

    encoder: Annotated[str, Names.plugin()] = Field(
        "builtin",
        description="frozen image encoder: builtin, or the SPEC of any model with embeddings",
    )
    encoder_options: PluginOptions = Field(
        {}, description="options of `encoder`, as {checkpoint: FILE}"
    )
    frames: Literal["all", "first", "middle"] = Field(
        "all",
        description="frames of a sequence that the model sees; with one it cannot see motion",
    )
    temperature: PositiveFloat = Field(
        0.07, description="of the cosines, in training and in answers"
    )
    learning_rate: PositiveFloat = Field(1e-4, description="of AdamW, constant")
    weight_decay: NonNegativeFloat = Field(0.0, description="of AdamW; 0 is Adam")
    batch_size: PositiveInt = Field(256, description="sequences in a training batch")
    epochs: PositiveInt = Field(100, description="most passes over the training split")
    patience: PositiveInt = Field(
        10, description="passes without a better validation loss before training stops"
    )
    hidden: PositiveInt = Field(
        128, description="width of each frame's projection head"
    )
    projection: PositiveInt = Field(64, description="dim of a projected frame")
    head: PositiveInt = Field(256, description="width of the sequence head")
    # in one dim every text would be 1 or -1
    dim: PositiveInt = Field(
        64,
        ge=2,
        description="dim of the embedding, unless the encoder embeds texts",
    )


class ToyCLIPOptions(TrainingOptions, ZeroShotOptions):
    """Options of `toy-clip`."""

    tower: Literal["vit", "resnet"] = Field(
        "vit",
        description="image tower; vit has patches to hide, resnet learns small shapes sooner",
    )
    learning_rate: PositiveFloat = Field(1e-3, description="of AdamW, at its highest")
    weight_decay: NonNegativeFloat = Field(0.05, description="of AdamW, on matrices")
    batch_size: PositiveInt = Field(
        32,
        ge=2,
        description="pictures in a training batch",
    )
    epochs: PositiveInt = Field(14, description="most passes over the training split")
    enough: float = Field(
        0.975,
        gt=0,
        le=1,
        description="training accuracy after which one pass follows",
    )
    caption_weight: NonNegativeFloat = Field(
        0.3, description="of the captions' loss beside that of the label prompts"
    )


class ToyFusionOptions(TrainingOptions):
    """Options of `toy-fusion`."""

    patches: PositiveInt = Field(
        1,
        le=32,
        description="a frame is cut into so many by so many video tokens",
    )
    positions: bool = Field(
        True, description="false: the video is a bag of frames, or of their patches"
    )
    mixing: Literal["attention", "means"] = Field(
        "attention",
        description="means: a token takes the mean of all tokens in place of what it attends to, "
        "a fusion that no averaged quadrant disturbs",
    )
    layers: PositiveInt = Field(2, description="fusion layers")
    dim: PositiveInt = Field(64, multiple_of=8, description="width of a token")
    learning_rate: PositiveFloat = Field(1e-3, description="of AdamW, at its highest")
    weight_decay: NonNegativeFloat = Field(0.1, description="of AdamW")
    batch_size: PositiveInt = Field(64, description="samples in a training batch")
    epochs: PositiveInt = Field(40, description="most passes over the training split")
    patience: PositiveInt = Field(
        15, description="passes without a better validation loss before training stops"
    )
    enough: float = Field(
        0.995,
        gt=0,
        description="validation accuracy at which training stops",
    )
