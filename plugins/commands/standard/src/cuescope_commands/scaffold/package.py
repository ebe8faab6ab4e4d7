"""From a kind and a name to the files of a plugin package."""

import re
from importlib.metadata import version
from importlib.resources.abc import Traversable
from keyword import iskeyword
from pathlib import Path
from string import Template, capwords
from tempfile import TemporaryDirectory

from cuescope.application import Registry, known_roles, with_article
from cuescope_commands.scaffold.kinds import FOLDER, KINDS, TABLES
from cuescope_sdk import UserError, nearest

# other templates of a kind, by the option that asks for them
FORMS = {"hooks": "method", "classifier": "model"}
# of the folder in which a package is written until it is whole
DRAFT = ".cuescope-draft-"
KEBAB = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
# the dists cuescope-core, cuescope-sdk and cuescope-workspace are no plugins
RESERVED = ("core", "sdk", "workspace")


def write(kind: str, name: str, folder: Path, form: str | None = None) -> Path:
    """Write the package below `folder`; its path. Raises UserError, and then nothing is written.

    `form` is another template of the kind: see `FORMS`.
    """
    # whatever can be refused is refused before a file is written
    names = names_of(kind, name)
    if form is not None and FORMS[form] != kind:
        raise UserError(f"--{form}", expected=f"a {FORMS[form]}", got=f"a {kind}")
    refuse_taken(kind, name)
    target = folder / names["dist"]
    if target.exists():
        raise UserError(
            f"{target} is there already",
            remedy="Choose another name, or another place with --dir",
        )
    content = render_files(names, kind if form is None else f"{kind}-{form}")
    try:
        write_files(target, content)
    except OSError as error:
        raise UserError(
            f"cannot write {target}",
            got=error.strerror or str(error),
            remedy="Choose another place with --dir",
        ) from error
    return target


def write_files(target: Path, content: dict[Path, str]) -> None:
    """Write all files into a new folder, or none: a full disk leaves no half of a package."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=DRAFT, dir=target.parent) as draft:
        package = Path(draft, target.name)
        for path, text in content.items():
            (package / path).parent.mkdir(parents=True, exist_ok=True)
            (package / path).write_text(text, encoding="utf-8")
        package.rename(target)


def _of_role(word: str, name: str) -> str | None:
    """How to begin what is called by its role, as a detector or a verifier; None for no role."""
    roles = [role.name for role in known_roles(Registry())]
    # "verifier" for claim-verifier
    role = next((role for role in roles if word in (role, *role.split("-")[1:])), None)
    if role is None:
        return None
    return (
        f"{with_article(role).capitalize()} is a tool: `cuescope dev new tool {name}`, then give "
        "its class the method of the role"
    )


def names_of(kind: str, name: str) -> dict[str, str]:
    """What the templates are filled in with; raises UserError for a kind or name that cannot be."""
    if kind not in KINDS:
        raise UserError(
            f"no template for '{kind}'",
            expected=f"one of {', '.join(KINDS)}",
            remedy=_of_role(kind, name) or nearest(kind, KINDS),
        )
    if not KEBAB.fullmatch(name):
        # a name that would do, since most refusals are for capitals and underscores
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
    facts = KINDS[kind]
    needed = [
        # `cuescope plugins` lists a plugin as a misfit where another sdk is installed
        f"cuescope-sdk{sdk_range(version('cuescope-sdk'))}",
        *facts["dependencies"],
    ]
    return {
        "name": name,
        "kind": kind,
        "title": name.replace("-", " ").capitalize(),
        "cls": class_name(kind, name),
        "module": module,
        "dist": f"cuescope-{name}",
        "group": facts["group"],
        "summary": facts["summary"],
        "command": facts["command"].format(name=name),
        "check": facts.get("check", "cuescope plugins check"),
        "imports": facts.get("imports", "`cuescope_sdk` and nothing else of cuescope"),
        "dependencies": ", ".join(f'"{dependency}"' for dependency in needed),
    }


def class_name(kind: str, name: str) -> str:
    """`MyMethod` for "my-method"; with the kind where that would hide a word of the template.

    A command is no class: `my_command`.
    """
    if kind == "command":
        snake = name.replace("-", "_")
        return f"{snake}_command" if iskeyword(snake) or snake == "show" else snake
    camel = capwords(name, "-").replace("-", "")
    # True and None are keywords that a name may become
    clashes = iskeyword(camel) or camel in TABLES["imported"].split()
    return camel + kind.capitalize() if clashes else camel


def sdk_range(installed: str) -> str:
    """The versions with the same words: ">=0.1,<0.2" for 0.1.3, ">=2,<3" for 2.4.0."""
    major, minor = (int(part) for part in installed.split(".")[:2])
    # below 1.0 a minor version may break what a plugin uses
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


def render_files(names: dict[str, str], template: str) -> dict[Path, str]:
    """The files of the package by path, from a folder of templates and what all kinds share."""
    folder = FOLDER / "templates"
    common = folder / "common"
    source = Path("src", names["module"])
    files: dict[Path, Traversable] = {source / "py.typed": common / "py.typed.template"}
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        files[Path(name)] = common / f"{name}.template"
    files[Path(".github/workflows/test.yml")] = common / "test.yml.template"
    test = Path("tests", f"test_{names['module'].removeprefix('cuescope_')}.py")
    for file in (folder / template).iterdir():
        name = file.name.removesuffix(".template")
        files[test if name == "test.py" else source / name] = file
    content = {}
    for path, file in files.items():
        # not str.format: the braces of Python code are its own
        content[path] = Template(file.read_text(encoding="utf-8")).substitute(names)
    return content
