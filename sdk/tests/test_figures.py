"""Pictures by their pixels: what is drawn, where, and always alike."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from cuescope_sdk import Frame
from cuescope_sdk.report._figures import (
    COLOURS,
    PanelRow,
    bar_chart,
    frame_strips,
    image_panels,
    line_chart,
    overlay_heat,
    scatter_plot,
    tint_clusters,
)

GREY = np.full((60, 60, 3), 100, dtype=np.uint8)

INSIDE = (slice(-100, -30), slice(-100, -30))  # px of the last panel


def opened(picture: bytes) -> np.ndarray:
    return np.asarray(Image.open(BytesIO(picture)).convert("RGB")).astype(int)


def share_of(picture: np.ndarray, colour: str, tolerance: int = 12) -> float:
    """Share of the pixels that have the colour."""
    wanted = np.array(list(bytes.fromhex(colour[1:])))
    return float((np.abs(picture - wanted).max(axis=2) <= tolerance).mean())


def row(caption: str = "true boat, predicted cow", **maps: np.ndarray) -> PanelRow:
    return PanelRow(caption, GREY, **maps)


def line(height: float, *band: np.ndarray) -> tuple[np.ndarray, ...]:
    return np.array([0.0, 50.0]), np.array([1.0, height]), *band


def test_heat_is_red_where_positive_blue_where_negative_and_nothing_at_zero() -> None:
    heat = np.zeros((3, 3))
    heat[0, 0], heat[2, 2] = 1.0, -1.0
    drawn = overlay_heat(GREY, heat).astype(int)
    red, green, blue = drawn[5, 5]
    assert red > max(green, blue) + 60
    red, green, blue = drawn[-5, -5]
    assert blue > max(red, green) + 30
    assert len(set(drawn[30, 30])) == 1
    # only relative importance is drawn
    assert np.array_equal(drawn, overlay_heat(GREY, 7 * heat))
    assert len(np.unique(overlay_heat(GREY, np.zeros((3, 3))))) == 1


def test_clusters_have_a_colour_each_and_keep_their_borders() -> None:
    drawn = tint_clusters(GREY, np.array([[0, 1], [2, 1]]))
    assert len(np.unique(drawn.reshape(-1, 3), axis=0)) == 3
    assert np.array_equal(drawn[29, 29], drawn[0, 0])
    assert not np.array_equal(drawn[29, 29], drawn[30, 29])
    assert np.array_equal(drawn[0, 59], drawn[59, 59])


def test_panels_have_a_row_for_each_image_and_a_column_for_what_is_known() -> None:
    heat, mask = np.eye(7), np.zeros((60, 60), dtype=bool)
    mask[20:40, 20:40] = True
    one = opened(image_panels([row()]))
    three = opened(image_panels([row(heat=heat, mask=mask)]))
    two_rows = opened(image_panels([row(heat=heat), row(mask=mask)]))
    assert one.shape[0] == three.shape[0] < two_rows.shape[0]
    assert one.shape[1] < three.shape[1] == two_rows.shape[1]
    assert np.ptp(three[INSIDE]) > 100  # the outline of the mask


@pytest.mark.parametrize("filled", [False, True])
def test_a_mask_without_an_edge_has_no_outline(filled: bool) -> None:
    drawn = opened(image_panels([row(mask=np.full((60, 60), filled))]))
    assert np.ptp(drawn[INSIDE]) <= 5  # of JPEG


def test_the_same_input_gives_the_same_bytes_and_no_dates() -> None:
    drawn = [image_panels([row(heat=np.eye(3))]) for _ in range(2)]
    plotted = [line_chart({"cci": line(0.2)}, "Deletion", "x", "y") for _ in range(2)]
    shares = [
        bar_chart({"all": {"a": 0.5, "b": 0.5}}, "Errors", "share") for _ in range(2)
    ]
    for first, second in (drawn, plotted, shares):
        assert first == second
        assert not {"Software", "date:create"} & Image.open(BytesIO(first)).info.keys()


def test_curves_have_their_colours_bands_and_a_light_ground() -> None:
    lines = {f"explainer {i}": line(i / 12) for i in range(11)}
    drawn = opened(line_chart(lines, "", "pixels deleted (%)", "top-1 accuracy"))
    assert all(share_of(drawn, colour) > 0.001 for colour in COLOURS)
    assert drawn[2, 2].min() > 245
    band = (np.array([0.9, 0.3]), np.array([1.0, 0.7]))
    plain, banded = (
        opened(line_chart({"a": line(0.5, *b)}, "", "", "")) for b in ((), band)
    )
    assert (banded != plain).any(axis=2).mean() > 0.05


def test_bars_are_as_long_as_their_shares() -> None:
    drawn = opened(
        bar_chart({"all": {"background": 0.75, "foreground": 0.25}}, "Errors", "share")
    )
    middle = drawn[drawn.shape[0] * 3 // 5 :]
    lengths = [share_of(middle, colour) for colour in COLOURS[:2]]
    assert lengths[0] / lengths[1] == pytest.approx(3, rel=0.15)


def test_names_of_any_letters_are_drawn_as_they_stand() -> None:
    # a dollar is no mathematics, and a letter that the font lacks is no warning
    names = ("$x^2$ of 5$", "\u6c34\u9e1f", "{unclosed $")
    for name in names:
        assert image_panels([row(name)])
        assert line_chart({name: line(0.5)}, name, name, name)
        assert bar_chart({name: {name: 1.0}}, name, name)


def plain_frame(side: int, colour: tuple[int, ...]) -> Frame:
    return Frame.from_array(np.full((side, side, 3), colour, dtype=np.uint8))


def test_a_strip_has_its_frames_in_order() -> None:
    colours = [(255, 0, 0), (0, 255, 0), (0, 0, 255)]
    frames = [plain_frame(20, colour) for colour in colours]
    drawn = opened(frame_strips([("a question\nand its answer", frames)]))
    middles = [
        np.flatnonzero((np.abs(drawn - colour).max(axis=2) < 60).any(axis=0)).mean()
        for colour in colours
    ]
    assert middles == sorted(middles)
    assert not np.isnan(middles).any()


def test_a_long_strip_shows_its_first_and_last_frame() -> None:
    frames = [plain_frame(8, (grey,) * 3) for grey in range(0, 240, 8)]
    drawn = opened(frame_strips([("", frames)], most=4))
    assert (drawn == 0).all(axis=2).mean() > 0.02
    assert (np.abs(drawn - 232) < 3).all(axis=2).mean() > 0.02


def test_points_have_their_places_and_their_groups_colours() -> None:
    drawn = opened(
        scatter_plot(
            {"small": ([0.0, 10.0], [0.0, 10.0]), "large": ([5.0], [9.0])}, "x", "y"
        )
    )
    blue, orange = (
        np.argwhere((np.abs(drawn - list(bytes.fromhex(c[1:]))) <= 12).all(axis=2))
        for c in COLOURS[:2]
    )
    first, last = blue[blue[:, 1].argmin()], blue[blue[:, 1].argmax()]
    assert first[0] > last[0] + 200  # rows count from the top: the larger y is higher
    assert first[1] < orange[:, 1].mean() < last[1]
    alone = opened(scatter_plot({"small": ([0.0, 10.0], [0.0, 10.0])}, "x", "y"))
    assert share_of(alone, COLOURS[1]) == 0 < share_of(drawn, COLOURS[1])
