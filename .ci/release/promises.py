"""What the next release must still have: names, options, shapes of files, keys of the cache.

Names are compared by griffe with the last release's tag. `promised.json` lists the rest of what
that release has. A later one may add. Where it takes something away, or changes it, the line of it
in `deprecated.toml` must be two minors old (docs/reference.md).
"""

import io
import json
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import griffe
from packaging.version import Version

from release.answering import last_release

HERE = Path(__file__).parent
PROMISED = HERE / "promised.json"
DEPRECATED = HERE / "deprecated.toml"
MINORS = 2  # that a deprecation is announced for
INPUTS = ("run file", "policy")  # what a person writes: a new field must not be needed
PACKAGES = {"cuescope": "core/app/src", "cuescope_sdk": "sdk/src"}
Promises = dict[str, dict[str, str]]
Announced = Mapping[str, Mapping[str, str]]


# ----------------------------------------------------------------------------------------- names


def broken_names(
    root: Path,
    announced: Announced,
    version: str,
    packages: Mapping[str, str] = PACKAGES,
) -> Iterator[str]:
    """A line for each public name that the last release has and a checkout lacks or has changed."""
    tag = last_release(root, version)
    if tag is None:
        return
    for package, folder in packages.items():
        places: Any = {"search_paths": [folder], "resolve_aliases": True}
        old = griffe.load_git(package, ref=tag, repo=root, **places)
        places["search_paths"] = [root / folder]
        new = griffe.load(package, **places)
        for before, now in _doors(old, new):
            for change in griffe.find_breaking_changes(before, now):
                if not _was_announced(announced.get(_public(change.obj)), version):
                    how = griffe.ExplanationStyle.ONE_LINE
                    yield f"names: {change.explain(how)}"


def _doors(old: Any, new: Any) -> Iterator[tuple[Any, Any]]:
    """The modules whose names are promised: the package, its application, the sdk's rooms."""
    yield old, new
    for name, module in old.modules.items():
        is_door = name == "application" or old.name == "cuescope_sdk"
        if is_door and not name.startswith("_") and name in new.modules:
            yield module, new.modules[name]


def _public(item: Any) -> str:
    """The path of a name without its private modules."""
    parts = item.path.split(".")
    return ".".join(part for part in parts if not part.startswith("_"))


# ------------------------------------------------------------------------------------- the others


def collect() -> Promises:
    """All else that a checkout promises, by what it is: name -> what it holds."""
    return {
        "commands": dict(sorted(command_lines())),
        "files": dict(sorted(file_shapes())),
        "keys": dict(cache_keys()),
        "exit codes": dict(exit_codes()),
    }


def command_lines() -> Iterator[tuple[str, str]]:
    """Each command and each option of the command line, plugins' own included."""
    import typer.main

    from cuescope.cli import app
    from cuescope.cli.tree import commands

    for path, command, context in commands(typer.main.get_command(app)):
        yield path, "command"
        for parameter in command.get_params(context):
            for option in parameter.opts:
                if option.startswith("-"):
                    yield f"{path} {option}", "option"


def file_shapes() -> Iterator[tuple[str, str]]:
    """The fields of reports, run files and other JSON, from the classes that write or read them."""
    from pydantic import TypeAdapter

    from cuescope.matrix import Matrix
    from cuescope_commands.gating._policy import Policy
    from cuescope_core.conclusions import Report
    from cuescope_sdk.choosing import Fit

    classes = {"report": Report, "run file": Matrix, "policy": Policy, "fit": Fit}
    classes |= json_outputs()
    for title, shape in classes.items():
        schema = TypeAdapter(shape).json_schema()
        parts = {title: schema} | schema.get("$defs", {})
        for part, content in parts.items():
            name = title if part == title else f"{title}: {part}"
            for field, value in content.get("properties", {}).items():
                needed = ", needed" if field in content.get("required", ()) else ""
                yield f"{name}.{field}", _kind_of(value) + needed


def json_outputs() -> dict[str, Any]:
    """What commands print with `--json`, reports aside, by the name of its class."""
    import typer.main

    from cuescope.cli import app
    from cuescope.cli.outputs import JsonOutput, LogLine
    from cuescope.cli.printing import models_of
    from cuescope.cli.tree import commands

    models: set[Any] = {LogLine}
    for _, command, _ in commands(typer.main.get_command(app)):
        models.update(models_of(command.callback))
    printed = {}
    for model in models:
        if issubclass(model, JsonOutput):
            printed[f"--json {model.__name__}"] = model
    return printed


