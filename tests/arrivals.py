"""What arrives by mail: run folders, run files, caches and data, each with a trap inside.

`Bait` is what a trap reaches for: files outside of what arrived, a server, a secret, code. An audit
hook counts every touch of it.
"""

import json
import os
import re
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from shutil import copytree
from typing import Any, ClassVar

from canary import write_canary
from parsed_here import parsed_here

from cuescope_core.digest import digest
from cuescope_core.registry import Entry, Registry
from cuescope_core.trust import risks
from cuescope_core.trust.risks import Risk, risks_of

SECRET = "MY_BANK_SECRET"
PORT = 9  # nobody listens there; a try to connect is a touch
SERVER = f"http://127.0.0.1:{PORT}"
FILLER = "nothing-of-this-name"  # for options without a default
SEALS = ("none", "resealed", "old")


@dataclass
class Bait:
    """What no arrival may reach, and the touches that were seen while `watching`."""

    folder: Path
    touches: list[str] = field(default_factory=list)
    watched: ClassVar["Bait | None"] = None

    @classmethod
    def make(cls, folder: Path) -> "Bait":
        """With a secret file, pictures, a model whose files run code, and a hook that sees all."""
        bait = cls(folder.resolve())
        (folder / "photos" / "cat").mkdir(parents=True)
        (folder / "secret.txt").write_text("secret")
        (folder / "photos" / "cat" / "a.png").write_bytes(b"")
        write_canary(folder / "model", folder / "ran", "llava", "pickle")
        cls._listen()
        return bait

    @classmethod
    @cache
    def _listen(cls) -> None:
        # once: a hook stays until the process ends, and is called for each event of all later tests
        sys.addaudithook(cls._pass_on)

    @classmethod
    def _pass_on(cls, event: str, arguments: tuple[Any, ...]) -> None:
        if cls.watched is not None:
            cls.watched._hear(event, arguments)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("socket.connect", "socket.sendto", "socket.getaddrinfo"):
            self.touches.append(
                f"{event} {arguments[-1] if event == 'socket.connect' else ''}"
            )
        elif event in (
            "subprocess.Popen",
            "os.system",
            "os.exec",
            "os.posix_spawn",
            "webbrowser.open",
        ):
            self.touches.append(f"{event} {arguments[0]}")
        elif event in (
            "open",
            "os.listdir",
            "os.scandir",
            "os.chmod",
            "os.remove",
            "os.rename",
        ):
            self._hear_path(event, arguments[0])

    def _hear_path(self, event: str, path: object) -> None:
        if not isinstance(path, str | bytes | os.PathLike):
            return
        text = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - links are not followed here
        if Path(text).is_relative_to(self.folder):
            self.touches.append(f"{event} {text}")

    @contextmanager
    def watching(self) -> Iterator[list[str]]:
        """The touches while the block runs."""
        self.touches.clear()
        Bait.watched = self
        try:
            # in a child nothing would be seen
            with parsed_here():
                yield self.touches
        finally:
            Bait.watched = None


# ------------------------------------------------------------------------------------------ traps


@dataclass(frozen=True)
class Trap:
    """Options of a plugin that ask for what they may not; `kind` is the risk that they take."""

    entry: Entry
    option: str
    kind: str
    options: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.entry.kind}:{self.entry.name}.{self.option}-{self.kind}"


def traps_of(registry: Registry, kinds: tuple[str, ...], bait: Bait) -> Iterator[Trap]:
    """For each option of each plugin that has a risk, values that take it."""
    for entry in (entry for kind in kinds for entry in registry.of_kind(kind)):
        fields = registry.load(entry).Options.model_fields
        for name, option in fields.items():
            for risk in risks_of(option):
                only_paths = "str" not in str(option.annotation)
                for value in _values(risk, option, bait):
                    if only_paths and "://" in str(value):
                        continue  # as a path it is an odd name in the folder itself
                    whole = _shaped(option.annotation, value)
                    options = {**_required(fields), name: whole}
                    yield Trap(entry, name, type(risk).__name__, options)


def _values(risk: Risk, option: Any, bait: Bait) -> tuple[Any, ...]:
    """What a stranger would write."""
    outside = (str(bait.folder / "secret.txt"), str(bait.folder / "model"))
    match risk:
        case risks.NeedsAllow():
            return _not_harmless(risk, str(option.annotation))
        case risks.NamesFile():
            addresses = (f"{SERVER}/x", f"reference://x.png::{SERVER}/refs.json")
            return (*outside, "../../secret", "/etc", *addresses)
        case _:
            return ()


