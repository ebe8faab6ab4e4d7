"""`cuescope dev bench videoqa-finetune`: four models trained on CLAVI or NExT-QA, on their heads.

Table 14 of QUAG and CLAVI (Rawal et al., 2024) has epochs and learning rates for CLAVI, and the
paper fine-tunes on NExT-QA with the models' own. Each model is trained by the scores with which it
answers (cross-entropy over the choices of a question), from a published checkpoint, and written
under the same names: `cuescope audit quag --model just-ask:FILE` reads it.

Deviates from the authors' scripts: one learning rate without a schedule, no dropout, and the
encoder of frames stays as it is (Singularity's BEiT; the others' features are of frozen encoders,
and All-in-one has none). FrozenBiLM trains what its checkpoint holds; the language model is frozen.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, PositiveFloat, PositiveInt

from cuescope_sdk import (
    Cell,
    HasSplits,
    Names,
    Options,
    Plugin,
    Sample,
    Table,
    UserError,
)
from cuescope_sdk.report import count_of

if TYPE_CHECKING:
    import torch

    from cuescope_videoqa.network import Network

# Epochs and learning rate, table 14.
RECIPES: dict[str, tuple[int, float]] = {
    "just-ask": (20, 1e-5),
    "frozen-bilm": (20, 5e-5),
    "singularity": (20, 1e-5),
    "all-in-one": (10, 1e-4),
}
FROZEN = ("vision_encoder.", "vision_layernorm.")  # remembered frames have no gradient


class FinetuneOptions(Options):
    """`cuescope dev bench videoqa-finetune --model just-ask --checkpoint FILE --out FILE`."""

    model: Literal["just-ask", "frozen-bilm", "singularity", "all-in-one"] = Field(
        description="whose checkpoint it is"
    )
    checkpoint: Path = Field(
        description="where training starts: the authors' pretrained file"
    )
    out: Path = Field(description="file of the trained weights (.pth)")
    model_options: Annotated[Mapping[str, Any], Names.plugin()] = Field(
        {}, description="options of that model, as YAML"
    )
    data: Annotated[str, Names.plugin()] = Field(
        "clavi:./Charades",
        description="SPEC of a data set with splits, as next-qa:./NExT-QA",
    )
    data_options: Annotated[Mapping[str, Any], Names.plugin()] = Field(
        {}, description="its options, as YAML"
    )
    epochs: PositiveInt | None = Field(
        None, description="default: table 14 of the paper"
    )
    learning_rate: PositiveFloat | None = Field(
        None, description="default: table 14 of the paper"
    )
    batch_size: PositiveInt = Field(32, description="questions in a batch")


class Finetune(Plugin):
    """Trains on the split `train`, keeps the epoch that is best on `val`."""

    Options = FinetuneOptions
    options: FinetuneOptions

    def run(self) -> Iterator[Table]:
        """A row an epoch; the weights of the best one are written."""
        import torch

        from cuescope_videoqa.checkpoints import read_checkpoint

        options = self.options
        epochs, rate = RECIPES[options.model]
        epochs = options.epochs or epochs
        rate = options.learning_rate or rate
        train = self._samples("train")
        val = self._samples("val")
        model_options = {"checkpoint": str(options.checkpoint), **options.model_options}
        model = self.context.build("model", options.model, model_options)
        network = model.runner.network
        # read again: the network may hold more than the file, as a frozen language model
        published = read_checkpoint(options.model, options.checkpoint)
        parameters = trainable_parameters(network, set(published.tensors))
        training = Training(network, parameters, rate)
        order = self.context.rng("videoqa-finetune")
        rows: list[dict[str, Cell]] = []
        # below every accuracy, so that the first epoch is written
        best = -1.0
        with self.context.progress("epochs", epochs) as advance:
            for epoch in range(1, epochs + 1):
                samples = [train[index] for index in order.permutation(len(train))]
                loss = training.epoch(samples, options.batch_size)
                accuracy, balanced = training.evaluate(val, options.batch_size)
                rows.append(
                    {
                        "epoch": str(epoch),
                        "loss": loss,
                        "accuracy": 100 * accuracy,
                        "balanced accuracy": 100 * balanced,
                    }
                )
                # of equal epochs the earliest
                if balanced > best:
                    best = balanced
                    # what the file held and no more: parts that are frozen come with their own
                    content = {**published.tensors, **training.parameters}
                    content = {
                        name: tensor.detach().cpu() for name, tensor in content.items()
                    }
                    out = options.out.expanduser()
                    out.parent.mkdir(parents=True, exist_ok=True)
                    # now, so that a run that is killed leaves its best epoch
                    torch.save({"model": content}, out)
                advance(1)
        yield Table(
            title=f"{options.model} on {options.data}: split val after each epoch",
            columns=("epoch", "loss", "accuracy", "balanced accuracy"),
            rows=tuple(rows),
            notes=(
                f"Learning rate {rate:g}, {count_of(len(train), 'questions')} to train on, "
                f"{len(val):,} of split val. The weights of the epoch with the "
                f"highest balanced accuracy are in {options.out.name}.",
            ),
            decimals=2,
        )

    def _samples(self, split: str) -> list[Sample]:
        """Those of a split that have a question and, among their choices, the right answer."""
        part = self._data.split(split)
        samples = [part[index] for index in range(len(part))]
        usable = [
            sample
            for sample in samples
            if sample.question and sample.label in sample.choices
        ]
        if not usable:
            raise UserError(
                f"videoqa-finetune: split '{split}' of {self.options.data}",
                expected="questions with choices, one of them right",
                got=f"{count_of(len(samples), 'samples')} without",
            )
        return usable

    @cached_property
    def _data(self) -> HasSplits:
        options = self.options
        data = self.context.build("dataset", options.data, dict(options.data_options))
        if not isinstance(data, HasSplits):
            raise UserError(
                f"videoqa-finetune: {options.data} has no splits",
                expected="a data set with splits 'train' and 'val'",
            )
        return data


def trainable_parameters(
    network: "Network", stored: set[str]
) -> dict[str, "torch.nn.Parameter"]:
    """Those of the checkpoint: what was frozen is not in the file, or encodes frames."""
    return {
        name: parameter
        for name, parameter in network.published.named_parameters()
        if name in stored and not name.startswith(FROZEN)
    }


@dataclass
class Training:
    """A network with its optimizer; `parameters` are the tensors that change, by name."""

    network: "Network"
    parameters: Mapping[str, "torch.nn.Parameter"]
    rate: float

    def __post_init__(self) -> None:
        import torch

        # the runner has frozen all of them
        for parameter in self.parameters.values():
            parameter.requires_grad_(True)
        self._optimizer = torch.optim.AdamW(self.parameters.values(), lr=self.rate)

    def epoch(self, samples: Sequence[Sample], size: int) -> float:
        """The mean loss of one pass."""
        total = 0.0
        for batch in batches(samples, size):
            loss = self._loss(batch)
            self._optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            self._optimizer.step()
            # the last batches may be smaller
            total += float(loss.detach()) * len(batch)
        return total / len(samples)

    def evaluate(self, samples: Sequence[Sample], size: int) -> tuple[float, float]:
        """Accuracy, and balanced accuracy: the mean over right answers of their recall."""
        import torch

        right: dict[str, list[bool]] = {}
        with torch.no_grad():
            for batch in batches(samples, size):
                for sample, logits in zip(batch, self._logits(batch), strict=True):
                    correct = sample.choices[int(logits.argmax())] == sample.label
                    # choices that differ from question to question share no recall
                    name = str(sample.label) if len(sample.choices) == 2 else ""
                    right.setdefault(name, []).append(correct)
        recalls = [sum(group) / len(group) for group in right.values()]
        accuracy = sum(map(sum, right.values())) / len(samples)
        return accuracy, sum(recalls) / len(recalls)

    def _loss(self, batch: Sequence[Sample]) -> "torch.Tensor":
        import torch
        from torch.nn.functional import cross_entropy

        losses = []
        for sample, logits in zip(batch, self._logits(batch), strict=True):
            number = sample.choices.index(str(sample.label))
            right = torch.tensor([number]).to(logits.device)
            losses.append(cross_entropy(logits[None].float(), right))
        return torch.stack(losses).mean()

    def _logits(self, batch: Sequence[Sample]) -> "list[torch.Tensor]":
        """Scores of the choices of samples with equally many frames."""
        network = self.network
        network.forget()  # embeddings of answers change with every step
        groups = [network.prompts(sample) for sample in batch]
        prompts = list(chain.from_iterable(groups))
        states = iter(network(network.collate(prompts)))
        logits = []
        for group, sample in zip(groups, batch, strict=True):
            sample_states = list(islice(states, len(group)))
            logits.append(network.score(sample_states, sample, sample.choices))
        return logits


def batches(samples: Sequence[Sample], size: int) -> Iterator[list[Sample]]:
    """In their order, of equally many frames each."""
    waiting: dict[int, list[Sample]] = {}
    for sample in samples:
        batch = waiting.setdefault(len(sample.frames), [])
        batch.append(sample)
        if len(batch) == size:
            yield waiting.pop(len(sample.frames))
    yield from waiting.values()
