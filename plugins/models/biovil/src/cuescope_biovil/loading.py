"""The authors' files: found and measured now, filled into networks when first needed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from PIL import Image
from torch import Tensor, nn
from torchvision.transforms import CenterCrop, Resize
from torchvision.transforms.functional import to_tensor

from cuescope_biovil.network import STRIDE, ImageNetwork, ImageShape, TextNetwork
from cuescope_sdk import Context, UserError, digest
from cuescope_sdk.models import TextTower, fetch_repository, require_own_files
from cuescope_sdk.torch import (
    Checkpoint,
    ImageTower,
    Inputs,
    Pooling,
    Source,
    files_digest,
    quiet,
    require_plain_config,
    resolve_device,
    resolve_dtype,
    to_array,
    tokenizer_content,
)

OWNER = "biovil-t"
IMAGE_WEIGHTS = "biovil_t_image_model_proj_size_128.pt"
TEXT_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
VOCABULARIES = ("tokenizer.json", "vocab.txt")
RESIZE = 512  # pixels of the shorter side, default of hi-ml-multimodal for BioViL-T
CROP = 448  # then a square of the middle, default of the same
# of the language model that the text tower was made from, and nothing that embeds
SPARE = ("cls.predictions.", "bert.embeddings.position_ids", "bert.pooler.")
END = "!?."  # the authors drop it from the end of a prompt


@dataclass(frozen=True)
class Model:
    """Everything that is known of the model before its networks; `title` names its folder."""

    folder: Path
    title: str
    shape: ImageShape
    config: transformers.BertConfig
    tokenizer: Any
    context: Context
    device: torch.device
    dtype: torch.dtype

    @property
    def name(self) -> str:
        """What errors call it."""
        return f"{OWNER}: {self.title}"

    def fingerprint(self, head: str) -> str:
        """Digest of both files of weights, the text's configuration and words, dtype and head."""
        files = files_digest([self.folder / IMAGE_WEIGHTS, text_weights(self.folder)])
        words = tokenizer_content(self.tokenizer)
        return digest(OWNER, 1, files, repr(self.config), words, str(self.dtype), head)

    def _fill(
        self,
        network: nn.Module,
        file: Path,
        spare: tuple[str, ...] = (),
    ) -> None:
        """Give a network the tensors of a file, and make it ready to run."""
        Checkpoint.read(self.name, file).load_into(network, spare)
        network.eval().requires_grad_(False).to(self.device, self.dtype)

    @cached_property
    def image_network(self) -> ImageNetwork:
        """The image model with its weights. A plan ends here."""
        self.context.stop_plan_before(f"the weights of {self.title}")
        # initial weights are drawn, and overwritten
        with torch.random.fork_rng(devices=[]):
            network = ImageNetwork(self.shape)
        self._fill(network, self.folder / IMAGE_WEIGHTS)
        return network

    @cached_property
    def text_network(self) -> TextNetwork:
        """The text model with its weights. A plan ends here."""
        self.context.stop_plan_before(f"the weights of {self.title}")
        with quiet():
            network = TextNetwork(self.config, self.shape.dim)
        self._fill(network, text_weights(self.folder), SPARE)
        return network

    def text_tower(self) -> TextTower:
        """Tokenizer and CXR-BERT; the first text opens its weights."""

        @torch.inference_mode()
        def encode(texts: list[str]) -> np.ndarray:
            tokens = self.tokenizer(
                [text.rstrip(END) for text in texts],
                padding=True,
                truncation=True,
                max_length=self.config.max_position_embeddings,
                return_tensors="pt",
            )
            ids = tokens["input_ids"].to(self.device)
            mask = tokens["attention_mask"].to(self.device)
            return to_array(self.text_network(ids, mask))

        # 1: the release says no temperature
        return TextTower(encode, self.shape.dim, 1.0)

    def image_tower(self) -> ImageTower:
        """The image model; its inputs are one image, or the earlier and the current one."""
        network = self.image_network

        def prepare(frames: Sequence[Image.Image]) -> Inputs:
            if len(frames) > 2:
                raise UserError(
                    f"{self.name} looks at an X-ray and the one before it",
                    expected="1 or 2 frames a sample",
                    got=f"{len(frames)}",
                    remedy="Take a data set of pairs, as ms-cxr-t.",
                )
            # grey three times, for the ResNet takes three channels
            pictures = [to_tensor(crop(frame)).expand(3, -1, -1) for frame in frames]
            return {"images": torch.stack(pictures)[None]}

        def encode(inputs: Inputs) -> Tensor:
            images = inputs["images"].to(self.device, self.dtype)
            embedding: Tensor = network(images)
            return embedding

        return ImageTower(
            name=self.name,
            prepare=prepare,
            canvas=lambda image: np.asarray(crop(image).convert("RGB")),
            encode=encode,
            grid=lambda inputs: (CROP // STRIDE, CROP // STRIDE),
            # convolutions have no tokens that could be hidden
            blocks=(),
            pooling=Pooling("token"),
            device=self.device,
            prefix=0,
            frames=2,
        )


def crop(image: Image.Image) -> Image.Image:
    """Grey, stretched from the darkest pixel to the brightest, and the middle square of it."""
    grey = np.asarray(image.convert("L"), dtype=np.float64)
    low = grey.min()
    spread = (grey.max() - low) or 1.0  # an even picture is black
    stretched = (grey - low) / spread * 255
    whole = Image.fromarray(stretched.astype(np.uint8))
    resized = Resize(RESIZE)(whole)
    square: Image.Image = CenterCrop(CROP)(resized)
    return square


# ----------------------------------------------------------------------------------------- finding


def find_model(model: str, revision: str, context: Context) -> Model:
    """Find and measure the files; raises UserError for whatever a person can mend."""
    # first: a wrong device or dtype is said before a download
    device = resolve_device(context.device)
    dtype = resolve_dtype(context.dtype)
    folder, title = _find_folder(model, revision, context)
    shape = measure(Checkpoint.read(f"{OWNER}: {title}", folder / IMAGE_WEIGHTS))
    require_plain_config(OWNER, folder / "config.json")
    source = Source(OWNER, folder, title)
    # by its own class: nothing of the folder's Python is looked at
    config = source.read("configuration", transformers.BertConfig)
    tokenizer = source.read("tokenizer", transformers.BertTokenizer)
    return Model(
        folder,
        title,
        shape,
        config,
        tokenizer,
        context,
        device,
        dtype,
    )


def _find_folder(model: str, revision: str, context: Context) -> tuple[Path, str]:
    folder = Path(model).expanduser()
    if folder.is_dir():
        title = folder.resolve().name
        require_own_files(OWNER, folder)
        require_files(folder, title)
        return folder, title
    # a path that is not there must not be asked of the hub
    is_path = model.startswith((".", "/", "~"))
    if is_path or not re.fullmatch(r"[\w.-]+/[\w.-]+", model):
        raise UserError(
            f"{OWNER}: no folder {model}",
            expected=f"a folder with {IMAGE_WEIGHTS}, or a hub id",
        )
    title = f"{model}@{revision}"
    folder = fetch_repository(
        OWNER,
        model,
        lambda folder: require_files(folder, title),
        context,
        revision=revision,
        otherwise="give a folder with the repository's files.",
        # no Python file is fetched: none is run
        allow_patterns=["*.json", "*.txt", IMAGE_WEIGHTS, *TEXT_WEIGHTS],
    )
    return folder, title


def require_files(folder: Path, title: str) -> Path:
    """The folder, if it holds all that is needed; raises UserError where it lacks a file."""
    for names in (("config.json",), (IMAGE_WEIGHTS,), TEXT_WEIGHTS, VOCABULARIES):
        if not any((folder / name).is_file() for name in names):
            raise UserError(
                f"{OWNER}: {title} lacks a file",
                expected=" or ".join(names),
                remedy="Copy all files of the authors' repository into one folder.",
            )
    return folder


def text_weights(folder: Path) -> Path:
    """The text model's file."""
    files = [folder / name for name in TEXT_WEIGHTS]
    return next(filter(Path.is_file, files))


# --------------------------------------------------------------------------------------- measuring


def measure(file: Checkpoint) -> ImageShape:
    """The sizes that tensors tell; raises UserError for what is no such image model."""
    stages = [file.layers(f"encoder.encoder.layer{number}") for number in range(1, 5)]
    return ImageShape(
        stages=tuple(stages),
        # a BasicBlock has two convolutions
        bottleneck="encoder.encoder.layer1.0.conv3.weight" in file.tensors,
        width=file.size("encoder.backbone_to_vit.weight"),
        layers=file.layers("encoder.vit_pooler.blocks"),
        dim=file.size("projector.model.3.weight"),
    )
