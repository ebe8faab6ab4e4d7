"""Build every dist as a wheel, install each alone, and import what its entry points name.

    uv run --no-project .ci/wheels.py [DIST ...]

A dist that imports what it does not declare works in the workspace, where everything is installed,
and fails for whoever installs it by itself. Each one gets an environment of its own here, with its
declared dependencies and nothing else.
"""

import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
UV = shutil.which("uv") or str(ROOT / ".uv" / "bin" / "uv")
IMPORT = """
import sys
from importlib.metadata import distribution
from cuescope.registry import Registry
registry = Registry()
entries = [entry for entry in registry.entries if entry.dist == sys.argv[1]]
problems = {f"{e.kind} {e.name}": p.reason for e in entries if (p := registry.check(e))}
print(len(entries), "entries", problems or "ok")
sys.exit(bool(problems))
"""


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """A command, with its output kept."""
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)


def write_constraints(wheels: Path) -> None:
    """Tie each name to its wheel: an index may have packages of these names, which are not ours."""
    lines = []
    for wheel in sorted(wheels.glob("*.whl")):
        name = wheel.name.partition("-")[0].replace("_", "-")
        lines.append(f"{name} @ {wheel.as_uri()}\n")
    (wheels / "constraints.txt").write_text("".join(lines))


def check(dist: str, wheels: Path, folder: Path) -> str | None:
    """Install the wheel into a new environment and load its plugins; the fault, or None."""
    python = folder / dist / "bin" / "python"
    constraints = wheels / "constraints.txt"
    install = (
        UV,
        "pip",
        "install",
        "--quiet",
        "--python",
        str(python),
        "-c",
        str(constraints),
    )
    steps = [
        (UV, "venv", "--quiet", "--python", sys.executable, str(folder / dist)),
        (*install, dist),
        (str(python), "-c", IMPORT, dist),
    ]
    for step in steps:
        done = run(*step)
        if done.returncode:
            return (done.stdout + done.stderr).strip()
    print(f"{dist}: {done.stdout.strip()}", flush=True)
    return None


def main() -> int:
    """Check all dists or those named; 1 where one is broken."""
    folders = [ROOT / "core", ROOT / "sdk", *sorted(ROOT.glob("plugins/*/*"))]
    files = [
        folder / "pyproject.toml"
        for folder in folders
        if (folder / "pyproject.toml").exists()
    ]
    dists = [tomllib.loads(file.read_text())["project"]["name"] for file in files]
    faults = {}
    with tempfile.TemporaryDirectory() as place:
        wheels = Path(place, "wheels")
        built = run(
            UV,
            "build",
            "--all-packages",
            "--wheel",
            "--quiet",
            "--out-dir",
            str(wheels),
        )
        if built.returncode:
            print(built.stderr)
            return 1
        write_constraints(wheels)
        for dist in sys.argv[1:] or dists:
            if fault := check(dist, wheels, Path(place)):
                faults[dist] = fault
                print(f"{dist}: BROKEN\n{fault}", flush=True)
            shutil.rmtree(Path(place, dist), ignore_errors=True)
    print(
        f"{len(sys.argv[1:] or dists) - len(faults)} wheels work alone, {len(faults)} do not"
    )
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
