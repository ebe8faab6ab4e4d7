"""What `model` and `checkpoint` stand for: an architecture, its preprocessing, a weights file.

Files come from a folder, the hub's cache, or the hub while it can be reached.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import huggingface_hub
import open_clip

from cuescope_sdk import Context, UserError, nearest
from cuescope_sdk.models import before_download, require_hub, require_own_files

CONFIG_NAME = "open_clip_config.json"
WEIGHTS_NAMES = (
    "open_clip_model.safetensors",
    "open_clip_pytorch_model.safetensors",
    "open_clip_pytorch_model.bin",
)
WEIGHTS_SUFFIXES = (".safetensors", ".pt", ".pth", ".bin")
SMALL_FILES = ("*.json", "*.txt", "*.model")
LOCAL = "Connect, or give local weights with -O model.checkpoint=FILE."
SHOWN_TAGS = 6
PREPROCESS_KEYS = ("mean", "std", "interpolation", "resize_mode")


@dataclass(frozen=True)
class Source:
    """`name` as open_clip's `create_model` takes it, and the weights to load into it.

    `architecture` and `title` name both to a reader, without a path of this machine.

    `preprocess` and `quick_gelu` come from the pretrained tag, where one was named: open_clip
    itself only warns when a tag was trained with the other activation. What stands in the
    configuration of a `folder` open_clip applies by itself.
    """

    name: str
    architecture: str
    weights: Path
    title: str
    preprocess: Mapping[str, Any] = field(default_factory=dict)
    quick_gelu: bool = False
    folder: Path | None = None

    def stated_preprocess(self) -> Mapping[str, Any]:
        """What the tag, or the folder's own configuration, says of preprocessing."""
        if self.folder is None:
            return self.preprocess
        text = (self.folder / CONFIG_NAME).read_text(encoding="utf-8")
        return dict(json.loads(text).get("preprocess_cfg", {}))


def find_source(model: str, checkpoint: Path | None, context: Context) -> Source:
    """Where the model comes from; raises UserError for names and files that are not there.

    With both a tag and a checkpoint the tag gives the preprocessing, the checkpoint the weights.
    A plan ends before anything is downloaded.
    """
    # first: a wrong file is said before anything is downloaded
    weights = None if checkpoint is None else _require_weights_file(checkpoint)
    if model.startswith("hf-hub:"):
        folder = snapshot(model.removeprefix("hf-hub:"), weights is None, context)
        return _in_folder(folder, model, weights)
    folder = Path(model.removeprefix("local-dir:")).expanduser()
    # so spelt it is meant as a folder, and the error says what is missing in it
    named_as_path = model.startswith(("local-dir:", "./", "../", "/", "~"))
    if named_as_path or (folder / CONFIG_NAME).is_file():
        return _in_folder(folder, folder.resolve().name, weights)
    return _by_name(model, weights, context)


def split_name(model: str) -> tuple[str, str | None]:
    """Architecture and tag of `ARCHITECTURE[/TAG]`; raises UserError for unknown ones.

    OpenAI's spelling `ViT-B/16` is an architecture, as open_clip has it.
    """
    architectures = open_clip.list_models()
    whole = model.replace("/", "-")
    if whole in architectures:
        return whole, None
    # ViT-B/16/openai: the tag stands behind the last slash
    head, _, tag = model.rpartition("/")
    architecture = head.replace("/", "-") or tag
    if architecture not in architectures:
        raise UserError(
            f"open-clip: no architecture '{architecture}'",
            expected="ARCHITECTURE/TAG, hf-hub:OWNER/NAME, or a folder with open_clip_config.json",
            remedy=nearest(architecture, architectures)
            or "`open_clip.list_models()` has them all.",
        )
    if not open_clip.is_pretrained_cfg(architecture, tag):
        tags = open_clip.list_pretrained_tags_by_model(architecture)
        raise UserError(
            f"open-clip: no pretrained tag '{tag}' for {architecture}",
            remedy=nearest(tag, tags) or f"It has {_some(tags) or 'none'}.",
        )
    return architecture, tag


def _by_name(model: str, weights: Path | None, context: Context) -> Source:
    architecture, tag = split_name(model)
    tag_config = open_clip.get_pretrained_cfg(architecture, tag) if tag else {}
    if weights is None:
        if tag is None:
            tags = open_clip.list_pretrained_tags_by_model(architecture)
            example = f"{architecture}/{tags[0]} or " if tags else ""
            raise UserError(
                f"open-clip: {architecture} is an architecture without weights",
                expected=f"{example}-O model.checkpoint=FILE",
                remedy=f"Its tags: {_some(tags)}." if tags else None,
            )
        weights = weights_of_tag(tag_config, model, context)
        title = model
    else:
        title = weights.name
    preprocess = {key: tag_config[key] for key in PREPROCESS_KEYS if key in tag_config}
    quick_gelu = bool(tag_config.get("quick_gelu", False))
    return Source(architecture, architecture, weights, title, preprocess, quick_gelu)


