"""What is seen of a background that nobody knows: whether it is the photo's own, and what else."""

import numpy as np

from cuescope_covar_build.quality.background import background_scores
from cuescope_covar_build.quality.cases import Case, Memory, Scores, View
from cuescope_sdk import Frame

SIDE = 128
OBJECT = np.zeros((SIDE, SIDE), bool)
OBJECT[48:80, 40:72] = True


def grain(seed: int) -> np.ndarray:
    """Noise of three colours, 0-255."""
    return np.random.default_rng(seed).uniform(60, 200, (SIDE, SIDE, 3))


def with_object(background: np.ndarray) -> np.ndarray:
    stripes = np.where(np.arange(SIDE) // 4 % 2, 230.0, 40.0)[None, :, None]
    return np.where(OBJECT[..., None], stripes * (1.0, 0.6, 0.2), background)


def frame(pixels: np.ndarray) -> Frame:
    return Frame.from_array(np.rint(pixels).clip(0, 255).astype(np.uint8))


def scores(edited: np.ndarray) -> Scores:
    source = frame(with_object(grain(0)))
    case = Case(
        source=source,
        source_mask=OBJECT,
        edited=frame(edited),
        edited_mask=OBJECT,
        subset="background",
        base=source,
        geometry=np.eye(3)[:2],
    )
    return background_scores(View(case, Memory()))


def test_a_background_in_another_tone_is_still_the_photos_own() -> None:
    kept = scores(with_object(0.7 * grain(0) + 30))["background_unchanged"] or 0.0
    new = scores(with_object(grain(1)))["background_unchanged"] or 0.0
    assert new < 0.3 < 0.8 < kept


def test_a_second_object_differs_from_all_around_it() -> None:
    clean = with_object(grain(1))
    alone = scores(clean)["second_object"] or 0.0
    clean[88:108, 84:104] = (250, 20, 20)
    assert (scores(clean)["second_object"] or 0.0) > 2 * alone
