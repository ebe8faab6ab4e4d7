"""Workers on other machines must run what the driver runs."""

import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, packages_distributions, version

from cuescope.registry import version_with_code
from cuescope_sdk import UserError

Versions = Mapping[str, tuple[str, str]]  # module -> dist and its version
ENGINE = {"cuescope": "cuescope", "cuescope_sdk": "cuescope-sdk"}
# What answers depend on, where it is loaded.
LIBRARIES = ("numpy", "PIL", "torch", "torchvision", "transformers", "open_clip", "timm", "av")


def loaded_versions() -> dict[str, tuple[str, str]]:
    """What this process runs: cuescope, its loaded plugins, and the libraries under the models."""
    dists = packages_distributions()
    loaded = {name.partition(".")[0] for name in sys.modules}
    plugins = {name for name in loaded if name.startswith("cuescope_")} - ENGINE.keys()
    named = dict(ENGINE)
    for module in sorted(plugins | (loaded & set(LIBRARIES))):
        if module in dists:  # else it is no installed package
            named[module] = dists[module][0]
    return {module: (dist, _version(module, dist)) for module, dist in named.items()}


def require_versions(expected: Versions, where: str) -> None:
    """Raise UserError for what is not installed here, or in another version than the driver's."""
    for module, (dist, wanted) in expected.items():
        try:
            import_module(module)
            found = _version(module, dist)
        except (ModuleNotFoundError, PackageNotFoundError) as error:
            release = wanted.partition("+")[0]
            raise UserError(
                f"the worker on {where} has no {dist}",
                got=str(error),
                remedy=f"Run there: pip install '{dist}=={release}'",
            ) from error
        if found != wanted:
            command = f": pip install '{dist}=={wanted}'"
            own = module.startswith("cuescope")  # its version ends with the digest of its code
            raise UserError(
                f"the worker on {where} has another {dist} than the driver",
                expected=wanted,
                got=found,
                remedy=f"Install the same{' code' if own else ''} on all machines"
                + ("" if own else command),
            )


def _version(module: str, dist: str) -> str:
    return version_with_code(dist) if module.startswith("cuescope") else version(dist)
