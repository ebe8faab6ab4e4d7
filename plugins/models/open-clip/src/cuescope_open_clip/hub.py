"""Pretrained weights from the hub's cache, or from the hub while it can be reached."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import huggingface_hub
import open_clip

from cuescope_sdk import UserError
from cuescope_sdk.models import require_hub

CONFIG_NAME = "open_clip_config.json"
WEIGHTS_NAMES = (
    "open_clip_model.safetensors",
    "open_clip_pytorch_model.safetensors",
    "open_clip_pytorch_model.bin",
)
WEIGHTS_SUFFIXES = (".safetensors", ".pt", ".pth", ".bin")
SMALL_FILES = ("*.json", "*.txt", "*.model")
LOCAL = "Connect, or give local weights with -M checkpoint=FILE."


def weights_of_tag(tag: Mapping[str, Any], wanted: str) -> Path:
    """The weights of a pretrained tag (open_clip's own description of it), downloaded if need be.

    `wanted` names them in the UserError raised where they are neither here nor to be had.
    """
    repository, name = os.path.split(tag.get("hf_hub", ""))
    if repository:
        for candidate in (name,) if name else WEIGHTS_NAMES:
            cached = huggingface_hub.try_to_load_from_cache(repository, candidate)
            if isinstance(cached, str):
                return Path(cached)
        require_hub("open-clip", f"the checkpoint of {wanted}", LOCAL)
    try:
        return Path(open_clip.download_pretrained(dict(tag)))
    except Exception as error:
        raise _not_to_be_had(wanted, error) from error


def snapshot(repository: str, with_weights: bool) -> Path:
    """Folder with configuration, tokenizer and, if wanted, weights of a hub repository."""
    folder = _cached_snapshot(repository)
    if folder is not None and (find_weights(folder) or not with_weights):
        return folder
    wanted = f"hf-hub:{repository}"
    require_hub("open-clip", f"the checkpoint of {wanted}", LOCAL)
    try:
        patterns = [*SMALL_FILES, *(["open_clip*.safetensors"] if with_weights else [])]
        folder = Path(huggingface_hub.snapshot_download(repository, allow_patterns=patterns))
        if with_weights and find_weights(folder) is None:
            huggingface_hub.hf_hub_download(repository, WEIGHTS_NAMES[-1])
    except Exception as error:
        raise _not_to_be_had(wanted, error) from error
    return folder


def find_weights(folder: Path) -> Path | None:
    """The weights in a model folder: by open_clip's names, else the only weights file there."""
    for name in WEIGHTS_NAMES:
        if (folder / name).is_file():
            return folder / name
    others = [path for path in sorted(folder.iterdir()) if path.suffix in WEIGHTS_SUFFIXES]
    return others[0] if len(others) == 1 else None


def _cached_snapshot(repository: str) -> Path | None:
    cached = huggingface_hub.try_to_load_from_cache(repository, CONFIG_NAME)
    return Path(cached).parent if isinstance(cached, str) else None


def _not_to_be_had(wanted: str, error: Exception) -> UserError:
    reason = f"{error}".strip().partition("\n")[0]
    return UserError(
        f"open-clip: the weights of {wanted} could not be downloaded",
        got=f"{type(error).__name__} ({reason})" if reason else type(error).__name__,
        remedy="Check name and network, or give local weights with -M checkpoint=FILE.",
    )
