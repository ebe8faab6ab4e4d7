"""What a user does with installed packages: the README's first audit, and a plugin of yesterday."""

import re
import shlex
import shutil
import textwrap
import time
import tomllib
from pathlib import Path

import typer
from packaging.requirements import Requirement

from release import ReleaseError
from release.building import run
from release.dists import Dist
from release.machine import Machine

OLDER = Path(__file__).with_name("older")  # a plugin as its author left it
OLDER_NEEDS = ("cuescope", "cuescope-toy", "cuescope-moving-shapes")  # what audits it
# what a line has that asks a user to install something
REMEDY = re.compile(r"pip install|plugins install|make wheels|brings it")
# its answer is what else could be installed, and how
TELLS_WHAT_IS_MISSING = "cuescope methods"

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
# in the README; these weights would have to be fetched
SPEC = "open-clip:ViT-B-16/openai"
STAND_IN = "open-clip:ViT-S-32-alt -O model.checkpoint=weights.safetensors"
# What the README's lines of Python take as given.
HELD = """
from pathlib import Path
import open_clip
from PIL import Image
NAME = "ViT-S-32-alt"
model, _, preprocess = open_clip.create_model_and_transforms(NAME, pretrained="weights.safetensors")
model.eval()
tokenizer = open_clip.get_tokenizer(NAME)
files = sorted(Path("clips").glob("*/*.png"))
images = [Image.open(file).convert("RGB") for file in files]
labels = [file.parent.name for file in files]
"""
HELD_SPEC = 'model="open-clip:ViT-S-32-alt", model_options={"checkpoint": "weights.safetensors"}'
SECTION = "Your own model and data"


def readme_section(root: Path) -> str:
    """Part of the README about a first audit."""
    text = (root / "README.md").read_text("utf-8")
    sections = dict(re.findall(r"(?ms)^## ([^\n]+)\n(.*?)(?=^## |\Z)", text))
    return str(sections[SECTION])


def readme_commands(root: Path) -> list[str]:
    """The commands of the README for a first audit, those that open a window left out."""
    lines = [
        line.partition(" # ")[0].strip()
        for line in readme_section(root).splitlines()
        if line.startswith("    cuescope ")
    ]
    if not lines:
        raise ReleaseError("README.md has no commands for a first audit")
    return [line for line in lines if not line.startswith("cuescope open")]


def readme_python(root: Path) -> str:
    """The README's lines of Python for a first audit."""
    [block] = re.findall(
        r"(?m)^    import cuescope\n(?:(?:    .*)?\n)+", readme_section(root)
    )
    return textwrap.dedent(block)


def use(machine: Machine, root: Path) -> str:
    """Do what the README says beside `cuescope-start` alone; raises for a remedy."""
    folder = machine.place / "first audit"
    folder.mkdir()
    program = machine.python.with_name("cuescope")
    cache = str(folder / "cache")
    run(machine.python, "-c", DRAW, at=folder)

    def step(line: str, *words: str | Path) -> None:
        started = time.monotonic()
        told = run(*words, at=folder, CUESCOPE_CACHE=cache, HF_HUB_OFFLINE="1")
        may_ask = line.startswith(TELLS_WHAT_IS_MISSING)
        if (remedy := REMEDY.search(told)) and not may_ask:
            raise ReleaseError(f"{line!r} asks to install something: {remedy[0]}")
        typer.echo(f"  {line}: done in {time.monotonic() - started:.0f} s")

    commands = ["cuescope demo", *readme_commands(root)]
    for line in commands:
        _, *words = shlex.split(line.replace(SPEC, STAND_IN))
        step(line, program, *words)
    lines = readme_python(root).replace(f'model="{SPEC}"', HELD_SPEC)
    step("the lines of Python", machine.python, "-c", HELD + lines)
    shutil.rmtree(folder)
    return f"{len(commands)} commands and the lines of Python, no remedy"


def use_older(machine: Machine, dists: dict[str, Dist], python: str) -> str:
    """A plugin that was built against an older sdk: it audits, or is refused in one line."""
    wheels = machine.place / "older"
    run(machine.uv, "build", "--quiet", "--wheel", "--out-dir", wheels, OLDER, at=OLDER)
    [wheel] = wheels.glob("*.whl")
    project = tomllib.loads((OLDER / "pyproject.toml").read_text("utf-8"))["project"]
    needs = Requirement(project["dependencies"][0])
    sdk = dists["cuescope-sdk"].project["version"]
    toys = [f"{name}=={sdk}" for name in OLDER_NEEDS]
    machine.create(python)
    machine.install(toys, "highest")
    machine.pip("install", "--no-deps", wheel)
    program = machine.python.with_name("cuescope")
    if sdk not in needs.specifier:
        told = run(program, "plugins", at=wheels)
        expected = f"needs {needs.name}{needs.specifier}, installed is {sdk}"
        is_told = expected in told
        return (
            "refused in one line" if is_told else f"BROKEN: no line says {expected!r}"
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
