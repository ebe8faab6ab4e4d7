"""What a worker replies that cannot answer."""

import pickle

import pytest

from cuescope_sdk import UserError
from cuescope_sdk.workers import Answering, Setup
from cuescope_sdk.workers._answering import read_reply


def test_a_machine_without_the_plugin_says_so() -> None:
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
    assert "expected cuescope-first 1.0+abc (there: none (" in lacking
    assert "cuescope-second 1.0+abc" in lacking
    other = reply(Setup(b"", {"numpy": ("numpy", "0.1")}))
    assert "lacks what the driver has: expected numpy 0.1 (there: " in other
