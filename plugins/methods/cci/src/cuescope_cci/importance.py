"""What each cluster is worth to a text: the similarity that is lost when it is hidden."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from jaxtyping import Float

from cuescope_cci.clusters import PatchClusters
from cuescope_sdk import Audit, HideTokens, Outcome, Sample, Trial
from cuescope_sdk.explain import canvas_samples

if TYPE_CHECKING:
    from cuescope_cci import CCI


def weights(
    drops: Float[np.ndarray, " cluster"], negative: Literal["keep", "zero"] = "keep"
) -> Float[np.ndarray, " cluster"]:
    """w_k = drop_k / sum of drops (section 3, "Importance Scoring"), whatever the drops' unit.

    The paper leaves open what a negative drop means: dividing by a sum of mixed signs would turn
    the map over. Here the sum is of absolute values, which is the paper's where no drop is
    negative. Where nothing is lost by hiding anything, all weights are 0.
    """
    kept = np.maximum(drops, 0) if negative == "zero" else np.asarray(drops, dtype=np.float64)
    total = np.abs(kept).sum()
    return np.asarray(kept / total if total > 0 else np.zeros(len(drops)))


@dataclass(frozen=True, eq=False)
class Look:
    """A canvas sample with its cluster map (row, col)."""

    sample: Sample
    cluster: np.ndarray

    @property
    def clusters(self) -> int:
        """How many there are."""
        return int(self.cluster.max()) + 1

    def trials(self) -> Iterator[Trial]:
        """The image as it is, then without each cluster."""
        yield Trial(sample=self.sample)
        for number in range(self.clusters):
            hidden = HideTokens.from_mask((self.cluster == number)[None])
            yield Trial(sample=self.sample, edit=hidden, condition="cluster-hidden")

    def painted(self, values: Float[np.ndarray, " cluster"]) -> Float[np.ndarray, "row col"]:
        """The map S = sum of w_k m_k: each patch has the value of its cluster."""
        return np.asarray(values[self.cluster])


@dataclass(frozen=True, eq=False)
class Answered:
    """A look with the answers: `logits` (choice) of the image, `drops` (cluster, choice)."""

    look: Look
    logits: np.ndarray
    drops: np.ndarray

    @property
    def sample(self) -> Sample:
        """The image, as the model sees it."""
        return self.look.sample

    @property
    def prediction(self) -> str:
        """The predicted choice."""
        return self.sample.choices[int(self.logits.argmax())]

    def weights_for(
        self, choice: str, negative: Literal["keep", "zero"]
    ) -> Float[np.ndarray, " cluster"]:
        """Normalised importances of the clusters for one of the choices."""
        return weights(self.drops[:, self.sample.choices.index(choice)], negative)


def look(audit: Audit, options: "CCI.Options", samples: Sequence[Sample]) -> list[Look]:
    """Cluster maps of the samples, on the pixels that the model sees."""
    return clustered(audit, options, canvas_samples(audit, samples))


def clustered(audit: Audit, options: "CCI.Options", samples: Sequence[Sample]) -> list[Look]:
    """Cluster maps of samples that are canvases already."""
    reading = PatchClusters(
        k=options.k,
        layer=options.layer,
        metric=options.metric,
        seed=audit.derive_seed("patch-clusters") % 2**31,
    )
    outcomes = audit.respond(reading.of(sample) for sample in samples)
    maps = [np.asarray(outcome.response.readout) for outcome in outcomes]
    return [Look(*pair) for pair in zip(samples, maps, strict=True)]


def trials(looks: Iterable[Look]) -> Iterator[Trial]:
    """All trials of all looks."""
    for one in looks:
        yield from one.trials()


def answered(audit: Audit, looks: Sequence[Look]) -> list[Answered]:
    """The looks with the model's answers."""
    outcomes = iter(audit.respond(trials(looks)))
    return [_answered(one, [next(outcomes) for _ in range(one.clusters + 1)]) for one in looks]


def _answered(one: Look, outcomes: Sequence[Outcome]) -> Answered:
    whole, *hidden = [np.asarray(o.response.logits, dtype=np.float64) for o in outcomes]
    return Answered(one, whole, whole - np.stack(hidden))


def maps(
    audit: Audit, options: "CCI.Options", samples: Sequence[Sample], texts: Sequence[str]
) -> Iterator[Float[np.ndarray, "row col"]]:
    """The importance map of each canvas sample for its text."""
    asked = [about(sample, text) for sample, text in zip(samples, texts, strict=True)]
    found = answered(audit, clustered(audit, options, asked))
    for one, text in zip(found, texts, strict=True):
        yield one.look.painted(one.weights_for(text, options.negative))


def about(sample: Sample, text: str) -> Sample:
    """The sample with the text among its choices; a text of its own takes their place."""
    if text in sample.choices:
        return sample
    return sample.model_copy(update={"choices": (text,), "label": None})
