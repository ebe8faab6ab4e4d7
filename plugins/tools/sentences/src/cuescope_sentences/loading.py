"""Where a sentence encoder's files are, what they hold, and how they are opened."""

from pathlib import Path
from textwrap import shorten
from typing import Any

import huggingface_hub
import torch

from cuescope_sdk import Context, UserError, digest
from cuescope_sdk.models import require_hub
from cuescope_sdk.torch import Source, fault_of, files_digest, find_source, quiet, weight_files

OWNER = "sentence-transformers"
SMALL = ("*.json", "*.txt", "*.model")
KINDS = (*SMALL, "*.safetensors", "*.bin")


def find(model: str, revision: str | None, context: Context) -> Source:
    """A folder, or a hub id's snapshot with the folders of its modules.

    Raises UserError where the files are not to be had. A plan ends before a download.
    """
    folder = Path(model).expanduser()
    if folder.exists() or model.startswith((".", "/", "~")):
        return find_source(OWNER, model, None)
    title = model if revision is None else f"{model}@{revision}"
    try:
        return _snapshot(model, revision, title, local=True)
    except Exception:  # not in the cache, or not whole
        context.stop_plan_before(f"the weights of {title}, which must be downloaded first")
        require_hub(OWNER, title, "Connect, or give a folder with the model's files.")
    try:
        return _snapshot(model, revision, title, local=False)
    except Exception as error:  # the client raises the errors of three libraries
        raise UserError(
            f"{OWNER}: {title} could not be downloaded",
            got=shorten(f"{type(error).__name__} ({error})", 200),
            remedy="Check name and network, or give a folder with the model's files.",
        ) from error


def _snapshot(model: str, revision: str | None, title: str, local: bool) -> Source:
    """Weights at the top in one format; the modules' folders with their own small ones."""
    folder = huggingface_hub.snapshot_download(
        model,
        revision=revision,
        local_files_only=local,
        allow_patterns=[*SMALL, "*.safetensors"],
        # repositories carry the same weights for other runtimes
        ignore_patterns=["onnx/*", "openvino/*"],
    )
    source = Source(OWNER, Path(folder), title)
    if not weight_files(source):
        raise FileNotFoundError("no model.safetensors in it")
    return source


def content(folder: Path) -> str:
    """Digest of all files that make the model, by name and bytes."""
    files = sorted({file for kind in KINDS for file in folder.rglob(kind)})
    # by name: modules have files of the same bytes
    names = [file.relative_to(folder).as_posix() for file in files]
    return digest(names, files_digest(files))


def open_network(source: Source, device: torch.device, dtype: torch.dtype) -> Any:
    """The model with its weights on its device; raises UserError where it cannot be read.

    Without `modules.json` it is the mean of the tokens.
    """
    from sentence_transformers import SentenceTransformer

    try:
        with quiet():
            network = SentenceTransformer(
                str(source.folder),
                device=str(device),
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"dtype": dtype},
            )
    except Exception as error:  # a stranger's files fail in any way they like
        raise UserError(
            f"{OWNER}: {source.title} cannot be read",
            got=fault_of(error),
            remedy="Give a folder that SentenceTransformer.save wrote.",
        ) from error
    return network.eval().requires_grad_(False)
