"""The runs that this user made: for each a note with the folder in which it was asked for.

Notes lie in the user's data folder, so neither a run nor a cache folder that arrives brings one.
"""

import os
import re
import warnings
from pathlib import Path

import platformdirs

from cuescope_core.checksummed_files import LARGEST_WORDS, read_sealed, write_sealed
from cuescope_core.errors import UserError

VARIABLE = "CUESCOPE_OWN_RUNS"  # the folder of the notes, for machines that share runs
_SEAL = re.compile("[0-9a-f]{32}")
_unkept: dict[Path, Path] = {}  # notes that no folder took, in this process


def remember(seal: str) -> None:
    """Note that this user made the run of a seal, asked for in the working folder.

    Where that cannot be kept, this process alone knows it, and says so.
    """
    file = _folder() / seal
    place = Path()
    try:
        place = Path.cwd()
        write_sealed(file, os.fsencode(place))
    except (OSError, UserError) as error:
        _unkept[file] = place
        warnings.warn(
            f"the next command takes this run for somebody else's: {error}; or set {VARIABLE} to "
            "a folder that you can write to",
            stacklevel=2,
        )


def asked_in(seal: str | None) -> Path | None:
    """The folder in which this user asked for a run; None for a run of somebody else.

    So is one whose note is damaged, which is told.
    """
    # a stranger's report may say anything: it is the name of a file here
    if seal is None or not _SEAL.fullmatch(seal):
        return None
    file = _folder() / seal
    try:
        return Path(os.fsdecode(read_sealed(file, most=LARGEST_WORDS)))
    except FileNotFoundError:
        return _unkept.get(file)
    except (OSError, UserError) as error:
        warnings.warn(
            f"a run of yours counts as somebody else's: {error}", stacklevel=2
        )
        return None


def is_own(seal: str | None) -> bool:
    """True if this user made the run of a seal."""
    return asked_in(seal) is not None


def _folder() -> Path:
    named = os.environ.get(VARIABLE)
    default = platformdirs.user_data_path("cuescope") / "own-runs"
    # a person may keep it behind a link
    return Path(named or default).expanduser().resolve()
