"""The training of CoOp, as a readout: it runs where the model is, and is remembered."""

from collections import Counter
from dataclasses import dataclass
from math import ceil
from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import Float, Float32, Int
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from cuescope_mitigators.reading import Trials
from cuescope_sdk import Readout, Trial, UserError
from cuescope_sdk.models import PromptTower
from cuescope_sdk.report import count_of

PLACEHOLDER = "X"  # a word whose vectors are replaced by the learned ones
# Standard deviation of the first vectors (Zhou et al., 2022), as CLIP's word vectors have at first.
# A tower with longer words takes the vectors and the learning rate in that proportion, or they
# would hardly move.
SPREAD = 0.02  # Zhou et al., 2022
MOMENTUM = 0.9  # Zhou et al., 2022
WEIGHT_DECAY = 5e-4  # Zhou et al., 2022
BATCH = 32  # Zhou et al., 2022
WARM_UP_RATE = 1e-5  # of the first epoch (Zhou et al., 2022)
# what torch says of a graph that begins nowhere
WITHOUT_GRADIENTS = ("does not require grad", "Inference tensors", "not have been used")


@dataclass(frozen=True)
class Parts:
    """What a training gives: label embeddings, the learned vectors, scale and bias of logits."""

    table: Float[np.ndarray, "label dim"]
    context: Float[np.ndarray, "word width"]
    scale: float
    bias: float


