"""Hints for somebody who typed a hub id, a path or a plugin where it cannot stand."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cuescope_core.class_files import names_class_file
from cuescope_core.errors import UserError, nearest
from cuescope_core.registry import Registry
from cuescope_core.spec import Spec

# What takes a hub id or a path as its ARG; those that are not installed are not suggested.
TAKERS = {"model": ("transformers", "open-clip"), "dataset": ("folder",)}
# A file of rows may be any of these; nothing in its name says which.
READERS = {
    "log": "answers of a model",
    "questions": "questions and their right answers",
    "folder": "pictures and their labels",
}
# A network alone: what is shown to it, and what its outputs mean, no file says.
NETWORKS = (".onnx", ".pt", ".pth", ".pkl", ".joblib", ".h5", ".keras", ".tflite")
TABLES = (".csv", ".tsv", ".jsonl", ".json", ".parquet", ".xlsx", ".eval")
USES = {
    "method": "`cuescope audit {} --model SPEC --data SPEC` audits with it",
    "model": "`cuescope audit METHOD --model {} --data SPEC` audits it",
    "dataset": "`cuescope audit METHOD --model SPEC --data {}` audits on it",
    "bench": "`cuescope dev bench {}` runs it",
}


def refuse_bare_argument(kind: str, text: str, registry: Registry) -> None:
    """Raise UserError for a hub id or path that stands where NAME:ARG belongs."""
    name = Spec.parse(text).name
    # what stands in it is told when it is read
    if names_class_file(name):
        return
    names = [entry.name for entry in registry.of_kind(kind)]
    if kind == "model" and name not in names:
        _refuse_network(text)
    path = Path(text).expanduser()
    is_table = path.suffix.lower() in TABLES
    looks_bare = "/" in name or name.startswith((".", "~")) or is_table or path.exists()
    if name in names or not looks_bare or registry.of_dist(kind, name):
        return
    if is_table and kind == "dataset":
        readers = [
            f"{each}:{text} ({READERS[each]})" for each in READERS if each in names
        ]
        if readers:
            raise UserError(
                f"no dataset '{text}' is installed",
                expected="NAME or NAME:ARG",
                remedy=f"Did you mean {', or '.join(readers)}?",
            )
    takers = [taker for taker in TAKERS[kind] if taker in names]
    if "/" in name and kind == "model" and name.startswith(("ViT-", "RN", "convnext")):
        takers.reverse()  # ViT-B-16/openai is how open_clip writes it
    raise UserError(
        f"no {kind} '{text}' is installed",
        expected="NAME or NAME:ARG",
        remedy=f"Did you mean '{takers[0]}:{text}'?"
        if takers
        else "`cuescope plugins` lists names",
    )


def refuse_bare_arguments(given: Mapping[str, object], registry: Registry) -> None:
    """The same for what a caller in Python passes by kind; an object is no name."""
    for kind, text in given.items():
        if isinstance(text, str) and text:
            refuse_bare_argument(kind, text, registry)


def _refuse_network(text: str) -> None:
    """Raise UserError for the file of a network, with or without a name before it."""
    suffix = Path(text).suffix.lower()
    if suffix not in NETWORKS:
        return
    remedy = (
        "From Python: cuescope.audit(..., model=cuescope.Classifier(FUNCTION)), a function from a "
        "list of PIL images to probabilities that runs it"
    )
    if suffix in (".pt", ".pth"):
        file = text.partition(":")[2] or text
        remedy += f". Weights of a CLIP: --model open-clip:ARCHITECTURE -O model.checkpoint={file}"
    raise UserError(
        f"no plugin reads the network '{text}'",
        expected="the SPEC of an installed model",
        remedy=remedy,
    )


def no_such_command(name: str, commands: list[str], registry: Registry) -> UserError:
    """The error that says what to type for an unknown command; a plugin's name is no command."""
    for kind, use in USES.items():
        if any(entry.name == name for entry in registry.of_kind(kind)):
            return UserError(
                f"'{name}' is a {kind}, no command", remedy=use.format(name)
            )
    from cuescope.installing import dists_of, how_to_install

    if dist := dists_of("command").get(name):
        return UserError(f"'{name}' is not installed", remedy=how_to_install(dist))
    return UserError(
        f"No such command '{name}'",
        expected=f"one of {', '.join(commands)}",
        remedy=nearest(name, commands) or "`cuescope --help` says what each does",
    )


def write_method_help(
    formatter: Any,
    name: str,
    registry: Registry,
    common: Sequence[tuple[str, str]],
) -> None:
    """Write the help of `cuescope audit NAME`: the options of the method, and the `common` ones."""
    from cuescope.cli.option_words import default_in_words

    entry = registry.find("method", name)
    plugin = registry.load(entry)
    formatter.write_usage(f"cuescope audit {name}", "[OPTIONS]")
    formatter.write_text(plugin.__doc__ or entry.summary)
    options = []
    for option, field in plugin.Options.model_fields.items():
        default = (
            "..." if field.is_required() else default_in_words(field.get_default())
        )
        # what comes behind is in `plugins info`
        meaning = re.split("[;:(]", field.description or "")[0]
        options.append((f"-O {option}={default}", meaning))
    with formatter.section(f"Options of {name}, with their defaults"):
        formatter.write_dl(options or [("-", "none")])
    with formatter.section("Options of every audit"):
        formatter.write_dl(common)
    formatter.write_text(
        f"`cuescope audit --help` has the others, `cuescope plugins info {name}` says more."
    )
