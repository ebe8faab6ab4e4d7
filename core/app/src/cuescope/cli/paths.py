"""Files and folders that a person names: none is empty, and none is written over by mistake."""

from pathlib import Path
from typing import Any

import typer
from typer.models import TyperPath

from cuescope_core.atomic_files import at_home, require_path
from cuescope_core.errors import UserError
from cuescope_core.trust.paths import require_own_place

PAGES = (".html", ".htm")


class NamedPath(TyperPath):
    """A path of a command line; an empty one is refused."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """The path; raises UserError for one that cannot be used."""
        name = str(param.human_readable_name if param is not None else "path")
        options = [word for word in getattr(param, "opts", ()) if word[0] == "-"]
        title = options[0] if options else name.strip("[]")
        if isinstance(value, str):
            # as it was typed: a path of nothing is the folder that one is in
            require_path(title, value)
            value = str(at_home(value))
        self.require(title, value)
        return super().convert(value, param, ctx)

    def require(self, name: str, value: Any) -> None:
        """Raise UserError for a path that cannot be used; `name` is its option or argument."""
        require_path(name, value)


class OutputFile(NamedPath):
    """A file that a command writes: it has one of the `endings`, and is no file of a run.

    In the folder of a run only files with the names `own` may be written, patterns of what the
    command writes there by itself. An ending "" stands for a file without one.
    """

    def __init__(self, *endings: str, own: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.endings = endings
        self.own = own

    def require(self, name: str, value: Any) -> None:
        """Raise UserError for a file that is not this command's to write."""
        from cuescope_core.runs import run_around

        super().require(name, value)
        file = Path(value)
        if str(file) == "-":  # printed
            return
        run = run_around(file)
        if run is not None:
            beside = file.absolute().parent == run
            if not (beside and any(map(file.match, self.own))):
                raise file_of_run(name, file, run)
        if self.endings:
            require_ending(name, file, self.endings)
        # an exporter may write several files into it
        _require_own_folder(file)


class OutputFolder(NamedPath):
    """A folder that a command writes into; what is in it already leads nowhere else."""

    def require(self, name: str, value: Any) -> None:
        """Raise UserError for a folder with a link out of it."""
        super().require(name, value)
        _require_own_folder(Path(value))


def _require_own_folder(folder: Path) -> None:
    # a folder that somebody else prepared may have links to anywhere
    if folder.is_dir():
        require_own_place(folder, folder)


def file_of_run(name: str, file: Path, run: Path) -> UserError:
    """The refusal of a file that is a run's."""
    return UserError(
        f"{name} {file}",
        expected="a file outside of the folders of runs",
        got=f"one of the run {run}",
        remedy="Choose another file: nothing of a run is written over",
    )


def require_ending(name: str, file: Path, endings: tuple[str, ...]) -> None:
    """Raise UserError for a file whose ending is none of these: it holds something else."""
    if file.suffix.lower() in endings:
        return
    expected = " or ".join(ending for ending in endings if ending)
    raise UserError(
        f"{name} {file}",
        expected=f"a file that ends in {expected}",
        got=f"one in {file.suffix}" if file.suffix else "one without an ending",
        remedy=f"Name it {file.with_suffix(endings[0]) if file.name else f'FILE{endings[0]}'}",
    )


def page_file(text: str, *, own: tuple[str, ...] = ()) -> Any:
    """An option for an HTML page that the command writes."""
    return output_file(text, *PAGES, own=own)


def output_file(text: str, *endings: str, own: tuple[str, ...] = ()) -> Any:
    """An option for a file that the command writes; see `OutputFile`."""
    return typer.Option(
        metavar="FILE",
        help=text,
        click_type=OutputFile(*endings, own=own),
    )


def output_folder(text: str, *, metavar: str = "DIR") -> Any:
    """An option for a folder that the command writes into; see `OutputFolder`."""
    return typer.Option(metavar=metavar, help=text, click_type=OutputFolder())


def refuse_empty_paths(command: Any) -> None:
    """Make every path of a command, and of those below it, refuse an empty one."""
    for parameter in command.params:
        if type(parameter.type) is TyperPath:
            parameter.type = NamedPath(**_settings(parameter.type))
    for below in getattr(command, "commands", {}).values():
        refuse_empty_paths(below)


def _settings(kind: TyperPath) -> dict[str, Any]:
    names = ["exists", "file_okay", "dir_okay", "writable", "readable"]
    names += ["resolve_path", "allow_dash"]
    return {**{name: getattr(kind, name) for name in names}, "path_type": kind.type}
