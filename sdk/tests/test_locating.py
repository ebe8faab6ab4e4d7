"""Where the cue of a finding is: pictures of noise, with a thing in some or changed as a whole."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, fields, replace
from typing import Any

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage

from cuescope_core.conclusions import Feature, Occurrence, Portrait, Score
from cuescope_sdk import Audit, Context, Frame, Sample
from cuescope_sdk.locating import (
    Fitting,
    Linear,
    Look,
    PixelPatches,
    Rates,
    Sides,
    Sight,
    Training,
    _location,
    _whitening,
    attach_portraits,
    look_at_features,
)
from cuescope_sdk.locating._changes import change_of
from cuescope_sdk.locating._colours import names_of
from cuescope_sdk.locating._figures import Figures, whole_picture
from cuescope_sdk.locating._pictures import opponents
from cuescope_sdk.locating._vocabulary import Vocabulary
from cuescope_sdk.locating._whitening import Whitening
from cuescope_sdk.locating._words import part_of
from cuescope_sdk.statistics import Groups

SIDE = 48
LABELS = ("cow", "horse")
LISTED = 40  # samples that a finding lists, if no other `count` is given,
OTHERS = 40  # and those that it does not
WRONG = 4  # of either side, that the list has wrongly
Draw = Callable[[np.ndarray, np.random.Generator], np.ndarray | None]


def corner(pixels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    pixels[3:11, 36:46] = (220, 225, 230)
    pixels[5:9, 38:44] = (40, 60, 170)
    return _mask(np.s_[3:11, 36:46])


def moving(pixels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    top, left = rng.integers(0, SIDE - 12, 2).tolist()
    pixels[top : top + 12, left : left + 12] = (30, 190, 60)
    pixels[top : top + 12 : 3, left : left + 12] = (230, 250, 230)
    return _mask(np.s_[top : top + 12, left : left + 12])


def cast(pixels: np.ndarray, rng: np.random.Generator) -> None:
    pixels[:] = np.uint8(pixels * (1.0, 0.85, 0.6))


def colourless(pixels: np.ndarray, rng: np.random.Generator) -> None:
    pixels[:] = pixels.mean(axis=-1, keepdims=True)


def nothing(pixels: np.ndarray, rng: np.random.Generator) -> None:
    """All pictures are alike."""


def _mask(where: tuple[slice, slice]) -> np.ndarray:
    mask = np.zeros((SIDE, SIDE), bool)
    mask[where] = True
    return mask


def audit_of(samples: Sequence[Sample], seed: int = 0) -> Audit:
    return Audit(
        labels=LABELS,
        options=None,
        respond=pytest.fail,
        context=Context(seed=seed),
        samples=tuple(samples),
    )


def describe(
    draw: Draw,
    seed: int = 0,
    *,
    is_ranking: bool = False,
    sights: Mapping[str, Sight] | None = None,
    count: int = LISTED,
    wrong: int = WRONG,
    beside: Draw | None = None,
) -> tuple[Portrait | None, dict[str, np.ndarray]]:
    """What the report says of the finding, and where it was drawn in which sample.

    What is `beside` it is in frames without it. Of a ranking the method says which samples show it;
    its own first ones are those without.
    """
    rng = np.random.default_rng(seed)
    samples = []
    places = {}
    listed = []
    for number in range(count + OTHERS):
        noise = rng.uniform(0, 255, (SIDE, SIDE, 3))
        blurred = ndimage.gaussian_filter(noise, (3, 3, 0))
        spread = (blurred - blurred.mean()) / blurred.std()
        pixels = np.uint8((120 + 50 * spread).clip(0, 255))
        is_listed = number < count
        key = f"s{number:03}"
        first = 0 if is_listed else count
        if is_listed != (number - first < wrong):
            mask = draw(pixels, rng)
            if is_listed and mask is not None:
                places[key] = mask
        elif beside is not None:
            beside(pixels, rng)
        if is_listed:
            listed.append(Occurrence(sample=key, frame=0))
        label = LABELS[number % 2]
        frames = (Frame.from_array(pixels),)
        sample = Sample(key=key, frames=frames, label=label, choices=LABELS)
        samples.append(sample)
    sides = None
    if is_ranking:
        keys = [sample.key for sample in samples]
        sides = {"cluster-00": Sides(keys[:count], keys[count:])}
        listed = [
            Occurrence(sample=key, frame=0, strength=float(rank))
            for rank, key in enumerate(keys)
        ]
        listed.reverse()
    feature = Feature(key="cluster-00", kind="cluster", occurrences=tuple(listed))
    score = Score(
        feature="cluster-00", label="cow", metric="m", value=1.0, finding=True
    )
    audit = audit_of(samples, seed)
    attach_portraits(audit, [feature], [score], sides, sights=sights)
    assert not audit.failures
    portraits = [item for item in audit.attachments if isinstance(item, Portrait)]
    return (portraits[0] if portraits else None), places


def overlap(portrait: Portrait, places: dict[str, np.ndarray]) -> float:
    """Mean intersection over union, of the samples that a page shows."""
    shares = []
    for key, place in places.items():
        outline = portrait.outline_of(Occurrence(sample=key, frame=0))
        if outline is not None:
            step = SIDE / outline.rows
            cells = (np.arange(SIDE) / step).astype(int)
            mask = outline.mask[np.ix_(cells, cells)]
            shares.append((mask & place).sum() / (mask | place).sum())
    assert len(shares) >= 8
    return float(np.mean(shares))


@pytest.mark.parametrize(
    ("draw", "where", "words", "least"),
    [
        (corner, "top right", "mark, top right", 0.5),
        # its patches lie half outside of it
        (moving, "at changing places", "green", 0.45),
    ],
)
def test_a_cue_is_outlined_and_named(
    draw: Draw, where: str, words: str, least: float
) -> None:
    portrait, places = describe(draw)
    assert portrait is not None
    assert portrait.where.startswith(where)
    assert portrait.name is not None
    assert words in portrait.name
    assert overlap(portrait, places) >= least
    assert portrait.auroc > 0.75


def test_what_was_looked_at_before_is_outlined_on_the_pictures_of_a_page() -> None:
    """A cue that was named by some samples, and is shown on others."""
    before, _ = describe(corner)
    assert before is not None
    [outline] = before.outlines
    # the run in which it was seen called it otherwise
    seen = {"what": "brighter, as it was seen before", "feature": "cluster-17"}
    unlike = before.model_copy(update=seen)
    location = _location.Location("one place", 0.9, mask=outline.mask)
    sight = Sight(unlike, location)
    portrait, _ = describe(nothing, sights={"cluster-00": sight})
    assert portrait is not None
    assert portrait.what == "brighter, as it was seen before"
    assert portrait.feature == "cluster-00"
    assert (portrait.outlines[0].mask == outline.mask).all()


def test_of_a_ranking_the_method_says_who_shows_it() -> None:
    portrait, _ = describe(corner, is_ranking=True)
    assert portrait is not None
    # by its first places these would be darker: the ranking is upside down
    assert "brighter" in portrait.what
    assert portrait.where == "top right"


def test_what_is_everywhere_has_no_outline() -> None:
    portrait, _ = describe(cast)
    assert portrait is not None
    assert (portrait.where, portrait.area, portrait.outlines) == (
        "everywhere",
        None,
        (),
    )
    assert "darker" in portrait.what
    assert describe(cast)[0] == portrait  # the same name in the next run


def blurred(pixels: np.ndarray) -> np.ndarray:
    return ndimage.gaussian_filter(pixels, (2, 2, 0))


def faint(pixels: np.ndarray) -> np.ndarray:
    return pixels / 3 + 80


def under_confetti(pixels: np.ndarray) -> np.ndarray:
    rng = np.random.default_rng(int(pixels.sum()))
    pieces = rng.integers(0, 256, (SIDE // 3, SIDE // 3, 3)).repeat(3, 0).repeat(3, 1)
    is_covered = rng.random((SIDE // 3, SIDE // 3)).repeat(3, 0).repeat(3, 1) < 0.3
    return np.where(is_covered[..., None], pieces, pixels)


def grainy(pixels: np.ndarray) -> np.ndarray:
    return pixels + np.random.default_rng(0).normal(0, 40, pixels.shape)


def scratched(pixels: np.ndarray) -> np.ndarray:
    at = np.random.default_rng(int(pixels.sum())).integers(0, SIDE, 6)
    return np.where(np.isin(np.arange(SIDE), at)[:, None], 230, pixels)


def rained_on(pixels: np.ndarray) -> np.ndarray:
    rows, cols = np.ogrid[:SIDE, :SIDE]
    falls = (rows + cols + int(pixels.sum())) % 31 < 1
    return np.where(falls[..., None] & (rows % 17 < 11)[..., None], 200, pixels)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (blurred, "blurred"),
        (scratched, "more upright lines"),
        (rained_on, "more lines that rise"),
        (faint, "less contrast"),
        (grainy, "more fine detail"),
        (under_confetti, "many colours"),
        (lambda pixels: pixels * (1.2, 1.0, 0.6), "more orange"),
        (lambda pixels: pixels * 0.6, "darker"),
    ],
)
def test_what_changes_of_a_whole_picture_has_a_word(
    change: Callable[[np.ndarray], np.ndarray], words: str
) -> None:
    rng = np.random.default_rng(0)
    shows = np.arange(60) < 30
    wholes = []
    for is_shown in shows:
        pixels = rng.uniform(100, 140, (3,)) + rng.normal(0, 6, (SIDE, SIDE, 3))
        pixels += ndimage.gaussian_filter(
            rng.normal(0, 400, (SIDE, SIDE, 1)), (5, 5, 0)
        )
        changed = change(pixels) if is_shown else pixels
        frame = Frame.from_array(np.uint8(changed.clip(0, 255)))
        wholes.append(whole_picture(frame)[0])
    data = Training(shows, np.array(["cow"] * 60), Groups.single(60))
    assert words in change_of(wholes, data).words[:2]


def test_of_pictures_that_were_chosen_by_lot_hardly_anything_is_said() -> None:
    rng = np.random.default_rng(0)
    data = Training(np.arange(64) < 14, np.array(["cow"] * 64), Groups.single(64))
    figures = rng.normal(0.5, 0.3, (50, 64, len(fields(Figures))))
    draws = [[Figures(*row) for row in draw] for draw in figures.tolist()]
    told = [bool(change_of(of_frames, data).words) for of_frames in draws]
    assert np.mean(told) <= 0.2


def test_a_picture_of_one_pixel_has_figures_too() -> None:
    figures, detail = whole_picture(Frame.from_array(np.zeros((1, 300, 3), np.uint8)))
    assert np.isfinite([*astuple(figures), *detail]).all()


def test_what_loses_its_colours_is_not_called_bluer() -> None:
    portrait, _ = describe(colourless)
    assert portrait is not None
    assert portrait.where == "everywhere"
    assert "less colourful" in portrait.what
    assert not {"blue", "red"} & set(portrait.what.split())


@pytest.mark.parametrize(
    ("colour", "name"),
    [
        ((96, 60, 28), "brown"),
        ((250, 140, 20), "orange"),
        ((200, 30, 40), "red"),
        ((110, 15, 20), "dark red"),
    ],
)
def test_a_mark_has_the_colour_that_people_name(
    colour: tuple[int, int, int], name: str
) -> None:
    def mark(pixels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        pixels[30:44, 4:18] = rng.normal(colour, 4).clip(0, 255)
        return _mask(np.s_[30:44, 4:18])

    portrait, _ = describe(mark)
    assert portrait is not None
    assert portrait.name is not None
    assert portrait.name.startswith(f"{name} ")


@pytest.mark.parametrize(
    ("name", "colours"),
    [
        ("red", [(229, 0, 0), (143, 20, 2), (140, 0, 15), (190, 1, 25)]),
        ("orange", [(249, 115, 6), (255, 91, 0), (253, 170, 72), (192, 78, 1)]),
        ("yellow", [(255, 255, 20), (254, 198, 21), (250, 194, 5), (213, 182, 10)]),
        ("green", [(21, 176, 26), (137, 254, 5), (3, 53, 0), (150, 249, 123)]),
        ("cyan", [(2, 147, 134), (6, 194, 172)]),
        ("blue", [(3, 67, 223), (117, 187, 253), (1, 21, 62), (149, 208, 252)]),
        ("purple", [(126, 30, 156), (154, 14, 234), (53, 6, 62), (88, 15, 65)]),
        ("pink", [(255, 129, 192), (255, 2, 141), (237, 13, 217)]),
        ("brown", [(101, 55, 0), (173, 129, 80), (127, 43, 10)]),
    ],
)
def test_colours_are_called_as_people_do(
    name: str, colours: list[tuple[int, int, int]]
) -> None:
    """Some that most people call so, in the survey of xkcd.com (2010)."""
    shades = opponents(np.array([colours]) / 255)
    assert names_of(shades[0]).tolist() == [name] * len(colours)


VIVID = [
    (210, 30, 30),
    (30, 90, 220),
    (250, 210, 30),
    (30, 160, 60),
    (150, 50, 170),
    (240, 130, 20),
    (20, 190, 200),
]


@pytest.mark.parametrize("in_each", [1, 3])
def test_a_mark_of_another_colour_in_each_picture_is_of_many(in_each: int) -> None:
    """Of one colour in each picture, or of several: none of them is more than another."""

    def mark(pixels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        for stripe in np.split(pixels[4:16, 30:42], in_each):
            stripe[:] = VIVID[int(rng.integers(len(VIVID)))]
        return _mask(np.s_[4:16, 30:42])

    portrait, _ = describe(mark)
    assert portrait is not None
    assert portrait.name == "mark of many colours, top right"
    assert "more colourful" in portrait.what


def test_a_chart_of_colours_is_of_many_on_pictures_that_have_colours_too() -> None:
    def chart(pixels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        for number, colour in enumerate(VIVID[:6]):
            top, left = 30 + 7 * (number // 3), 4 + 5 * (number % 3)
            pixels[top : top + 7, left : left + 5] = colour
        return _mask(np.s_[30:44, 4:19])

    def plain(pixels: np.ndarray, rng: np.random.Generator) -> None:
        pixels[30:44, 4:19] = VIVID[int(rng.integers(len(VIVID)))]

    portrait, _ = describe(chart, beside=plain)
    assert portrait is not None
    assert portrait.name == "mark of many colours, bottom left"


def test_a_mark_keeps_a_colour_that_what_is_likest_it_has_too() -> None:
    """Its colours are held against all of other frames, not against what is likest it there."""
    red = (200, 30, 40)

    def plus(pixels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        top, left = rng.integers(0, SIDE - 14, 2).tolist()
        pixels[top : top + 14, left : left + 14] = red
        pixels[top + 6 : top + 8, left + 2 : left + 12] = 255
        pixels[top + 2 : top + 12, left + 6 : left + 8] = 255
        return _mask(np.s_[top : top + 14, left : left + 14])

    def plain(pixels: np.ndarray, rng: np.random.Generator) -> None:
        top, left = rng.integers(0, SIDE - 14, 2).tolist()
        pixels[top : top + 14, left : left + 14] = red

    portrait, _ = describe(plus, beside=plain)
    assert portrait is not None
    assert portrait.name == "white and red mark, at changing places"


def test_what_is_of_two_colours_is_not_of_their_mean() -> None:
    """Stripes that begin anywhere: each pixel is black in some frames, and yellow in others."""

    def post(pixels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        first = int(rng.integers(16))
        rows = (np.arange(SIDE) + first) % 16 < 8
        pixels[:, :10] = np.where(rows[:, None, None], (250, 230, 20), (15, 15, 15))
        return _mask(np.s_[:, :10])

    portrait, _ = describe(post)
    assert portrait is not None
    assert portrait.name in {
        "black and yellow bar, along the left edge",
        "yellow and black bar, along the left edge",
    }


def test_some_frames_keep_the_regions_that_are_marked_in_them() -> None:
    masks = tuple(np.ones((number + 1, 2), bool) for number in range(4))
    data = Training(np.arange(4) < 2, np.array(list("abcd")), Groups.single(4), masks)
    for rows in (np.array([0, 2]), np.array([True, False, True, False])):
        part = data.take(rows)
        assert list(part.labels) == ["a", "c"]
        assert [mask is not None and len(mask) for mask in part.regions] == [1, 3]


def test_a_mark_is_placed_by_a_few_samples() -> None:
    """Six list it, for whom no AUROC is four standard errors above chance; else nothing is seen."""
    portrait, _ = describe(corner, count=6, wrong=0)
    assert portrait is not None
    assert portrait.where == "top right"
    for seed in range(6):
        unseen, _ = describe(nothing, seed, count=6, wrong=0)
        assert unseen is None


def patchwork(rng: np.random.Generator) -> np.ndarray:
    """Rectangles of any colours: no kind of patch is in many frames."""
    pixels = np.full((SIDE, SIDE, 3), rng.integers(0, 256, 3), np.uint8)
    for _ in range(30):
        top, left = rng.integers(0, SIDE - 4, 2).tolist()
        height, width = rng.integers(3, 14, 2).tolist()
        pixels[top : top + height, left : left + width] = rng.integers(0, 256, 3)
    return np.uint8((pixels + rng.normal(0, 8, pixels.shape)).clip(0, 255))


@pytest.mark.parametrize(("width", "is_told"), [(11, True), (1, False)])
def test_what_no_patch_tells_may_be_told_by_figures_of_the_whole(
    monkeypatch: pytest.MonkeyPatch, width: int, *, is_told: bool
) -> None:
    monkeypatch.setattr(_location.Region, "learn", lambda *given: None)
    rng = np.random.default_rng(1)
    samples = []
    for number in range(40):
        pixels = patchwork(rng)
        if number < 10:
            pixels = ndimage.uniform_filter(pixels, (1, width, 1))
        frames = (Frame.from_array(pixels),)
        samples.append(Sample(key=f"s{number:02}", frames=frames, label="cow"))
    shown = tuple(Occurrence(sample=sample.key, frame=0) for sample in samples[:10])
    feature = Feature(key="blurred", kind="cluster", occurrences=shown)
    by_key = {sample.key: sample for sample in samples}
    [sight] = look_at_features(audit_of(samples), by_key, [feature])
    assert (sight is not None) == is_told


def test_nothing_is_said_where_nothing_is_different() -> None:
    portrait, _ = describe(nothing)
    assert portrait is None


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (np.s_[:2, 7:], "top right"),
        (np.s_[3:5, 3:5], "centre"),
        (np.s_[:, :1], "along the left edge"),
        (np.s_[1:2, :], "along the top edge"),
        # a line of words that fills two thirds of an edge, and begins far from its other end
        (np.s_[1:2, 3:], "top"),
        (np.s_[[0, -1], :], "along the top and bottom edges"),
    ],
)
def test_parts_of_the_frame_have_words(cells: Any, words: str) -> None:
    mask = np.zeros((9, 9), bool)
    mask[cells] = True
    assert part_of(mask) == words


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        # round a middle that is free
        (
            [np.s_[:2, :2], np.s_[:2, 7:], np.s_[7:, :2], np.s_[7:, 7:]],
            "in all corners",
        ),
        ([np.s_[:2, :2], np.s_[7:, 7:]], "bottom right and top left"),
        ([np.s_[:2, :2], np.s_[:2, 7:], np.s_[7:, 7:]], "in several places"),
        # letters of one line, of which some stand in its middle
        ([np.s_[8:, 1:3], np.s_[8:, 4:5], np.s_[8:, 6:7]], "bottom"),
    ],
)
def test_pieces_have_words_where_their_middle_is_free(
    pieces: list[Any], words: str
) -> None:
    mask = np.zeros((9, 9), bool)
    for cells in pieces:
        mask[cells] = True
    assert part_of(mask) == words


def test_a_frame_of_cells_lies_along_all_edges() -> None:
    mask = np.ones((9, 9), bool)
    mask[1:-1, 1:-1] = False
    assert part_of(mask) == "along all edges"


def test_a_patch_is_a_part_of_the_words_that_are_nearer_than_most() -> None:
    words = np.array([[0.0], [1.0], [2.0], [9.0]])
    vocabulary = Vocabulary(Whitening(np.zeros(1), np.eye(1)), words)
    [nearness] = vocabulary.nearness(np.ones((1, 1, 1)))
    # 1, 0, 1 and 8 away, 2.5 on average
    np.testing.assert_allclose(nearness, [1.5, 2.5, 1.5, 0.0])
    assert vocabulary.read(np.ones((1, 1, 1))) == [[1]]


def test_words_are_drawn_from_all_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_whitening, "DRAWN", 30)
    grids = [np.full((4, 5, 1), float(number)) for number in range(3)]
    drawn = _whitening.drawn_patches(grids, np.random.default_rng(0))
    assert drawn.shape == (30, 1)
    counts = np.bincount(drawn[:, 0].astype(int))
    # each of 20 patches once at most
    assert counts.min() > 5
    assert counts.max() <= 20


def test_a_small_mark_anywhere_is_seen_in_whole_pictures() -> None:
    """A dot of a hundredth of the picture among coarse noise, at another place each time."""
    rng = np.random.default_rng(0)
    shows = np.arange(300) % 2 == 0
    frames = []
    for is_shown in shows.tolist():
        noise = rng.integers(60, 200, (8, 8, 3), np.uint8)
        pixels = noise.repeat(8, axis=0).repeat(8, axis=1)
        if is_shown:
            row, col = rng.integers(4, 54, 2)
            pixels[row : row + 6 : 2, col : col + 6] = 255
            pixels[row + 1 : row + 6 : 2, col : col + 6] = 0
        frames.append(Frame.from_array(pixels))
    samples = [Sample(key=str(n), frames=(frame,)) for n, frame in enumerate(frames)]
    data = Training(shows, np.zeros(len(frames)), Groups.of(samples))
    rows = Look.learn(frames, rng).read(frames)
    model = Linear.learn(rows, data, rng, Fitting.LOOKS)
    assert model.auroc is not None
    assert model.auroc > 0.95


def test_a_picture_is_opened_once_for_all_that_look_at_it() -> None:
    """To learn, and to be read: pictures of changes are made each time that they are opened."""
    rng = np.random.default_rng(0)
    opened: list[str] = []

    def counted(frame: Frame) -> Frame:
        def load() -> Image.Image:
            opened.append(frame.key)
            return frame.load()

        return replace(frame, loader=load)

    frames = [
        counted(Frame.from_array(rng.integers(0, 256, (16, 16, 3), np.uint8)))
        for _ in range(5)
    ]
    first = Look.learn(frames, rng)
    first.read(frames)
    # small to learn, and in their own pixels to tell detail
    assert max(Counter(opened).values()) == 2
    Look.learn(frames, rng).read(frames)
    assert len(opened) == 10


def test_equal_pictures_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    frames = [
        Frame.from_array(rng.integers(0, 256, (16, 16, 3), np.uint8)) for _ in range(9)
    ]
    look = Look.learn(frames, rng)
    patches_of = PixelPatches.of
    seen = list[Frame]()

    def counted(patches: PixelPatches, some: Sequence[Frame]) -> list[np.ndarray]:
        seen.extend(some)
        return patches_of(patches, some)

    monkeypatch.setattr(PixelPatches, "of", counted)
    twice = look.read([*frames, *frames])
    assert (twice[:9] == twice[9:]).all()
    assert (look.read(frames[4:]) == twice[4:9]).all()
    assert [frame.key for frame in seen] == [frame.key for frame in frames]


def test_a_list_that_misses_some_makes_no_model_look_impure() -> None:
    """The list misses 15% and is wrong in 10%, and the model in neither."""
    rng = np.random.default_rng(0)
    shows = rng.random(600) < 0.3
    scores = 5 * shows + rng.standard_normal(600)
    listed = shows & (rng.random(600) < 0.85)
    wrong = rng.choice(np.flatnonzero(~shows), round(listed.sum() / 9), replace=False)
    listed[wrong] = True
    cut = 2.5
    rates = Rates.of(scores, listed, cut)
    taken = scores >= cut
    purity = rates.purity(int(taken.sum()), len(taken))
    assert purity == pytest.approx(shows[taken].mean(), abs=0.03)
    assert listed[taken].mean() < purity - 0.08
    assert rates.wrongly < 0.03
