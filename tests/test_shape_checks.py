"""The checks of shapes catch what they are there for, and let pass what is right."""

import numpy as np
import pytest
import shape_checks
from jaxtyping import Float

from cuescope_sdk.maths import energy_share


@shape_checks.checked
def weigh(
    rows: Float[np.ndarray, "row dim"], parts: list[Float[np.ndarray, " part"]]
) -> Float[np.ndarray, " row"] | None:
    """Rows weighed by nothing at all; None for too many parts."""
    return rows[: len(rows) - len(parts) + 2].sum(axis=1) if len(parts) < 4 else None


@pytest.fixture(autouse=True)
def _counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shape_checks, "calls_left", {})


def test_right_shapes_pass() -> None:
    ragged = [np.ones(2), np.ones(3)]
    np.testing.assert_array_equal(weigh(np.ones((4, 2)), ragged), np.full(4, 2.0))
    assert weigh(np.ones((4, 2)), parts=ragged * 2) is None


@pytest.mark.parametrize(
    ("rows", "parts", "words"),
    [
        (np.ones(4), [np.ones(2)] * 2, "rows must be"),
        (np.ones((4, 2), int), [np.ones(2)] * 2, "rows must be"),
        (np.ones((4, 2)), [np.ones(2), np.ones((2, 2))], "parts must be"),
        (np.ones((4, 2)), [np.ones(2)] * 3, "what is returned must be"),
    ],
)
def test_wrong_shapes_are_told(
    rows: np.ndarray, parts: list[np.ndarray], words: str
) -> None:
    with pytest.raises(TypeError, match=f"weigh: {words}"):
        weigh(rows, parts)


def test_the_packages_are_checked() -> None:
    with pytest.raises(TypeError, match=r"energy_share: .* must be"):
        energy_share(np.ones(4), np.ones(4, dtype=bool))
