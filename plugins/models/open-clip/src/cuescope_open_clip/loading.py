"""A stock open_clip model by its files; its weights are opened when they are first needed."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from textwrap import shorten
from typing import Any

import open_clip
import torch
from open_clip.transform import PreprocessCfg, image_transform_v2, merge_preprocess_dict
from torch import Tensor

from cuescope_open_clip.configuration import (
    OWNER,
    TEXT_TOWER,
    require_plain_configuration,
    text_tower_folder,
)
from cuescope_open_clip.sources import Source, find_source
from cuescope_sdk import Context, UserError, digest
from cuescope_sdk.torch import (
    Checkpoint,
    fault_of,
    files_digest,
    quiet,
    refuse_larger_networks,
    resolve_device,
    resolve_dtype,
)

VISUAL = "visual."
SCALE = "logit_scale"
BIAS = "logit_bias"
SCALARS = (SCALE, BIAS)
PRECISIONS = {torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16"}


@dataclass(frozen=True)
class StockModel:
    """Everything that is known of a model before its weights; `network` opens them.

    `dim` is the size of its shared embedding space, `tensors` are the names in its weights file,
    `scalars` the values there that turn cosines into logits.
    """

    source: Source
    context: Context
    device: torch.device
    dtype: torch.dtype
    configuration: Mapping[str, Any]
    tensors: frozenset[str]
    scalars: Mapping[str, Tensor]

    @property
    def name(self) -> str:
        """What errors call it."""
        return f"open-clip: {self.source.architecture}"

    @property
    def dim(self) -> int:
        """Size of the space that images and texts share."""
        return int(self.configuration["embed_dim"])

    @property
    def has_text_tower(self) -> bool:
        """Whether weights came for it."""
        return not all(
            name.startswith(VISUAL) or name in SCALARS for name in self.tensors
        )

    @property
    def logit_scale(self) -> float:
        """Factor on the cosines."""
        return float(self._scalar(SCALE).exp())

    @property
    def logit_bias(self) -> float:
        """What SigLIP adds to its logits, 0 elsewhere."""
        return float(self._scalar(BIAS)) if BIAS in self.scalars else 0.0

    def _scalar(self, name: str) -> Tensor:
        """A value as the network will hold it, from its file, so that a plan can report it."""
        # open_clip casts all of a timm model, of its own models only what multiplies matrices
        timm = "timm_model_name" in self.configuration.get("vision_cfg", {})
        dtype = self.dtype if timm else torch.float32
        return self.scalars[name].to(dtype).float()

    @property
    def facts(self) -> dict[str, str]:
        return {"architecture": self.source.architecture, "weights": self.source.title}

    def fingerprint(self, head: str) -> str:
        """Digest of the weights file, the configuration, the preprocessing, the dtype and head."""
        # the library's own defaults too: another version of it may have others
        stated = dict(self.source.stated_preprocess())
        preprocess = merge_preprocess_dict(asdict(PreprocessCfg()), stated)
        return digest(
            files_digest([self.source.weights]),
            self.configuration,
            repr(sorted(preprocess.items())),
            self.source.quick_gelu,
            str(self.dtype),
            head,
        )

    @cached_property
    def network(self) -> Any:
        """The network with its weights, on its device. A plan ends here."""
        self.context.stop_plan_before(f"the weights of {self.source.title}")
        network = _build(self.source, PRECISIONS[self.dtype])
        fill(network, self)
        return network.eval().requires_grad_(False).to(self.device)

    @cached_property
    def preprocess(self) -> Any:
        # there open_clip has put its defaults and the words of tag and folder together
        config = PreprocessCfg(**self.network.visual.preprocess_cfg)
        # without the random crops of training
        return image_transform_v2(config, is_train=False)

    @property
    def normalisation(self) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation (channel) of the preprocessing."""
        config = self.network.visual.preprocess_cfg
        return torch.tensor(config["mean"]), torch.tensor(config["std"])

    @cached_property
    def tokenizer(self) -> Any:
        """What open_clip reads texts with; raises UserError where that cannot be built."""
        text = self.configuration.get("text_cfg", {})
        # said to transformers' own tokenizers, and open_clip's takes no such word
        words = {"trust_remote_code": False} if text.get("hf_tokenizer_name") else {}
        with quiet(), quiet_root_logger():
            try:
                return open_clip.get_tokenizer(self.source.name, **words)
            except Exception as error:  # a stranger's files fail in any way they like
                raise _unbuildable(self.source, error) from error


