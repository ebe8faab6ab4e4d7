"""Trained weights on disk: safetensors, written whole or not at all, checked when read."""

import json
import os
import tempfile
import warnings
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from cuescope_sdk import digest
from cuescope_toy.network import Weights

Facts = dict[str, str]


def weights_digest(weights: Weights) -> str:
    """Digest of names and numbers."""
    return digest({name: tensor.numpy() for name, tensor in weights.items()})


def save_checkpoint(path: Path, weights: Weights, facts: Facts) -> None:
    """Write both; a reader sees the whole file or none."""
    metadata = {"digest": digest(weights_digest(weights), facts), "facts": json.dumps(facts)}
    write_whole(path, save(weights, metadata))


def write_whole(path: Path, content: bytes) -> None:
    """Write a file, and its folder where there is none; a failure leaves what was there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(part).replace(path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise


def load_checkpoint(path: Path) -> tuple[Weights, Facts] | None:
    """What was saved; None where nothing is, and with a warning where it is corrupt."""
    if not path.exists():
        return None
    try:
        return _read(path)
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        reason = " ".join(str(error).split())
        warnings.warn(f"toy: {path} is corrupt ({reason}); training again", stacklevel=2)
        return None


def _read(path: Path) -> tuple[Weights, Facts]:
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
        weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    facts = json.loads(metadata["facts"])
    if metadata["digest"] != digest(weights_digest(weights), facts):
        raise ValueError("its content is not what was written")
    return weights, facts
