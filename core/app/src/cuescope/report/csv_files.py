"""CSV files that commands write, and people fill in."""

import csv
from collections.abc import Mapping, Sequence
from io import StringIO
from itertools import chain
from pathlib import Path

from cuescope_core.atomic_files import write_atomically


def write_csv(path: Path, rows: Sequence[Mapping[str, str]]) -> None:
    """Write the rows whole or not at all; the columns are those of any row, in their order."""
    # csv writes line ends of its own, which a text file must leave as they are
    text = StringIO(newline="")
    writer = csv.DictWriter(text, list(dict.fromkeys(chain(*rows))))
    writer.writeheader()
    writer.writerows(rows)
    write_atomically(path, text.getvalue())
