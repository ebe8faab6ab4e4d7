"""Audits whose answers are known before anything is asked: estimators run on the same ones."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from cuescope_core.conclusions import with_doubts
from cuescope_sdk import (
    Audit,
    Context,
    Evidence,
    Feature,
    Options,
    Outcome,
    Response,
    Sample,
    Score,
    Trial,
)
from cuescope_sdk.stills import Answers

Logits = Float[np.ndarray, "row class"]


class Recorded(Audit):
    """An audit whose answers, and figures of pictures where these are given, are known."""

    answers: Answers
    known: dict[Callable[..., Any], Callable[..., Any]]

    @property
    def found(self) -> list[Score]:
        """What passes the rule; where a refuted premise took it, its `doubt` says why."""
        return [score for score in self.scores if score.finding or score.doubt]

    def once(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """As in any audit, but for what the model answers and what else is known."""
        if function == Answers.ask:
            return self.answers
        if function in self.known:
            return self.known[function](*args)
        return super().once(function, *args, **kwargs)


def record(
    samples: Sequence[Sample],
    labels: Sequence[str],
    options: Options,
    *,
    logits: Logits,
    static_logits: Logits,
    embedding: Float[np.ndarray, "frame dim"],
    order: Sequence[int] | None = None,
    seed: int = 0,
) -> Recorded:
    """The audit of samples, in any `order` of the data; rows of frames follow their samples."""
    rows: dict[tuple[str, int], int] = {}
    for sample in samples:
        for frame in range(len(sample.frames)):
            rows[sample.key, frame] = len(rows)
    outcomes = []
    for sample, row in zip(samples, logits.astype(np.float32), strict=True):
        frames = [rows[sample.key, frame] for frame in range(len(sample.frames))]
        response = Response(logits=row, embedding=embedding[frames].mean(axis=0))
        outcomes.append(Outcome(Trial(sample=sample), response))
    audit = Recorded(
        labels=tuple(labels),
        options=options,
        respond=lambda trials: [],
        context=Context(cache=Path(), seed=seed),
        samples=tuple(samples[number] for number in order or range(len(samples))),
        outcomes=outcomes,
    )
    audit.known = {}
    audit.answers = Answers(
        outcomes=outcomes,
        stills=[],
        row=rows,
        embedding=embedding,
        static_logits=static_logits,
    )
    return audit


def run(plugin: Any, audit: Recorded, *, checks: bool) -> Recorded:
    """The audit with what a method finds, after all checks or before any."""
    features: list[Feature] = list(plugin.propose_features(audit))
    audit.features = features
    audit.scores = scores = list(_scores(plugin, audit, features))
    if checks:
        evidence: list[Evidence] = list(plugin.verify(audit, features, scores))
        audit.scores = with_doubts(scores, evidence)
    return audit


def _scores(plugin: Any, audit: Recorded, features: list[Feature]) -> Iterator[Score]:
    from cuescope_trove import TRoVe
    from cuescope_trove.report import scores

    # without the pictures of a finding, which need the answers to still clips
    if isinstance(plugin, TRoVe):
        return scores(audit, plugin.options, features)
    return iter(plugin.compute_scores(audit, features))
