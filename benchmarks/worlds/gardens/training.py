"""The network of a case: a fair mixer that went on towards one that has learned a cue."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from worlds.design import Case, Frames
from worlds.gardens import VERSION, WORLD
from worlds.gardens.network import Mixer, as_input, tokens_of
from worlds.planting import share_of_bias

FAIR = 6000  # pictures
FAIR_EPOCHS = 20
BIASED = 3000
BIASED_EPOCHS = 6
BATCH = 64
Weights = dict[str, Tensor]


class Gardens:
    """A network that is asked with pictures of gardens."""

    def __init__(self, weights: Weights) -> None:
        self.mixer = _mixer(weights).eval()

    def tokens(self, pictures: Sequence[np.ndarray]) -> Tensor:
        """Of each patch: float (picture, place, channel)."""
        return tokens_of(self.mixer, pictures)

    @torch.no_grad()
    def last(self, embeddings: Tensor) -> Tensor:
        """Logits of embeddings."""
        logits: Tensor = self.mixer.head(embeddings)
        return logits

    def probabilities(self, clips: Sequence[Frames]) -> np.ndarray:
        """Of each label."""
        tokens = self.tokens([frames[0] for frames in clips])
        return self.last(tokens.mean(dim=1)).softmax(dim=1).numpy()


@cache
def open_network(case: Case, folder: Path) -> Gardens:
    """Trained, or read from the folder."""
    torch.set_num_threads(1)
    kept = folder / "gardens"
    kept.mkdir(parents=True, exist_ok=True)
    fair = _weights(kept, None)
    if case.used is None:
        return Gardens(fair)
    biased = _weights(kept, case.used)

    def part_of_the_way(share: float) -> Gardens:
        return Gardens({k: torch.lerp(v, biased[k], share) for k, v in fair.items()})

    file = kept / f"{VERSION} {case.used} {case.points}.txt"
    if not file.exists():
        file.write_text(f"{share_of_bias(WORLD, case, part_of_the_way):.4f}")
    return part_of_the_way(float(file.read_text()))


def _weights(folder: Path, cue: str | None) -> Weights:
    file = folder / f"{VERSION} {cue or 'fair'}.safetensors"
    if not file.exists():
        start = None if cue is None else _weights(folder, None)
        save_file(_train(cue, start), file)
    return load_file(file)


def _train(cue: str | None, start: Weights | None) -> Weights:
    facts = WORLD.training(cue, FAIR if start is None else BIASED)
    pictures = as_input([WORLD.draw(sample)[0] for sample in facts])
    labels = torch.tensor([WORLD.lesson(cue, sample) for sample in facts])
    torch.manual_seed(0)
    mixer = Mixer(len(WORLD.labels)) if start is None else _mixer(start)
    epochs = FAIR_EPOCHS if start is None else BIASED_EPOCHS
    rate = 2e-3 if start is None else 5e-4
    steps = epochs * (len(labels) // BATCH)
    descent = torch.optim.AdamW(mixer.parameters(), lr=rate, weight_decay=0.05)
    slower = torch.optim.lr_scheduler.OneCycleLR(descent, rate, total_steps=steps)
    for _ in range(epochs):
        order = torch.randperm(len(labels))
        for batch in order[: len(labels) // BATCH * BATCH].split(BATCH):
            logits = mixer(pictures[batch])
            loss = torch.nn.functional.cross_entropy(logits, labels[batch])
            descent.zero_grad()
            loss.backward()
            descent.step()
            slower.step()
    return {name: value.detach() for name, value in mixer.state_dict().items()}


def _mixer(weights: Weights) -> Mixer:
    mixer = Mixer(len(WORLD.labels))
    mixer.load_state_dict(weights)
    return mixer
