"""From a kind and a name to the files of a plugin package."""

import re
from dataclasses import asdict, dataclass
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from keyword import iskeyword
from pathlib import Path
from string import Template

from cuescope.registry import Registry
from cuescope_sdk import UserError, nearest

GROUPS = {"method": "methods", "model": "models", "dataset": "datasets", "tool": "tools"}
SUMMARIES = {
    "method": "Finds parts of the picture that mislead a model",
    "model": "Answers by the colours of a clip",
    "dataset": "White squares on the left or right, with a red border as cue",
    "tool": "Finds colours by name",
}
COMMANDS = {
    "method": "cuescope audit {name} --model MODEL --data DATA",
    "model": "cuescope audit METHOD --model {name} --data DATA",
    "dataset": "cuescope audit METHOD --model MODEL --data {name}",
    "tool": "cuescope audit METHOD --model MODEL --data DATA --tool detector={name}",
}
# What each template imports beside the sdk, so that its pyproject declares it.
NUMPY, PILLOW, PYDANTIC = "numpy>=1.26", "pillow>=10.4", "pydantic>=2.10"
DEPENDENCIES = {
    "method": (NUMPY, PILLOW, PYDANTIC),
    "model": (NUMPY, PYDANTIC),
    "dataset": (NUMPY, PYDANTIC),
    "tool": (NUMPY, PYDANTIC),
}
SINGLE_FILE = "The plugin is one file, `src/{module}/__init__.py`."
FLOOR_PLAN = """Every method of cuescope has the same floor plan:

| file of `src/{module}` | has |
|---|---|
| `__init__.py` | the class, its metrics, the four hooks; imports nothing heavy |
| `options.py` | the options, each with a default and a description |
| `trials.py` | what the model is shown and asked |
| `scores.py` | what is worked out of its answers |
| `report.py` | the rows and sentences of the report |
| `verify.py` | checks of the findings |

Add `figures.py` for pictures, `bench.py` for a table of a paper and `paper.py` for its figures."""
KEBAB = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
RESERVED = ("sdk", "workspace")
# what the templates import, besides `cuescope_sdk as sdk`, and what their tests do
IMPORTED = (
    "Image",
    "Field",
    "PositiveInt",
    "Iterator",
    "Sequence",
    "Frame",
    "Sample",
    "TestContract",
    "MethodContract",
    "ModelContract",
    "DatasetContract",
    "ToolContract",
)


@dataclass(frozen=True)
class Names:
    """What the templates are filled in with."""

    name: str
    kind: str
    title: str
    cls: str
    module: str
    dist: str
    group: str
    summary: str
    command: str
    dependencies: str
    layout: str


def write(kind: str, name: str, folder: Path, *, single_file: bool = False) -> Path:
    """Write the package below `folder`; its path. Raises UserError, and then nothing is written.

    A method has the floor plan of all methods, or with `single_file` one short file, as the other
    kinds always have.
    """
    names = names_of(kind, name, single_file=single_file)
    refuse_taken(kind, name)
    target = folder / names.dist
    if target.exists():
        raise UserError(
            f"{target} is there already", remedy="Choose another name, or another place with --dir"
        )
    content = rendered(names, f"{kind}-single-file" if kind == "method" and single_file else kind)
    try:
        for path, text in content.items():
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            (target / path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(
            f"cannot write {target}",
            got=error.strerror or str(error),
            remedy="Choose another place with --dir",
        ) from error
    return target


def names_of(kind: str, name: str, *, single_file: bool = False) -> Names:
    """Every name of a package; raises UserError for a kind or name that cannot be."""
    if kind not in GROUPS:
        raise UserError(
            f"no template for '{kind}'",
            expected=f"one of {', '.join(GROUPS)}",
            remedy=nearest(kind, GROUPS),
        )
    if not KEBAB.fullmatch(name):
        suggestion = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-0123456789")
        raise UserError(
            "new: NAME",
            expected="lower-case words joined by hyphens, such as 'my-method'",
            got=f"'{name}'",
            remedy=f"Try '{suggestion}'" if suggestion else None,
        )
    if name in RESERVED:
        raise UserError(f"new: the name '{name}' is reserved", remedy="Choose another")
    module = f"cuescope_{name.replace('-', '_')}"
    needed = f"cuescope-sdk{sdk_range(version('cuescope-sdk'))}", *DEPENDENCIES[kind]
    planned = kind == "method" and not single_file
    return Names(
        name=name,
        kind=kind,
        title=name.replace("-", " ").capitalize(),
        cls=class_name(kind, name),
        module=module,
        dist=f"cuescope-{name}",
        group=GROUPS[kind],
        summary=SUMMARIES[kind],
        command=COMMANDS[kind].format(name=name),
        dependencies=", ".join(f'"{dependency}"' for dependency in needed),
        layout=(FLOOR_PLAN if planned else SINGLE_FILE).format(module=module),
    )


def class_name(kind: str, name: str) -> str:
    """`MyMethod` for "my-method"; with the kind where that would hide a word of the template."""
    camel = "".join(word.capitalize() for word in name.split("-"))
    clashes = iskeyword(camel) or camel in IMPORTED
    return camel + kind.capitalize() if clashes else camel


def sdk_range(installed: str) -> str:
    """The versions with the same words: ">=0.1,<0.2" for 0.1.3, ">=2,<3" for 2.4.0."""
    major, minor = (int(part) for part in installed.split(".")[:2])
    return f">=0.{minor},<0.{minor + 1}" if major == 0 else f">={major},<{major + 1}"


def refuse_taken(kind: str, name: str) -> None:
    """Raise UserError where a plugin of this kind and name is installed: both would be broken."""
    for entry in Registry().of_kind(kind):
        if entry.name == name:
            raise UserError(
                f"{kind} '{name}' is installed already",
                got=f"it from {entry.dist}",
                remedy="Choose another name",
            )


def rendered(names: Names, template: str) -> dict[Path, str]:
    """The files of the package by path, from a folder of templates and what all kinds share."""
    folder = files("cuescope_sdk.scaffold") / "templates"
    common, source = folder / "common", Path("src", names.module)
    places: dict[Path, Traversable] = {
        Path("pyproject.toml"): common / "pyproject.toml.template",
        Path("README.md"): common / "README.md.template",
        Path("LICENSE"): common / "LICENSE.template",
        source / "py.typed": common / "py.typed.template",
    }
    test = Path("tests", f"test_{names.module.removeprefix('cuescope_')}.py")
    for file in (folder / template).iterdir():
        name = file.name.removesuffix(".template")
        places[test if name == "test.py" else source / name] = file
    values = asdict(names)
    return {
        path: Template(file.read_text(encoding="utf-8")).substitute(values)
        for path, file in places.items()
    }
