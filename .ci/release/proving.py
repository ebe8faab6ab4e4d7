"""Every package from a local index into empty environments: alone, oldest and newest, and used."""

import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlopen

import typer
from packaging.requirements import Requirement

from release.building import ReleaseError, find_uv, run
from release.dists import Dist, is_ours, read_dists

LOCAL = "127.0.0.1"
STARTS_IN = 30.0  # seconds
START = "cuescope-start"
OLDER = Path(__file__).with_name("older")  # a plugin as its author left it
OLDER_PLUGIN = "older"  # as --only names it
# what a line has that asks a user to install something
REMEDY = re.compile(r"pip install|plugins install|make wheels|brings it")
NO_WHEELS = re.compile(
    r"no wheels|no usable wheels|no `[^`]+`-compatible wheels|Building from source"
)
CHECK = """
import sys
from importlib.metadata import version
import cuescope.application
from cuescope.registry import Registry
registry = Registry()
entries = registry.entries
problems = {f"{e.kind} {e.name}": p.reason for e in entries if (p := registry.check(e))}
problems |= {name: fault.reason for name, fault in registry.damaged.items()}
print(version(sys.argv[1]), len(entries), "plugins", problems or "ok")
sys.exit(bool(problems))
"""


@dataclass(frozen=True)
class Machine:
    """Where environments are made: uv, the index, the folder of all that is thrown away."""

    uv: str
    index: str
    place: Path

    def create(self, python: str) -> Path:
        """An empty environment; the path of its Python."""
        folder = self.place / "environment"
        shutil.rmtree(folder, ignore_errors=True)
        run(self.uv, "venv", "--quiet", "--python", python, folder, at=self.place)
        return folder / "bin" / "python"

    def install(self, python: Path, lines: Sequence[str], resolution: str) -> None:
        """Install requirements; ours come from the local index, which is asked first."""
        needs = self.place / "requirements.txt"
        needs.write_text("\n".join(lines) + "\n", "utf-8")
        run(
            self.uv,
            "pip",
            "install",
            "--quiet",
            "--python",
            python,
            "--index",
            self.index,
            "--resolution",
            resolution,
            "--no-build",
            "-r",
            needs,
            at=self.place,
        )


def prove(
    root: Path,
    files: Path,
    only: Sequence[str],
    pythons: Sequence[str],
    resolutions: Sequence[str],
) -> None:
    """Print a line for each package, Python and resolution; raise ReleaseError where one fails."""
    dists = {dist.name: dist for dist in read_dists(root)}
    names = [name for name in only or dists if name != OLDER_PLUGIN]
    faults: list[str] = []
    with TemporaryDirectory() as place, local_index(files) as index:
        machine = Machine(find_uv(root), index, Path(place))
        for version in pythons:
            python = find_python(machine.uv, version)
            if python is None:
                typer.echo(f"python {version}: not on this machine, left out")
                continue
            for resolution in resolutions:
                for name in names:
                    outcome = try_alone(machine, dists, name, python, resolution)
                    typer.echo(f"{name} python {version} {resolution}: {outcome}")
                    if outcome.startswith("BROKEN"):
                        faults.append(name)
                        continue
                    if name == START and resolution == "highest":
                        use(machine, root)
    if faults:
        raise ReleaseError(
            f"{len(faults)} proofs failed: {', '.join(dict.fromkeys(faults))}"
        )


