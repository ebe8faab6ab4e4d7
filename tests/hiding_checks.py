"""Checks of `HideTokens` on a stock image encoder, whatever its architecture.

    @pytest.mark.parametrize("check", hiding_checks.CHECKS, ids=lambda check: check.__name__)
    def test_hiding(check, model, frames):
        check(model.image_tower, frames)

Each check takes an `ImageTower` in float32 and a few frames, and raises `ContractViolation`.
"""

from collections.abc import Callable, Sequence
from typing import get_args

import numpy as np
import torch
from jaxtyping import Bool
from PIL import Image
from torch import Tensor

from cuescope_sdk import Frame, HideTokens, generator
from cuescope_sdk.torch._encoding import TowerEncoder, TowerInput
from cuescope_sdk.torch._hiding import Hiding, encode_visible
from cuescope_sdk.torch._image_tower import ImageTower, Inputs, hook_input
from cuescope_testing._contract import expect
from cuescope_testing._model_contract.setting import noise_under

Check = Callable[[ImageTower, Sequence[Frame]], None]
WAYS: tuple[Hiding, ...] = get_args(Hiding)
# of float32, relative: the two ways add up in another order
TOLERANCE = 1e-5
# more than one, so that a short last chunk must be padded
CHUNK = 3


def hiding_nothing_is_the_plain_forward(
    tower: ImageTower, frames: Sequence[Frame]
) -> None:
    """An empty mask changes nothing."""
    for inputs in _inputs(tower, frames):
        plain = _encode(tower, inputs, None)
        for how in WAYS:
            hiding = _encode(tower, inputs, _nothing(tower, inputs), how)
            _expect_alike(
                plain, hiding, f"the plain forward where '{how}' hides nothing"
            )


def dropping_is_masking(tower: ImageTower, frames: Sequence[Frame]) -> None:
    """Hidden keys masked in every layer, or tokens taken away: one number."""
    for index, inputs in enumerate(_inputs(tower, frames)):
        hidden = _half(tower, inputs, index)
        dropped = _encode(tower, inputs, hidden, "drop")
        masked = _encode(tower, inputs, hidden, "mask")
        _expect_alike(dropped, masked, "'drop' to give what 'mask' gives")
        # far above rounding: else two ways that both hide nothing would agree
        changed = _distance(_encode(tower, inputs, None), dropped)
        expect(
            changed > 100 * TOLERANCE,
            "another embedding where patches are hidden",
            got="that of the plain forward",
        )


def hidden_content_does_not_matter(tower: ImageTower, frames: Sequence[Frame]) -> None:
    """Noise under the mask changes nothing, and would without it."""
    rng = generator(0, "noise under a mask")
    for group in _groups(tower, frames):
        # on the canvas, where the grid lies: resizing would mix noise into patches beside it
        canvases = [Image.fromarray(tower.canvas(frame.load())) for frame in group]
        inputs = tower.prepare(canvases)
        hidden = _half(tower, inputs, 1)
        pairs = zip(canvases, hidden.numpy(), strict=True)
        grid = tower.grid(inputs)
        noisy = tower.prepare(
            [_noisy(canvas, mask, grid, rng) for canvas, mask in pairs]
        )
        for how in WAYS:
            clean = _encode(tower, inputs, hidden, how)
            blurred = _encode(tower, noisy, hidden, how)
            _expect_alike(
                clean, blurred, f"'{how}' to be blind to what is under the mask"
            )
        difference = _distance(
            _encode(tower, inputs, None), _encode(tower, noisy, None)
        )
        expect(
            difference > 100 * TOLERANCE,
            "the noise to show where nothing is hidden",
            got="no difference",
        )


def hiding_everything_is_answered(tower: ImageTower, frames: Sequence[Frame]) -> None:
    """No patch left: a finite embedding, the same for every image."""
    for inputs in _inputs(tower, frames):
        everything = ~_nothing(tower, inputs)
        dropped = _encode(tower, inputs, everything, "drop")
        masked = _encode(tower, inputs, everything, "mask")
        expect(
            # a softmax over no key is NaN
            dropped.isfinite().all() and masked.isfinite().all(),
            "finite embeddings with all hidden",
            got="others",
        )
        _expect_alike(
            dropped, masked, "'drop' to give what 'mask' gives, with all hidden"
        )


def different_counts_share_a_batch(tower: ImageTower, frames: Sequence[Frame]) -> None:
    """Inputs of one shape that hide none, some and most go together as they go alone."""
    [inputs, *_] = _inputs(tower, frames)
    hidden = [_nothing(tower, inputs) for _ in range(CHUNK)]
    # every third, and all but one: far from equal counts
    hidden[1][:, ::3] = True
    hidden[2][:, 1:] = True
    together = {name: torch.cat([tensor] * CHUNK) for name, tensor in inputs.items()}
    for how in WAYS:
        alone = torch.cat([_encode(tower, inputs, mask, how) for mask in hidden])
        batch = _encode(tower, together, torch.cat(hidden), how)
        _expect_alike(
            batch, alone, f"'{how}' to answer a batch as it answers each alone"
        )


