"""Where a run was asked for: paths that were typed there are found from everywhere.

A report keeps paths as they were typed, for it is sent to others. The folder in which they were
typed is this computer's business, so it stands in the cache and not in the run.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuescope.errors import UserError
from cuescope.spec import Spec
from cuescope.trust.risks import NamesFile, NamesPlugin, NamesRepository, risks_of
from cuescope.whole_files import read_whole, write_atomically

if TYPE_CHECKING:
    from cuescope.registry import Registry
    from cuescope.request import Request

FOLDER = "asked-from"
MOST_BYTES = 2**16  # of a path


def keep_place(report_hash: str, cache: Path) -> None:
    """Remember that this report was asked for in the working folder."""
    # a cache that cannot be written costs only this
    with suppress(OSError):
        folder = cache / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / report_hash, str(Path.cwd()).encode())


def place_of(report_hash: str, cache: Path) -> Path | None:
    """Where this report was asked for; None where nobody knows, or the folder is gone."""
    try:
        content = read_whole(cache / FOLDER / report_hash, most=MOST_BYTES)
        place = Path(content.decode())
    # a cache folder may be a stranger's
    except (OSError, UserError, ValueError):
        return None
    # the folder may be gone, or on a drive that is not there today
    return place if place.is_dir() else None


def from_place(request: "Request", place: Path, registry: "Registry") -> "Request":
    """The request with its paths as they are seen from here."""
    if place == Path.cwd():
        return request
    changes: dict[str, Any] = {}
    for field, kind in (("method", "method"), ("model", "model"), ("data", "dataset")):
        spec, options = _with_whole_paths(
            registry,
            kind,
            getattr(request, field),
            getattr(request, f"{field}_options"),
            place,
        )
        changes |= {field: spec, f"{field}_options": options}
    return request.model_copy(update=changes)


def _with_whole_paths(
    registry: "Registry",
    kind: str,
    text: str,
    options: Mapping[str, Any],
    place: Path,
) -> tuple[str, dict[str, Any]]:
    """SPEC and options of a plugin, with the files that they name by their whole paths."""
    spec = Spec.parse(text)
    fields = registry.load(registry.find(kind, spec.name)).Options
    moved = {}
    for name, value in options.items():
        # only what names a file: another word that looks like a path stays as it is
        field = fields.model_fields.get(name)
        moved[name] = value
        if field is not None and _names_file(field):
            moved[name] = _seen_from_here(value, place)
    argument = fields.model_fields.get(fields.argument or "")
    if spec.arg is not None and argument is not None and _names_file(argument):
        text = str(Spec(spec.name, _seen_from_here(spec.arg, place)))
    return text, moved


def _names_file(field: Any) -> bool:
    marks = risks_of(field)
    return any(
        isinstance(mark, NamesFile | NamesRepository)
        or (isinstance(mark, NamesPlugin) and mark.or_file)
        for mark in marks
    )


def _seen_from_here(value: Any, place: Path) -> Any:
    if not isinstance(value, str) or not value or "://" in value:
        return value
    # what lies here is meant; a name of the hub lies in neither folder
    if Path(value).expanduser().exists() or not (place / value).exists():
        return value
    return str((place / value).resolve())
