"""What `model` and `checkpoint` stand for: an architecture, its preprocessing, a weights file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import open_clip

from cuescope_open_clip import hub
from cuescope_sdk import UserError, nearest

SHOWN_TAGS = 6


@dataclass(frozen=True)
class Source:
    """`name` as open_clip's `create_model` takes it, and the weights to load into it.

    `architecture` and `title` name both to a reader, without a path of this machine.

    `preprocess` and `quick_gelu` come from the pretrained tag, where one was named: open_clip
    itself only warns when a tag was trained with the other activation.
    """

    name: str
    architecture: str
    weights: Path
    title: str
    preprocess: Mapping[str, Any] = field(default_factory=dict)
    quick_gelu: bool = False


def find_source(model: str, checkpoint: Path | None) -> Source:
    """Where the model comes from; raises UserError for names and files that are not there.

    With both a tag and a checkpoint the tag gives the preprocessing, the checkpoint the weights.
    """
    weights = None if checkpoint is None else _checked(checkpoint)
    if model.startswith("hf-hub:"):
        folder = hub.snapshot(model.removeprefix("hf-hub:"), with_weights=weights is None)
        return _in_folder(folder, model, weights)
    folder = Path(model.removeprefix("local-dir:")).expanduser()
    named_as_path = model.startswith(("local-dir:", "./", "../", "/", "~"))
    if named_as_path or (folder / hub.CONFIG_NAME).is_file():
        return _in_folder(folder, folder.resolve().name, weights)
    return _by_name(model, weights)


def split_name(model: str) -> tuple[str, str | None]:
    """Architecture and tag of `ARCHITECTURE[/TAG]`; raises UserError for unknown ones.

    OpenAI's spelling `ViT-B/16` is an architecture, as open_clip has it.
    """
    known = open_clip.list_models()
    if (whole := model.replace("/", "-")) in known:
        return whole, None
    head, _, tag = model.rpartition("/")
    architecture = head.replace("/", "-") or tag
    if architecture not in known:
        raise UserError(
            f"open-clip: no architecture '{architecture}'",
            expected="ARCHITECTURE/TAG, hf-hub:OWNER/NAME, or a folder with open_clip_config.json",
            remedy=nearest(architecture, known) or "`open_clip.list_models()` has them all.",
        )
    if not open_clip.is_pretrained_cfg(architecture, tag):
        tags = open_clip.list_pretrained_tags_by_model(architecture)
        raise UserError(
            f"open-clip: no pretrained tag '{tag}' for {architecture}",
            remedy=nearest(tag, tags) or f"It has {_some(tags) or 'none'}.",
        )
    return architecture, tag


def _by_name(model: str, weights: Path | None) -> Source:
    architecture, tag = split_name(model)
    described = open_clip.get_pretrained_cfg(architecture, tag) if tag else {}
    if weights is None:
        if tag is None:
            raise _weightless(architecture, open_clip.list_pretrained_tags_by_model(architecture))
        weights = hub.weights_of_tag(described, wanted=model)
        title = model
    else:
        title = weights.name
    kept = ("mean", "std", "interpolation", "resize_mode")
    return Source(
        architecture,
        architecture,
        weights,
        title,
        {key: described[key] for key in kept if key in described},
        bool(described.get("quick_gelu", False)),
    )


def _in_folder(folder: Path, title: str, weights: Path | None) -> Source:
    if not (folder / hub.CONFIG_NAME).is_file():
        raise UserError(
            f"open-clip: {folder} is no model folder", expected=f"{hub.CONFIG_NAME} in it"
        )
    found = weights or hub.find_weights(folder)
    if found is None:
        raise UserError(
            f"open-clip: no weights in {folder}",
            expected=f"{hub.WEIGHTS_NAMES[0]}, or one weights file",
            remedy="Name the file with -M checkpoint=FILE.",
        )
    return Source(f"local-dir:{folder}", title, found, weights.name if weights else title)


def _checked(checkpoint: Path) -> Path:
    path = checkpoint.expanduser()
    if not path.is_file():
        raise UserError(f"open-clip: no checkpoint file {checkpoint}")
    if path.suffix not in hub.WEIGHTS_SUFFIXES:
        raise UserError(
            f"open-clip: checkpoint {path.name} has no known ending",
            expected=", ".join(hub.WEIGHTS_SUFFIXES),
            got=path.suffix or "none",
        )
    return path


def _weightless(architecture: str, tags: list[str]) -> UserError:
    example = f"{architecture}/{tags[0]} or " if tags else ""
    return UserError(
        f"open-clip: {architecture} is an architecture without weights",
        expected=f"{example}-M checkpoint=FILE",
        remedy=f"Its tags: {_some(tags)}." if tags else None,
    )


def _some(tags: list[str]) -> str:
    more = len(tags) - SHOWN_TAGS
    return ", ".join(tags[:SHOWN_TAGS]) + (f" and {more} more" if more > 0 else "")
