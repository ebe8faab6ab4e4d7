"""What a worker replies that cannot answer."""

import pickle
from pathlib import Path

import pytest

from cuescope_sdk import UserError
from cuescope_sdk.workers import Answering, Setup
from cuescope_sdk.workers._answering import read_reply


def test_a_machine_without_the_plugin_or_the_files_says_so(tmp_path: Path) -> None:
    """What a worker replies; the versions are those of the driver."""

    def reply(setup: Setup) -> str:
        with pytest.raises(UserError) as caught:
            read_reply(Answering().open(pickle.dumps(setup)))
        return str(caught.value)

    absent = {
        f"cuescope_{name}": (f"cuescope-{name}", "1.0+abc")
        for name in ("first", "second")
    }
    lacking = reply(Setup(b"", absent))
    assert "has no cuescope-first, cuescope-second" in lacking
    assert (
        "Install there cuescope-first 1.0 from where the driver has it, cuesc"
        in lacking
    )
    other = reply(Setup(b"", {"numpy": ("numpy", "0.1")}))
    assert "has another numpy than the driver: expected 0.1" in other
    assert "frames=bytes" in reply(Setup(b"", files=(tmp_path / "photo.jpg",)))
