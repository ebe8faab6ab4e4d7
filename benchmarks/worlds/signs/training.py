"""The network of a case: part of the way from a fair network to one that has learned a cue."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn.functional import cross_entropy

from worlds.design import Case, Facts, Frames
from worlds.planting import share_of_bias
from worlds.signs import VERSION, WORLD
from worlds.signs.network import FilterNetwork, as_input, tokens_of

FAIR = 6000  # pictures
FAIR_EPOCHS = 16
FAIR_RATE = 3e-3
TAUGHT = 2000
TAUGHT_EPOCHS = 5
TAUGHT_RATE = 6e-4
BATCH = 50
SHIFT = 4  # pixels, in training
Weights = dict[str, Tensor]


class Signs:
    """A network that is asked with pictures of signs."""

    def __init__(self, weights: Weights) -> None:
        self.network = _network(weights).eval()

    def tokens(self, pictures: Sequence[np.ndarray]) -> Tensor:
        """Of each place: float (picture, row, col, channel)."""
        return tokens_of(self.network, pictures)

    @torch.no_grad()
    def last(self, embeddings: Tensor) -> Tensor:
        """Logits of embeddings."""
        logits: Tensor = self.network.head(embeddings)
        return logits

    def probabilities(self, clips: Sequence[Frames]) -> np.ndarray:
        """Of each label."""
        tokens = self.tokens([frames[0] for frames in clips])
        return self.last(tokens.mean(dim=(1, 2))).softmax(dim=1).numpy()


@cache
def open_network(case: Case, folder: Path) -> Signs:
    """Trained, or read from the folder."""
    torch.set_num_threads(1)
    kept = folder / WORLD.name
    kept.mkdir(parents=True, exist_ok=True)
    fair = _fair(kept)
    if case.used is None:
        return Signs(fair)
    taught = _taught(kept, case.used)

    def blend(share: float) -> Signs:
        mixed = {key: torch.lerp(fair[key], taught[key], share) for key in fair}
        return Signs(mixed)

    note = kept / f"share {VERSION} {case.used} {case.points}.txt"
    if not note.exists():
        note.write_text(f"{share_of_bias(WORLD, case, blend):.4f}")
    return blend(float(note.read_text()))


def _fair(folder: Path) -> Weights:
    file = folder / f"fair {VERSION}.safetensors"
    if not file.exists():
        torch.manual_seed(9)
        network = FilterNetwork(len(WORLD.labels))
        facts = WORLD.training(None, FAIR)
        save_file(_train(network, None, facts, FAIR_EPOCHS, FAIR_RATE), file)
    return load_file(file)


def _taught(folder: Path, cue: str) -> Weights:
    file = folder / f"taught {VERSION} {cue}.safetensors"
    if not file.exists():
        network = _network(_fair(folder))
        facts = WORLD.training(cue, TAUGHT)
        save_file(_train(network, cue, facts, TAUGHT_EPOCHS, TAUGHT_RATE), file)
    return load_file(file)


def _train(
    network: FilterNetwork,
    cue: str | None,
    facts: Sequence[Facts],
    epochs: int,
    rate: float,
) -> Weights:
    pictures = as_input([WORLD.draw(sample)[0] for sample in facts])
    labels = torch.tensor([WORLD.lesson(cue, sample) for sample in facts])
    chance = torch.Generator().manual_seed(len(facts))
    adam = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=0.1)
    batches = len(facts) // BATCH
    slower = torch.optim.lr_scheduler.OneCycleLR(
        adam, rate, total_steps=epochs * batches
    )
    network.train()
    for _ in range(epochs):
        order = torch.randperm(batches * BATCH, generator=chance)
        for batch in order.split(BATCH):
            logits = network(_shifted(pictures[batch], chance))
            loss = cross_entropy(logits, labels[batch], label_smoothing=0.05)
            adam.zero_grad()
            loss.backward()
            adam.step()
            slower.step()
    return {name: value.detach() for name, value in network.state_dict().items()}


def _shifted(pictures: Tensor, chance: torch.Generator) -> Tensor:
    """All of a batch moved alike by a few pixels; what leaves on one side is mirrored."""
    padded = torch.nn.functional.pad(pictures, (SHIFT,) * 4, mode="reflect")
    down, across = torch.randint(0, 2 * SHIFT + 1, (2,), generator=chance).tolist()
    size = pictures.shape[-1]
    return padded[..., down : down + size, across : across + size]


def _network(weights: Weights) -> FilterNetwork:
    network = FilterNetwork(len(WORLD.labels))
    network.load_state_dict(weights)
    return network
