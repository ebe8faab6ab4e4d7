"""A pickle of plain values, read without running anything that it names."""

import pickle
from pathlib import Path
from typing import Any

from cuescope_sdk import UserError

# What numpy's arrays and numbers are pickled as; with no other names, nothing can be called.
_MODULES = ("numpy", "numpy.core.multiarray", "numpy._core.multiarray")
_NAMES = ("_reconstruct", "scalar", "ndarray", "dtype")
_PLAIN = {(module, name) for module in _MODULES for name in _NAMES} | {("_codecs", "encode")}


class PlainUnpickler(pickle.Unpickler):
    """Lists, dicts, text, numbers and arrays; raises UnpicklingError for anything else."""

    def find_class(self, module: str, name: str) -> Any:
        """One of the few names that an array needs."""
        if (module, name) not in _PLAIN:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)


def read_plain_pickle(path: Path, title: str) -> Any:
    """What the file holds; raises UserError for a file that is more than plain values."""
    try:
        with path.open("rb") as file:
            return PlainUnpickler(file).load()
    except Exception as error:  # a damaged pickle raises anything
        raise UserError(
            f"{title}: cannot read {path.name}", expected="a pickle of plain values",
            got=str(error).partition("\n")[0] or type(error).__name__,
        ) from None  # fmt: skip
