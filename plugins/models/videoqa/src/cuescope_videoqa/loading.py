"""The files that a model is given, checked and digested; nothing here imports torch."""

import json
import re
from collections.abc import Collection, Iterable
from hashlib import file_digest
from pathlib import Path
from textwrap import shorten
from typing import Any

from cuescope_sdk import UserError, digest
from cuescope_sdk.models import require_hub, require_own_files

TOKENIZERS = ("tokenizer.json", "vocab.txt", "spm.model")
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")


def files_digest(files: Iterable[Path]) -> str:
    """Digest of names and bytes, read a piece at a time."""
    parts = []
    for file in files:
        with file.open("rb") as stream:  # checkpoints are larger than memory may be
            checksum = file_digest(stream, "blake2b").hexdigest()
        parts.append((file.name, checksum))
    return digest(parts)


def require_file(owner: str, path: Path) -> Path:
    """The path of a checkpoint; raises UserError where there is none."""
    file = path.expanduser()
    if not file.is_file():
        raise UserError(
            f"{owner}: no file {path}", expected="a checkpoint of the authors'"
        )
    return file


def find_folder(owner: str, name: str, weights: bool = False) -> Path:
    """A folder, or the files of a hub id; raises UserError where neither is to be had."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        require_own_files(owner, folder)
        return folder
    if name.startswith((".", "/", "~")) or not HUB_ID.fullmatch(name):
        raise UserError(
            f"{owner}: no folder {name}", expected="a model's folder, or a hub id"
        )
    import huggingface_hub

    cached = huggingface_hub.try_to_load_from_cache(name, "config.json")
    # the hub's client has a third answer, an object: known not to exist
    if isinstance(cached, str):
        return Path(cached).parent
    remedy = "Connect, or name a folder with its files: -O model.text_encoder, -O model.vision."
    require_hub(owner, name, remedy)
    patterns = ["*.json", *TOKENIZERS]
    if weights:
        patterns.extend(WEIGHTS)
    try:
        return Path(huggingface_hub.snapshot_download(name, allow_patterns=patterns))
    except Exception as error:  # the client raises the errors of three libraries
        raise UserError(
            f"{owner}: {name} could not be downloaded",
            got=f"{type(error).__name__} ({shorten(str(error), 120)})",
            remedy="Check name and network, or give a folder with its files.",
        ) from error


def weights_file(folder: Path) -> Path | None:
    """The weights of a folder; None where it holds none."""
    for name in WEIGHTS:
        file = folder / name
        if file.is_file():
            return file
    return None


def folder_files(folder: Path, weights: bool = False) -> list[Path]:
    """The files of a folder that answers depend on: configurations, words, perhaps weights."""
    files = set(folder.glob("*.json"))
    files.update(folder / name for name in TOKENIZERS)
    if weights and (file := weights_file(folder)):
        files.add(file)
    # sorted: a folder has no order of its own, and the digest has one
    return sorted(file for file in files if file.is_file())


def feature_files(owner: str, path: Path) -> list[Path]:
    """The file of features, or those of a folder; raises UserError where there are none."""
    path = path.expanduser()
    files = sorted(path.glob("*.npy")) if path.is_dir() else [path]
    if not files or not files[0].exists():
        raise UserError(
            f"{owner}: no features in {path}",
            expected="a .pth file of {video id: tensor}, or a folder of ID.npy",
            remedy="The README says where the authors publish them.",
        )
    return files


def read_answers(owner: str, path: Path | None) -> tuple[str, ...]:
    """Answers in the order of their numbers, from the authors' JSON; () without a file.

    The file maps each answer to its number from 0, or lists the answers. Raises UserError.
    """
    if path is None:
        return ()
    try:
        content = json.loads(path.expanduser().read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(
            f"{owner}: answers {path.name} cannot be read",
            expected="a JSON file",
            got=f"{type(error).__name__}",
        ) from error
    if isinstance(content, list):
        content = {answer: number for number, answer in enumerate(content)}
    # A gap or a repeated number would move every later answer to another class.
    numbered = isinstance(content, dict) and _is_numbered(content.values())
    if not content or not numbered:
        got = f"a {type(content).__name__}"
        if isinstance(content, dict):
            got = f"{len(content)} entries, numbered otherwise"
        raise UserError(
            f"{owner}: answers {path.name}",
            expected='{"answer": number} with the numbers 0, 1, 2 ..., or a list of answers',
            got=got,
        )
    return tuple(sorted(map(str, content), key=lambda answer: int(content[answer])))


def _is_numbered(numbers: Collection[object]) -> bool:
    """Whether they are 0, 1, 2 ..., in any order."""
    # as text: files have 0 or "0", and True must not pass for 1
    return sorted(map(str, numbers)) == sorted(map(str, range(len(numbers))))


def read_tokenizer(owner: str, folder: Path) -> Any:
    """The tokenizer of a folder; raises UserError where there is none."""
    import transformers

    from cuescope_sdk.torch import Source

    if not any((folder / name).is_file() for name in TOKENIZERS):
        raise UserError(
            f"{owner}: no tokenizer in {folder.name}",
            expected=f"one of {', '.join(TOKENIZERS)}",
            remedy="Save it there with save_pretrained.",
        )
    source = Source(owner, folder, folder.name)
    return source.read("tokenizer", transformers.AutoTokenizer)
