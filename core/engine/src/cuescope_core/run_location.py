"""Where a run was asked for: paths that were typed there are found from everywhere.

A report keeps paths as they were typed, for it is sent to others. The folder in which they were
typed is this computer's business: see `trust.own_runs`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuescope_core.spec import Spec

if TYPE_CHECKING:
    from cuescope_core.registry import Registry
    from cuescope_core.request import Request


def from_place(request: "Request", place: Path, registry: "Registry") -> "Request":
    """The request with its paths as they are seen from here."""
    if place == Path.cwd():
        return request
    changes: dict[str, Any] = {}
    for field, kind in (("method", "method"), ("model", "model"), ("data", "dataset")):
        text = getattr(request, field)
        spec = Spec.parse(text)
        plugin = registry.load(registry.find(kind, spec.name))
        options = getattr(request, f"{field}_options")
        changes[f"{field}_options"] = whole_paths(plugin, options, place)
        argument = plugin.Options.argument
        if spec.arg is not None and argument is not None:
            arg = whole_paths(plugin, {argument: spec.arg}, place)[argument]
            changes[field] = text if arg == spec.arg else str(Spec(spec.name, arg))
    return request.model_copy(update=changes)


def whole_paths(plugin: Any, options: Mapping[str, Any], place: Path) -> dict[str, Any]:
    """Options of a plugin, with the files that they name in a folder by their whole paths."""
    moved = {}
    for name, value in options.items():
        # only what names a file: another word that looks like a path stays as it is
        field = plugin.Options.model_fields.get(name)
        is_file = field is not None and _names_file(field)
        moved[name] = _seen_from_here(value, place) if is_file else value
    return moved


def _names_file(field: Any) -> bool:
    from cuescope_core.trust.risks import NamesFile, risks_of

    return any(
        isinstance(mark, NamesFile) and mark.from_here for mark in risks_of(field)
    )


def _seen_from_here(value: Any, place: Path) -> Any:
    if not isinstance(value, str) or not value or "://" in value:
        return value
    # what lies here by the same name is another; a name of the hub lies in neither folder
    if Path(value).expanduser().is_absolute() or not (place / value).exists():
        return value
    return str((place / value).resolve())
