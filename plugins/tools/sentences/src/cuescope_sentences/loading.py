"""Where a sentence encoder's files are, what they hold, and how they are opened."""

from pathlib import Path
from typing import Any

import torch

from cuescope_sdk import Context, UserError, digest
from cuescope_sdk.models import fetch_repository
from cuescope_sdk.torch import (
    Source,
    fault_of,
    files_digest,
    quiet,
    refuse_larger_networks,
)

OWNER = "sentence-transformers"
SMALL = ("*.json", "*.txt", "*.model")
WEIGHTS = ("*.safetensors", "*.bin")
KINDS = (*SMALL, *WEIGHTS)


def find(model: str, revision: str | None, context: Context) -> Source:
    """A folder, or a hub id's snapshot with the folders of its modules.

    Raises UserError where the files are not to be had. A plan ends before a download.
    """
    folder = Path(model).expanduser()
    if folder.exists() or model.startswith((".", "/", "~")):
        return Source.find(OWNER, model, None, context)
    title = model if revision is None else f"{model}@{revision}"
    return fetch_repository(
        OWNER,
        model,
        lambda folder: _whole(Source(OWNER, folder, title)),
        context,
        revision=revision,
        otherwise="give a folder with the model's files.",
        # weights at the top in one format; the modules' folders with their own small ones
        allow_patterns=[*SMALL, "*.safetensors"],
        # repositories carry the same weights for other runtimes
        ignore_patterns=["onnx/*", "openvino/*"],
    )


def _whole(source: Source) -> Source:
    if not source.weight_files():
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

    weights = [file for kind in WEIGHTS for file in source.folder.rglob(kind)]
    try:
        with quiet(), refuse_larger_networks(OWNER, weights):
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
