"""The network of a case: between a fair one and one that has learned the cue (WiSE-FT backwards).

Weights between those of a network and of its fine-tuned copy answer between both (Wortsman et al.,
2022). So one fair network and one copy for each cue give effects of any size.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn import functional

from cuescope_sdk import derive
from worlds.design import Case, Frames
from worlds.planting import share_of_bias
from worlds.solids import VERSION, WORLD
from worlds.solids.network import GRID, SmallViT, as_input, fit, new_network

FAIR = 8000  # samples
BIASED = 3000
AT_ONCE = 128
Weights = dict[str, Tensor]


class Solids:
    """A network that is asked with pixels."""

    def __init__(self, weights: Weights) -> None:
        self._network = SmallViT(len(WORLD.labels))
        self._network.load_state_dict(weights)
        self._network.eval()

    def look(
        self,
        pictures: Sequence[np.ndarray],
        hidden: Sequence[np.ndarray | None] | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Logits, class tokens and patch tokens (picture, row, col, dim).

        `hidden` (row, col) is True where pixels are hidden: patches that are hidden by half go.
        """
        seen = [_seen(mask) for mask in hidden or [None] * len(pictures)]
        rows = []
        with torch.inference_mode():
            for start in range(0, len(pictures), AT_ONCE):
                stop = start + AT_ONCE
                tokens = self._network.tokens(
                    as_input(pictures[start:stop]), torch.stack(seen[start:stop])
                )
                rows.append(tokens)
            tokens = torch.cat(rows)
            logits = self._network.head(tokens[:, 0])
        patches = tokens[:, 1:].unflatten(1, (GRID, GRID))
        return logits.numpy(), tokens[:, 0].numpy(), patches.numpy()

    def probabilities(self, clips: Sequence[Frames]) -> np.ndarray:
        """Of each label."""
        logits, _, _ = self.look([frames[0] for frames in clips])
        return functional.softmax(torch.from_numpy(logits).double(), dim=-1).numpy()


def _seen(mask: np.ndarray | None) -> Tensor:
    if mask is None:
        return torch.ones(GRID**2, dtype=torch.bool)
    pixels = torch.from_numpy(mask).float()[None]
    covered = functional.adaptive_avg_pool2d(pixels, GRID)
    return (covered < 0.5).flatten()


@cache
def open_network(case: Case, folder: Path) -> Solids:
    """Trained, or read from the folder."""
    torch.set_num_threads(1)
    kept = folder / "solids"
    kept.mkdir(parents=True, exist_ok=True)
    fair = _kept_weights(kept, None)
    if case.used is None:
        return Solids(fair)
    biased = _kept_weights(kept, case.used)

    def blend(share: float) -> Solids:
        pairs = ((name, torch.lerp(fair[name], biased[name], share)) for name in fair)
        return Solids(dict(pairs))

    file = kept / f"{VERSION} {case.used} {case.points}.txt"
    if not file.exists():
        file.write_text(f"{share_of_bias(WORLD, case, blend):.4f}")
    return blend(float(file.read_text()))


def _kept_weights(folder: Path, cue: str | None) -> Weights:
    file = folder / f"{VERSION} {cue or 'fair'}.safetensors"
    if not file.exists():
        network = _train(folder, cue)
        save_file(network.state_dict(), file)
    return load_file(file)


def _train(folder: Path, cue: str | None) -> SmallViT:
    """Fair from nothing; biased from the fair one."""
    generator = torch.Generator().manual_seed(derive(0, "solids", cue or "fair"))
    network = new_network(len(WORLD.labels), generator)
    if cue is not None:
        network.load_state_dict(_kept_weights(folder, None))
    facts = WORLD.training(cue, FAIR if cue is None else BIASED)
    fit(
        network,
        [WORLD.draw(sample)[0] for sample in facts],
        [WORLD.lesson(cue, sample) for sample in facts],
        generator,
        epochs=8 if cue is None else 5,
        rate=1.5e-3,
    )
    return network
