"""The network of a case: a fair one that went on towards one that has learned a cue."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from worlds.design import Case, Frames
from worlds.planting import share_of_bias
from worlds.terrains import VERSION, WORLD
from worlds.terrains.network import Scans, as_input, tokens_of

FAIR = 5000  # pictures
FAIR_EPOCHS = 5
BIASED = 2000
BIASED_EPOCHS = 7
BATCH = 40
RATE = 6e-3  # of learning, at its highest
Weights = dict[str, Tensor]


class Terrains:
    """A network that is asked with maps of land."""

    def __init__(self, weights: Weights) -> None:
        self.network = _network(weights).eval()

    def tokens(self, pictures: Sequence[np.ndarray]) -> Tensor:
        """Of each place: float (picture, row, col, channel)."""
        return tokens_of(self.network, pictures)

    @torch.no_grad()
    def embeddings(self, tokens: Tensor) -> Tensor:
        """What the last layer reads: float (picture, channel)."""
        return self.network.pool(tokens)

    @torch.no_grad()
    def last(self, embeddings: Tensor) -> Tensor:
        """Logits of embeddings."""
        return self.network.last(embeddings)

    def probabilities(self, clips: Sequence[Frames]) -> np.ndarray:
        """Of each label."""
        tokens = self.tokens([frames[0] for frames in clips])
        return self.last(self.embeddings(tokens)).softmax(dim=1).numpy()


@cache
def open_network(case: Case, folder: Path) -> Terrains:
    """Trained, or read from the folder."""
    torch.set_num_threads(1)
    kept = folder / "terrains"
    kept.mkdir(parents=True, exist_ok=True)
    fair = _weights(kept, None)
    if case.used is None:
        return Terrains(fair)
    biased = _weights(kept, case.used)

    def between(share: float) -> Terrains:
        return Terrains({k: torch.lerp(v, biased[k], share) for k, v in fair.items()})

    file = kept / f"{VERSION} {case.used} {case.points}.txt"
    if not file.exists():
        file.write_text(f"{share_of_bias(WORLD, case, between):.4f}")
    return between(float(file.read_text()))


def _weights(folder: Path, cue: str | None) -> Weights:
    """Of the fair network, or of one that has learned the cue."""
    file = folder / f"{VERSION} {cue or 'fair'}.safetensors"
    if not file.exists():
        start = None if cue is None else _weights(folder, None)
        save_file(_train(cue, start), file)
    return load_file(file)


def _train(cue: str | None, start: Weights | None) -> Weights:
    count, epochs = (FAIR, FAIR_EPOCHS) if start is None else (BIASED, BIASED_EPOCHS)
    facts = WORLD.training(cue, count)
    pictures = as_input([WORLD.draw(sample)[0] for sample in facts])
    labels = torch.tensor([WORLD.lesson(cue, sample) for sample in facts])
    order = torch.Generator().manual_seed(0)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = Scans(len(WORLD.labels))
    if start is not None:
        network.load_state_dict(start)
    descent = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=0.05)
    steps = epochs * (count // BATCH)
    slower = torch.optim.lr_scheduler.OneCycleLR(descent, RATE, total_steps=steps)
    for _ in range(epochs):
        for batch in torch.randperm(count, generator=order).split(BATCH):
            logits = network(pictures[batch])
            loss = torch.nn.functional.cross_entropy(logits, labels[batch])
            descent.zero_grad()
            loss.backward()
            descent.step()
            slower.step()
    return {name: value.detach() for name, value in network.state_dict().items()}


def _network(weights: Weights) -> Scans:
    network = Scans(len(WORLD.labels))
    network.load_state_dict(weights)
    return network
