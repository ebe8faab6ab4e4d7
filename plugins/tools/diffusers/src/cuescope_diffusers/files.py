"""The files of a pipeline: found and checked, before anything of theirs is imported or opened."""

import importlib.util
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import diffusers
import transformers

from cuescope_diffusers.options import EditorOptions
from cuescope_sdk import Context, UserError, digest
from cuescope_sdk.models import fetch_repository
from cuescope_sdk.torch import (
    Checkpoint,
    Source,
    files_digest,
    require_beside,
    require_plain_config,
    shard_files,
)

INDEX = "model_index.json"
CONFIG = "config.json"
# diffusers' name, and that of transformers
WEIGHTS = ("diffusion_pytorch_model", "model")
SMALL_FILES = ("json", "txt", "model", "jinja")
FILES = [f"*.{suffix}" for suffix in SMALL_FILES]
FILES += [f"{name}{part}.safetensors" for name in WEIGHTS for part in ("", "-*-of-*")]
HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
Found = TypeVar("Found")
TRUST = "Read that code, then add -O tool.ROLE.trust_remote_code=true"


@dataclass(frozen=True)
class PipelineFiles:
    """A checked folder: `class_name` of the pipeline, `components` as {name: (library, class)}."""

    source: Source
    class_name: str
    components: Mapping[str, tuple[str, str]]

    def networks(self) -> dict[str, Any]:
        """The classes of those components that have weights, by name."""
        kinds = (diffusers.ModelMixin, transformers.PreTrainedModel)
        networks = {}
        for name, part in self.components.items():
            cls = class_of(*part)
            if isinstance(cls, type) and issubclass(cls, kinds):
                networks[name] = cls
        return networks

    def fingerprint(self) -> str:
        """Digest of the weights and of every small file that goes with them."""
        home = self.source.folder
        files: list[Path] = []
        # configurations, tokenizers and schedulers change pixels too
        for folder in (home, *map(home.joinpath, self.components)):
            # trusted code is content as well
            for suffix in (*SMALL_FILES, "py"):
                files += sorted(folder.glob(f"*.{suffix}"))
        for name in self.networks():
            files += weight_files(self.source, home / name)
        # with names: two networks whose files are exchanged are another pipeline
        names = [str(file.relative_to(home)) for file in files]
        return digest(names, files_digest(files))


def class_of(library: str, name: str) -> Any:
    """The class that `model_index.json` names; None where the installed libraries have none."""
    homes = {"diffusers": diffusers, "transformers": transformers}
    home = homes.get(library) or getattr(diffusers.pipelines, library, None)
    return getattr(home, name, None)


def find_pipeline(
    owner: str,
    options: EditorOptions,
    context: Context,
) -> PipelineFiles:
    """The files of `options.model`; raises UserError for whatever a person can mend.

    Code of the pipeline's own is refused before it or any weights are downloaded or imported,
    unless it is trusted.
    """
    where = (owner, options.model, options.revision, INDEX)
    source, index = _find(where, _read_index, [INDEX], context)
    if not options.trust_remote_code:
        refuse_own_code(source, _own_classes(index))
    patterns = [*FILES, *(f"*/{file}" for file in FILES)]
    patterns += ["*.py"] if options.trust_remote_code else []
    files = _find(where, _check, patterns, context)
    # again, for now all files are here, and code may lie beside the index
    if not options.trust_remote_code:
        refuse_own_code(source, _own_files(files.source.folder))
    return files


def _read_index(source: Source) -> tuple[Source, dict[str, Any]]:
    """The index; raises UserError where it names no pipeline."""
    index = read_json(source, source.folder / INDEX)
    # [file, class] is a pipeline with code of its own
    name = index.get("_class_name")
    words = name if isinstance(name, list) else [name]
    if not words or not all(isinstance(word, str) for word in words):
        raise UserError(
            f"{source.owner}: {INDEX} of {source.title} names no pipeline",
            expected="the name of a class as _class_name",
            got=f"{name!r:.60}",
        )
    return source, index


def _check(source: Source) -> PipelineFiles:
    """What the index names; raises UserError where a part of it is missing."""
    _, index = _read_index(source)
    name = index["_class_name"]
    class_name = name[-1] if isinstance(name, list) else name
    components = {}
    for key, value in _parts(index):
        # a part that was left out is [null, null]
        if len(value) == 2 and value[0]:
            require_beside(
                key, f"{source.owner}: {source.title} names a part elsewhere"
            )
            components[key] = (str(value[0]), str(value[1]))
            if not (source.folder / key).is_dir():
                raise UserError(
                    f"{source.owner}: {source.title} lacks a part",
                    expected=f"the folder {key} with a {value[1]}",
                    remedy="Copy or download all of it again",
                )
    files = PipelineFiles(source, class_name, components)
    for key in files.networks():
        require_weights(source, source.folder / key)
    return files


