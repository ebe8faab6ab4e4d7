"""The name that the suites had while they were a part of the sdk."""

import pytest

import cuescope_testing


def test_the_old_name_works_and_says_the_new_one() -> None:
    with pytest.warns(DeprecationWarning, match="use cuescope_testing"):
        from cuescope_sdk.testing import MethodContract
    assert MethodContract is cuescope_testing.MethodContract