def _in_folder(folder: Path, architecture: str, weights: Path | None) -> Source:
    if not (folder / CONFIG_NAME).is_file():
        raise UserError(
            f"open-clip: {folder} is no model folder", expected=f"{CONFIG_NAME} in it"
        )
    require_own_files("open-clip", folder)
    file = weights or find_weights(folder)
    if file is None:
        raise UserError(
            f"open-clip: no weights in {folder}",
            expected=f"{WEIGHTS_NAMES[0]}, or one weights file",
            remedy="Name the file with -O model.checkpoint=FILE.",
        )
    name = f"local-dir:{folder}"
    title = architecture
    if weights is not None:
        title = weights.name
    return Source(name, architecture, file, title, folder=folder)


def _require_weights_file(checkpoint: Path) -> Path:
    path = checkpoint.expanduser()
    if not path.is_file():
        raise UserError(f"open-clip: no checkpoint file {checkpoint}")
    if path.suffix not in WEIGHTS_SUFFIXES:
        raise UserError(
            f"open-clip: checkpoint {path.name} has no known ending",
            expected=", ".join(WEIGHTS_SUFFIXES),
            got=path.suffix or "none",
        )
    return path


def _some(tags: list[str]) -> str:
    shown = ", ".join(tags[:SHOWN_TAGS])
    more = len(tags) - SHOWN_TAGS
    return f"{shown} and {more} more" if more > 0 else shown


def weights_of_tag(tag: Mapping[str, Any], title: str, context: Context) -> Path:
    """The weights of a pretrained tag (open_clip's own description of it), downloaded if need be.

    `title` names them in the UserError raised where they are neither here nor to be had.
    """
    repository, name = os.path.split(tag.get("hf_hub", ""))
    for candidate in (name,) if name else WEIGHTS_NAMES:
        # open_clip would ask the hub for the newest version even of what lies in the cache
        cached = repository and huggingface_hub.try_to_load_from_cache(
            repository, candidate
        )
        # the hub's client has a third answer, an object: known not to exist
        if isinstance(cached, str) and cached:
            return Path(cached)
    # where open_clip keeps what it downloads from an address
    download = Path("~/.cache/clip", Path(tag.get("url", "")).name).expanduser()
    # a tag of open_clip's list is there
    if repository or not ("file" in tag or download.is_file()):
        context.stop_plan_before(
            f"the weights of {title}, which must be downloaded first"
        )
    if repository:
        require_hub("open-clip", f"the checkpoint of {title}", LOCAL)
    try:
        return Path(open_clip.download_pretrained(dict(tag)))
    except Exception as error:  # the clients raise the errors of three libraries
        raise _not_to_be_had(title, error) from error


def snapshot(repository: str, with_weights: bool, context: Context) -> Path:
    """Folder with configuration, tokenizer and, if wanted, weights of a hub repository."""
    # the hub's client has a third answer, an object: known not to exist
    cached = huggingface_hub.try_to_load_from_cache(repository, CONFIG_NAME)
    if isinstance(cached, str):
        folder = Path(cached).parent
        # a run with a checkpoint of its own has fetched no weights
        if not with_weights or find_weights(folder):
            return folder
    title = f"hf-hub:{repository}"
    before_download("open-clip", title, repository, context, remedy=LOCAL)
    try:
        patterns = list(SMALL_FILES)
        if with_weights:
            # repositories may hold the weights for other libraries too
            patterns.append("open_clip*.safetensors")
        folder = Path(
            huggingface_hub.snapshot_download(repository, allow_patterns=patterns)
        )
        # a pickle only where there are no safetensors, so that no weights are fetched twice
        if with_weights and find_weights(folder) is None:
            huggingface_hub.hf_hub_download(repository, WEIGHTS_NAMES[-1])
    except Exception as error:
        raise _not_to_be_had(title, error) from error
    return folder


def find_weights(folder: Path) -> Path | None:
    """The weights in a model folder: by open_clip's names, else the only weights file there."""
    for name in WEIGHTS_NAMES:
        file = folder / name
        if file.is_file():
            return file
    files = [path for path in folder.iterdir() if path.suffix in WEIGHTS_SUFFIXES]
    # which of several is meant only a person knows
    return files[0] if len(files) == 1 else None


def _not_to_be_had(title: str, error: Exception) -> UserError:
    reason, _, _ = f"{error}".strip().partition("\n")
    kind = type(error).__name__
    return UserError(
        f"open-clip: the weights of {title} could not be downloaded",
        got=f"{kind} ({reason})" if reason else kind,
        remedy="Check name and network, or give local weights with -O model.checkpoint=FILE.",
    )
