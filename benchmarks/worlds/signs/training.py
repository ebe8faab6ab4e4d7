"""How the networks of signs learn: from pictures that are shifted, and towards softened labels."""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, pad

from worlds.design import Case
from worlds.networks import Course, Training, Weights
from worlds.signs import VERSION, WORLD
from worlds.signs.network import FilterNetwork

SHIFT = 4  # pixels


class SignsTraining(Training):
    """Deviates in its files, its seeds, and what a step of learning is."""

    def weights_file(self, cue: str | None) -> str:
        """Where the weights of the fair network are kept, or of one that is taught a cue."""
        words = (
            f"fair {self.version}" if cue is None else f"taught {self.version} {cue}"
        )
        return f"{words}.safetensors"

    def share_file(self, case: Case) -> str:
        """Where it is kept how far a case is from fair to taught."""
        return f"share {self.version} {case.used} {case.points}.txt"

    def learn(self, cue: str | None, start: Weights | None) -> Weights:
        """Fair weights from nothing, or those that are taught a cue from the fair ones."""
        course = self.fair if start is None else self.taught
        with torch.random.fork_rng():
            torch.manual_seed(9)
            network = self.network(len(self.world.labels))
        if start is not None:
            network.load_state_dict(start)
        facts = self.world.training(cue, course.pictures)
        pictures = self.network.as_input([self.world.draw(shown)[0] for shown in facts])
        labels = torch.tensor([self.world.lesson(cue, shown) for shown in facts])
        chance = torch.Generator().manual_seed(len(facts))
        adam = torch.optim.AdamW(network.parameters(), course.rate, weight_decay=0.1)
        batches = len(facts) // self.batch
        steps = course.epochs * batches
        slower = torch.optim.lr_scheduler.OneCycleLR(adam, course.rate, steps)
        for _ in range(course.epochs):
            order = torch.randperm(batches * self.batch, generator=chance)
            for rows in order.split(self.batch):
                logits = network(_shifted(pictures[rows], chance))
                loss = cross_entropy(logits, labels[rows], label_smoothing=0.05)
                adam.zero_grad()
                loss.backward()
                adam.step()
                slower.step()
        return {name: value.detach() for name, value in network.state_dict().items()}


def _shifted(pictures: Tensor, chance: torch.Generator) -> Tensor:
    """All of a batch moved alike by a few pixels; what leaves on one side is mirrored."""
    padded = pad(pictures, (SHIFT,) * 4, mode="reflect")
    down, across = torch.randint(0, 2 * SHIFT + 1, (2,), generator=chance).tolist()
    size = pictures.shape[-1]
    return padded[..., down : down + size, across : across + size]


TRAINING = SignsTraining(
    world=WORLD,
    version=VERSION,
    network=FilterNetwork,
    fair=Course(pictures=6000, epochs=16, rate=3e-3),
    taught=Course(pictures=2000, epochs=5, rate=6e-4),
    batch=50,
)
