"""Frames to embeddings through an image tower, each input encoded once, with patches hidden."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from os import cpu_count
from typing import TypeVar

import numpy as np
import torch
from jaxtyping import Float
from PIL import Image
from torch import Tensor

from cuescope.errors import UserError
from cuescope.types import Frame, HideTokens, Trial
from cuescope_sdk.torch._hiding import encode_visible, patches_under
from cuescope_sdk.torch._image_tower import ImageTower, Inputs

T = TypeVar("T")
REMEMBERED_ROWS = 65_536
REMEMBERED_NUMBERS = 2**26  # 256 MiB; a video's row may hold a feature for each place
REMEMBERED_INPUTS = 64
LARGEST_CHUNK = 64
MAX_LOADERS = 8


@dataclass(frozen=True)
class TowerInput:
    """One input of a tower: its frames, and the mask over them where one is hidden under."""

    frames: tuple[Frame, ...]
    hidden: HideTokens | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """Equal keys are shown equal things."""
        hidden = self.hidden
        return (*(f.key for f in self.frames), hidden and (hidden.shape, hidden.bits))


def tower_inputs(trial: Trial, frames: int) -> list[TowerInput]:
    """The inputs of a trial: all its frames together for a video tower, else one by one.

    Raises UserError for a mask over another number of frames.
    """
    sample = trial.sample
    edit = trial.edit if isinstance(trial.edit, HideTokens) else None
    if edit is not None and edit.shape[0] != len(sample.frames):
        raise UserError(
            f"hide-tokens on sample '{sample.key}'",
            expected=f"a mask for each of {len(sample.frames)} frames",
            got=str(edit.shape[0]),
        )
    if frames > 1:
        return [TowerInput(sample.frames, edit)]
    masks = [None] * len(sample.frames) if edit is None else list(edit.mask)
    return [
        TowerInput(
            (frame,), None if mask is None or not mask.any() else HideTokens.from_mask(mask[None])
        )
        for frame, mask in zip(sample.frames, masks, strict=True)
    ]


class TowerEncoder:
    """An image tower with a memory of what it was shown last.

    A forward pass takes one input on a CPU, where the tokens of one image fill the cores already,
    and a full chunk (its last one padded) on an accelerator. So an embedding does not depend on
    what is asked beside it, and remembering it is exact.
    """

    def __init__(self, tower: ImageTower, batch_size: int) -> None:
        self.tower = tower
        self._chunk = 1 if tower.device.type == "cpu" else min(batch_size, LARGEST_CHUNK)
        self._rows: OrderedDict[object, np.ndarray] = OrderedDict()
        self._inputs: OrderedDict[object, Inputs] = OrderedDict()

    def embed(self, shown: Sequence[TowerInput]) -> list[Float[np.ndarray, " size"]]:
        """What `tower.encode` gives for each, float32, in order."""
        wanted = {one.key: one for one in shown}
        known = {key: self._rows[key] for key in wanted if key in self._rows}
        fresh = [one for key, one in wanted.items() if key not in known]
        for one, row in zip(fresh, self._encode(fresh), strict=True):
            known[one.key] = row
        for key, row in known.items():
            self._remember_row(key, row)
        return [known[one.key] for one in shown]

    def features(self, frame: Frame, layer: int) -> Float[np.ndarray, "row col dim"]:
        """Patch tokens after block `layer`, float32. The embedding is remembered on the way."""
        tower = self.tower
        tower.require_tokens()
        depth = len(tower.blocks)
        if not -depth <= layer < depth:
            raise UserError(
                f"{tower.name} has no layer {layer}",
                expected=f"0 to {depth - 1}, or -{depth} to -1 from the last",
            )
        shown = TowerInput((frame,) * tower.frames)
        seen: list[Tensor] = []
        inputs = self._prepared(shown)
        hook = tower.blocks[layer].module.register_forward_hook(
            lambda module, args, output: seen.append(
                output[0] if isinstance(output, tuple) else output
            )
        )
        try:
            with torch.inference_mode():
                row = tower.encode(inputs)[0]
        finally:
            hook.remove()
        self._remember_row(shown.key, row.float().cpu().numpy())
        rows, cols = tower.grid(inputs)
        patches = seen[0][0, tower.prefix : tower.prefix + rows * cols].float().cpu().numpy()
        return np.asarray(patches.reshape(rows, cols, -1))

    def _remember_row(self, key: object, row: np.ndarray) -> None:
        most = min(REMEMBERED_ROWS, REMEMBERED_NUMBERS // row.size)
        _remember(self._rows, key, row, most)

    def _encode(self, shown: Sequence[TowerInput]) -> Iterator[np.ndarray]:
        with ThreadPoolExecutor(min(MAX_LOADERS, cpu_count() or 1)) as pool:
            prepare = pool.map if self._chunk > 1 else map
            for start in range(0, len(shown), self._chunk):
                chunk = shown[start : start + self._chunk]
                inputs = list(prepare(self._prepared, chunk))
                hidden = [self._hidden(*pair) for pair in zip(chunk, inputs, strict=True)]
                for alike in self._stackable(inputs):
                    yield from self._forward([inputs[i] for i in alike], [hidden[i] for i in alike])

    def _stackable(self, inputs: list[Inputs]) -> list[list[int]]:
        """Runs of neighbours of one shape and grid."""
        kinds = [(self.tower.grid(one), [t.shape for t in one.values()]) for one in inputs]
        runs = groupby(range(len(inputs)), key=lambda i: kinds[i])
        return [list(run) for _, run in runs]

    @torch.inference_mode()
    def _forward(self, inputs: list[Inputs], hidden: list[np.ndarray | None]) -> np.ndarray:
        """Rows of a chunk, padded with its last input to the full size."""
        missing = self._chunk - len(inputs)
        stacked = {
            name: torch.cat([one[name] for one in [*inputs, *inputs[-1:] * missing]])
            for name in inputs[0]
        }
        masks = None
        if any(mask is not None for mask in hidden):
            masks = self._stacked([*hidden, *hidden[-1:] * missing], inputs)
        rows: np.ndarray = encode_visible(self.tower, stacked, masks).float().cpu().numpy()
        return rows[: len(inputs)]

    def _stacked(self, hidden: list[np.ndarray | None], inputs: list[Inputs]) -> Tensor:
        """Bool (image, patch)."""
        rows, cols = self.tower.grid(inputs[0])
        nothing = np.zeros((self.tower.frames, rows * cols), dtype=bool)
        return torch.from_numpy(
            np.concatenate([nothing if mask is None else mask for mask in hidden])
        ).to(self.tower.device)

    def _prepared(self, shown: TowerInput) -> Inputs:
        key = tuple(frame.key for frame in shown.frames)
        if key not in self._inputs:
            inputs = self.tower.prepare([frame.load() for frame in shown.frames])
            _remember(self._inputs, key, inputs, REMEMBERED_INPUTS)
            return inputs
        return self._inputs[key]

    def _hidden(self, shown: TowerInput, inputs: Inputs) -> np.ndarray | None:
        """Bool (frame, patch): what is hidden, None where nothing is."""
        if shown.hidden is None:
            return None
        self.tower.require_tokens()
        grid = self.tower.grid(inputs)
        pairs = zip(shown.hidden.mask, shown.frames, strict=True)
        return np.stack(
            [patches_under(mask, grid, self._canvas_of(mask, f, grid)) for mask, f in pairs]
        )

    def _canvas_of(
        self, mask: np.ndarray, frame: Frame, grid: tuple[int, int]
    ) -> np.ndarray | None:
        """A mask in the frame's pixels as the network sees it; None for any other mask."""
        if mask.shape == grid or mask.shape != frame.load().size[::-1]:
            return None
        drawn = Image.fromarray(mask.astype(np.uint8) * 255).convert("RGB")
        return np.asarray(self.tower.canvas(drawn)[..., 0] > 127)


def _remember(memory: OrderedDict[object, T], key: object, value: T, most: int) -> None:
    memory[key] = value
    memory.move_to_end(key)
    while len(memory) > most:
        memory.popitem(last=False)
