"""A generative model with its processor: files now, weights when they are first needed."""

import inspect
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import transformers
from PIL import Image

from cuescope_sdk import Context, UserError
from cuescope_sdk.fusion import FusionShape
from cuescope_sdk.models import UnopenableError
from cuescope_sdk.report import count_of
from cuescope_sdk.torch import LoadedAhead, Pretrained, Source, quiet
from cuescope_transformers.generative.family import Family, family_of
from cuescope_transformers.generative.modules import arguments, fusion_shape
from cuescope_transformers.generative.stock_attention import stock_fusion
from cuescope_transformers.kinds import KINDS
from cuescope_transformers.loading import OWNER
from cuescope_transformers.options import VLMOptions

# families differ in what their configuration calls it
PLACEHOLDER_NAMES = (
    "image_token_id",
    "image_token_index",
    "video_token_id",
    "video_token_index",
)
PICTURES = ("pixel", "image", "video")  # parts of what networks call their frames
NOT_MEDIA = frozenset({"self", "kwargs"})  # of the arguments of a processor
OWN_QUESTIONS = ("shieldgemma2",)  # its processor asks about policies, and nothing else
# what transformers 5.23 cannot do with a video that its processor makes
VIDEO_FAULTS = {
    "kimi_k25": "it counts more tokens of a video than its own tower gives",
    "nemotron_h_omni": "it joins what is one tensor already",
}
IMAGES_AHEAD = 16  # whole photos, some tens of megabytes each


