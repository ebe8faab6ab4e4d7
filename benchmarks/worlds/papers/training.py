"""The network of a case: a fair one that went on to learn a cue, as far as its points ask."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from cuescope_sdk import derive
from worlds.design import Case, Frames
from worlds.papers import VERSION, WORLD
from worlds.papers.network import SmallResNet, scale
from worlds.planting import share_of_bias

FAIR = 5000  # pictures
FAIR_EPOCHS = 5
BIASED = 2400
BIASED_EPOCHS = 4
# a fair network has learned to look through a pattern that lies on everything
LONGER = {"moire": 10}
AT_ONCE = 100


class Papers:
    """A network that is asked with photographs of pages."""

    def __init__(self, weights: dict[str, Tensor]) -> None:
        self._network = SmallResNet(len(WORLD.labels))
        self._network.load_state_dict(weights)

    def last(self, embeddings: Tensor) -> Tensor:
        """Logits of embeddings."""
        return self._network.head(embeddings)

    def look(
        self, pictures: Sequence[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Logits, embeddings, and the last maps (picture, row, col, dim)."""
        maps = []
        with torch.inference_mode():
            for start in range(0, len(pictures), AT_ONCE):
                pixels = as_tensor(pictures[start : start + AT_ONCE])
                maps.append(self._network.maps(scale(pixels)))
            together = torch.cat(maps)
            means = together.mean(dim=(2, 3))
            logits = self._network.head(means)
            grids = together.permute(0, 2, 3, 1).contiguous()
        return logits.numpy(), means.numpy(), grids.numpy()

    def probabilities(self, clips: Sequence[Frames]) -> np.ndarray:
        """Of each label."""
        logits, _, _ = self.look([frames[0] for frames in clips])
        return torch.from_numpy(logits).softmax(dim=1).numpy()


def as_tensor(pictures: Sequence[np.ndarray]) -> Tensor:
    """Bytes (picture, channel, row, col)."""
    return torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2)


@cache
def open_network(case: Case, folder: Path) -> Papers:
    """Trained, or read from the folder."""
    torch.set_num_threads(1)
    kept = folder / "papers"
    kept.mkdir(parents=True, exist_ok=True)
    fair = _weights(kept, None)
    if case.used is None:
        return Papers(fair)
    biased = _weights(kept, case.used)

    def part_of_the_way(share: float) -> Papers:
        weights = {}
        for name, weight in fair.items():
            weights[name] = torch.lerp(weight, biased[name], share)
        return Papers(weights)

    file = kept / f"{VERSION} {case.used} {case.points}.txt"
    if not file.exists():
        file.write_text(f"{share_of_bias(WORLD, case, part_of_the_way):.4f}")
    return part_of_the_way(float(file.read_text()))


def _weights(folder: Path, cue: str | None) -> dict[str, Tensor]:
    file = folder / f"{VERSION} {cue or 'fair'}.safetensors"
    if not file.exists():
        generator = torch.Generator().manual_seed(derive(0, "papers", cue or "fair"))
        network = SmallResNet(len(WORLD.labels))
        if cue is None:
            network.draw_weights(generator)
        else:
            network.load_state_dict(_weights(folder, None))
        facts = WORLD.training(cue, BIASED if cue else FAIR)
        labels = [WORLD.lesson(cue, sample) for sample in facts]
        epochs = FAIR_EPOCHS
        if cue is not None:
            epochs = LONGER.get(cue, BIASED_EPOCHS)
        network.learn(
            as_tensor([WORLD.draw(sample)[0] for sample in facts]),
            torch.tensor(labels),
            generator,
            epochs=epochs,
            rate=2e-3 if cue else 5e-3,
        )
        save_file(network.state_dict(), file)
    return load_file(file)
