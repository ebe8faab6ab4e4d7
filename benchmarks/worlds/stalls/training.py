"""The head of a case, which is trained on a tower that stays: from fair as far as points ask."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional

from cuescope_sdk import derive
from worlds.design import Case, Facts, Frames
from worlds.planting import share_of_bias
from worlds.stalls import VERSION, WORLD
from worlds.stalls.tower import CELLS, CHANNELS, open_tower

FAIR = 5000  # pictures
FAIR_EPOCHS = 12
BIASED = 2400
BIASED_EPOCHS = 8
BATCH = 64
NARROW = 48  # of a cell
HIDDEN = 96


class Head(nn.Module):
    """Two layers that see where in a picture something is, over one that each cell shares."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(CHANNELS))
        self.register_buffer("spread", torch.ones(CHANNELS))
        self.narrow = nn.Linear(CHANNELS, NARROW)
        self.hidden = nn.Linear(CELLS * CELLS * NARROW, HIDDEN)
        self.last = nn.Linear(HIDDEN, labels)

    def forward(self, cells: Tensor) -> Tensor:
        """Cells (picture, cell, channel) to logits (picture, label)."""
        return self.last(self.embed(cells))

    def embed(self, cells: Tensor) -> Tensor:
        """What the last layer reads: (picture, unit)."""
        scaled = (cells - self.mean) / self.spread
        places = functional.gelu(self.narrow(scaled)).flatten(start_dim=1)
        return functional.gelu(self.hidden(places))


class Stalls:
    """A tower and a head that are asked with photos."""

    def __init__(self, weights: dict[str, Tensor]) -> None:
        self._head = Head(len(WORLD.labels))
        self._head.load_state_dict(weights)
        self._tower = open_tower()

    def embed(self, pictures: Sequence[np.ndarray]) -> np.ndarray:
        """What the last layer reads of pictures: (picture, unit)."""
        cells = torch.from_numpy(self._tower.cells(pictures))
        with torch.inference_mode():
            return self._head.embed(cells).numpy()

    def last(self, embeddings: Tensor) -> Tensor:
        """Logits of embeddings."""
        return self._head.last(embeddings)

    def maps(self, pictures: Sequence[np.ndarray]) -> np.ndarray:
        """Of the tower, 8 x 8: (picture, row, col, channel)."""
        return self._tower.middle(pictures)

    def probabilities(self, clips: Sequence[Frames]) -> np.ndarray:
        """Of each label."""
        embeddings = torch.from_numpy(self.embed([frames[0] for frames in clips]))
        with torch.inference_mode():
            return self.last(embeddings).softmax(dim=1).numpy()


@cache
def open_network(case: Case, folder: Path) -> Stalls:
    """Trained, or read from the folder."""
    torch.set_num_threads(1)
    kept = folder / WORLD.name
    kept.mkdir(parents=True, exist_ok=True)
    fair = _weights(kept, None)
    if case.used is None:
        return Stalls(fair)
    biased = _weights(kept, case.used)

    def part_of_the_way(share: float) -> Stalls:
        weights = {}
        for name, weight in fair.items():
            weights[name] = torch.lerp(weight, biased[name], share)
        return Stalls(weights)

    file = kept / f"{VERSION} {case.used} {case.points}.txt"
    if not file.exists():
        file.write_text(f"{share_of_bias(WORLD, case, part_of_the_way):.4f}")
    return part_of_the_way(float(file.read_text()))


def _weights(folder: Path, cue: str | None) -> dict[str, Tensor]:
    file = folder / f"{VERSION} {cue or 'fair'}.safetensors"
    if not file.exists():
        generator = torch.Generator().manual_seed(derive(0, "stalls", cue or "fair"))
        head = Head(len(WORLD.labels))
        facts = WORLD.training(cue, BIASED if cue else FAIR)
        cells = _cells(facts)
        if cue is None:
            _begin(head, cells, generator)
        else:
            head.load_state_dict(_weights(folder, None))
        labels = torch.tensor([WORLD.lesson(cue, sample) for sample in facts])
        epochs = BIASED_EPOCHS if cue else FAIR_EPOCHS
        _learn(head, cells, labels, generator, epochs)
        save_file(head.state_dict(), file)
    return load_file(file)


def _cells(facts: Sequence[Facts]) -> Tensor:
    rows = []
    # pictures are not kept
    for start in range(0, len(facts), BATCH):
        pictures = [WORLD.draw(sample)[0] for sample in facts[start : start + BATCH]]
        rows.append(open_tower().cells(pictures))
    return torch.from_numpy(np.concatenate(rows))


def _begin(head: Head, cells: Tensor, generator: torch.Generator) -> None:
    with torch.no_grad():
        head.mean.copy_(cells.mean(dim=(0, 1)))
        head.spread.copy_(cells.std(dim=(0, 1)) + 1e-3)
        for layer in (head.narrow, head.hidden, head.last):
            spread = layer.in_features**-0.5
            layer.weight.normal_(0, spread, generator=generator)
            layer.bias.zero_()


def _learn(
    head: Head,
    cells: Tensor,
    labels: Tensor,
    generator: torch.Generator,
    epochs: int,
) -> None:
    rate = 1e-3
    optimizer = torch.optim.AdamW(head.parameters(), lr=rate, weight_decay=0.05)
    steps = epochs * -(-len(cells) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, steps)
    for _ in range(epochs):
        for rows in torch.randperm(len(cells), generator=generator).split(BATCH):
            optimizer.zero_grad()
            functional.cross_entropy(head(cells[rows]), labels[rows]).backward()
            optimizer.step()
            schedule.step()
