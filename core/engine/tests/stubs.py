"""Stub distributions on disk, as pip leaves them: a dist-info folder and modules."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

RUN_MAIN = "from cuescope.cli import main; main()"


def write_dist(
    folder: Path,
    name: str,
    points: Mapping[str, Mapping[str, str]],
    modules: Mapping[str, str] | None = None,
    *,
    version: str = "1.0",
    requires: tuple[str, ...] = (),
) -> None:
    """Install a stub: `points` by group, then name; `modules` by module name."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    lines = [f"Name: {name}", f"Version: {version}", f"Summary: the stub {name}"]
    lines += [f"Requires-Dist: {requirement}" for requirement in requires]
    (info / "METADATA").write_text("\n".join(["Metadata-Version: 2.1", *lines, ""]))
    written = [
        "\n".join(
            [f"[{group}]", *[f"{key} = {target}" for key, target in named.items()]]
        )
        for group, named in points.items()
    ]
    (info / "entry_points.txt").write_text("\n".join([*written, ""]))
    for module, source in (modules or {}).items():
        (folder / f"{module}.py").write_text(source)
    files = [f"{module}.py,," for module in modules or {}] + [f"{info.name}/METADATA,,"]
    (info / "RECORD").write_text("\n".join([*files, ""]))


def environment(*folders: Path, **variables: str) -> dict[str, str]:
    """A process environment that sees the stubs, and no terminal's width or colours."""
    hidden = {"COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "TERM", "PYTHONPATH"}
    kept = {key: value for key, value in os.environ.items() if key not in hidden}
    return kept | {"PYTHONPATH": os.pathsep.join(map(str, folders)), **variables}


def cuescope(
    *words: str | Path, env: dict[str, str], cwd: Path, code: str = RUN_MAIN
) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own."""
    command = [sys.executable, "-c", code, *map(str, words)]
    return subprocess.run(
        command,
        env=env,
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
