"""Pixels against a loop over every pixel; keys against pixels."""

import pickle

import numpy as np
import pytest

from cuescope_moving_shapes.options import ShapesOptions
from cuescope_moving_shapes.pictures import frame
from cuescope_moving_shapes.sequences import generate

BLACK, BLUE, RED = (0, 0, 0), (0, 0, 255), (255, 0, 0)


def slowly(
    disc_row: int,
    disc_col: int,
    disc_red: int,
    red: int,
    square_row: int,
    square_col: int,
) -> np.ndarray:
    """The definition: a pixel belongs to the disc when its centre is within 5 px of the middle."""
    pixels = np.empty((60, 60, 3), np.uint8)
    for row in range(60):
        for col in range(60):
            colour = RED if red else BLACK
            in_square = 0 <= row - square_row < 15 and 0 <= col - square_col < 15
            if square_row >= 0 and in_square:
                colour = RED
            if (row + 0.5 - disc_row - 5) ** 2 + (col + 0.5 - disc_col - 5) ** 2 <= 25:
                colour = RED if disc_red else BLUE
            pixels[row, col] = colour
    return pixels


PICTURES = [
    (0, 0, 0, 0, -1, -1),
    (50, 50, 0, 1, -1, -1),
    (50, 0, 1, 0, -1, -1),
    (20, 31, 0, 0, 45, 45),
    (20, 31, 0, 0, 0, 0),
]


@pytest.mark.parametrize("numbers", PICTURES)
def test_a_frame_draws_what_the_parameters_say_after_pickling_too(
    numbers: tuple[int, ...],
) -> None:
    shown = frame(np.array(numbers, np.int16))
    again = pickle.loads(pickle.dumps(shown))
    image = again.load()
    assert (image.mode, image.size, again.key) == ("RGB", (60, 60), shown.key)
    np.testing.assert_array_equal(image, slowly(*numbers))


def test_keys_are_equal_exactly_where_pixels_are() -> None:
    options = ShapesOptions(val=400, cramers_v=0.8)
    parameters = np.concatenate(
        [
            generate(options.model_copy(update={"cue": cue})).parameters.reshape(-1, 6)
            for cue in ("background", "object", "attribute", "none")
        ]
    )
    pairs = {(shown.key, shown.load().tobytes()) for shown in map(frame, parameters)}
    keys, pictures = zip(*pairs, strict=True)
    assert len(pairs) < len(parameters), (
        "nothing is drawn twice: the test shows nothing"
    )
    assert len(set(keys)) == len(set(pictures)) == len(pairs)
