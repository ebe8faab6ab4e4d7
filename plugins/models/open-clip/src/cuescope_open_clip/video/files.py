"""Where the authors' checkpoint is: a file, the one in a folder, or one of the hub."""

import re
from pathlib import Path

from cuescope_open_clip.sources import WEIGHTS_SUFFIXES
from cuescope_sdk import Context, UserError
from cuescope_sdk.models import fetch_repository

OWNER = "video-clip"
HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+(/[\w.-]+)?")


def find_checkpoint(
    model: str,
    revision: str | None,
    context: Context,
) -> tuple[Path, str]:
    """The file, and what a report calls it; raises UserError where it is not to be had.

    A plan ends before a download.
    """
    path = Path(model).expanduser()
    if path.is_file():
        return path, path.name
    if path.is_dir():
        title = path.resolve().name
        return _only_weights(path, title), title
    # a path that is not there must not be asked of the hub
    if model.startswith((".", "/", "~")) or not HUB_NAME.fullmatch(model):
        raise UserError(
            f"{OWNER}: no file or folder {model}",
            expected="a checkpoint of the authors, a folder with one, or a hub id",
        )
    title = model if revision is None else f"{model}@{revision}"
    return _from_hub(model, revision, context), title


def _only_weights(folder: Path, title: str) -> Path:
    files = [
        file for file in sorted(folder.iterdir()) if file.suffix in WEIGHTS_SUFFIXES
    ]
    safe = [file for file in files if file.suffix == ".safetensors"]
    files = safe or files  # the hub keeps some weights in both formats
    if len(files) != 1:
        names = ", ".join(file.name for file in files[:4])
        raise UserError(
            f"{OWNER}: which of the files in {title}",
            expected=f"one that ends in {', '.join(WEIGHTS_SUFFIXES)}",
            got=names or "none",
            remedy="Name the file: FOLDER/FILE, or OWNER/NAME/FILE of the hub."
            if files
            else None,
        )
    return files[0]


def _from_hub(model: str, revision: str | None, context: Context) -> Path:
    owner, name, *file = model.split("/")
    wanted = file or [f"*{suffix}" for suffix in WEIGHTS_SUFFIXES]

    def weights(folder: Path) -> Path:
        path = folder / file[0] if file else _only_weights(folder, model)
        if not path.is_file():
            raise UserError(f"{OWNER}: {owner}/{name} has no file {path.name}")
        return path

    return fetch_repository(
        OWNER,
        f"{owner}/{name}",
        weights,
        context,
        revision=revision,
        otherwise="give the checkpoint's file.",
        allow_patterns=wanted,
        # `_only_weights` looks at no folder in it
        ignore_patterns=["*/*"],
    )