@contextmanager
def local_index(files: Path) -> Iterator[str]:
    """The address of an index of the built files on this machine; it hands nothing on."""
    if not any(files.glob("*.whl")):
        raise ReleaseError(f"{files} has no wheels: `make release` builds them")
    with socket.socket() as probe:
        probe.bind((LOCAL, 0))
        port = probe.getsockname()[1]
    words = ["run", "-i", LOCAL, "-p", str(port), "--disable-fallback", str(files)]
    server = subprocess.Popen(
        [sys.executable, "-m", "pypiserver", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://{LOCAL}:{port}/simple/"
    try:
        _wait_for(address)
        yield address
    finally:
        server.terminate()
        server.wait()


def _wait_for(address: str) -> None:
    ends = time.monotonic() + STARTS_IN
    while True:
        try:
            with urlopen(address):
                return
        except OSError as error:
            if time.monotonic() > ends:
                raise ReleaseError(
                    f"the local index does not start: {error}"
                ) from error
            time.sleep(0.1)


def find_python(uv: str, version: str) -> str | None:
    """The interpreter of a version on this machine, None where it has none."""
    words = [uv, "python", "find", "--system", "--no-python-downloads", version]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


# ------------------------------------------------------------------------------------------ alone


def try_alone(
    machine: Machine,
    dists: dict[str, Dist],
    name: str,
    python: str,
    resolution: str,
) -> str:
    """Install a package with what it declares and nothing else, and load its plugins."""
    is_lowest = resolution.startswith("lowest")
    lines = (
        declared(dists, [name])
        if is_lowest
        else [f"{name}=={dists[name].project['version']}"]
    )
    try:
        environment = machine.create(python)
        machine.install(environment, lines, resolution)
    except ReleaseError as error:
        return (
            f"no wheels: {error}"
            if NO_WHEELS.search(str(error))
            else f"BROKEN: {error}"
        )
    try:
        return run(environment, "-c", CHECK, name, at=machine.place).strip()
    except ReleaseError as error:
        return f"BROKEN: {error}"


def declared(dists: dict[str, Dist], wanted: Sequence[str]) -> list[str]:
    """All that packages declare, and those of ours that they need, as direct requirements.

    uv takes the lowest version of what is direct. Of what others need it takes the highest: their
    lower bounds are not ours to prove.
    """
    waiting = [Requirement(line) for line in wanted]
    lines: dict[str, None] = {}
    seen: set[str] = set()
    while waiting:
        requirement = waiting.pop()
        if str(requirement) in seen:
            continue
        seen.add(str(requirement))
        if not is_ours(requirement.name):
            lines[str(requirement)] = None
            continue
        project = dists[requirement.name].project
        lines[f"{requirement.name}=={project['version']}"] = None
        extras = project.get("optional-dependencies", {})
        waiting += map(Requirement, project.get("dependencies", []))
        for extra in requirement.extras:
            waiting += map(Requirement, extras[extra])
    return list(lines)


# ------------------------------------------------------------------------------------------- used

# Photos of three classes, and a CLIP with weights drawn by chance: nothing is fetched.
DRAW = """
import sys
from pathlib import Path
import numpy, open_clip, torch
from PIL import Image
from safetensors.torch import save_file
rng = numpy.random.default_rng(0)
for label, colour in {"apple": (200, 40, 40), "boat": (40, 60, 200), "cow": (120, 80, 50)}.items():
    folder = Path("clips", label)
    folder.mkdir(parents=True)
    for number in range(40):
        pixels = rng.integers(0, 255, (64, 64, 3), dtype="uint8")
        pixels[16:48, 16:48] = colour
        Image.fromarray(pixels).save(folder / f"{number}.png")
torch.manual_seed(0)
save_file(open_clip.create_model("ViT-S-32-alt").state_dict(), "weights.safetensors")
"""
STAND_IN = "open-clip:ViT-S-32-alt -M checkpoint=weights.safetensors"
SECTIONS = ("Audit your own model", "Which method for my model and data?")


def readme_commands(root: Path) -> list[str]:
    """The commands of the README for a first audit, those that open a window left out."""
    text = (root / "README.md").read_text("utf-8")
    sections = dict(re.findall(r"(?ms)^## ([^\n]+)\n(.*?)(?=^## |\Z)", text))
    lines = [
        line.partition(" # ")[0].strip()
        for title in SECTIONS
        for line in sections[title].splitlines()
        if line.startswith("    cuescope ")
    ]
    if not lines:
        raise ReleaseError("README.md has no commands for a first audit")
    return [line for line in lines if not line.startswith("cuescope open")]


def use(machine: Machine, root: Path) -> None:
    """Run the commands of the README beside `cuescope-start` alone; raises for a remedy."""
    folder = machine.place / "first audit"
    folder.mkdir()
    bin_folder = machine.place / "environment" / "bin"
    cache = str(folder / "cache")
    run(bin_folder / "python", "-c", DRAW, at=folder)
    for line in ("cuescope demo", *readme_commands(root)):
        words = shlex.split(line.replace("open-clip:ViT-B-16/openai", STAND_IN))
        started = time.monotonic()
        words[0] = str(bin_folder / words[0])
        told = run(*words, at=folder, CUESCOPE_CACHE=cache, HF_HUB_OFFLINE="1")
        if remedy := REMEDY.search(told):
            raise ReleaseError(f"{line!r} asks to install something: {remedy[0]}")
        typer.echo(f"  {line}: done in {time.monotonic() - started:.0f} s, no remedy")
    shutil.rmtree(folder)


def use_older(machine: Machine, dists: dict[str, Dist], python: str) -> str:
    """A plugin that was built against an older sdk: it audits, or is refused in one line."""
    wheels = machine.place / "older"
    run(machine.uv, "build", "--quiet", "--wheel", "--out-dir", wheels, OLDER, at=OLDER)
    [wheel] = wheels.glob("*.whl")
    sdk = dists["cuescope-sdk"].project["version"]
    needs = Requirement(
        tomllib.loads((OLDER / "pyproject.toml").read_text())["project"][
            "dependencies"
        ][0]
    )
    environment = machine.create(python)
    toys = [f"{name}=={sdk}" for name in ("cuescope-toy", "cuescope-moving-shapes")]
    machine.install(environment, toys, "highest")
    run(
        machine.uv,
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--python",
        environment,
        wheel,
        at=wheels,
    )
    program = environment.with_name("cuescope")
    if sdk not in needs.specifier:
        told = run(program, "plugins", at=wheels)
        expected = f"needs {needs.name}{needs.specifier}, installed is {sdk}"
        return (
            "refused in one line"
            if expected in told
            else f"BROKEN: no line says {expected!r}"
        )
    words = [
        "audit",
        "older",
        "--model",
        "toy",
        "--data",
        "moving-shapes",
        "--limit",
        "200",
    ]
    run(program, *words, at=wheels, CUESCOPE_CACHE=str(wheels / "cache"))
    return f"audits with cuescope-sdk {sdk}"
