"""Frames to embeddings through an image tower, each input encoded once, with patches hidden."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import TypeVar

import numpy as np
import torch
from jaxtyping import Float
from PIL import Image
from torch import Tensor

from cuescope_core.digest import digest
from cuescope_core.errors import UserError
from cuescope_core.types import Frame, HideTokens, Trial
from cuescope_sdk.models._tower_edit import TowerEdit
from cuescope_sdk.torch._ahead import LoadedAhead
from cuescope_sdk.torch._arrays import to_array
from cuescope_sdk.torch._hiding import encode_visible, patches_under
from cuescope_sdk.torch._image_tower import Block, ImageTower, Inputs, hook_output

T = TypeVar("T")
REMEMBERED_ROWS = 65_536
REMEMBERED_NUMBERS = 2**26  # 256 MiB; a video's row may hold a feature for each place
REMEMBERED_TOKENS = 2**26  # numbers: 446 pictures of a ViT-B/16
REMEMBERED_INPUTS = 64
LARGEST_CHUNK = 64  # inputs a pass, so that a large batch_size fits into memory


@dataclass(frozen=True)
class TowerInput:
    """One input of a tower: its frames, the mask over them where one is hidden under, an edit."""

    frames: tuple[Frame, ...]
    hidden: HideTokens | None = None
    edit: TowerEdit | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """Equal keys have equal embeddings."""
        hidden = self.hidden and (self.hidden.shape, self.hidden.bits)
        edit = self.edit and digest(self.edit.kind, self.edit)
        return (*self.frame_keys, hidden, edit)

    @property
    def frame_keys(self) -> tuple[str, ...]:
        """Inputs of the same frames are prepared alike."""
        return tuple(frame.key for frame in self.frames)


def tower_inputs(trial: Trial, frames: int) -> list[TowerInput]:
    """The inputs of a trial: all its frames together for a video tower, else one by one.

    Raises UserError for a mask over another number of frames.
    """
    sample = trial.sample
    hidden = trial.edit if isinstance(trial.edit, HideTokens) else None
    edit = trial.edit if isinstance(trial.edit, TowerEdit) else None
    if hidden is not None and hidden.shape[0] != len(sample.frames):
        raise UserError(
            f"hide-tokens on sample '{sample.key}'",
            expected=f"a mask for each of {len(sample.frames)} frames",
            got=str(hidden.shape[0]),
        )
    if frames > 1:  # the mask stays whole: a video's tokens see each other
        return [TowerInput(sample.frames, hidden, edit)]
    inputs = [TowerInput((frame,), edit=edit) for frame in sample.frames]
    if hidden is not None:
        for index, mask in enumerate(hidden.mask):
            if mask.any():  # an unhidden frame shares its row with the plain trial
                frame_mask = HideTokens.from_mask(mask[None])
                inputs[index] = replace(inputs[index], hidden=frame_mask)
    return inputs


class TowerMemory:
    """Memory of a tower: the last rows, and the patches of the first pictures.

    Of patches the first are kept: those are the data's own pictures, which every method looks at,
    and what methods make of them is looked at once.
    """

    def __init__(self) -> None:
        self.rows: OrderedDict[object, np.ndarray] = OrderedDict()
        self.patches: dict[object, np.ndarray] = {}
        self._room = REMEMBERED_TOKENS

    def keep_row(self, key: object, row: np.ndarray) -> None:
        """Keep what came last."""
        # a limit in numbers is one in bytes
        most = min(REMEMBERED_ROWS, REMEMBERED_NUMBERS // row.size)
        _remember(self.rows, key, row, most)

    def keep_patches(self, key: object, patches: np.ndarray) -> None:
        """Keep them where there is room."""
        if key not in self.patches and patches.size <= self._room:
            self._room -= patches.size
            self.patches[key] = patches


class TowerEncoder:
    """An image tower with a memory of what it was shown.

    A forward pass takes one input on a CPU, where the tokens of one image fill the cores already,
    and a full chunk (its last one padded) on an accelerator. So an embedding does not depend on
    what is asked beside it, and remembering it is exact. On a CPU a picture's patches are
    remembered with its embedding. `passes` counts the pictures that were encoded with nothing
    changed inside.
    """

    def __init__(
        self, tower: ImageTower, batch_size: int, memory: TowerMemory | None = None
    ) -> None:
        self.tower = tower
        self.memory = memory or TowerMemory()
        self.passes = 0
        self._chunk = (
            1 if tower.device.type == "cpu" else min(batch_size, LARGEST_CHUNK)
        )
        self._inputs: OrderedDict[object, Inputs] = OrderedDict()
        # 1.6 to 1.8 times as fast where a network takes as long as a photo (docs/scale.md)
        self._ahead = LoadedAhead[Inputs](REMEMBERED_INPUTS)

    def prefetch(self, trials: Sequence[Trial]) -> None:
        """Begin to prepare what is embedded next."""
        inputs: list[TowerInput] = []
        for trial in trials:
            # an edit changes no input: prepared ones are known by their frames
            plain = tower_inputs(replace(trial, edit=None), self.tower.frames)
            if trial.edit is None:
                plain = [item for item in plain if item.key not in self.memory.rows]
            inputs += plain
        self._ahead.expect(self._missing_inputs(inputs))

    def embed(self, inputs: Sequence[TowerInput]) -> list[Float[np.ndarray, " size"]]:
        """Embed each by `tower.encode`, float32, in order."""
        rows = {}
        by_edit: dict[TowerEdit | None, list[TowerInput]] = {}
        for key, item in {item.key: item for item in inputs}.items():
            if key in self.memory.rows:
                rows[key] = self.memory.rows[key]
            else:
                by_edit.setdefault(item.edit, []).append(item)
        for edit, group in by_edit.items():
            # Hooks change a whole forward pass, so a pass holds one edit or none.
            with nullcontext() if edit is None else edit.hooks(self.tower):
                for item, row in zip(group, self._encode(group), strict=True):
                    rows[item.key] = row
        for key, row in rows.items():
            # after all: a large batch would push out its own first rows
            self.memory.keep_row(key, row)
        return [rows[item.key] for item in inputs]

    def features(self, frame: Frame, layer: int) -> Float[np.ndarray, "row col dim"]:
        """Patch tokens after block `layer`, float32. On a CPU the embedding is remembered too."""
        tower = self.tower
        block = tower.block(layer)
        # a tower of videos takes whole clips: here one that stands still
        item = TowerInput((frame,) * tower.frames)
        if block is tower.blocks[-1] and item.key in self.memory.patches:
            return self.memory.patches[item.key].copy()
        row, patches = self._look(item, block)
        # a chunk rounds otherwise: an embedding must not depend on whether patches were asked
        if self._chunk == 1:
            self.memory.keep_row(item.key, row)
        # one's own: the memory has the other
        return patches.copy()

    def _look(self, item: TowerInput, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """The row of an input, and the patches of its first frame after a block."""
        tower = self.tower
        tokens: list[Tensor] = []
        [inputs] = self._prepare([item])
        self._count([item])
        with (
            hook_output(block.module, tokens.append),
            torch.inference_mode(),
        ):
            row = tower.embed(self._place(inputs))[0]
        # some towers take images of any shape, each with its grid
        rows, cols = tower.grid(inputs)
        # some towers have tokens behind the patches that only pad
        end = tower.prefix + rows * cols
        patches = to_array(tokens[0][0, tower.prefix : end]).reshape(rows, cols, -1)
        if block is tower.blocks[-1]:
            self.memory.keep_patches(item.key, patches)
        return to_array(row), patches

    def _count(self, items: Iterable[TowerInput]) -> None:
        for item in items:
            if item.hidden is None and item.edit is None:
                self.passes += len(set(item.frame_keys))

    def _encode(self, items: Sequence[TowerInput]) -> Iterator[np.ndarray]:
        for start in range(0, len(items), self._chunk):
            chunk = items[start : start + self._chunk]
            if self._shows_patches(chunk):
                yield self._look(chunk[0], self.tower.blocks[-1])[0]
                continue
            inputs = self._prepare(chunk)
            self._count(chunk)
            shown = []
            for item, tensors in zip(chunk, inputs, strict=True):
                shown.append((tensors, self._hidden_patches(item, tensors)))
            for _, run in groupby(shown, key=lambda pair: self._shape(pair[0])):
                alike, hidden = zip(*run, strict=True)
                yield from self._forward(alike, hidden)

    def _shows_patches(self, chunk: Sequence[TowerInput]) -> bool:
        """True if a pass gives the patches of a picture beside its row, as if they were asked."""
        [item, *others] = chunk
        plain = item.hidden is None and item.edit is None
        alone = self._chunk == 1 and not others
        return alone and plain and self.tower.frames == 1 and bool(self.tower.blocks)

    def _shape(self, inputs: Inputs) -> object:
        """Inputs that are alike in it go through one forward pass."""
        return self.tower.grid(inputs), [tensor.shape for tensor in inputs.values()]

    @torch.inference_mode()
    def _forward(
        self,
        inputs: Sequence[Inputs],
        hidden: Sequence[np.ndarray | None],
    ) -> np.ndarray:
        """Rows of inputs with what is hidden of each."""
        placed = [self._place(tensors) for tensors in inputs]
        # padded with the last one: kernels round differently for another batch size
        missing = self._chunk - len(inputs)
        placed += placed[-1:] * missing
        shown = list(hidden)
        stacked = placed[0]
        if len(placed) > 1:  # of one alone there is nothing to copy
            stacked = {
                name: torch.cat([item[name] for item in placed]) for name in stacked
            }
        masks = self._stack(shown + shown[-1:] * missing, inputs[0])
        rows = to_array(encode_visible(self.tower, stacked, masks))
        return rows[: len(inputs)]

    def _stack(self, masks: list[np.ndarray | None], inputs: Inputs) -> Tensor | None:
        """Bool (image, patch); None where nothing is hidden."""
        if all(mask is None for mask in masks):
            return None
        rows, cols = self.tower.grid(inputs)
        nothing = np.zeros((self.tower.frames, rows * cols), dtype=bool)
        hidden = np.concatenate([nothing if mask is None else mask for mask in masks])
        return torch.from_numpy(hidden).to(self.tower.device)

    def _prepare(self, items: Sequence[TowerInput]) -> list[Inputs]:
        """Side by side, where there are several."""
        prepared: dict[object, Inputs] = dict(self._inputs)
        new = self._missing_inputs(items)
        for key, inputs in zip(new, self._ahead.take_all(new), strict=True):
            prepared[key] = inputs
            _remember(self._inputs, key, inputs, REMEMBERED_INPUTS)
        return [prepared[item.frame_keys] for item in items]

    def _missing_inputs(
        self, items: Iterable[TowerInput]
    ) -> dict[Hashable, Callable[[], Inputs]]:
        new: dict[Hashable, Callable[[], Inputs]] = {}
        for item in items:
            if item.frame_keys not in self._inputs:
                new[item.frame_keys] = partial(self._load, item.frames)
        return new

    def _load(self, frames: Sequence[Frame]) -> Inputs:
        """Pinned where there is a GPU, so that they go there while it works."""
        inputs = self.tower.prepare([frame.load() for frame in frames])
        if self.tower.device.type == "cuda":
            return {name: tensor.pin_memory() for name, tensor in inputs.items()}
        return inputs

    def _place(self, inputs: Inputs) -> Inputs:
        """Pixels on the device; grids stay, for they are read."""
        placed = dict(inputs)
        for name, tensor in inputs.items():
            if tensor.is_floating_point():
                placed[name] = tensor.to(self.tower.device, non_blocking=True)
        return placed

    def _hidden_patches(self, item: TowerInput, inputs: Inputs) -> np.ndarray | None:
        """Bool (frame, patch): what is hidden, None where nothing is."""
        if item.hidden is None:
            return None
        self.tower.require_tokens()
        grid = self.tower.grid(inputs)
        patches = []
        for mask, frame in zip(item.hidden.mask, item.frames, strict=True):
            canvas = self._canvas_of(mask, frame, grid)
            patches.append(patches_under(mask, grid, canvas))
        return np.stack(patches)

    def _canvas_of(
        self,
        mask: np.ndarray,
        frame: Frame,
        grid: tuple[int, int],
    ) -> np.ndarray | None:
        """A mask in the frame's pixels as the network sees it; None for any other mask."""
        if mask.shape == grid or mask.shape != frame.load().size[::-1]:
            return None
        drawn = Image.fromarray(mask.astype(np.uint8) * 255).convert("RGB")
        return self.tower.canvas(drawn)[..., 0] > 127


def _remember(memory: OrderedDict[object, T], key: object, value: T, most: int) -> None:
    memory[key] = value
    memory.move_to_end(key)
    while len(memory) > most:
        memory.popitem(last=False)
