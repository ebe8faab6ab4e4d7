"""The network of a case: a fair last layer that went on towards one that has learned a cue."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from worlds.cloths import VERSION, WORLD
from worlds.cloths.network import Units, learn, maps
from worlds.design import Case, Frames
from worlds.planting import share_of_bias

FAIR = 5000  # pictures
BIASED = 2500
RIDGE = 3e-4


class Cloths:
    """A network that is asked with pictures of cloths."""

    def __init__(self, centre: Tensor, weights: Tensor) -> None:
        self._units = Units(centre.numpy())
        self._weights = weights

    def last(self, embeddings: Tensor) -> Tensor:
        """Logits of embeddings."""
        return embeddings @ self._weights[:-1] + self._weights[-1]

    def embed(self, pictures: Sequence[np.ndarray]) -> np.ndarray:
        """What the last layer reads."""
        return self._units.embed(maps(pictures))

    def probabilities(self, clips: Sequence[Frames]) -> np.ndarray:
        """Of each label."""
        rows = torch.from_numpy(self.embed([frames[0] for frames in clips]))
        return self.last(rows).softmax(dim=1).numpy()


@cache
def open_network(case: Case, folder: Path) -> Cloths:
    """Trained, or read from the folder."""
    torch.set_num_threads(1)
    kept = folder / "cloths"
    kept.mkdir(parents=True, exist_ok=True)
    fair = _weights(kept, None)
    if case.used is None:
        return Cloths(**fair)
    biased = _weights(kept, case.used)

    def part_of_the_way(share: float) -> Cloths:
        weights = torch.lerp(fair["weights"], biased["weights"], share)
        return Cloths(fair["centre"], weights)

    file = kept / f"{VERSION} {case.used} {case.points}.txt"
    if not file.exists():
        file.write_text(f"{share_of_bias(WORLD, case, part_of_the_way):.4f}")
    return part_of_the_way(float(file.read_text()))


def _weights(folder: Path, cue: str | None) -> dict[str, Tensor]:
    file = folder / f"{VERSION} {cue or 'fair'}.safetensors"
    if not file.exists():
        facts = WORLD.training(cue, BIASED if cue else FAIR)
        grids = maps([WORLD.draw(sample)[0] for sample in facts])
        if cue is None:
            centre = torch.from_numpy(grids.mean(axis=0))
        else:
            centre = _weights(folder, None)["centre"]
        rows = torch.from_numpy(Units(centre.numpy()).embed(grids))
        labels = torch.tensor([WORLD.lesson(cue, sample) for sample in facts])
        weights = learn(rows, labels, len(WORLD.labels), RIDGE)
        save_file({"centre": centre, "weights": weights}, file)
    return load_file(file)