class LearnedPrompts(Readout):
    """Context vectors that tell the labels of these embeddings apart, the model frozen."""

    name: ClassVar[str] = "coop-prompts"
    gives: ClassVar[Any] = Float32[np.ndarray, " number"]
    labels: tuple[str, ...]
    embeddings: bytes  # float32, unit rows (sample, dim)
    targets: tuple[int, ...]
    context: int
    epochs: int
    steps: int
    balance: float
    learning_rate: float
    seed: int

    def read(self, model: Any, trials: Trials) -> list[np.ndarray]:
        """Scale, bias, the table, then the vectors, in one row: the same for each trial."""
        return [self.learn(model.prompt_tower())] * len(trials)

    def accepts(self, array: np.ndarray, trial: Trial) -> bool:
        """A row that `parts` can cut up."""
        if not super().accepts(array, trial) or not array.size:
            return False
        dim = len(self.embeddings) // (
            np.dtype(np.float32).itemsize * len(self.targets)
        )
        vectors = len(array) - 2 - len(self.labels) * dim - 1
        # the width of a vector comes last
        return vectors > 0 and vectors == self.context * array[-1]

    @staticmethod
    def parts(row: np.ndarray, labels: int, dim: int) -> Parts:
        """What `read` gave, taken apart."""
        end = 2 + labels * dim
        # the width comes last: with it the row of numbers is cut up again
        width = int(row[-1])
        return Parts(
            table=row[2:end].reshape(labels, dim),
            context=row[end:-1].reshape(-1, width),
            scale=float(row[0]),
            bias=float(row[1]),
        )

    def learn(self, tower: PromptTower) -> np.ndarray:
        """The training, on a text tower: scale, bias, the table, the vectors and their width."""
        context_words = " ".join([PLACEHOLDER] * self.context)
        # with a full stop, as CoOp writes them
        prompts = [f"{context_words} {label}." for label in self.labels]
        inputs = dict(tower.tokenize(prompts))
        places = _placeholders(tower, inputs["input_ids"], self.context)
        with torch.no_grad():
            # in float32: the tower may be in half precision; each id once: most are padding
            words = tower.embedding(torch.unique(inputs["input_ids"])[None])[0].float()
        width = words.shape[1]
        device = words.device
        spread = float(words.square().mean().sqrt())
        stretch = max(1.0, spread / SPREAD)
        # on the CPU: a GPU draws other numbers from the same seed
        generator = torch.Generator().manual_seed(self.seed)
        first = stretch * SPREAD * torch.randn(self.context, width, generator=generator)
        context = first.to(device).requires_grad_(True)
        targets = torch.tensor(self.targets, device=device)
        # a copy: bytes are read-only, and torch warns of that
        numbers = np.frombuffer(self.embeddings, np.float32).copy()
        images = torch.from_numpy(numbers).to(device).reshape(len(targets), -1)

        def put(module: Any, given: Any, vectors: Tensor) -> Tensor:
            vectors = vectors.clone()
            # places are counted text by text, so the words come once for each label
            vectors[places] = context.to(vectors.dtype).repeat(len(self.labels), 1)
            return vectors

        hook = tower.embedding.register_forward_hook(put)
        try:
            # models answer with gradients off
            with torch.enable_grad():
                self._train(tower, inputs, context, images, targets, stretch, generator)
            with torch.no_grad():
                table = normalize(tower.encode(inputs), dim=-1)
        finally:
            # the tower is the model's own, which answers as before in any case
            hook.remove()
        vectors = context.detach().cpu().numpy()
        rows = table.cpu().numpy()
        parts = ([tower.scale, tower.bias], rows.ravel(), vectors.ravel(), [width])
        return np.concatenate(parts).astype(np.float32)

    def _train(
        self,
        tower: PromptTower,
        inputs: dict[str, Tensor],
        context: Tensor,
        images: Tensor,
        targets: Tensor,
        stretch: float,
        generator: torch.Generator,
    ) -> None:
        optimizer = torch.optim.SGD(
            [context],
            lr=self.learning_rate,
            momentum=MOMENTUM,
            weight_decay=WEIGHT_DECAY,
        )
        batches = ceil(len(targets) / BATCH)
        epochs = max(self.epochs, ceil(self.steps / batches))
        for epoch in range(epochs):
            # as published: a constant rate at first, then the cosine of the whole training
            turn = (1 + np.cos(np.pi * epoch / epochs)) / 2
            rate = self.learning_rate * turn if epoch else WARM_UP_RATE
            optimizer.param_groups[0]["lr"] = stretch * rate
            # on the CPU, where the generator draws
            order = self._order(targets.cpu(), generator).to(targets.device)
            for batch in torch.split(order, BATCH):
                try:
                    rows = normalize(tower.encode(inputs), dim=-1)
                    logits = tower.scale * images[batch] @ rows.T + tower.bias
                    loss = cross_entropy(logits, targets[batch])
                    # of the words alone: the model's own weights stay as they are
                    (context.grad,) = torch.autograd.grad(loss, [context])
                except RuntimeError as error:
                    if not any(words in str(error) for words in WITHOUT_GRADIENTS):
                        raise
                    raise UserError(
                        "coop: no gradient reaches the words of this text tower",
                        expected="a text tower that can be differentiated",
                        got="one without gradients",
                        remedy="Take last-layer, which needs the embeddings alone",
                    ) from error
                optimizer.step()

    def _order(
        self,
        targets: Int[Tensor, " sample"],
        generator: torch.Generator,
    ) -> Int[Tensor, " drawn"]:
        """The rows of an epoch: each once, or as many, rare labels more often than they are.

        They are drawn so and not weighted so: a rare sample with a large weight throws a step off.
        """
        if self.balance == 0:
            return torch.randperm(len(targets), generator=generator)
        chances = torch.bincount(targets)[targets] ** -self.balance
        return torch.multinomial(
            chances,
            len(targets),
            replacement=True,
            generator=generator,
        )


def _placeholders(tower: PromptTower, ids: Tensor, count: int) -> Tensor:
    """Which places hold placeholders; raises UserError where a text is too long for them."""
    # two texts that differ in the number of placeholders tell which id one has
    single = tower.tokenize([PLACEHOLDER])["input_ids"][0]
    double = tower.tokenize([f"{PLACEHOLDER} {PLACEHOLDER}"])["input_ids"][0]
    more = Counter(double.tolist()) - Counter(single.tolist())
    word = list(more)
    # no id is -1: then nothing fits, which is told below
    wanted = torch.tensor(word[:1] or [-1], device=ids.device)
    places = torch.isin(ids, wanted)
    first = places & (places.cumsum(dim=1) <= count)  # a label may hold the same word
    if not (first.sum(dim=1) == count).all():
        raise UserError(
            f"coop: {count_of(count, 'learned words')} and a label do not fit the text tower",
            expected="fewer learned words, or shorter labels",
            remedy="Set -O context=4",
        )
    return first
