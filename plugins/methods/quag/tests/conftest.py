"""Quizzes whose truth is planted, and a model that reads what it is told to read."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
from pydantic import Field

from cuescope_quag import QUAG
from cuescope_sdk import (
    Capabilities,
    Context,
    Frame,
    Options,
    Plugin,
    Report,
    Response,
    Sample,
    Trial,
    UserError,
    digest,
    generator,
)
from cuescope_sdk.fusion import OTHER, TEXT, VIDEO, AverageAttention, FusionShape
from cuescope_testing import Setup

ANSWERS = ("north", "east", "south", "west")
TOKENS = np.array([OTHER, *[VIDEO] * 6, *[TEXT] * 3], dtype=np.int8)


class QuizOptions(Options):
    """What the answer depends on."""

    truth: str = Field("both", description="text, video or both")
    samples: int = Field(160, description="how many questions")
    open_ended: bool = Field(False, description="no choices")


class Quiz(Plugin):
    """A picture of a number, a question of a number; the answer is one of them, or their sum."""

    Options: ClassVar[type[Options]] = QuizOptions
    labels = ANSWERS
    facts: dict[str, str] = {}

    def __init__(self, options: QuizOptions, context: Context) -> None:
        super().__init__(options, context)
        self.fingerprint = digest("quiz", options.model_dump())
        self.labels = () if options.open_ended else ANSWERS

    def __len__(self) -> int:
        return int(self.options.samples)

    def __getitem__(self, index: int) -> Sample:
        index = range(len(self))[index]
        video, question = divmod(index, 4)
        answer = {"text": question, "video": video % 4, "both": (video + question) % 4}
        pixels = np.full((2, 2, 3), index, dtype=np.uint8)
        pixels[0, 0] = video % 4
        return Sample(
            key=f"quiz-{index:03d}",
            group=f"quiz-{index:03d}",
            frames=(Frame.from_array(pixels),),
            question=f"turn {question}",
            choices=self.labels,
            label=ANSWERS[answer[self.options.truth]],
            annotations={"question_type": ("odd", "even")[question % 2 == 0]},
        )


class ReaderOptions(Options):
    """How it answers."""

    reads: str = Field(
        "both", description="text, video, both, apart (both, unaligned) or nothing"
    )
    causal: bool = Field(False, description="attention")
    broken: bool = Field(False, description="attention that ignores edits")


class Reader(Plugin):
    """Knows the answer as long as nothing that it needs is taken away; else it guesses.

    It needs the quadrants of `NEEDS` as they are. One in ten answers is wrong for no reason.
    """

    NEEDS: ClassVar[dict[str, set[str]]] = {
        "text": {"TT"},
        "video": {"VV"},
        "both": {"VT", "TV"},
        "apart": set(),
        "nothing": set(),
    }
    Options: ClassVar[type[Options]] = ReaderOptions
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset({"logits", "text"}),  # type: ignore[arg-type]
        edits=frozenset({"average-attention", "average-tokens"}),
        exposes=frozenset({"fusion"}),
        min_frames=0,
    )
    facts: dict[str, str] = {}
    fusion = FusionShape(
        layers=2, heads=2, kv_heads=2, head_dim=4, dim=8, mlp_multiplications=64
    )

    def __init__(self, options: ReaderOptions, context: Context) -> None:
        super().__init__(options, context)
        self.fingerprint = digest("reader", options.model_dump())

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        return [self.answer(trial) for trial in trials]

    def answer(self, trial: Trial) -> Response:
        answer = ANSWERS[self.known(trial)]
        logits = [choice == answer for choice in trial.sample.choices]
        return Response(
            logits=np.array(logits, dtype=np.float32)
            if "logits" in trial.outputs
            else None,
            text=f" {answer.title()}." if "text" in trial.outputs else None,
        )

    def known(self, trial: Trial) -> int:
        sample, edit, reads = trial.sample, trial.edit, self.options.reads
        key = digest([frame.key for frame in sample.frames], sample.question)
        rng = generator(0, "reader", key, digest(edit))
        video = (
            int(np.asarray(sample.frames[0].load())[0, 0, 0]) if sample.frames else None
        )
        text = int(sample.question.split()[-1]) if sample.question else None
        needed = {"text": (text,), "video": (video,)}.get(reads, (video, text))
        averaged = edit.quadrants if isinstance(edit, AverageAttention) else frozenset()
        lost = None in needed or self.NEEDS[reads] & averaged or reads == "nothing"
        if lost or generator(0, "noise", key).random() < 0.1:
            return int(rng.integers(4))
        return sum(part for part in needed if part is not None) % 4

    def modalities(self, trials: Sequence[Trial], layer: int) -> list[np.ndarray]:
        self.fusion.require_layers("reader", [layer])
        return [np.concatenate([TOKENS, TOKENS])] * len(trials)

    def attention(self, trials: Sequence[Trial], layer: int) -> list[np.ndarray]:
        self.fusion.require_layers("reader", [layer])
        return [self.weights(trial, layer) for trial in trials]

    def weights(self, trial: Trial, layer: int) -> np.ndarray:
        key = digest(
            [frame.key for frame in trial.sample.frames], trial.sample.question
        )
        size = len(TOKENS)
        logits = generator(0, "weights", key, str(layer)).normal(size=(2, size, size))
        visible = np.tril(np.ones((size, size), bool)) if self.options.causal else True
        weights = np.where(visible, np.exp(logits), 0)
        weights /= weights.sum(axis=2, keepdims=True)
        if isinstance(trial.edit, AverageAttention) and not self.options.broken:
            if trial.edit.layers is not None and max(trial.edit.layers) > 1:
                raise UserError("reader: no such layer")
            for query, key_of in map(trial.edit.sides, trial.edit.quadrants):
                inside = np.outer(query == TOKENS, key_of == TOKENS)
                inside &= weights[0] > 0
                for row in np.flatnonzero(inside.any(axis=1)):
                    cells = weights[:, row, inside[row]]
                    weights[:, row, inside[row]] = cells.mean(axis=1, keepdims=True)
        return weights.astype(np.float32)


@pytest.fixture(scope="session")
def quiz() -> type[Quiz]:
    """The data set: `truth` is text, video or both."""
    return Quiz


@pytest.fixture(scope="session")
def reader() -> type[Reader]:
    """The model: `reads` is text, video, both, apart or nothing."""
    return Reader


@pytest.fixture(scope="session")
def audited() -> Callable[..., Report]:
    """`audited(truth, reads, ...)`: the report; other keywords are options of the method.

    Equal audits are made once.
    """
    made: dict[tuple[type[Any], type[Any], str], Report] = {}

    def report(
        truth: str,
        reads: str,
        *,
        data: type[Any] = Quiz,
        model: type[Any] = Reader,
        data_options: Mapping[str, Any] = {},
        model_options: Mapping[str, Any] = {},
        **options: Any,
    ) -> Report:
        setup = Setup(
            QUAG,
            model,
            data,
            options,
            model_options={"reads": reads, **model_options},
            data_options={"truth": truth, **data_options},
        )
        given = repr((setup.options, setup.model_options, setup.data_options))
        key = (data, model, given)
        if key not in made:
            made[key] = setup.report()
        return made[key]

    return report