@dataclass(frozen=True)
class GenerativeModel:
    """A model that answers in words; whoever asks for `network` or `fusion` opens its weights."""

    files: Pretrained
    processor: Any
    options: VLMOptions

    @cached_property
    def _network_and_fusion(self) -> tuple[Any, FusionShape | UserError]:
        """The network, its attention switched to one that edits can reach, and what came of that.

        Both at once: attention that is switched after some answers would change the last digits
        of the answers that follow.
        """
        network = self.files.network
        network.generation_config.pad_token_id = self.tokenizer.pad_token_id
        if self.options.attn_implementation is not None:
            return network, UserError(
                f"attn_implementation={self.options.attn_implementation}"
            )
        # a model whose layers are closed still answers
        try:
            with quiet():
                return network, fusion_shape(network, stock_fusion(network))
        except UserError as reason:
            return network, reason

    @cached_property
    def network(self) -> Any:
        return self._network_and_fusion[0]

    @property
    def fusion(self) -> FusionShape:
        """The sizes of the fusion layers; raises UserError where they are closed."""
        _, shape = self._network_and_fusion
        if isinstance(shape, UserError):
            chosen = self.options.attn_implementation is not None
            raise UserError(
                f"{self.title} cannot be edited or looked into",
                got=f"{shape}",
                remedy="Leave attn_implementation out."
                if chosen
                else "Ask it for plain answers.",
            )
        return shape

    @cached_property
    def family(self) -> Family:
        """What can be hidden and averaged, by the modules; the weights stay closed."""
        return family_of(self.files, self.visual)

    @property
    def rows(self) -> int:
        """How many go through the network together."""
        return self._most_rows[-1]

    @cached_property
    def _most_rows(self) -> list[int]:
        # a list: it can grow in a frozen dataclass
        return [self.files.context.batch_size]

    def halve_rows(self) -> None:
        """For want of memory; says so."""
        # rounded up: it ends at 1
        self._most_rows.append((self.rows + 1) // 2)
        warnings.warn(
            "out of memory with the answers of one trial; going on with "
            f"{count_of(self.rows, 'rows')} at once",
            stacklevel=2,
        )

    @cached_property
    def ahead(self) -> LoadedAhead[Image.Image]:
        """Frames that threads load before they are shown."""
        return LoadedAhead(IMAGES_AHEAD)

    @cached_property
    def shapes(self) -> dict[tuple[int, int], tuple[int, int]]:
        """Rows and columns of tokens on frames of each size (`patches.grid_shape`)."""
        return {}

    @cached_property
    def areas(self) -> dict[tuple[int, int], Any]:
        """What is seen of frames of each size (`patches.seen_area`)."""
        return {}

    @cached_property
    def ends(self) -> dict[Any, dict[str, Any]]:
        """What a quarter of white is in frames of the sizes that came last (`hiding.masks`)."""
        return {}

    @property
    def kind(self) -> str:
        """The family: `model_type` of the configuration."""
        return str(self.files.config.model_type)

    @property
    def title(self) -> str:
        """What errors call it."""
        return self.files.title

    @cached_property
    def visual(self) -> frozenset[int]:
        """Ids of the tokens whose place visual tokens take; none where nobody names them.

        As the configuration says, or else the processor, whose image token may be the one before.
        """
        # not every configuration names the token that its processor inserts
        for owner in (self.files.config, self.processor):
            values = {getattr(owner, name, None) for name in PLACEHOLDER_NAMES}
            ids = frozenset(value for value in values if isinstance(value, int))
            if ids:
                return ids
        return frozenset()

    @property
    def tokenizer(self) -> Any:
        return self.processor.tokenizer

    @property
    def takes_padding(self) -> bool:
        """Whether rows of different lengths may go together: positions do not count padding."""
        parts = (self.network, getattr(self.network, "language_model", None))
        # a forward pass without `position_ids` counts them itself, padding included
        follows = [
            part for part in parts if part and "position_ids" in arguments(part.forward)
        ]
        return bool(follows or self.network.config.is_encoder_decoder)

    @property
    def needs_image(self) -> bool:
        """Some `generate` cannot do without pixels; a model with code of its own may not tell."""
        generate = getattr(self.files.network_class, "generate", None)
        if generate is None:
            return False
        pixels = inspect.signature(generate).parameters.get("pixel_values")
        return pixels is not None and pixels.default is inspect.Parameter.empty

    @cached_property
    def special(self) -> frozenset[int]:
        """Ids of the tokens that are no words; one for unknown words stands for a word."""
        tokenizer = self.tokenizer
        added = tokenizer.added_tokens_decoder
        marked = {index for index, token in added.items() if token.special}
        ends = {tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id}
        # "<unk>" is marked special, and stands for a word all the same
        unknown = {tokenizer.unk_token_id} - ends
        marked.update(tokenizer.all_special_ids)
        return frozenset(marked - unknown)

    @property
    def takes_videos(self) -> bool:
        """Whether several frames are shown as one video."""
        has = getattr(self.processor, "video_processor", None) is not None
        return has and self.kind not in VIDEO_FAULTS

    @property
    def facts(self) -> dict[str, str]:
        shown = "a video" if self.takes_videos else "images"
        if self.kind in VIDEO_FAULTS:
            shown += (
                f": as a video transformers cannot show them, {VIDEO_FAULTS[self.kind]}"
            )
        return {**self.files.facts, "frames are shown as": shown}

    def fingerprint(self, *more: object) -> str:
        """Digest of weights, configuration, preprocessing, words, chat template and dtype."""
        parts = []
        for name in ("image_processor", "video_processor"):
            part = getattr(self.processor, name, None)
            if part is not None:
                parts.append(part)
        return self.files.fingerprint(
            self.processor,
            parts,
            self.tokenizer,
            str(self.processor.chat_template),
            *more,
        )


def find_generative(options: VLMOptions, context: Context) -> GenerativeModel:
    """Find and read all but the weights; raises UserError for whatever a person can mend."""
    files = options.find(OWNER, context, builder_of)
    return with_processor(files, files.processor(), options)


def with_processor(
    files: Pretrained,
    processor: Any,
    options: VLMOptions,
) -> GenerativeModel:
    """The model with a processor that pads; raises UnopenableError where no question is read."""
    require_words(files)
    require_prompt(files, processor)
    # padding is masked out wherever it stands: any token will do for it
    if processor.tokenizer.pad_token is None:
        processor.tokenizer.pad_token = processor.tokenizer.eos_token
    return GenerativeModel(files, processor, options)


def is_generative(config: Any) -> bool:
    """Whether transformers has a model of this kind that answers in words."""
    return type(config) in transformers.MODEL_FOR_MULTIMODAL_LM_MAPPING


def require_words(files: Pretrained) -> None:
    """Raises UnopenableError for a network that reads no prompt, or sees nothing."""
    network = files.network_class
    # code of a model's own is not looked at before it is opened
    if not issubclass(network, transformers.PreTrainedModel):
        return
    kind = files.config.model_type
    taken = arguments(network.forward)
    generates = issubclass(network, transformers.GenerationMixin)
    got = f"the architecture '{kind}' ({network.__name__})"
    if kind in OWN_QUESTIONS or not generates or "input_ids" not in taken:
        raise UnopenableError(
            f"{OWNER}: {files.source.title} reads no question",
            expected="a model that goes on with the words of a prompt",
            got=got,
        )
    if not any(medium in name for name in taken for medium in PICTURES):
        raise UnopenableError(
            f"{OWNER}: {files.source.title} sees no picture",
            expected="a model with an image encoder",
            got=got,
        )


def require_prompt(files: Pretrained, processor: Any) -> None:
    """Raises UnopenableError for a processor that takes no prompt, or no frames as others do."""
    cls = type(processor)
    # one of a model's own may take anything
    if not cls.__module__.startswith("transformers."):
        return
    taken = arguments(cls.__call__)
    got = f"{cls.__name__}, which takes {', '.join(sorted(taken - NOT_MEDIA))}"
    if "text" not in taken:
        raise UnopenableError(
            f"{OWNER}: {files.source.title} reads no question",
            expected="a processor that takes the words of a prompt",
            got=got,
        )
    takes_image = getattr(processor, "image_processor", None) is not None
    if not takes_image and "videos" not in taken:
        raise UnopenableError(
            f"{OWNER}: {files.source.title} cannot be shown frames",
            expected="a processor that takes images or videos",
            got=got,
        )


def builder_of(config: Any, source: Source) -> Any:
    """The Auto class for a configuration; raises UnopenableError where no question is answered."""
    if is_generative(config):
        return transformers.AutoModelForMultimodalLM
    # code of the model's own names its Auto class here
    auto = getattr(config, "auto_map", None) or {}
    for name in ("AutoModelForImageTextToText", "AutoModelForMultimodalLM"):
        if name in auto:
            return getattr(transformers, name)
    remedy = None
    if config.model_type in KINDS:
        remedy = "It compares images with texts: use transformers in place of transformers-vlm."
    raise UnopenableError(
        f"{OWNER}: {source.title} does not answer questions about images or videos",
        expected="an image- or video-text-to-text model",
        got=f"the architecture '{config.model_type}'",
        remedy=remedy,
    )