def _kind_of(value: Mapping[str, Any]) -> str:
    """The type of a field in one line."""
    if "$ref" in value:
        return str(value["$ref"]).rpartition("/")[2]
    for union in ("anyOf", "oneOf"):
        if union in value:
            return " or ".join(sorted(map(_kind_of, value[union])))
    if "const" in value:
        return json.dumps(value["const"])
    if "enum" in value:
        return " or ".join(sorted(map(json.dumps, value["enum"])))
    kind = str(value.get("type", "anything"))
    items = value.get("items")
    return f"{kind} of {_kind_of(items)}" if isinstance(items, Mapping) else kind


def cache_keys() -> Iterator[tuple[str, str]]:
    """Keys by which answers are found again: another key asks a paid model once more."""
    import numpy as np

    from cuescope_core.conclusions import PluginStamp
    from cuescope_core.digest import digest
    from cuescope_core.engine import identity_of
    from cuescope_core.respond import trial_key
    from cuescope_sdk import Frame, Sample, Trial

    pixels = np.arange(27, dtype=np.uint8).reshape(3, 3, 3)
    frame = Frame.from_array(pixels)
    sample = Sample(key="one", frames=(frame,), question="why?", choices=("a", "b"))
    stamp = PluginStamp(
        spec="m", options={}, dist="d", version="0.1.0", fingerprint="f"
    )
    kept = stamp.model_copy(update={"answers_version": 1})
    yield "model", identity_of(stamp, "float32")
    yield "model that keeps its answers", identity_of(kept, "float32")
    yield "digest", digest("text", 1, 1.5, None, True, {"b": 2, "a": (3,)}, pixels)
    yield "frame", frame.key
    yield "trial", trial_key("model", Trial(sample=sample))


def exit_codes() -> Iterator[tuple[str, str]]:
    """What pipelines read."""
    from cuescope.cli import STOPPED, main
    from cuescope_commands.gating._gate import FAILED, UNDECIDED

    for title, word in (("done", "--version"), ("can be mended", "no-such-command")):
        silent = io.StringIO()
        with redirect_stdout(silent), redirect_stderr(silent):
            try:
                main([word])
            except SystemExit as ended:
                yield title, str(ended.code)
    yield "gate: a rule fails", str(FAILED)
    yield "gate: undecided", str(UNDECIDED)
    yield "stopped", str(STOPPED)


# -------------------------------------------------------------------------------------- compared


def broken(
    old: Promises,
    new: Promises,
    announced: Announced,
    version: str,
) -> Iterator[str]:
    """A line for each promise of the last release that the next one does not keep."""
    for kind, lines in old.items():
        for name, before in lines.items():
            now = new[kind].get(name)
            if now == before or _was_announced(announced.get(name), version):
                continue
            change = "is gone" if now is None else f"was {before}, is {now}"
            yield f"{kind}: {name} {change}"
    for name, kind in new["files"].items():
        is_needed_now = name not in old["files"] and kind.endswith(", needed")
        if is_needed_now and name.startswith(INPUTS):
            yield f"files: {name} is new and needed, so files of the last release are refused"


def _was_announced(deprecation: Mapping[str, str] | None, version: str) -> bool:
    """Whether users were told two minors ago, and what to use in its place."""
    if deprecation is None:
        return False
    since = Version(deprecation["since"])
    now = Version(version)
    return now.major > since.major or now.minor >= since.minor + MINORS


def read_promised() -> Promises:
    """What the last release promised."""
    promised: Promises = json.loads(PROMISED.read_text("utf-8"))
    return promised


def read_announced() -> dict[str, dict[str, str]]:
    """Deprecations: name -> the version that announced it, and what to use in its place."""
    return tomllib.loads(DEPRECATED.read_text("utf-8"))


def write_promised() -> None:
    """Take what a checkout has as what is promised from now on: after a release."""
    PROMISED.write_text(json.dumps(collect(), indent=0) + "\n", "utf-8")
