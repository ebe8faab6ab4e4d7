"""What the next release must still have: names, options, shapes of files, keys of the cache.

`promised.json` lists what the last release has. A later one may add. Where it takes something away,
or changes it, the line of it in `deprecated.toml` must be two minors old (docs/stability.md).
"""

import io
import json
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any

import griffe
from packaging.version import Version

HERE = Path(__file__).parent
PROMISED = HERE / "promised.json"
DEPRECATED = HERE / "deprecated.toml"
MINORS = 2  # that a deprecation is announced for
INPUTS = ("run file", "policy")  # what a person writes: a new field must not be needed
Promises = dict[str, dict[str, str]]


# ------------------------------------------------------------------------------------- collected


def collect(root: Path) -> Promises:
    """All that a checkout promises, by what it is: name -> how it is called or what it holds."""
    return {
        "names": dict(sorted(public_names(root))),
        "commands": dict(sorted(command_lines())),
        "files": dict(sorted(file_shapes())),
        "keys": dict(cache_keys()),
        "exit codes": dict(exit_codes()),
    }


def public_names(root: Path) -> Iterator[tuple[str, str]]:
    """What the doors of core and sdk export, without importing them: torch takes seconds."""
    loader = griffe.GriffeLoader(search_paths=[root / "core/src", root / "sdk/src"])
    core: Any = loader.load("cuescope")
    sdk: Any = loader.load("cuescope_sdk")
    loader.resolve_aliases(implicit=False)
    yield from _python_door(core)
    for door in (core["application"], sdk, *sdk.modules.values()):
        if not door.name.startswith("_"):
            for name in door.exports or ():
                # what a door exports and nobody has any more is gone, and is told as that
                with suppress(KeyError, griffe.AliasResolutionError):
                    yield from _members(f"{door.path}.{name}", door[str(name)])


def _python_door(core: Any) -> Iterator[tuple[str, str]]:
    """`cuescope` opens its names when they are asked for; its table says where they are."""
    for pair in zip(core["_DOOR"].value.keys, core["_DOOR"].value.values, strict=True):
        name, module = (text.strip("'\"") for text in pair)
        target = core[module.removeprefix("cuescope.")][name]
        yield from _members(f"cuescope.{name}", target)


def _members(path: str, item: Any) -> Iterator[tuple[str, str]]:
    """A name with how it is called, and the public members of a class."""
    item = item.final_target if item.is_alias else item
    if item.is_function:
        yield path, _signature(item)
    elif item.is_class:
        yield path, _signature(item) if item.parameters else "class"
        for name, member in item.all_members.items():
            if not name.startswith("_") and not member.is_module:
                yield from _members(f"{path}.{name}", member)
    else:
        yield path, "value"


def _signature(function: Any) -> str:
    """Parameters without types: `(scores, positive, strata=, *, seed=)`."""
    words: list[str] = []
    for parameter in function.parameters:
        kind = parameter.kind.value
        if kind == "keyword-only" and not {"*", "*args"} & set(words):
            words.append("*")
        prefix = {"variadic positional": "*", "variadic keyword": "**"}.get(kind, "")
        # griffe says "()" or "{}" of what a caller leaves out of *args and **kwargs
        default = "" if prefix or parameter.default is None else "="
        words.append("*args" if prefix == "*" else f"{prefix}{parameter.name}{default}")
    return f"({', '.join(words)})"


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

    from cuescope.conclusions import Report
    from cuescope.matrix import Matrix
    from cuescope_commands.gating._policy import Policy
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

    from cuescope.conclusions import PluginStamp
    from cuescope.digest import digest
    from cuescope.engine import identity_of
    from cuescope.respond import trial_key
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
    from cuescope_commands.gating import FAILED, UNDECIDED

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
    announced: Mapping[str, Mapping[str, str]],
    version: str,
) -> Iterator[str]:
    """A line for each promise of the last release that the next one does not keep."""
    for kind, lines in old.items():
        for name, before in lines.items():
            now = new[kind].get(name)
            if _is_kept(kind, before, now) or _was_announced(
                announced.get(name), version
            ):
                continue
            change = "is gone" if now is None else f"was {before}, is {now}"
            yield f"{kind}: {name} {change}"
    for name, kind in new["files"].items():
        is_needed_now = name not in old["files"] and kind.endswith(", needed")
        if is_needed_now and name.startswith(INPUTS):
            yield f"files: {name} is new and needed, so files of the last release are refused"


def _is_kept(kind: str, before: str, now: str | None) -> bool:
    if now is None or kind != "names" or not before.startswith("("):
        return now == before
    return now.startswith("(") and _takes_what_it_took(before, now)


def _takes_what_it_took(before: str, now: str) -> bool:
    """Whether each call that was right still is: new parameters stand last and have defaults."""
    old = _parameters(before)
    new = _parameters(now)
    positional = [name for name, (by_name, _) in old.items() if not by_name]
    still = [name for name, (by_name, _) in new.items() if not by_name]
    if still[: len(positional)] != positional:
        return False
    for name, (_, may_be_left_out) in old.items():
        if name not in new or (may_be_left_out and not new[name][1]):
            return False
    return all(left_out for name, (_, left_out) in new.items() if name not in old)


def _parameters(signature: str) -> dict[str, tuple[bool, bool]]:
    """Name -> whether it is taken by name alone, and whether it may be left out."""
    parameters: dict[str, tuple[bool, bool]] = {}
    by_name = False
    for word in filter(None, signature.strip("()").split(", ")):
        is_rest = word.startswith("*")
        by_name = by_name or is_rest
        if word != "*":
            parameters[word.rstrip("=")] = (by_name, is_rest or word.endswith("="))
    return parameters


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


def write_promised(root: Path) -> None:
    """Take what a checkout has as what is promised from now on: after a release."""
    PROMISED.write_text(json.dumps(collect(root), indent=0) + "\n", "utf-8")
