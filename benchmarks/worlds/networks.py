"""Networks that say something of each place of a picture: how they are asked and trained."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from worlds.design import Case, Frames, World
from worlds.planting import share_of_bias

AT_ONCE = 128  # pictures
Weights = dict[str, Tensor]


class PlacesNetwork(nn.Module, ABC):
    """Logits of labels from what is pooled of all places; it is built for a number of labels."""

    head: nn.Linear

    @staticmethod
    def seen(clip: Frames) -> np.ndarray:
        """What is looked at of a clip: the first frame, most worlds' only one."""
        return clip[0]

    @staticmethod
    @abstractmethod
    def as_input(pictures: Sequence[np.ndarray]) -> Tensor:
        """Float and scaled, what `tokens` reads."""

    @abstractmethod
    def tokens(self, pictures: Tensor) -> Tensor:
        """Of each place: float (picture, row, col, channel)."""

    @abstractmethod
    def pool(self, tokens: Tensor) -> Tensor:
        """What the last layer reads: float (picture, channel)."""

    def last(self, embeddings: Tensor) -> Tensor:
        """Logits of embeddings: float (picture, label)."""
        logits: Tensor = self.head(embeddings)
        return logits

    def forward(self, pictures: Tensor) -> Tensor:
        """Float (picture, label)."""
        return self.last(self.pool(self.tokens(pictures)))

    @torch.no_grad()
    def look(self, pictures: Sequence[np.ndarray]) -> Tensor:
        """Of each place, before the pool: float (picture, row, col, channel)."""
        parts = self.as_input(pictures).split(AT_ONCE)
        return torch.cat([self.tokens(part) for part in parts])

    @torch.no_grad()
    def embed(self, pictures: Sequence[np.ndarray]) -> Tensor:
        """What the last layer reads: float (picture, channel)."""
        return self.pool(self.look(pictures))

    @torch.no_grad()
    def probabilities(self, clips: Sequence[Frames]) -> np.ndarray:
        """Of each label, float (clip, label)."""
        embeddings = self.embed([self.seen(frames) for frames in clips])
        return self.last(embeddings).softmax(dim=1).numpy()


@dataclass(frozen=True)
class Course:
    """How many pictures a network learns from, how often, and how fast at its highest."""

    pictures: int
    epochs: int
    rate: float


@dataclass(frozen=True, eq=False)
class Training:
    """How the networks of a world learn: a fair one, and copies of it that are taught a cue each.

    The order of pictures has a seed of its own; where `has_one_stream`, it goes on in the random
    numbers that a new network's weights are drawn from.
    """

    world: World
    version: int  # of drawing and training
    network: type[PlacesNetwork]
    fair: Course
    taught: Course
    batch: int
    has_one_stream: bool = False

    def weights_file(self, cue: str | None) -> str:
        """Where the weights of the fair network are kept, or of one that is taught a cue."""
        return f"{self.version} {cue or 'fair'}.safetensors"

    def share_file(self, case: Case) -> str:
        """Where it is kept how far a case is from fair to taught."""
        return f"{self.version} {case.used} {case.points}.txt"

    def learn(self, cue: str | None, start: Weights | None) -> Weights:
        """Fair weights from nothing, or those that are taught a cue from the fair ones."""
        course = self.fair if start is None else self.taught
        facts = self.world.training(cue, course.pictures)
        clips = map(self.world.draw, facts)
        pictures = self.network.as_input([self.network.seen(clip) for clip in clips])
        labels = torch.tensor([self.world.lesson(cue, shown) for shown in facts])
        order = torch.Generator().manual_seed(0)
        with torch.random.fork_rng():
            torch.manual_seed(0)
            network = self.network(len(self.world.labels))
            if self.has_one_stream:
                order.set_state(torch.get_rng_state())
        if start is not None:
            network.load_state_dict(start)
        adam = torch.optim.AdamW(network.parameters(), course.rate, weight_decay=0.05)
        batches = len(facts) // self.batch
        steps = course.epochs * batches
        slower = torch.optim.lr_scheduler.OneCycleLR(adam, course.rate, steps)
        for _ in range(course.epochs):
            drawn = torch.randperm(len(facts), generator=order)
            for rows in drawn[: batches * self.batch].split(self.batch):
                loss = cross_entropy(network(pictures[rows]), labels[rows])
                adam.zero_grad()
                loss.backward()
                adam.step()
                slower.step()
        return {name: value.detach() for name, value in network.state_dict().items()}


@cache
def open_network(training: Training, case: Case, folder: Path) -> PlacesNetwork:
    """Trained, or read from the folder: as far from fair to taught as the cue takes its points."""
    torch.set_num_threads(1)
    kept = folder / training.world.name
    kept.mkdir(parents=True, exist_ok=True)
    fair = _weights(training, kept, None)
    if case.used is None:
        return _network(training, fair)
    taught = _weights(training, kept, case.used)

    def between(share: float) -> PlacesNetwork:
        return _network(training, _blend(fair, taught, share))

    file = kept / training.share_file(case)
    if not file.exists():
        file.write_text(f"{share_of_bias(training.world, case, between):.4f}")
    return between(float(file.read_text()))


def _weights(training: Training, folder: Path, cue: str | None) -> Weights:
    file = folder / training.weights_file(cue)
    if not file.exists():
        start = None if cue is None else _weights(training, folder, None)
        save_file(training.learn(cue, start), file)
    return load_file(file)


def _blend(fair: Weights, taught: Weights, share: float) -> Weights:
    """So far from one to the other; a whole number, as a count of batches, is that of the fair."""
    return {
        name: torch.lerp(value, taught[name], share)
        if value.is_floating_point()
        else value
        for name, value in fair.items()
    }


def _network(training: Training, weights: Weights) -> PlacesNetwork:
    network = training.network(len(training.world.labels))
    network.load_state_dict(weights)
    return network.eval()
