"""The files of a pipeline: found and checked, before anything of theirs is imported or opened."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import diffusers
import transformers

from cuescope_diffusers.options import EditorOptions
from cuescope_sdk import Context, UserError, digest
from cuescope_sdk.models import fetch_repository
from cuescope_sdk.torch import (
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
            for suffix in SMALL_FILES:
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
    owner: str, options: EditorOptions, context: Context
) -> PipelineFiles:
    """The files of `options.model`; raises UserError for whatever a person can mend.

    No code of the pipeline's own is downloaded or run.
    """
    model = options.model
    folder = Path(model).expanduser()
    if (folder / INDEX).is_file():
        return _check(Source(owner, folder, folder.resolve().name))
    # what looks like a path is never asked of the hub
    is_path = folder.exists() or model.startswith((".", "/", "~"))
    if is_path or not HUB_ID.fullmatch(model):
        raise UserError(
            f"{owner}: {model} is no pipeline folder",
            expected=f"{INDEX} in it, or a hub id like Qwen/Qwen-Image-Edit",
            got="a file" if folder.is_file() else None,
        )
    revision = options.revision
    title = model if revision is None else f"{model}@{revision}"
    return fetch_repository(
        owner,
        model,
        lambda folder: _check(Source(owner, folder, title)),
        context,
        revision=revision,
        otherwise="give a folder with the pipeline's files",
        allow_patterns=[*FILES, *(f"*/{file}" for file in FILES)],
    )


def _check(source: Source) -> PipelineFiles:
    """Components that the index names; raises UserError for one that is missing or unknown."""
    try:
        index = json.loads((source.folder / INDEX).read_text(encoding="utf-8"))
        class_name = index["_class_name"]
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        raise UserError(
            f"{source.owner}: {INDEX} of {source.title}",
            expected="JSON with the name of a class as _class_name",
        ) from None
    # [file, class] is a pipeline with code of its own
    named = {"_class_name": ("diffusers", class_name)}
    for key, value in index.items():
        # what begins with "_" is about the index itself; a part that was left out is [null, null]
        if not key.startswith("_") and isinstance(value, list) and any(value):
            require_beside(
                key, f"{source.owner}: {source.title} names a part elsewhere"
            )
            named[key] = tuple(value)
    for key, part in named.items():
        if not all(isinstance(word, str) for word in part) or class_of(*part) is None:
            raise UserError(
                f"{source.owner}: {source.title} has code of its own, which is not run",
                expected=f"classes of diffusers {diffusers.__version__} and transformers",
                got=f"{key}: {part}",
            )
    del named["_class_name"]
    for config in source.folder.glob(f"*/{CONFIG}"):
        require_plain_config(source.owner, config)
    files = PipelineFiles(source, class_name, named)
    for key in files.networks():
        folder = source.folder / key
        if not weight_files(source, folder) or not (folder / CONFIG).is_file():
            raise UserError(
                f"{source.owner}: {key} of {source.title} lacks its weights or configuration",
                expected=f"{WEIGHTS[0]}.safetensors or {WEIGHTS[1]}.safetensors, and {CONFIG}",
                remedy="Copy or download all of it again; save a pickle (.bin) again with "
                "save_pretrained",
            )
    return files


def weight_files(source: Source, folder: Path) -> list[Path]:
    """The safetensors of a network: one, or the shards that an index names; [] for none."""
    for name in WEIGHTS:
        whole = folder / f"{name}.safetensors"
        index = folder / f"{name}.safetensors.index.json"
        if whole.is_file():
            return [whole]
        if index.is_file():
            shards = shard_files(source.owner, source.title, index)
            return shards if all(shard.is_file() for shard in shards) else []
    return []