def _not_harmless(risk: Any, annotation: str) -> tuple[Any, ...]:
    """Guards that are opened, limits that are raised, free fields, and texts."""
    for kind, value in (("bool", True), ("float", 10**9), ("dict", {"tools": ["x"]})):
        if kind in annotation:
            return (value,)
    texts = (
        f"{SERVER}/v1",
        "https://evil.example/v1",
        "https://api.openai.com@evil.example/v1",
        SECRET,
        "GEMINI_API_KEY",
        "(a+)+$",
    )
    return tuple(t for t in texts if not re.fullmatch(risk.harmless or "$", t))


def _shaped(annotation: Any, value: Any) -> Any:
    return (value,) if "tuple" in str(annotation) else value


def _required(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Something for the options that have no default: a name that nothing has."""
    return {name: FILLER for name, option in fields.items() if option.is_required()}


# ----------------------------------------------------------------------------------------- arrivals


def mailed_run(made: Path, folder: Path, trap: Trap | None, seal: str) -> Path:
    """A run folder as a stranger sends it: a copy of one made here, with a trap in its stamps."""
    copytree(made, folder)
    file = folder / "report.json"
    content = json.loads(file.read_text())
    if trap is not None:
        _set_trap(content["provenance"], trap)
    if seal == "none":
        content["seal"] = None
    elif seal == "resealed":
        content["seal"] = digest(
            "cuescope report", {**content, "seal": None, "signature": None}
        )
    file.write_text(json.dumps(content))
    return folder


def _set_trap(provenance: dict[str, Any], trap: Trap) -> None:
    role = {"dataset": "data"}.get(trap.entry.kind, trap.entry.kind)
    stamp = {
        "spec": trap.entry.name,
        "options": json.loads(json.dumps(trap.options, default=str)),
        "dist": trap.entry.dist,
        "version": trap.entry.version,
    }
    if role in ("method", "model", "data"):
        provenance[role] = {**provenance[role], **stamp}
    else:
        provenance["tools"] = {"detector": stamp}
    provenance["command"] = f'cuescope audit x --model y; touch {trap.option} "open'


def run_file(folder: Path, trap: Trap) -> Path:
    """A run file with a trap."""
    use = {
        "use": trap.entry.name,
        "options": json.loads(json.dumps(trap.options, default=str)),
    }
    parts: dict[str, Any] = {
        "methods": ["trove"],
        "models": ["toy"],
        "data": ["moving-shapes"],
    }
    match trap.entry.kind:
        case "method" | "model":
            parts[f"{trap.entry.kind}s"] = [use]
        case "dataset":
            parts["data"] = [use]
        case "tool":
            parts |= {
                "tools": {"detector": use["use"]},
                "tool_options": {"detector": use["options"]},
            }
        case "executor":
            parts["executor"] = f"{use['use']}:{next(iter(use['options'].values()))}"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "run.yaml"
    file.write_text(json.dumps(parts))  # JSON is YAML
    return file


def endless_cache(folder: Path) -> Path:
    """A cache file whose table is a view without an end."""
    folder.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(folder / "responses.sqlite") as connection:
        connection.execute(
            "CREATE VIEW rows AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) "
            "SELECT CAST(i AS TEXT) AS key, x'00' AS value, '' AS seal FROM n"
        )
    return folder / "responses.sqlite"


def mitigated_folder(folder: Path, bait: Bait) -> Path:
    """What says that it was mitigated, with links that lead out."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mitigation.json").write_text(
        '{"mitigator": "coop", "class": "Canary", "learned": {}}'
    )
    (folder / "arrays.npz").symlink_to(bait.folder / "model" / "canary.npz")
    return folder


def data_folder(folder: Path, bait: Bait) -> Path:
    """A folder of data whose table names what lies elsewhere."""
    folder.mkdir(parents=True, exist_ok=True)
    cells = [
        str(bait.folder / "photos/cat/a.png"),
        f"{SERVER}/a.png",
        "../secret.txt",
        "file:///etc/passwd",
    ]
    rows = "".join(f"{cell},cat\n" for cell in cells)
    (folder / "manifest.csv").write_text(f"path,label\n{rows}")
    return folder
