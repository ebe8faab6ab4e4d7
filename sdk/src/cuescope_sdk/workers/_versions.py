"""Workers on other machines must run what the driver runs."""

import re
import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, packages_distributions, version

from cuescope_core.registry import Registry, version_with_code
from cuescope_sdk import UserError

Versions = Mapping[str, tuple[str, str]]  # module -> dist and its version
ENGINE = {"cuescope_core": "cuescope-core", "cuescope_sdk": "cuescope-sdk"}
# What answers depend on, where it is loaded.
LIBRARIES = (
    "numpy",
    "PIL",
    "torch",
    "torchvision",
    "transformers",
    "open_clip",
    "timm",
    "av",
)


def loaded_versions() -> dict[str, tuple[str, str]]:
    """Versions of what this process runs: cuescope, loaded plugins, libraries of the models."""
    dists = {module: names[0] for module, names in packages_distributions().items()}
    for entry in Registry().entries:
        # of a package that is edited in place, its entry points alone tell it
        module = re.split(r"\W", entry.target, maxsplit=1)[0]
        dists[module] = entry.dist
    loaded = {name.partition(".")[0] for name in sys.modules}
    versions = {
        module: (dist, _version(module, dist)) for module, dist in ENGINE.items()
    }
    for module in sorted(loaded):
        is_ours = module.startswith("cuescope_") or module in LIBRARIES
        # else it is no installed package
        if is_ours and module in dists and module not in ENGINE:
            dist = dists[module]
            versions[module] = (dist, _version(module, dist))
    return versions


def require_versions(expected: Versions, where: str) -> None:
    """Raise UserError for what is not installed here, or in another version than the driver's."""
    others = []
    for module, (dist, wanted) in expected.items():
        try:
            import_module(module)
            found = _version(module, dist)
        except (ModuleNotFoundError, PackageNotFoundError) as error:
            found = f"none ({error})"
        if found != wanted:
            others.append(f"{dist} {wanted} (there: {found})")
    if others:
        raise UserError(
            f"the worker on {where} lacks what the driver has",
            expected=", ".join(others),
            remedy="Install the same packages and code on all machines",
        )


def _version(module: str, dist: str) -> str:
    # that of ours ends with the digest of its code
    return (
        version_with_code(dist, module)
        if module.startswith("cuescope")
        else version(dist)
    )
