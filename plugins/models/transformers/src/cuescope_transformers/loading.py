"""Load a stock model with its image processor and tokenizer, strictly and quietly."""

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from logging import ERROR
from textwrap import shorten
from typing import Any

import torch
import transformers
from transformers.utils import logging

from cuescope_sdk import UserError, digest, nearest
from cuescope_sdk.torch.devices import resolve_dtype
from cuescope_sdk.torch.fingerprints import tensor_bytes
from cuescope_transformers.sources import OWNER, Source, find_source

# kind of configuration -> what builds the model; AutoModel has no projection for CLIP's image tower
BUILDERS = {
    "clip": "AutoModel",
    "siglip": "AutoModel",
    "siglip2": "AutoModel",
    "xclip": "AutoModel",
    "clip_vision_model": "CLIPVisionModelWithProjection",
    "siglip_vision_model": "AutoModel",
    "siglip2_vision_model": "AutoModel",
}
NOT_CONTENT = ("_name_or_path", "architectures", "transformers_version", "dtype")
VOCABULARIES = ("tokenizer.json", "vocab.json", "vocab.txt", "spiece.model", "tokenizer.model")
TEXT_PARTS = ("text_", "prompts_", "logit_")


@dataclass(frozen=True)
class Loaded:
    """A model ready to encode, of one of the kinds in `BUILDERS`.

    `tokenizer` is None for an image tower alone.
    """

    model: Any
    kind: str
    source: Source
    image_processor: Any
    tokenizer: Any | None
    device: torch.device

    @property
    def vision_config(self) -> Any:
        """Configuration of the image tower."""
        return getattr(self.model.config, "vision_config", self.model.config)

    @property
    def dim(self) -> int:
        """Size of the shared space; SigLIP's is the image tower's own."""
        siglip = self.kind.startswith("siglip")
        return int(self.vision_config.hidden_size if siglip else self.model.config.projection_dim)

    @property
    def facts(self) -> dict[str, str]:
        """What a report says of the model."""
        return {"architecture": type(self.model).__name__, "weights": self.source.title}

    def fingerprint(self, head: str, uses_text_tower: bool) -> str:
        """Digest of the weights in use, the configuration, the preprocessing, dtype and head."""
        used = {
            name: tensor_bytes(tensor)
            for name, tensor in self.model.state_dict().items()
            if uses_text_tower or not name.startswith(TEXT_PARTS)
        }
        config = self.model.config if uses_text_tower else self.vision_config
        words = _vocabulary(self.tokenizer) if uses_text_tower else None
        return digest(
            used, self.kind, _content(config), _content(self.image_processor), words,
            str(self.model.dtype), head,
        )  # fmt: skip


def _content(configuration: Any) -> str:
    """What a configuration says, without where and by whom it was saved."""

    def without(said: Any) -> Any:
        if not isinstance(said, dict):
            return said
        return {name: without(of) for name, of in said.items() if name not in NOT_CONTENT}

    return json.dumps(without(configuration.to_dict()), sort_keys=True, default=str)


def _vocabulary(tokenizer: Any) -> list[object]:
    """A tokenizer's rules and words; padding is the caller's."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        return [type(tokenizer).__name__, tokenizer.get_vocab()]
    rules = json.loads(backend.to_str())
    return [json.dumps({k: v for k, v in rules.items() if k not in ("padding", "truncation")})]


def load(
    model: str, revision: str | None, trust_remote_code: bool, device: torch.device, dtype: str
) -> Loaded:
    """Find and load everything; raises UserError for whatever a person can mend."""
    precision = resolve_dtype(dtype)
    source = find_source(model, revision, trust_remote_code)

    def read(what: str, cls: Any, **options: Any) -> Any:
        with _told_as_user_error(source, what), quiet():
            return cls.from_pretrained(
                source.folder, trust_remote_code=trust_remote_code, **options
            )

    config = read("configuration", transformers.AutoConfig)
    kind = kind_of(config, source)
    builder = getattr(transformers, BUILDERS[kind])
    network, info = read(
        "weights", builder, config=config, dtype=precision, output_loading_info=True
    )
    _require_whole(network, info, source)
    network.eval().requires_grad_(False).to(device)
    image_processor = read("image processor", transformers.AutoImageProcessor)
    tokenizer = None
    if not kind.endswith("_vision_model"):
        _require_vocabulary(source)
        tokenizer = read("tokenizer", transformers.AutoTokenizer)
    return Loaded(network, kind, source, image_processor, tokenizer, device)


def kind_of(config: Any, source: Source) -> str:
    """Which of `BUILDERS` a configuration is (or derives from); raises UserError for another."""
    for kind in BUILDERS:
        if isinstance(config, transformers.CONFIG_MAPPING[kind]):
            return kind
    raise UserError(
        f"{OWNER}: {source.title} is no contrastive image-text model that is known here",
        expected=", ".join(BUILDERS),
        got=f"the architecture '{config.model_type}'",
        remedy=nearest(config.model_type, BUILDERS),
    )


def _require_whole(network: Any, info: dict[str, Any], source: Source) -> None:
    """transformers only warns of what it draws at random."""
    missing = sorted(info["missing_keys"])
    if missing:
        raise UserError(
            f"{OWNER}: {source.title} lacks weights of a {type(network).__name__}",
            expected="every tensor of the model",
            got=f"{len(missing)} without, {missing[0]} the first",
        )
    vision = getattr(network.config, "vision_config", network.config)
    if getattr(vision, "vision_use_head", True) is False:
        raise UserError(
            f"{OWNER}: {source.title} has no pooling head (vision_use_head is false)",
            expected="a model that gives image embeddings",
        )


def _require_vocabulary(source: Source) -> None:
    """transformers makes a tokenizer that knows no word where there are no files for one."""
    if not any((source.folder / name).is_file() for name in VOCABULARIES):
        raise UserError(
            f"{OWNER}: {source.title} has no tokenizer",
            expected=f"one of {', '.join(VOCABULARIES)}",
            remedy="Save the tokenizer in the same folder with save_pretrained.",
        )


@contextmanager
def _told_as_user_error(source: Source, what: str) -> Iterator[None]:
    """The reader of a stranger's files fails in any way it likes; a person reads one line."""
    try:
        yield
    except Exception as error:
        reason = shorten(str(error), 200) or type(error).__name__
        code = "trust_remote_code" in str(error)
        raise UserError(
            f"{OWNER}: the {what} of {source.title} cannot be read",
            got="code of its own, which is not run unasked" if code else reason,
            remedy="Read that code, then add -M trust_remote_code=true." if code else None,
        ) from error


@contextmanager
def quiet() -> Iterator[None]:
    """No log lines, warnings or progress bars, and the caller's random generator where it was."""
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(ERROR)
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]
