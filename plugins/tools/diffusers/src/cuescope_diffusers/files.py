"""The files of a pipeline: found and checked, before anything of theirs is imported or opened."""

import importlib.util
import json
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import diffusers
import huggingface_hub
import transformers

from cuescope_diffusers.options import EditorOptions
from cuescope_sdk import Context, UserError, digest
from cuescope_sdk.models import require_hub
from cuescope_sdk.torch import OWN_CODE, Source, files_digest, refuse_kernels

INDEX = "model_index.json"
CONFIG = "config.json"
WEIGHTS = ("diffusion_pytorch_model", "model")  # diffusers' name, and that of transformers
SMALL_FILES = ("json", "txt", "model", "jinja")
HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
TRUST = "Read that code, then add -T ROLE.trust_remote_code=true"


@dataclass(frozen=True)
class PipelineFiles:
    """A checked folder: `class_name` of the pipeline, `components` as {name: (library, class)}."""

    source: Source
    class_name: str
    components: Mapping[str, tuple[str, str]]

    def networks(self) -> dict[str, Any]:
        """The classes of those components that have weights, by name."""
        classes = {name: class_of(*where) for name, where in self.components.items()}
        kinds = diffusers.ModelMixin, transformers.PreTrainedModel
        return {
            name: cls
            for name, cls in classes.items()
            if isinstance(cls, type) and issubclass(cls, kinds)
        }

    def fingerprint(self) -> str:
        """Digest of the weights and of every small file that goes with them."""
        folders = [self.source.folder, *(self.source.folder / name for name in self.components)]
        small = [
            file
            for folder in folders
            for suffix in SMALL_FILES
            for file in sorted(folder.glob(f"*.{suffix}"))
        ]
        weights = [
            file
            for name in self.networks()
            for file in weight_files(self.source, self.source.folder / name)
        ]
        names = [str(file.relative_to(self.source.folder)) for file in [*small, *weights]]
        return digest(names, files_digest([*small, *weights]))


def class_of(library: str, name: str) -> Any:
    """The class that `model_index.json` names; None where the installed libraries have none."""
    homes = {"diffusers": diffusers, "transformers": transformers}
    home = homes.get(library) or getattr(diffusers.pipelines, library, None)
    return getattr(home, name, None)


def find_pipeline(owner: str, options: EditorOptions, context: Context) -> PipelineFiles:
    """The files of `options.model`; raises UserError for whatever a person can mend.

    Code of the pipeline's own is refused before any of it could be imported, unless it is trusted.
    """
    source = _find(owner, options.model, options.revision, INDEX, options, context)
    index = read_json(source, source.folder / INDEX)
    if not options.trust_remote_code:
        refuse_own_code(source, index)
    name = index.get("_class_name")
    components = {
        key: (str(value[0]), str(value[1]))
        for key, value in index.items()
        if not key.startswith("_") and isinstance(value, list) and len(value) == 2 and value[0]
    }
    files = PipelineFiles(source, name[-1] if isinstance(name, list) else str(name), components)
    for key, where in components.items():
        if not (source.folder / key).is_dir():
            raise UserError(
                f"{owner}: {source.title} lacks a part",
                expected=f"the folder {key} with a {where[1]}",
                remedy="Copy or download all of it again",
            )
    for key in files.networks():
        require_weights(source, source.folder / key)
    return files


def find_network(
    owner: str, model: str, revision: str | None, options: EditorOptions, context: Context
) -> tuple[Source, Any]:
    """A single network of diffusers, such as a ControlNet, and its class."""
    source = _find(owner, model, revision, CONFIG, options, context)
    name = str(read_json(source, source.folder / CONFIG).get("_class_name"))
    cls = class_of("diffusers", name)
    if cls is None or "ControlNet" not in name:
        raise UserError(f"{owner}: {source.title} is no ControlNet of diffusers", got=name)
    require_weights(source, source.folder)
    return source, cls


# ------------------------------------------------------------------------------------------ where


def _find(
    owner: str,
    model: str,
    revision: str | None,
    index: str,
    options: EditorOptions,
    context: Context,
) -> Source:
    folder = Path(model).expanduser()
    if (folder / index).is_file():
        return Source(owner, folder, folder.resolve().name)
    if folder.exists() or model.startswith((".", "/", "~")) or not HUB_ID.fullmatch(model):
        raise UserError(
            f"{owner}: {model} is no pipeline folder",
            expected=f"{index} in it, or a hub id like Qwen/Qwen-Image-Edit",
            got="a file" if folder.is_file() else None,
        )
    title = model if revision is None else f"{model}@{revision}"
    cached = huggingface_hub.try_to_load_from_cache(model, index, revision=revision)
    if isinstance(cached, str) and _is_complete(owner, title, Path(cached).parent):
        return Source(owner, Path(cached).parent, title)
    context.stop_plan_before(f"the weights of {title}, which must be downloaded first")
    require_hub(owner, title, "Connect, or give a folder with the pipeline's files.")
    folders = ("", "*/")
    names = [f"*.{suffix}" for suffix in SMALL_FILES]
    names += [f"{name}{part}.safetensors" for name in WEIGHTS for part in ("", "-*-of-*")]
    patterns = [each + name for each in folders for name in names]
    if options.trust_remote_code:
        patterns += ["*.py"]
    try:
        path = huggingface_hub.snapshot_download(model, revision=revision, allow_patterns=patterns)
    except Exception as error:  # the client raises the errors of three libraries
        raise UserError(
            f"{owner}: {title} could not be downloaded",
            got=f"{type(error).__name__} ({str(error).strip().partition(chr(10))[0]})",
            remedy="Check name and network, or give a folder with the pipeline's files.",
        ) from error
    return Source(owner, Path(path), title)