def find_model(model: str, checkpoint: Path | None, context: Context) -> StockModel:
    """Find and read all but the weights; raises UserError for whatever a person can mend."""
    # first: a wrong dtype or device is said before a download
    dtype = resolve_dtype(context.dtype)
    device = resolve_device(context.device)
    source = find_source(model, checkpoint, context)
    require_plain_configuration(source)
    tensors = Checkpoint.read(OWNER, source.weights).tensors
    scalars = {name: tensors[name] for name in SCALARS if name in tensors}
    try:
        config: dict[str, Any] = open_clip.get_model_config(source.name)
        # a folder's own JSON may hold anything
        dim = int(config["embed_dim"])
        for side in ("vision_cfg", "text_cfg"):
            config[side].keys()
    except (
        ValueError,
        OSError,
        LookupError,
        TypeError,
        AttributeError,
        RecursionError,
        OverflowError,
    ) as error:
        raise _unbuildable(source, error) from error
    # heads of so many rows are made before the weights are opened
    if not any(dim in tensor.shape for tensor in tensors.values()):
        raise _misfit(source, f"no tensor of embed_dim={shorten(str(dim), 30)}")
    stock = StockModel(
        source, context, device, dtype, config, frozenset(tensors), scalars
    )
    # an image tower alone takes its factor from the options
    if stock.has_text_tower and SCALE not in scalars:
        raise _misfit(source, f"no {SCALE}")
    return stock


def _build(source: Source, precision: str) -> Any:
    # open_clip draws initial weights that are overwritten: the caller's generator must not move
    with quiet(), quiet_root_logger():
        try:
            create = partial(
                open_clip.create_model,
                source.name,
                precision=precision,
                load_weights=False,  # `fill` does, from the file of the fingerprint
                pretrained_text=False,  # else the hub is asked for a text tower
                force_quick_gelu=source.quick_gelu,
                force_preprocess_cfg=dict(source.preprocess),
                **_own_text_tower(source),
            )
            if source.folder is not None:
                _require_fitting_size(source, create)
            return create()
        except UserError:
            raise
        except Exception as error:  # a stranger's files fail in any way they like
            raise _unbuildable(source, error) from error


def _require_fitting_size(source: Source, create: Callable[..., Any]) -> None:
    """Raise UserError for a configuration of more than the weights; nothing is taken for it."""
    with torch.device("meta"), refuse_larger_networks(OWNER, [source.weights]):
        create(device="meta")


def _own_text_tower(source: Source) -> dict[str, Any]:
    """The words that have open_clip read a text tower of transformers in the model's own folder."""
    text = open_clip.get_model_config(source.name).get("text_cfg", {})
    name = text.get(TEXT_TOWER)
    if source.folder is None or not name:
        return {}
    tower = str(text_tower_folder(source, name))
    return {"text_cfg": {**text, TEXT_TOWER: tower, "hf_model_pretrained": False}}


def _unbuildable(source: Source, error: Exception) -> UserError:
    return UserError(
        f"open-clip: {source.title} cannot be built",
        got=f"{type(error).__name__} ({shorten(fault_of(error), 160)})",
    )


def fill(network: Any, model: StockModel) -> None:
    """Load the weights strictly.

    A file of `visual.*` alone (perhaps with the logit scale) fills the image tower, every tensor
    of it; any other must fill the whole model. Raises UserError for a file that does not fit.
    """
    weights = model.source.weights
    try:
        if model.has_text_tower:
            with quiet_root_logger():
                open_clip.load_checkpoint(
                    network,
                    str(weights),
                    strict=True,
                    weights_only=True,
                )
        else:
            _fill_image_tower(network, dict(Checkpoint.read(OWNER, weights).tensors))
    except Exception as error:  # of a text tower of another kind too
        # torch lists a fault a line, after a headline
        headline, *faults = f"{error}".split("\n\t")
        fault = faults[0] if faults else headline
        fault = shorten(fault, 200).rstrip(".")
        raise _misfit(model.source, fault) from error


def _fill_image_tower(network: Any, tensors: dict[str, Tensor]) -> None:
    # taken out first: the tower is filled strictly
    scalars = {name: tensors.pop(name) for name in SCALARS if name in tensors}
    tower = {name.removeprefix(VISUAL): tensor for name, tensor in tensors.items()}
    network.visual.load_state_dict(tower, strict=True)
    with torch.no_grad():
        for name, scalar in scalars.items():
            parameter = getattr(network, name, None)
            if parameter is not None:
                # releases hold scalars of shape () and of (1,)
                parameter.copy_(scalar.reshape(parameter.shape))


def _misfit(source: Source, fault: str) -> UserError:
    return UserError(
        f"open-clip: {source.weights.name} does not fit {source.architecture}",
        expected="every tensor of the model, or of its image tower (visual.*), and no other",
        got=fault,
        remedy="Name the architecture that the weights were made with.",
    )


@contextmanager
def quiet_root_logger() -> Iterator[None]:
    """Within it the root logger is silent.

    open_clip logs there, and warns "initialized randomly" of weights that are filled in later.
    """

    def silence(record: logging.LogRecord) -> bool:
        return False

    # a root logger without any handler would print warnings by Python's handler of last resort
    root = logging.getLogger()
    handler = logging.NullHandler()
    root.addFilter(silence)
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeFilter(silence)
        root.removeHandler(handler)
