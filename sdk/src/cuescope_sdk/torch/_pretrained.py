"""A stock model whose files are found and checked now, and whose weights are opened late."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PureWindowsPath
from textwrap import shorten
from typing import Any, Self

import torch
from pydantic import BaseModel, ValidationError

from cuescope_core.atomic_files import read_whole
from cuescope_core.context import Context
from cuescope_core.digest import digest
from cuescope_core.errors import UserError
from cuescope_sdk.models._archives import require_small_archive
from cuescope_sdk.models._hub import before_download, require_own_files
from cuescope_sdk.models._refusals import UnopenableError
from cuescope_sdk.torch._devices import (
    files_digest,
    quiet,
    resolve_device,
    resolve_dtype,
)
from cuescope_sdk.torch._strangers import (
    asks_for_code,
    fault_of,
    refuse_larger_networks,
    require_plain_config,
)

CONFIG = "config.json"
# the second is a pickle: only where nothing else is
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
SMALL_FILES = ("*.json", "*.txt", "*.model", "*.jinja")
LARGEST_INDEX = 2**27  # bytes: that of a network of 800 GB has ten million
HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")
# who saved it, and where
NOT_CONTENT = ("_name_or_path", "architectures", "transformers_version", "dtype")
TRUST = (
    "Read that code, then add -O model.trust_remote_code=true, "
    "or -O tool.ROLE.trust_remote_code=true for a tool."
)
VOCABULARIES = (
    "tokenizer.json",
    "vocab.json",
    "vocab.txt",
    "spiece.model",
    "tokenizer.model",
)


@dataclass(frozen=True)
class Source:
    """A folder as `save_pretrained` leaves it; `title` names it without a path of this machine.

    `owner` is the plugin that speaks of it in errors.
    """

    owner: str
    folder: Path
    title: str

    def __post_init__(self) -> None:
        require_own_files(self.owner, self.folder)

    @classmethod
    def find(
        cls,
        owner: str,
        model: str,
        revision: str | None,
        context: Context,
        with_code: bool = False,
    ) -> Self:
        """The files of a folder or hub id; raises UserError where they are not to be had.

        `with_code` also fetches the model's own Python files. A plan ends before a download.
        """
        folder = Path(model).expanduser()
        if folder.is_dir():
            return cls(owner, folder, folder.resolve().name)._check()
        is_path = folder.exists() or model.startswith((".", "/", "~"))
        if is_path or not HUB_ID.fullmatch(model):
            raise UserError(
                f"{owner}: no model folder {model}",
                expected=f"a folder with {CONFIG}, or a hub id like openai/clip-vit-base-patch16",
                got="a file" if folder.is_file() else None,
            )
        title = model if revision is None else f"{model}@{revision}"
        # not above: the door of torch must open where nothing of the hub is installed
        import huggingface_hub

        # no network for what is there: audits must run on a closed machine
        cached = huggingface_hub.try_to_load_from_cache(
            model,
            CONFIG,
            revision=revision,
        )
        if isinstance(cached, str):
            source = cls(owner, Path(cached).parent, title)
            files = source.weight_files()
            if files and all(file.is_file() for file in files):
                return source
        before_download(
            owner,
            title,
            model,
            context,
            revision=revision,
            remedy="Connect, or give a folder with the model's files.",
        )
        patterns = [*SMALL_FILES, "model*.safetensors"]
        # only where its running is allowed: what is not here cannot be run
        if with_code:
            patterns.append("*.py")
        try:
            # pickles second, since most repositories hold both formats
            for wanted in (patterns, ["pytorch_model*.bin"]):
                snapshot = huggingface_hub.snapshot_download(
                    model,
                    revision=revision,
                    allow_patterns=wanted,
                    ignore_patterns=["*/*"],  # the top folder alone
                )
                source = cls(owner, Path(snapshot), title)
                if source.weight_files():
                    break
        except Exception as error:  # the client raises the errors of three libraries
            reason = f"{error}".strip().partition("\n")[0]
            kind = type(error).__name__
            raise UserError(
                f"{owner}: {title} could not be downloaded",
                got=f"{kind} ({reason})" if reason else kind,
                remedy="Check name and network, or give a folder with the model's files.",
            ) from error
        return source._check()

    def weight_files(self) -> list[Path]:
        """The files that transformers opens: one, or the shards that an index names; [] for none.

        safetensors come before a state dict. A shard need not be there. Raises UserError for an
        index that cannot be read.
        """
        for name in WEIGHTS:
            whole = self.folder / name
            index = self.folder / f"{name}.index.json"
            if whole.is_file():
                return [whole]
            if index.is_file():
                return shard_files(self.owner, self.title, index)
        return []

    def _check(self) -> Self:
        """Raises UserError for a folder without configuration or with weights missing."""
        folder = self.folder
        if not (folder / CONFIG).is_file():
            other = (folder / "open_clip_config.json").is_file()
            raise UserError(
                f"{self.owner}: {folder} is no model folder",
                expected=f"{CONFIG} in it",
                remedy=f"It is open_clip's: use open-clip:{folder}."
                if other
                else "Save model and processor there with save_pretrained.",
            )
        if not (files := self.weight_files()):
            raise UserError(
                f"{self.owner}: no weights in {folder}",
                expected=" or ".join(WEIGHTS),
                got="none",
            )
        if missing := [file.name for file in files if not file.is_file()]:
            raise UserError(
                f"{self.owner}: {self.title} lacks a part of its weights",
                expected=f"the {len(files)} files that its index names",
                got=f"{len(missing)} fewer, {missing[0]} the first",
            )
        return self

    def read(
        self, what: str, cls: Any, trust_remote_code: bool | None = None, **options: Any
    ) -> Any:
        """`cls.from_pretrained` of the files; raises UserError where they cannot be read.

        `trust_remote_code` None: the plugin has no such option, and no code of the model's own
        runs.
        """
        try:
            with quiet(), refuse_larger_networks(self.owner, self.weight_files()):
                return cls.from_pretrained(
                    self.folder,
                    # False, never None: then transformers would ask on standard input
                    trust_remote_code=bool(trust_remote_code),
                    **options,
                )
        # the reader of a stranger's files fails in any way it likes
        except Exception as error:
            has_option = trust_remote_code is not None
            raise UnopenableError(
                f"{self.owner}: the {what} of {self.title} cannot be read",
                got=fault_of(error),
                remedy=TRUST if asks_for_code(error) and has_option else None,
            ) from error


class _Index(BaseModel):
    """Which file each tensor is in."""

    weight_map: dict[str, str]


def shard_files(owner: str, title: str, index: Path) -> list[Path]:
    """The files of the tensors that an index names, all beside it.

    Raises UserError for an index that cannot be read, and for a file elsewhere.
    """
    name = f"{owner}: {index.name} of {title}"
    try:
        content = _Index.model_validate_json(read_whole(index, most=LARGEST_INDEX))
    except (OSError, UserError, ValidationError) as error:
        raise UserError(
            f"{name} cannot be read",
            expected="the file of each tensor under weight_map",
        ) from error
    # a shard stands there once for each of its tensors
    shards = sorted(set(content.weight_map.values()))
    for shard in shards:
        require_beside(shard, f"{name} names a file elsewhere")
    return [index.parent / shard for shard in shards]


def require_beside(name: str, problem: str) -> None:
    """Raise UserError for a name that leads out of a folder; links of the hub's store may."""
    # of Windows: its paths have the slashes of all others too
    if PureWindowsPath(name).name != name or name in ("", ".."):
        raise UserError(
            problem, expected="the name of a file beside it", got=repr(name)
        )