def _is_complete(owner: str, title: str, folder: Path) -> bool:
    """Whether a snapshot of the hub's cache holds the weights that its small files call for."""
    source = Source(owner, folder, title)
    if (folder / INDEX).is_file():
        index = read_json(source, folder / INDEX)
        parts = [folder / key for key, value in index.items() if isinstance(value, list)]
        parts = [part for part in parts if index[part.name][0] is not None]
    else:
        parts = [folder]
    networks = [weight_files(source, part) for part in parts if (part / CONFIG).is_file()]
    whole = bool(networks) and all(map(bool, networks)) and all(map(Path.is_dir, parts))
    return whole and all(file.is_file() for files in networks for file in files)


def read_json(source: Source, file: Path) -> dict[str, Any]:
    """An object from a JSON file; raises UserError for anything else."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise UserError(f"{source.owner}: {file.name} of {source.title} cannot be read as JSON")
    return content


# --------------------------------------------------------------------------------------- own code


def refuse_own_code(source: Source, index: Mapping[str, Any]) -> None:
    """Raises UserError for a pipeline with Python files, or with classes of no known library."""
    reason = next(_own_code(source.folder, index), None)
    if reason is not None:
        raise UserError(f"{source.owner}: {source.title} has {OWN_CODE}", got=reason, remedy=TRUST)
    for config in source.folder.glob(f"*/{CONFIG}"):
        refuse_kernels(source.owner, config)


def _own_code(folder: Path, index: Mapping[str, Any]) -> Iterator[str]:
    name = index.get("_class_name")
    if isinstance(name, list):
        yield f"the pipeline {name[-1]} of {name[0]}.py"
    elif class_of("diffusers", str(name)) is None:
        yield f"the pipeline {name}, which diffusers {diffusers.__version__} has not"
    for key, value in index.items():
        if not key.startswith("_") and isinstance(value, list) and value and value[0] is not None:
            known = value[0] in ("diffusers", "transformers") or _is_module(str(value[0]))
            if not known or class_of(*map(str, value[:2])) is None:
                yield f"{key} of the class {'.'.join(map(str, value))}"
    yield from (file.name for file in sorted(folder.glob("*.py")))
    yield from (f"{file.parent.name}/{file.name}" for file in sorted(folder.glob("*/*.py")))


def _is_module(name: str) -> bool:
    """Whether it is one of the folders of diffusers' own pipelines."""
    return (
        name.isidentifier() and importlib.util.find_spec(f"diffusers.pipelines.{name}") is not None
    )


# ---------------------------------------------------------------------------------------- weights


def weight_files(source: Source, folder: Path) -> list[Path]:
    """The safetensors of a network: one, or the shards that an index names; [] for none."""
    for name in WEIGHTS:
        whole, index = folder / f"{name}.safetensors", folder / f"{name}.safetensors.index.json"
        if whole.is_file():
            return [whole]
        if index.is_file():
            shards = read_json(source, index).get("weight_map")
            names = set(shards.values()) if isinstance(shards, dict) else set()
            return [folder / str(shard) for shard in sorted(names)]
    return []


def require_weights(source: Source, folder: Path) -> None:
    """Raises UserError where a network's files are missing, or cut."""
    part = "" if folder == source.folder else f"{folder.name} of "
    files = weight_files(source, folder)
    if not files or not (folder / CONFIG).is_file():
        pickled = sorted(file.name for file in folder.glob("*.bin"))
        raise UserError(
            f"{source.owner}: {part}{source.title} has no "
            f"{'weights' if not files else 'configuration'}",
            expected=f"{WEIGHTS[0]}.safetensors or {WEIGHTS[1]}.safetensors, and {CONFIG}",
            got=pickled[0] if pickled else None,
            remedy="A pickle is not opened: save it again with save_pretrained"
            if pickled
            else "Copy or download all of it again",
        )
    for file in files:
        if not _is_whole(file):
            raise UserError(
                f"{source.owner}: {part}{source.title} lacks a part of its weights",
                expected=f"all of {file.name}",
                got="a part of it" if file.is_file() else "none",
                remedy="Copy or download it again",
            )


def _is_whole(file: Path) -> bool:
    """Whether a safetensors file is as long as its header says."""
    try:
        with file.open("rb") as opened:
            (length,) = struct.unpack("<Q", opened.read(8))
            header = json.loads(opened.read(min(length, 100_000_000)))
        ends = [value["data_offsets"][1] for key, value in header.items() if key != "__metadata__"]
        return bool(file.stat().st_size == 8 + length + max(ends, default=0))
    except (OSError, ValueError, KeyError, TypeError, IndexError, struct.error):
        return False
