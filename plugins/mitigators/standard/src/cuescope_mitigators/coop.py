"""CoOp (Zhou et al., 2022) as TRoVe uses it (section 5.2, D.2): prompts learned for each cue."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int
from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from cuescope_mitigators.choosing import best_share, sides_of
from cuescope_mitigators.reading import Trials, best_cues
from cuescope_sdk import Options, Requirements, Response, UserError
from cuescope_sdk.maths import normalise
from cuescope_sdk.mitigation import Ask, Mitigation, Mitigator, Router, Task, halves
from cuescope_sdk.report import count_of

if TYPE_CHECKING:
    from cuescope_mitigators.prompt_learning import Parts

Rows = Int[np.ndarray, " row"]
SHARES = tuple(np.linspace(0, 1, 9).tolist())  # how far the prompts may count


class CoOpOptions(Options):
    """The published training; TRoVe takes 20 epochs for each cue."""

    context: PositiveInt = Field(
        16, description="learned word vectors before the label"
    )
    epochs: PositiveInt = Field(
        20, description="passes over the samples that show the cue"
    )
    steps: int = Field(
        200,
        ge=0,
        description="least steps; with few samples there are more passes than `epochs`",
    )
    balance: float = Field(
        0.5,
        ge=0,
        le=1,
        description="labels among the samples that show the cue weigh as their number to the power "
        "of 1 minus this; 0: as they are, as published; 1: all the same",
    )
    learning_rate: PositiveFloat = Field(
        0.002,
        description="of SGD, falling as a cosine to 0; larger where the text tower's word vectors "
        "are longer than CLIP's",
    )
    cost: NonNegativeFloat = Field(
        0.01,
        description="overall accuracy that may be lost in two halves of the fitting part; the new "
        "prompts count as far as this allows; 1: they alone answer, as published",
    )


@dataclass(frozen=True)
class PromptTables(Mitigation):
    """A table of label embeddings for each cue, (cue, label, dim), and what tells the cues.

    Of several cues in a sample, the one whose centroid a frame is nearest to counts. Logits go as
    far as its `shares` from the model's own to those of its table. `context` are the learned
    vectors (cue, word, width), for whoever wants the prompts themselves.
    """

    labels: tuple[str, ...]
    tables: Float[np.ndarray, "cue label dim"]
    shares: Float[np.ndarray, " cue"]
    context: Float[np.ndarray, "cue word width"]
    scale: float
    bias: float
    router: Router

    def answer(self, trials: Trials, ask: Ask) -> list[Response]:
        """By the prompts of the cue that a sample shows; without one, as before."""
        # only for logits is each frame asked about, to tell the cue
        wanted = ["logits" in trial.outputs for trial in trials]
        cues = best_cues(self.router, trials, wanted, ask)

        def logits(place: int, answer: Response) -> np.ndarray:
            before = np.asarray(answer.logits)
            cue = cues[place]
            if cue < 0:
                return before
            share = self.shares[cue]
            columns = self.columns(trials[place])
            [unit] = normalise(np.asarray(answer.embedding)[None])
            cosine = self.tables[cue][columns] @ unit
            learned = self.scale * cosine + self.bias
            return np.asarray((1 - share) * before + share * learned)

        return self.rescore(trials, ask, logits)


class CoOp(Mitigator):
    """The model is frozen; words before the label are learned where the cue is on screen.

    Deviates from TRoVe in two things. Labels weigh alike: a cue's own label is most of what shows
    the cue, and the shortest way to be right there is to say it more often still. And logits lie
    between the model's own and those of the prompts (as Wortsman et al., 2022, do with weights),
    where a cue costs its label least in two halves of what is learned from, and others not much.
    """

    title = "CoOp: prompts learned for each cue"
    requires = Requirements(
        outputs=frozenset({"logits", "embedding"}),
        exposes=frozenset({"text-tower"}),
        labels=2,
    )
    Options = CoOpOptions
    options: CoOpOptions
    learned = PromptTables

    def fit(self, task: Task) -> PromptTables:
        """Prompts for each cue; raises UserError for a cue that is met with one label alone."""
        showing = list(map(np.flatnonzero, task.shows.T))
        for number, rows in enumerate(showing, 1):
            if not _has_labels(task, rows):
                raise UserError(
                    f"coop: cue {number} is met with fewer than two labels in the part that is "
                    "fitted on, and nothing can be told apart there",
                    expected="samples of two labels or more that show it",
                    got=f"{count_of(len(rows), 'samples')}",
                    remedy="Take more samples, or fewer cues (--top)",
                )
        parts = self._learn(task, showing)
        return PromptTables(
            labels=task.labels,
            tables=np.stack([part.table for part in parts]),
            shares=self._shares(task, showing),
            context=np.stack([part.context for part in parts]),
            # the model's own, so the same in each part
            scale=parts[0].scale,
            bias=parts[0].bias,
            router=task.router,
        )

    def _learn(self, task: Task, trained: Sequence[Rows]) -> list["Parts"]:
        """Prompts learned from each of these selections of the task's samples."""
        from cuescope_mitigators.prompt_learning import LearnedPrompts

        embedding = normalise(task.embedding.astype(np.float32))
        trials = []
        for rows in trained:
            # bytes and tuples: the fields of a readout are its key in the cache
            readout = LearnedPrompts(
                labels=task.labels,
                embeddings=embedding[rows].tobytes(),
                targets=tuple(task.targets[rows].tolist()),
                # another cost needs no new training, so it is no part of the key
                **self.options.model_dump(exclude={"cost"}),
                seed=self.context.seed,
            )
            # a readout is asked with a sample; what is learned does not depend on it
            trials.append(readout.of(task.samples[0]))
        shape = len(task.labels), embedding.shape[1]
        return [
            LearnedPrompts.parts(np.asarray(answer.readout), *shape)
            for answer in task.ask(trials)
        ]

    def _shares(self, task: Task, showing: Sequence[Rows]) -> Float[np.ndarray, " cue"]:
        """How far each cue's prompts count: each half is answered by what the other half taught.

        A cue with fewer than two labels in a half has nothing to choose by.
        """
        shares = np.ones(len(showing))
        # the prompts alone answer, as published: this saves two trainings a cue
        if self.options.cost >= 1:
            return shares
        pairs = {}
        for cue, rows in enumerate(showing):
            # label by label: prompts are learned from two labels or more
            half = halves(task.targets[rows])
            first = rows[half == 0]
            second = rows[half == 1]
            if _has_labels(task, first) and _has_labels(task, second):
                pairs[cue] = (first, second)
        parts = iter(self._learn(task, list(chain(*pairs.values()))))
        logits = task.logits
        embedding = normalise(task.embedding)
        before = logits.argmax(axis=1) == task.targets
        # what may be lost is shared by the cues
        may_lose = self.options.cost * len(task.samples) / len(showing)
        for cue, (first, second) in pairs.items():
            # where the cue is not seen, the model's own answers stay
            right = {share: before.copy() for share in SHARES}
            for rows in (second, first):  # the half that did not teach
                part = next(parts)
                cosine = embedding[rows] @ part.table.T
                learned = part.scale * cosine + part.bias
                for share in SHARES:
                    answers = (1 - share) * logits[rows] + share * learned
                    right[share][rows] = answers.argmax(axis=1) == task.targets[rows]
            shares[cue] = best_share(right, before, may_lose, sides_of(task, cue))
        return shares


def _has_labels(task: Task, rows: Rows) -> bool:
    """Whether some samples have two labels or more: with one, nothing can be told apart."""
    return len(np.unique(task.targets[rows])) > 1
