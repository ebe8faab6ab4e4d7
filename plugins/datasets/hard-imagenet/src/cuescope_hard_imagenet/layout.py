"""The authors' ranking of the training images: a pickle, read without running what it names."""

import pickle
from collections.abc import Collection, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from cuescope_sdk import UserError

# What numpy's arrays and numbers are pickled as. A pickle can call whatever it can name, so with
# no names but these it can call nothing that does harm.
_MODULES = ("numpy", "numpy.core.multiarray", "numpy._core.multiarray")
_NAMES = ("_reconstruct", "scalar", "ndarray", "dtype")
_PLAIN = {*product(_MODULES, _NAMES), ("_codecs", "encode")}


class PlainUnpickler(pickle.Unpickler):
    """Lists, dicts, text, numbers and arrays; raises UnpicklingError for anything else."""

    def find_class(self, module: str, name: str) -> Any:
        """One of the few names that an array needs."""
        if (module, name) not in _PLAIN:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        # numpy 2 renamed the module; the authors' file was written by numpy 1.
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)


def read_ranking(path: Path, numbers: Collection[int], title: str) -> dict[str, float]:
    """The spuriosity of each training image by its file's name, of the classes `numbers`.

    Raises UserError for a file that is no ranking.
    """
    ranking = read_plain_pickle(path, title)
    if not isinstance(ranking, Mapping):
        raise UserError(
            f"{title}: {path.name}",
            expected="a list of paths a class",
            got=type(ranking).__name__,
        )
    ranks: dict[str, float] = {}
    for number, paths in ranking.items():
        if number in numbers:
            # lists that hold each other many times are few bytes, and a text without end
            if not isinstance(paths, list | tuple | np.ndarray) or not all(
                isinstance(entry, str) for entry in paths
            ):
                raise UserError(
                    f"{title}: {path.name}, class {number!r:.20}",
                    expected="a list of paths",
                    got=type(paths).__name__,
                )
            ranks |= spuriosity([str(path) for path in paths])
    return ranks


def spuriosity(paths: Sequence[str]) -> dict[str, float]:
    """From 0 for the first path to 1 for the last: the authors rank from weak cues to strong."""
    last = max(1, len(paths) - 1)  # a class of one path has rank 0
    return {path.rpartition("/")[2]: rank / last for rank, path in enumerate(paths)}


def read_plain_pickle(path: Path, title: str) -> Any:
    """What the file holds; raises UserError for a file that is more than plain values."""
    try:
        with path.open("rb") as file:
            return PlainUnpickler(file).load()
    except Exception as error:  # a damaged pickle raises anything
        raise UserError(
            f"{title}: cannot read {path.name}",
            expected="a pickle of plain values",
            got=str(error).partition("\n")[0] or type(error).__name__,
        ) from None
