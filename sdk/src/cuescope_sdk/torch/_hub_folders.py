"""Where a transformers model's files are: a folder, the hub's cache, or the hub itself.

Needs huggingface_hub, which the plugins that load such models bring.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import huggingface_hub

from cuescope.errors import UserError
from cuescope_sdk.models._hub import require_hub

CONFIG = "config.json"
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
SMALL_FILES = ("*.json", "*.txt", "*.model", "*.jinja")
HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")


@dataclass(frozen=True)
class Source:
    """A folder as `save_pretrained` leaves it; `title` names it without a path of this machine.

    `owner` is the plugin that speaks of it in errors.
    """

    owner: str
    folder: Path
    title: str


def find_source(owner: str, model: str, revision: str | None, with_code: bool = False) -> Source:
    """The files of a folder or hub id; raises UserError where they are not to be had.

    `with_code` also fetches the model's own Python files.
    """
    folder = Path(model).expanduser()
    if folder.is_dir():
        return _checked(Source(owner, folder, folder.resolve().name))
    if folder.exists() or model.startswith((".", "/", "~")) or not HUB_ID.fullmatch(model):
        raise UserError(
            f"{owner}: no model folder {model}",
            expected=f"a folder with {CONFIG}, or a hub id like openai/clip-vit-base-patch16",
            got="a file" if folder.is_file() else None,
        )
    title = model if revision is None else f"{model}@{revision}"
    return Source(owner, _from_hub(owner, title, model, revision, with_code), title)


def weight_files(source: Source) -> list[Path]:
    """The files that transformers opens: one, or the shards that an index names; [] for none.

    safetensors come before a state dict. A shard need not be there. Raises UserError for an index
    that cannot be read.
    """
    for name in WEIGHTS:
        whole, index = source.folder / name, source.folder / f"{name}.index.json"
        if whole.is_file():
            return [whole]
        if index.is_file():
            return [source.folder / shard for shard in _shards(source, index)]
    return []


def _shards(source: Source, index: Path) -> list[str]:
    try:
        return sorted(set(json.loads(index.read_text())["weight_map"].values()))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(
            f"{source.owner}: {index.name} of {source.title} cannot be read",
            expected="the file of each tensor under weight_map",
        ) from error


def _whole(source: Source) -> bool:
    files = weight_files(source)
    return bool(files) and all(file.is_file() for file in files)


def _checked(source: Source) -> Source:
    """The source; raises UserError for a folder without configuration or with weights missing."""
    owner, folder = source.owner, source.folder
    if not (folder / CONFIG).is_file():
        other = (folder / "open_clip_config.json").is_file()
        raise UserError(
            f"{owner}: {folder} is no model folder",
            expected=f"{CONFIG} in it",
            remedy=f"It is open_clip's: use open-clip:{folder}."
            if other
            else "Save model and processor there with save_pretrained.",
        )
    if not (files := weight_files(source)):
        raise UserError(
            f"{owner}: no weights in {folder}", expected=" or ".join(WEIGHTS), got="none"
        )
    if missing := [file.name for file in files if not file.is_file()]:
        raise UserError(
            f"{owner}: {source.title} lacks a part of its weights",
            expected=f"the {len(files)} files that its index names",
            got=f"{len(missing)} fewer, {missing[0]} the first",
        )
    return source


def _from_hub(owner: str, title: str, name: str, revision: str | None, with_code: bool) -> Path:
    """Folder of a snapshot; one that is in the cache with its weights needs no network."""
    cached = huggingface_hub.try_to_load_from_cache(name, CONFIG, revision=revision)
    if isinstance(cached, str) and _whole(Source(owner, Path(cached).parent, title)):
        return Path(cached).parent
    require_hub(owner, title, "Connect, or give a folder with the model's files.")
    patterns = [*SMALL_FILES, "model*.safetensors", *(["*.py"] if with_code else [])]
    try:
        folder = _download(name, revision, patterns)
        if not weight_files(Source(owner, folder, title)):
            folder = _download(name, revision, ["pytorch_model*.bin"])
    except Exception as error:  # the client raises the errors of three libraries
        reason = f"{error}".strip().partition("\n")[0]
        raise UserError(
            f"{owner}: {title} could not be downloaded",
            got=f"{type(error).__name__} ({reason})" if reason else type(error).__name__,
            remedy="Check name and network, or give a folder with the model's files.",
        ) from error
    return _checked(Source(owner, folder, title)).folder


def _download(name: str, revision: str | None, patterns: list[str]) -> Path:
    """Files of the top folder that fit the patterns."""
    return Path(
        huggingface_hub.snapshot_download(
            name, revision=revision, allow_patterns=patterns, ignore_patterns=["*/*"]
        )
    )
