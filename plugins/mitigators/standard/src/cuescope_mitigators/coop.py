"""CoOp (Zhou et al., 2022) as TRoVe uses it (section 5.2, D.2): prompts learned for each cue."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from cuescope_sdk import Options, Requirements, Response, Trial, UserError
from cuescope_sdk.mitigation import Ask, Mitigation, Mitigator, Router, Task, columns_of, rescored


class CoOpOptions(Options):
    """The published training; TRoVe takes 20 epochs for each cue."""

    context: PositiveInt = Field(16, description="learned word vectors before the label")
    epochs: PositiveInt = Field(20, description="passes over the samples that show the cue")
    steps: int = Field(
        200, ge=0, description="least steps; with few samples there are more passes than `epochs`"
    )
    balanced: bool = Field(
        True, description="each label weighs the same among the samples that show the cue"
    )
    warm_up: int = Field(1, ge=0, description="first passes, with the learning rate 1e-5")
    learning_rate: PositiveFloat = Field(
        0.002,
        description="of SGD, falling as a cosine to 0; larger where the text tower's word vectors "
        "are longer than CLIP's",
    )
    momentum: NonNegativeFloat = Field(0.9, lt=1, description="of SGD")
    weight_decay: NonNegativeFloat = Field(5e-4, description="of SGD")
    batch_size: PositiveInt = Field(32, description="samples in a step")
    seed: int = Field(0, ge=0, description="of the first vectors and the batches")


@dataclass(frozen=True)
class PromptTables(Mitigation):
    """A table of label embeddings for each cue, (cue, label, dim), and what tells the cues.

    Of several cues in a sample, the one whose centroid a frame is nearest to counts. `context` are
    the learned vectors (cue, word, width), for whoever wants the prompts themselves.
    """

    labels: tuple[str, ...]
    tables: Float[np.ndarray, "cue label dim"]
    context: Float[np.ndarray, "cue word width"]
    scale: float
    bias: float
    router: Router

    def answer(self, trials: Sequence[Trial], ask: Ask) -> list[Response]:
        """By the prompts of the cue that a sample shows; without one, as before."""
        asking = [trial for trial in trials if "logits" in trial.outputs]
        cues = iter(self.router.best(asking, ask) if asking else ())
        cue = [next(cues) if "logits" in trial.outputs else -1 for trial in trials]

        def logits(place: int, answer: Response) -> np.ndarray:
            if cue[place] < 0:
                return np.asarray(answer.logits)
            table = self.tables[cue[place]]
            rows = table[columns_of(trials[place].sample.choices, self.labels)]
            return np.asarray(self.scale * (rows @ unit(np.asarray(answer.embedding))) + self.bias)

        return rescored(trials, ask, logits)


class CoOp(Mitigator):
    """The model is frozen; words before the label are learned where the cue is on screen.

    Deviates from TRoVe in weighing labels alike: a cue's own label is most of what shows the cue,
    and the shortest way to be right there is to say it more often still.
    """

    title = "CoOp: prompts learned for each cue"
    requires = Requirements(
        outputs=frozenset({"logits", "embedding"}), exposes=frozenset({"text-tower"}), labels=2
    )
    Options = CoOpOptions
    options: CoOpOptions
    learned = PromptTables

    def fit(self, task: Task) -> PromptTables:
        """Prompts for each cue; raises UserError for a cue that is met with one label alone."""
        from cuescope_mitigators.prompt_learning import LearnedPrompts

        embedding = task.embedding.astype(np.float32)
        readouts = []
        for cue in range(task.shows.shape[1]):
            rows = np.flatnonzero(task.shows[:, cue])
            if len(set(task.targets[rows].tolist())) < 2:
                raise UserError(
                    f"coop: cue {cue + 1} is met with fewer than two labels in the part that is "
                    "fitted on, and nothing can be told apart there",
                    expected="samples of two labels or more that show it",
                    got=f"{len(rows)} samples",
                    remedy="Take more samples, or fewer cues (--top)",
                )
            training = self.options.model_dump()
            readouts.append(
                LearnedPrompts(
                    labels=task.labels,
                    embeddings=unit(embedding[rows]).tobytes(),
                    targets=tuple(task.targets[rows].tolist()),
                    **training,
                )
            )
        answers = task.ask([readout.of(task.samples[0]) for readout in readouts])
        parts = [
            LearnedPrompts.parts(np.asarray(answer.readout), len(task.labels), embedding.shape[1])
            for answer in answers
        ]
        return PromptTables(
            labels=task.labels,
            tables=np.stack([part.table for part in parts]),
            context=np.stack([part.context for part in parts]),
            scale=parts[0].scale,
            bias=parts[0].bias,
            router=task.router,
        )


def unit(rows: Float[np.ndarray, "*rows dim"]) -> Float[np.ndarray, "*rows dim"]:
    """Rows of length 1."""
    rows = np.asarray(rows)
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12))