def require_family(source: Source) -> None:
    """Raises UnopenableError for a configuration of a family that transformers does not have.

    Code of the model's own may have it, and a file that cannot be read is another's refusal.
    """
    import transformers

    file = source.folder / CONFIG
    try:
        config = json.loads(file.read_text("utf-8"))
        kind = str(config.get("model_type") or "")
    except (OSError, ValueError, AttributeError, RecursionError):
        return
    if not kind or "auto_map" in config or kind in transformers.CONFIG_MAPPING:
        return
    raise UnopenableError(
        f"{source.owner}: the configuration of {source.title} cannot be read",
        expected=f"a family that transformers {transformers.__version__} has",
        got=f"model_type '{shorten(kind, 80)}'",
        remedy="Update transformers, or serve it (vLLM, SGLang) and ask it as openai:NAME.",
    )


def tokenizer_content(tokenizer: Any) -> list[object]:
    """A tokenizer's rules and words; padding is the caller's."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        return [type(tokenizer).__name__, tokenizer.get_vocab()]
    rules = json.loads(backend.to_str())
    for name in ("padding", "truncation"):  # callers set these while they run
        rules.pop(name, None)
    return [json.dumps(rules)]


def content_of(part: Any) -> Any:
    """Content of a configuration, processor, tokenizer, or list of them; all else itself.

    Without where and by whom it was saved.
    """
    if isinstance(part, list):
        return list(map(content_of, part))
    if hasattr(part, "get_vocab"):
        return tokenizer_content(part)
    if not hasattr(part, "to_dict"):
        return part

    def without(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {
            name: without(of) for name, of in value.items() if name not in NOT_CONTENT
        }

    return json.dumps(without(part.to_dict()), sort_keys=True, default=str)


# -------------------------------------------------------------------------------------- pretrained


# the library puts layers in their place
PLACED = frozenset({"device_map", "quantization_config"})
# what transformers opens with them
BESIDE_WEIGHTS = ("generation_config.json", "adapter_*")


@dataclass(frozen=True)
class Pretrained:
    """Everything that is known of a model before its weights.

    `builder` is the class whose `from_pretrained` opens them, perhaps an Auto class; `loading` are
    further arguments for it, and part of the fingerprint.
    """

    source: Source
    config: Any
    builder: Any
    context: Context
    device: torch.device
    dtype: torch.dtype
    trust_remote_code: bool | None = None
    loading: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def find(
        cls,
        owner: str,
        model: str,
        revision: str | None,
        context: Context,
        builder_of: Callable[[Any, Source], Any],
        trust_remote_code: bool | None = None,
        loading: Mapping[str, Any] | None = None,
    ) -> Self:
        """Find a folder or hub id, read its configuration, and ask `builder_of` what opens it.

        `trust_remote_code` None: the plugin has no such option. Raises UserError for whatever a
        person can mend.
        """
        import transformers

        device = resolve_device(context.device)
        dtype = resolve_dtype(context.dtype)
        source = Source.find(owner, model, revision, context, bool(trust_remote_code))
        # transformers fetches and runs kernels that a configuration names
        if not trust_remote_code:
            require_plain_config(owner, source.folder / CONFIG)
        require_family(source)
        config = source.read(
            "configuration", transformers.AutoConfig, trust_remote_code
        )
        return cls(
            source,
            config,
            builder_of(config, source),
            context,
            device,
            dtype,
            trust_remote_code,
            loading or {},
        )

    @property
    def title(self) -> str:
        """Its name in errors."""
        return f"{self.source.owner}: {self.source.title}"

    @cached_property
    def network(self) -> Any:
        """The network with its weights, on its device; whoever asks first opens them.

        A plan ends there. Raises UserError where some are missing.
        """
        # no plan opens weights: it must cost seconds, and name what is to come (docs/adr/0012)
        self.context.stop_plan_before(f"the weights of {self.source.title}")
        adapters = self.source.folder.glob("adapter_*.bin")
        for file in (*self.source.weight_files(), *adapters):
            # a small archive may unpack to more than the memory (SECURITY.md)
            require_small_archive(self.source.owner, file)
        model, info = self.read(
            "weights",
            self.builder,
            config=self.config,
            dtype=self.dtype,
            output_loading_info=True,
            **self.loading,
        )
        # transformers only warns of what it draws at random
        if missing := sorted(info["missing_keys"]):
            raise UserError(
                f"{self.title} lacks weights of a {type(model).__name__}",
                expected="every tensor of the model",
                got=f"{len(missing)} without, {missing[0]} the first",
            )
        # explainers ask for the gradients that they need
        model = model.eval().requires_grad_(False)
        return model if PLACED & self.loading.keys() else model.to(self.device)

    @property
    def network_class(self) -> Any:
        """The class of the model; where that is code of its own, the Auto class."""
        known = getattr(self.builder, "_model_mapping", {})
        return known.get(type(self.config), self.builder)

    @property
    def facts(self) -> dict[str, str]:
        """Facts for the report."""
        return {
            "architecture": self.network_class.__name__,
            "weights": self.source.title,
        }

    def read(self, what: str, cls: Any, **options: Any) -> Any:
        """`cls.from_pretrained` of the files; raises UserError where they cannot be read."""
        return self.source.read(what, cls, self.trust_remote_code, **options)

    def processor(self, takes_text: bool = True) -> Any:
        """The processor; raises UserError where there is none, or none that reads text."""
        import transformers

        if takes_text:
            self._require_vocabulary()
        processor = self.read("processor", transformers.AutoProcessor)
        if not isinstance(processor, transformers.ProcessorMixin):
            raise UserError(
                f"{self.title} has no processor",
                expected="processor_config.json or preprocessor_config.json",
                remedy="Save the processor in the same folder with save_pretrained.",
            )
        return processor

    def tokenizer(self, **options: Any) -> Any:
        """The tokenizer; raises UserError where there is none."""
        import transformers

        self._require_vocabulary()
        return self.read("tokenizer", transformers.AutoTokenizer, **options)

    def _require_vocabulary(self) -> None:
        """Without one, transformers makes a tokenizer that knows no word."""
        if not any((self.source.folder / name).is_file() for name in VOCABULARIES):
            raise UserError(
                f"{self.title} has no tokenizer",
                expected=f"one of {', '.join(VOCABULARIES)}",
                remedy="Save the tokenizer in the same folder with save_pretrained.",
            )

    def fingerprint(self, *parts: object) -> str:
        """Digest of the weights, the configuration, the dtype and what else is said.

        Of configurations, processors and tokenizers it takes the content.
        """
        loading = []
        for name, value in sorted(self.loading.items()):
            if name != "device_map":  # where layers lie changes no answer
                loading.append((name, content_of(value)))
        more = [loading, *parts] if loading else parts
        contents = map(content_of, (self.config, str(self.dtype), *more))
        return digest(*self.weights_content(), *contents)

    def weights_content(self) -> list[str]:
        """Content that the digest of the weights is made of."""
        files = self.source.weight_files()
        beside: list[Path] = []
        for name in BESIDE_WEIGHTS:
            beside += self.source.folder.glob(name)
        # globs have no order
        return [files_digest([*files, *sorted(beside)])]


def causal_builder(config: Any, source: Source) -> Any:
    """The builder of a causal language model, as `Pretrained.find` asks for it.

    Raises UserError for an architecture that does not continue texts.
    """
    import transformers

    # code of the model's own names its Auto class here
    own = getattr(config, "auto_map", None) or {}
    stock = type(config) in transformers.MODEL_FOR_CAUSAL_LM_MAPPING
    if stock or "AutoModelForCausalLM" in own:
        return transformers.AutoModelForCausalLM
    raise UserError(
        f"{source.owner}: {source.title} does not continue texts",
        expected="a causal language model",
        got=f"the architecture '{config.model_type}'",
    )
