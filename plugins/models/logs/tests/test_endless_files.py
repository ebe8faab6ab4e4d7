"""Files of strangers whose parser would not end."""

import sys
import zipfile
from pathlib import Path

import pytest

from cuescope_logs.opening import LogOptions, open_log
from cuescope_sdk import Context, UserError
from cuescope_sdk.logs import in_child

from .written_logs import WRITERS, items


def test_a_workbook_whose_last_row_is_far_away_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six kilobytes: the library fills the gap with a billion empty rows."""
    path = WRITERS["vlmevalkit xlsx"](tmp_path, items(3))
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    far = parts[sheet].replace(b'<row r="2"', b'<row r="999999999"')
    assert far != parts[sheet]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**parts, sheet: far}.items():
            archive.writestr(name, content)
    child = sys.modules[in_child.__module__]
    child.end_children()
    monkeypatch.setattr(child, "SECONDS", 1)
    with pytest.raises(UserError, match=r"xlsx could not be parsed: expected at"):
        open_log(LogOptions(file=path, format="vlmevalkit"), Context())
    child.end_children()
