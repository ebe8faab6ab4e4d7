"""A model whose use of a cue is as large as asked for: between a fair one and a taught one."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int
from pydantic import Field
from scipy.optimize import brentq
from scipy.special import softmax

from cuescope_sdk import (
    Capabilities,
    Context,
    Dataset,
    LazyWeights,
    Model,
    Options,
    Outcome,
    Plugin,
    Response,
    Sample,
    Trial,
    digest,
)

DIALLED = "dialled"
VERSION = 1  # raise it when equal options give other answers
NEAR = 0.001  # of the share
Spec = tuple[str, Mapping[str, Any]]
Logits = Float[np.ndarray, "sample choice"]


class DialledOptions(Options):
    """Two models, and the samples on which the share between them is found."""

    fair: Spec
    taught: Spec
    effect: float = Field(gt=0, lt=1)
    shown: Spec
    hidden: Spec
    label: str
    cue: str


class Dialled(Plugin, LazyWeights):
    """The logits of two models, added by shares that sum to 1.

    The `cue` takes `effect` of the right answer's probability, in the mean over samples of `label`
    in `shown` that have it; `hidden` has the same samples without it. Weights of a network between
    those of two others do so too (Wortsman et al., 2022, *Robust fine-tuning of zero-shot models*);
    logits need no two networks of one shape.
    """

    Options = DialledOptions
    options: DialledOptions
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset(("logits", "embedding"))
    )
    facts: ClassVar[Mapping[str, str]] = {}

    def __init__(self, options: DialledOptions, context: Context) -> None:
        super().__init__(options, context)
        self._fair: Model = context.build("model", *options.fair)
        self._taught: Model = context.build("model", *options.taught)
        self._share: float | None = None
        self.fingerprint = digest(
            "dialled",
            VERSION,
            self._fair.fingerprint,
            self._taught.fingerprint,
            options.model_dump(include={"effect", "shown", "hidden", "label", "cue"}),
        )

    def open_weights(self) -> None:
        if self._share is not None:
            return
        for model in (self._fair, self._taught):
            if isinstance(model, LazyWeights):
                model.open_weights()
        shown: Dataset = self.context.build("dataset", *self.options.shown)
        hidden: Dataset = self.context.build("dataset", *self.options.hidden)
        indices = list(filter(partial(self._is_hit, shown), range(len(shown))))
        with_cue = list(map(shown.__getitem__, indices))
        without = list(map(hidden.__getitem__, indices))
        right = [sample.choices.index(self.options.label) for sample in with_cue]
        self._share = share_of_taught(
            self.options.effect,
            self._both(with_cue),
            self._both(without),
            np.array(right),
        )

    def _is_hit(self, data: Dataset, index: int) -> bool:
        sample = data[index]
        shows = any(sample.annotations["cues"][self.options.cue])
        return shows and sample.label == self.options.label

    def _both(self, samples: Sequence[Sample]) -> tuple[Logits, Logits]:
        trials = [Trial(sample=sample) for sample in samples]
        return logits_of(self._fair, trials), logits_of(self._taught, trials)

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Mixed logits, and both embeddings one after the other, as long as they weigh."""
        self.open_weights()
        share = self._share or 0.0
        answers = zip(
            self._fair.respond(trials), self._taught.respond(trials), strict=True
        )
        return [mix(fair, taught, share) for fair, taught in answers]


def logits_of(model: Model, trials: Sequence[Trial]) -> Logits:
    """What a model answers; the trials have one closed set of choices."""
    outcomes = map(Outcome, trials, model.respond(trials))
    return np.stack([outcome.logits for outcome in outcomes])


def mix(fair: Response, taught: Response, share: float) -> Response:
    """One response of two; cosines of the joined embeddings are the mixed cosines."""
    logits = embedding = None
    if fair.logits is not None and taught.logits is not None:
        logits = (1 - share) * fair.logits + share * taught.logits
    if fair.embedding is not None and taught.embedding is not None:
        halves = (
            np.sqrt(1 - share) * fair.embedding,
            np.sqrt(share) * taught.embedding,
        )
        embedding = np.concatenate(halves)
    return Response(logits=logits, embedding=embedding)


def share_of_taught(
    effect: float,
    with_cue: tuple[Logits, Logits],
    without: tuple[Logits, Logits],
    right: Int[np.ndarray, " sample"],
) -> float:
    """The share of the second model at which the cue takes so much; 1.0 where it never does."""
    rows = np.arange(len(right))

    def lacking(share: float) -> float:
        chances = []
        for fair, taught in (without, with_cue):
            logits = (1 - share) * fair + share * taught
            chances.append(softmax(logits, axis=1)[rows, right].mean())
        return effect - float(chances[0] - chances[1])

    if lacking(1.0) > 0:
        return 1.0
    # a fair model may lose something to a cue that hides the object
    if lacking(0.0) < 0:
        return 0.0
    return float(brentq(lacking, 0.0, 1.0, xtol=NEAR))