def find_network(
    owner: str,
    model: str,
    revision: str | None,
    context: Context,
) -> tuple[Source, Any]:
    """A single network of diffusers, such as a ControlNet, and its class."""

    def open_folder(source: Source) -> tuple[Source, Any]:
        name = str(read_json(source, source.folder / CONFIG).get("_class_name"))
        cls = class_of("diffusers", name)
        if cls is None or "ControlNet" not in name:
            raise UserError(
                f"{owner}: {source.title} is no ControlNet of diffusers", got=name
            )
        require_weights(source, source.folder)
        return source, cls

    return _find((owner, model, revision, CONFIG), open_folder, FILES, context)


# ------------------------------------------------------------------------------------------ where


def _find(
    where: tuple[str, str, str | None, str],
    open_folder: Callable[[Source], Found],
    patterns: list[str],
    context: Context,
) -> Found:
    """What `open_folder` makes of a folder, or of a snapshot of the hub."""
    owner, model, revision, index = where
    folder = Path(model).expanduser()
    if (folder / index).is_file():
        return open_folder(Source(owner, folder, folder.resolve().name))
    # what looks like a path is never asked of the hub
    if (
        folder.exists()
        or model.startswith((".", "/", "~"))
        or not HUB_ID.fullmatch(model)
    ):
        raise UserError(
            f"{owner}: {model} is no pipeline folder",
            expected=f"{index} in it, or a hub id like Qwen/Qwen-Image-Edit",
            got="a file" if folder.is_file() else None,
        )
    title = model if revision is None else f"{model}@{revision}"
    return fetch_repository(
        owner,
        model,
        lambda folder: open_folder(Source(owner, folder, title)),
        context,
        revision=revision,
        otherwise="give a folder with the pipeline's files",
        allow_patterns=patterns,
    )


def read_json(source: Source, file: Path) -> dict[str, Any]:
    """An object from a JSON file; raises UserError for anything else."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise UserError(
            f"{source.owner}: {file.name} of {source.title} cannot be read as JSON"
        )
    return content


# --------------------------------------------------------------------------------------- own code


def refuse_own_code(source: Source, reasons: Iterator[str]) -> None:
    """Raises UserError for the first of the reasons, and for compiled code of the hub."""
    reason = next(reasons, None)
    if reason is not None:
        raise UserError(
            f"{source.owner}: {source.title} has code of its own, which is not run unasked",
            got=reason,
            remedy=TRUST,
        )
    for config in source.folder.glob(f"*/{CONFIG}"):
        require_plain_config(source.owner, config)


def _own_classes(index: Mapping[str, Any]) -> Iterator[str]:
    """Classes that the index names and that no known library has."""
    name = index["_class_name"]
    if isinstance(name, list):
        yield f"the pipeline {name[-1]} of {name[0]}.py"
    elif class_of("diffusers", name) is None:
        yield f"the pipeline {name}, which diffusers {diffusers.__version__} has not"
    for key, value in _parts(index):
        if value and value[0] is not None:
            words = list(map(str, value))
            has_home = words[0] in ("diffusers", "transformers") or _is_module(words[0])
            if not has_home or class_of(*words[:2]) is None:
                yield f"{key} of the class {'.'.join(words)}"


def _parts(index: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """The components as the index has them: [library, class]."""
    for key, value in index.items():
        # what begins with "_" is about the index itself
        if not key.startswith("_") and isinstance(value, list):
            yield key, value


def _own_files(folder: Path) -> Iterator[str]:
    """Python files where diffusers or transformers would import them."""
    for pattern in ("*.py", "*/*.py"):
        for file in sorted(folder.glob(pattern)):
            yield file.relative_to(folder).as_posix()


def _is_module(name: str) -> bool:
    """Whether it is one of the folders of diffusers' own pipelines."""
    return (
        name.isidentifier()
        and importlib.util.find_spec(f"diffusers.pipelines.{name}") is not None
    )


# ---------------------------------------------------------------------------------------- weights


def weight_files(source: Source, folder: Path) -> list[Path]:
    """The safetensors of a network: one, or the shards that an index names; [] for none."""
    for name in WEIGHTS:
        whole = folder / f"{name}.safetensors"
        index = folder / f"{name}.safetensors.index.json"
        if whole.is_file():
            return [whole]
        if index.is_file():
            return shard_files(source.owner, source.title, index)
    return []


def require_weights(source: Source, folder: Path) -> None:
    """Raises UserError where a network's files are missing, or cut."""
    part = "" if folder == source.folder else f"{folder.name} of "
    files = weight_files(source, folder)
    if not files or not (folder / CONFIG).is_file():
        lacking = "configuration" if files else "weights"
        # a .bin file is a pickle, which could run code
        pickle = min((file.name for file in folder.glob("*.bin")), default=None)
        remedy = "Copy or download all of it again"
        if pickle:
            remedy = "A pickle is not opened: save it again with save_pretrained"
        raise UserError(
            f"{source.owner}: {part}{source.title} has no {lacking}",
            expected=f"{WEIGHTS[0]}.safetensors or {WEIGHTS[1]}.safetensors, and {CONFIG}",
            got=pickle,
            remedy=remedy,
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
        Checkpoint.read("", file)
    except UserError:
        return False
    return True
