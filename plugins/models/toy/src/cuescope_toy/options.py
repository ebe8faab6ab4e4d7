"""The options of `toy` and `toy-fusion`, and those that `toy-clip` shares."""

from typing import Annotated, Any, Literal

from pydantic import Field, PositiveFloat, PositiveInt

from cuescope_sdk import Names, Options

PluginOptions = Annotated[dict[str, Any], Names.plugin()]

TEMPERATURE = 0.07  # of cosines, where CLIP's training starts (Radford et al., 2021)
DIM = (
    64  # of toy's embedding, unless its encoder embeds texts, and of toy-fusion's token
)
HEADS = 4
MLP_RATIO = (
    4  # width of the feed-forward layers over that of a token (Vaswani et al., 2017)
)


class TrainingOptions(Options):
    """What to train on; the part after `NAME:` is `data`."""

    argument = "data"

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
    learning_rate: PositiveFloat = Field(1e-4, description="of Adam, constant")
    epochs: PositiveInt = Field(100, description="most passes over the training split")


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
    learning_rate: PositiveFloat = Field(1e-3, description="of AdamW, at its highest")
    epochs: PositiveInt = Field(40, description="most passes over the training split")
    patience: PositiveInt = Field(
        15, description="passes without a better validation loss before training stops"
    )
    enough: float = Field(
        0.995,
        gt=0,
        description="validation accuracy at which training stops",
    )
