"""`HideTokens` on each family that takes it, validated as SpurLens does in appendix K.2."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from cuescope_sdk import Frame, HideTokens, Response, Sample, Trial, UserError
from cuescope_transformers.generative import TransformersVLM
from cuescope_transformers.generative.hiding.masks import coverage

Build = Callable[..., TransformersVLM]
BOTH = frozenset({"logits", "text"})
# family, frames, their height and width (which the processor keeps), pixels a side of a token
CASES = [
    ("qwen2-vl", 1, (16, 24), 8),
    ("qwen2-vl", 4, (16, 24), 8),
    ("qwen2.5-vl", 1, (24, 32), 8),
    ("qwen2.5-vl", 3, (16, 24), 8),
    ("llava", 1, (16, 16), 4),
    ("llava-next", 1, (16, 16), 4),
    ("llava-next", 2, (16, 16), 4),
    ("llava-next-video", 1, (16, 16), 4),
    ("llava-next-video", 3, (16, 16), 8),
    ("llava-onevision", 1, (16, 16), 4),
    ("llava-onevision", 3, (16, 16), 8),
    ("paligemma", 1, (16, 16), 4),
    ("paligemma", 2, (16, 16), 4),
    ("mllama", 1, (16, 32), 4),
    ("mllama", 2, (16, 16), 4),
]
# of each way to lay tokens one case: frames in time, one image, tiles, a prefix, cross-attention
SHORT = {
    ("qwen2-vl", 4),
    ("llava", 1),
    ("llava-next", 2),
    ("llava-onevision", 3),
    ("paligemma", 2),
    ("mllama", 2),
}
every_case = pytest.mark.parametrize(
    ("kind", "frames", "size", "cell"),
    [
        pytest.param(*case, marks=() if case[:2] in SHORT else pytest.mark.long)
        for case in CASES
    ],
)


def pixels(frames: int, size: tuple[int, int], seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(
        0, 256, (frames, *size, 3), dtype=np.uint8
    )


def asking(shown: np.ndarray, mask: np.ndarray | None = None, **fields: Any) -> Trial:
    """A trial of frames (frame, row, col, 3) with what is under the mask hidden."""
    sample = Sample(
        key="a sample",
        frames=tuple(map(Frame.from_array, shown)),
        question=fields.pop("question", "what is it"),
        choices=("yes", "no", "red ball"),
    )
    edit = None if mask is None else HideTokens.from_mask(mask)
    return Trial(sample=sample, edit=edit, **{"outputs": BOTH, **fields})


def some_cells(frames: int, size: tuple[int, int], cell: int, seed: int) -> np.ndarray:
    """About half of the tokens' cells, never all, never none: bool (frame, row, col) of cells."""
    rows, cols = (side // cell for side in size)
    cells = np.random.default_rng(seed).random((frames, rows, cols)) < 0.5
    cells[:, 0, 0], cells[:, -1, -1] = True, False
    return cells


def inside(cells: np.ndarray, cell: int, whole: bool) -> np.ndarray:
    """Pixels of the cells: all of them, or one of each."""
    spread = cells.repeat(cell, 1).repeat(cell, 2)
    if not whole:
        lone = np.zeros_like(spread)
        lone[:, cell // 2 :: cell, 1::cell] = True
        spread = spread & lone
    return spread


def farthest(one: list[Response], other: list[Response]) -> float:
    pairs = zip(one, other, strict=True)
    return max(float(np.abs(np.subtract(a.logits, b.logits)).max()) for a, b in pairs)


def texts(responses: list[Response]) -> list[str | None]:
    return [response.text for response in responses]


@every_case
def test_hiding_nothing_is_the_plain_forward(
    build: Build, kind: str, frames: int, size: tuple[int, int], cell: int
) -> None:
    shown = pixels(frames, size)
    plain, empty = (
        build(kind).respond([asking(shown, mask)])
        for mask in (None, np.zeros(shown.shape[:3], bool))
    )
    assert farthest(plain, empty) < 1e-5
    assert texts(plain) == texts(empty)


@every_case
def test_noise_in_dropped_tokens_changes_nothing(
    build: Build, kind: str, frames: int, size: tuple[int, int], cell: int
) -> None:
    """A pixel of the mask drops the whole token: noise anywhere in it (K.2) is not seen.

    But of a video whose tokens pool several patches: there each patch has a pixel of the mask.
    """
    model, shown = build(kind), pixels(frames, size)
    cells = some_cells(frames, size, cell, 1)
    if kind.startswith("qwen") and frames > 1:  # two frames make a token
        cells[:] = cells[0]
    pooled = cell == 8 and not kind.startswith("qwen")
    mask, noisy = inside(cells, cell, whole=pooled), shown.copy()
    under = inside(cells, cell, whole=True)
    noisy[under] = pixels(frames, size, seed=5)[under]
    one, other = (model.respond([asking(of, mask)]) for of in (shown, noisy))
    assert farthest(one, other) < 1e-5
    assert texts(one) == texts(other)
    assert farthest(*(model.respond([asking(of)]) for of in (shown, noisy))) > 1e-3
    assert farthest(one, model.respond([asking(shown)])) > 1e-3


@every_case
def test_noise_under_a_mask_of_resized_frames_changes_nothing(
    build: Build, kind: str, frames: int, size: tuple[int, int], cell: int
) -> None:
    model, shown = build(kind), pixels(frames, (21, 30))
    mask = np.zeros((frames, 21, 30), bool)
    mask[:, 3:12, 5:9] = mask[:, 15, 20] = True
    noisy = shown.copy()
    noisy[mask] = pixels(frames, (21, 30), seed=5)[mask]
    one, other = (model.respond([asking(of, mask)]) for of in (shown, noisy))
    assert farthest(one, other) < 1e-5


@every_case
def test_a_batch_is_its_masks_one_by_one(
    build: Build, kind: str, frames: int, size: tuple[int, int], cell: int
) -> None:
    model, trials = build(kind), []
    for seed, question in enumerate(
        ("what is it", "is the red ball moving ?", None, "is it red")
    ):
        mask = inside(some_cells(frames, size, cell, seed), cell, whole=True)
        mask[:] = (mask, np.zeros_like(mask), mask, np.ones_like(mask))[seed]
        trials.append(asking(pixels(frames, size, seed), mask, question=question))
    trials.append(asking(pixels(frames, size, 7)))
    together = model.respond(trials)
    alone = [model.respond([one])[0] for one in trials]
    assert farthest(together, alone) < 1e-5
    assert texts(together) == texts(alone)
    assert len({np.round(one.logits, 3).tobytes() for one in alone}) == len(trials)


@every_case
def test_hiding_all_leaves_an_answer_that_is_the_same_for_all_frames(
    build: Build, kind: str, frames: int, size: tuple[int, int], cell: int
) -> None:
    everything = np.ones((frames, 2, 2), bool)
    one, other = (
        build(kind).respond([asking(pixels(frames, size, seed), everything)])
        for seed in (0, 1)
    )
    assert farthest(one, other) < 1e-5
    assert np.isfinite(one[0].logits).all()
    assert texts(one) == texts(other)


@pytest.mark.parametrize(
    ("kind", "frames", "size", "visual"),
    [
        ("qwen2-vl", 1, (16, 24), 6 - 2),
        ("qwen2-vl", 4, (16, 24), 2 * 6 - 1 - 1),
        ("qwen2.5-vl", 1, (24, 32), 12 - 2),
        ("llava", 1, (16, 16), 16 - 2),
        (
            "llava-next",
            1,
            (16, 16),
            16 - 2 + 16 - 2 + 4,
        ),  # the image, its tile, ends of lines
        ("llava-next-video", 3, (16, 16), 3 * 4 - 2),
        ("llava-onevision", 3, (16, 16), 3 * 4 - 2 + 1),
        ("paligemma", 1, (16, 16), 16 - 2),
        ("mllama", 1, (16, 32), 2 * (1 + 16) - 2),  # and class tokens
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_there_are_as_few_visual_tokens(
    build: Build, kind: str, frames: int, size: tuple[int, int], visual: int, dtype: str
) -> None:
    """Two pixels, in the first and the last frame, far from each other."""
    mask = np.zeros((frames, *size), bool)
    mask[0, 1, 2] = mask[-1, -2, -3] = True
    layer = 1 if kind == "mllama" else 0
    trial = asking(pixels(frames, size), mask)
    [told], [weights] = (
        getattr(build(kind, dtype=dtype), name)([trial], layer)
        for name in ("modalities", "attention")
    )
    keys = told[weights.shape[1] :]
    assert (keys == 1).sum() == visual
    assert len(told) == sum(weights.shape[1:])
    np.testing.assert_allclose(
        weights.sum(-1), 1, atol=1e-5 if dtype == "float32" else 2e-2
    )


@pytest.mark.parametrize(
    ("kind", "frames", "size", "first", "entering"),
    [
        ("qwen2-vl", 1, (16, 24), "visual.blocks.0", 24 - 4),
        ("qwen2.5-vl", 1, (24, 32), "visual.blocks.0", 48 - 4),
        ("llava-next", 1, (16, 16), "vision_tower.encoder.layers.0", 2 * (1 + 16 - 1)),
        (
            "llava-next-video",
            2,
            (16, 16),
            "vision_tower.encoder.layers.0",
            2 * (1 + 16 - 1),
        ),
        ("llava-onevision", 1, (16, 16), "vision_tower.encoder.layers.0", 2 * (16 - 1)),
        (
            "mllama",
            1,
            (16, 16),
            "vision_model.transformer.layers.0",
            2 * (1 + 16 + 7) - 1,
        ),
        ("mllama", 1, (16, 16), "vision_model.global_transformer.layers.0", 2 * 24 - 1),
    ],
)
def test_hidden_patches_enter_the_vision_encoder_as_nothing(
    build: Build,
    kind: str,
    frames: int,
    size: tuple[int, int],
    first: str,
    entering: int,
) -> None:
    model, found = build(kind), []
    block = model._model.network.base_model.get_submodule(first)
    hook = block.register_forward_pre_hook(
        lambda module, args, kwargs: found.append(
            args[0] if args else kwargs["hidden_states"]
        ),
        with_kwargs=True,
    )
    mask = np.zeros((frames, *size), bool)
    mask[:, 5, 6] = True
    try:
        model.respond([asking(pixels(frames, size), mask, outputs=frozenset({"text"}))])
    finally:
        hook.remove()
    assert int(found[0].isfinite().all(dim=-1).sum()) == entering


@pytest.mark.parametrize("kind", ["qwen2-vl", "llava-next", "mllama"])
def test_a_mask_may_have_any_resolution(build: Build, kind: str) -> None:
    shown, coarse = pixels(1, (16, 16)), np.array([[[True, False], [False, False]]])
    fine = coarse.repeat(8, 1).repeat(8, 2)
    finer = fine.repeat(3, 1).repeat(3, 2)
    answers = [
        build(kind).respond([asking(shown, mask)]) for mask in (fine, coarse, finer)
    ]
    assert farthest(answers[0], answers[1]) == farthest(answers[0], answers[2]) == 0


@given(
    arrays(bool, st.tuples(st.integers(1, 9), st.integers(1, 9))),
    st.integers(1, 9),
    st.integers(1, 9),
)
def test_a_pixel_is_masked_as_far_as_it_overlaps(
    mask: np.ndarray, height: int, width: int
) -> None:
    """Against the mask and the pixels on a grid that both divide."""
    rows, cols = mask.shape
    fine = mask.repeat(height, 0).repeat(width, 1).astype(float)
    expected = fine.reshape(height, rows, width, cols).mean(axis=(1, 3))
    np.testing.assert_allclose(coverage(mask, height, width), expected, atol=1e-12)


@pytest.mark.parametrize("kind", ["paligemma", "llava"])
@pytest.mark.parametrize("side", [16, 23, 37])
def test_a_coarse_mask_does_not_spill_where_frames_are_resized(
    build: Build, kind: str, side: int
) -> None:
    """A mask on the tokens' own grid hides those that it names, and no neighbour."""
    mask, shown = np.zeros((1, 4, 4), bool), pixels(1, (side, side))
    mask[0, 1, 1] = True
    told, plain = (
        build(kind).modalities([asking(shown, of)], 0)[0] for of in (mask, None)
    )
    assert (plain == 1).sum() - (told == 1).sum() == 2  # as a query and as a key


def test_a_mask_on_the_grid_lies_over_what_is_seen(build: Build) -> None:
    """LLaVA cuts the sides of a wide frame off; a mask in the frame's pixels has them."""
    plugin = build("llava")
    shown = pixels(1, (16, 32))
    [canvas] = plugin.canvas([Frame.from_array(shown[0])])
    np.testing.assert_array_equal(canvas, shown[0, :, 8:24])
    grid = np.zeros((1, 4, 4), dtype=bool)
    grid[0, 1, 0] = True
    framed = np.zeros((1, 16, 32), dtype=bool)
    framed[0, 4:8, 8:12] = True
    on_grid, in_pixels = plugin.respond([asking(shown, grid), asking(shown, framed)])
    assert farthest([on_grid], [in_pixels]) < 1e-6
    noisy = np.where(framed[..., None], pixels(1, (16, 32), 1), shown)
    # in a batch of as many: kernels round by its size
    [again, _] = plugin.respond([asking(noisy, grid), asking(shown, framed)])
    assert farthest([again], [on_grid]) < 1e-6
    assert farthest(plugin.respond([asking(shown)]), [on_grid]) > 1e-6


def test_a_question_alone_hides_nothing(build: Build) -> None:
    nothing = np.zeros((0, 4, 4), bool)
    shown = pixels(0, (8, 8))
    for kind in ("qwen2-vl", "paligemma", "mllama"):
        plain, edited = (
            build(kind).respond([asking(shown, mask)]) for mask in (None, nothing)
        )
        assert farthest(plain, edited) < 1e-5


@pytest.mark.parametrize(
    ("kind", "shape", "words"),
    [
        ("qwen2-vl", (2, 4, 4), "expected a mask for each of 3 frames, got 2"),
        (
            "mllama",
            (3, 0, 4),
            "expected a mask for each of 3 frames, got masks of 0 x 4",
        ),
        ("git", (3, 4, 4), "the edit 'hide-tokens' .*no placeholder in its prompt"),
    ],
)
def test_what_cannot_be_hidden_is_refused(
    build: Build, kind: str, shape: tuple[int, int, int], words: str
) -> None:
    model, trial = build(kind), asking(pixels(3, (16, 16)), np.ones(shape, bool))
    for ask in (
        model.respond,
        *([lambda of: model.attention(of, 0)] if kind != "git" else []),
    ):
        with pytest.raises(UserError, match=words) as caught:
            ask([trial])
        assert "\n" not in str(caught.value)


def test_a_model_that_does_not_know_its_placeholders_is_refused(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = build("qwen2-vl")
    monkeypatch.setitem(model._model.__dict__, "visual", frozenset({4}))
    with pytest.raises(
        UserError, match="only tokens that are no placeholders have read"
    ):
        model.respond([asking(pixels(1, (16, 24)), np.ones((1, 4, 4), bool))])
