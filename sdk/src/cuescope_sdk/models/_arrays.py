"""Arrays from the bytes of an `.npz` of a stranger: no pickle, and no more memory than they say."""

from collections.abc import Callable, Mapping
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np

from cuescope_sdk.models._archives import archive_limit, require_one_list, too_much

OWNER = "mitigated"
_HEADERS: Mapping[
    tuple[int, int], Callable[[Any], tuple[tuple[int, ...], bool, np.dtype]]
] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def read_arrays(
    content: bytes, path: Path, owner: str = OWNER
) -> dict[str, np.ndarray]:
    """The arrays by name; `path` is where they lie, and `owner` whose they are, for an error.

    Raises UserError for arrays that are together larger than the limit on archives, and ValueError
    or what zipfile raises for bytes that are none.
    """
    file = BytesIO(content)
    require_one_list(file)
    with ZipFile(file) as archive:
        entries = archive.infolist()
        # before anything is unpacked: a small archive may unpack to more than the memory
        decoded = sum(entry.file_size for entry in entries)
        if decoded > max(len(content), archive_limit(owner)):
            raise too_much(owner, path, decoded)
        arrays = {}
        for entry in entries:
            name = entry.filename.removesuffix(".npy")
            arrays[name] = _array(_unpack(archive, entry))
        return arrays


def _unpack(archive: ZipFile, entry: ZipInfo) -> bytes:
    """The bytes of an entry, as many as the archive says: it may hold more."""
    if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise ValueError("arrays that are packed in another way than numpy does")
    with archive.open(entry) as file:
        return file.read(entry.file_size)


def _array(content: bytes) -> np.ndarray:
    """An array; raises ValueError where its header tells another size than there is."""
    file = BytesIO(content)
    version = np.lib.format.read_magic(file)
    if version not in _HEADERS:
        raise ValueError("an array of an unknown version")
    shape, _, dtype = _HEADERS[version](file)
    size = prod(shape) * dtype.itemsize
    # an array of objects is a pickle, and a header may ask for any memory
    if dtype.hasobject or size != len(content) - file.tell():
        raise ValueError("an array of another size than its header tells")
    # a pickle runs code of whoever made the file
    array: np.ndarray = np.load(BytesIO(content), allow_pickle=False)
    return array