def padded_chunks_answer_alike(tower: ImageTower, frames: Sequence[Frame]) -> None:
    """Full chunks, as on an accelerator, answer as one input at a time does on a CPU."""
    inputs = [TowerInput(tuple(group)) for group in _groups(tower, frames)]
    rng = generator(0, "masks of a chunk")
    for index, plain in enumerate(inputs[1:], start=1):
        prepared = tower.prepare([frame.load() for frame in plain.frames])
        share = index / len(inputs)
        mask = rng.random((tower.frames, *tower.grid(prepared))) < share
        inputs.append(TowerInput(plain.frames, HideTokens.from_mask(mask)))
    singly = TowerEncoder(tower, 1)
    padded = TowerEncoder(tower, 1)
    # a CPU has chunks of one, where nothing is padded
    padded._chunk = CHUNK
    for single, chunk in zip(singly.embed(inputs), padded.embed(inputs), strict=True):
        alone = torch.from_numpy(single)
        among_others = torch.from_numpy(chunk)
        _expect_alike(alone, among_others, "padded chunks to answer as single inputs")


def patch_features_lie_on_the_grid(tower: ImageTower, frames: Sequence[Frame]) -> None:
    """A patch of the canvas, changed, changes one token that enters the first block: its own."""
    for group in _groups(tower, frames):
        canvas = Image.fromarray(tower.canvas(group[0].load()))
        rows, cols = tower.grid(tower.prepare([canvas] * tower.frames))
        features = TowerEncoder(tower, 1).features(
            Frame.from_array(np.asarray(canvas)), -1
        )
        expect(
            features.shape[:2] == (rows, cols) and np.isfinite(features).all(),
            f"finite features (row, col, dim) on a grid of {rows} x {cols}",
            got=f"{features.shape}",
        )
        # two corners off the diagonal: rows and columns that change places would show
        for row, col in ((0, cols - 1), (rows - 1, 0)):
            only = np.zeros((rows, cols), dtype=bool)
            only[row, col] = True
            noisy = _noisy(
                canvas, only.ravel(), (rows, cols), generator(0, "one patch")
            )
            difference = np.abs(
                _entering_tokens(tower, noisy) - _entering_tokens(tower, canvas)
            )
            is_changed = difference.max(axis=-1) > TOLERANCE
            expect(
                np.array_equal(is_changed, only),
                f"a changed patch ({row}, {col}) to change the token of that place alone",
                got=f"{np.argwhere(is_changed).tolist()}",
            )


CHECKS: tuple[Check, ...] = (
    hiding_nothing_is_the_plain_forward,
    dropping_is_masking,
    hidden_content_does_not_matter,
    hiding_everything_is_answered,
    different_counts_share_a_batch,
    padded_chunks_answer_alike,
    patch_features_lie_on_the_grid,
)


# ------------------------------------------------------------------------------------ how


def _groups(tower: ImageTower, frames: Sequence[Frame]) -> list[Sequence[Frame]]:
    """As many whole inputs as the frames make."""
    count = tower.frames
    starts = range(0, len(frames) - count + 1, count)
    return [frames[start : start + count] for start in starts]


def _inputs(tower: ImageTower, frames: Sequence[Frame]) -> list[Inputs]:
    return [
        tower.prepare([f.load() for f in group]) for group in _groups(tower, frames)
    ]


def _nothing(tower: ImageTower, inputs: Inputs) -> Bool[Tensor, "image patch"]:
    rows, cols = tower.grid(inputs)
    return torch.zeros(tower.frames, rows * cols, dtype=torch.bool)


def _half(tower: ImageTower, inputs: Inputs, index: int) -> Bool[Tensor, "image patch"]:
    """About half of the patches, other ones in each frame, never all."""
    shape = tuple(_nothing(tower, inputs).shape)
    hidden = generator(index, "hidden patches").random(shape) < 0.5
    # one that is hidden and one that is not, whatever the draw
    hidden[:, 0] = True
    hidden[:, -1] = False
    return torch.from_numpy(hidden)


@torch.inference_mode()
def _encode(
    tower: ImageTower,
    inputs: Inputs,
    hidden: Tensor | None,
    how: Hiding = "drop",
) -> Tensor:
    on_device = None if hidden is None else hidden.to(tower.device)
    # compared on the CPU in float32, whatever the tower computes in
    return encode_visible(tower, inputs, on_device, how).float().cpu()


def _entering_tokens(tower: ImageTower, image: Image.Image) -> np.ndarray:
    """The patch tokens of an image that enter the first block, (row, col, dim)."""
    entering: list[Tensor] = []
    inputs = tower.prepare([image] * tower.frames)
    with hook_input(tower.blocks[0].module, entering.append):
        _encode(tower, inputs, None)
    rows, cols = tower.grid(inputs)
    end = tower.prefix + rows * cols
    patches = entering[0][0, tower.prefix : end].float().cpu().numpy()
    return patches.reshape(rows, cols, -1)


def _noisy(
    canvas: Image.Image,
    mask: np.ndarray,
    grid: tuple[int, int],
    rng: np.random.Generator,
) -> Image.Image:
    """The canvas with noise in the patches under the mask."""
    return Image.fromarray(noise_under(np.asarray(canvas), mask.reshape(grid), rng))


def _distance(embedding: Tensor, other: Tensor) -> float:
    """Largest difference, relative to the largest figure; infinite where one is not finite."""
    if not (embedding.isfinite().all() and other.isfinite().all()):
        return float("inf")
    # 1 at least: what is all but 0 would make rounding large
    scale = embedding.abs().max().clamp(min=1.0)
    return float((embedding - other).abs().max() / scale)


def _expect_alike(embedding: Tensor, other: Tensor, expected: str) -> None:
    difference = _distance(embedding, other)
    expect(
        difference <= TOLERANCE,
        expected,
        got=f"a difference of {difference:.2g}",
    )
