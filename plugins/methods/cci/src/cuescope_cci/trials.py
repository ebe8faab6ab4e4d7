"""What CCI asks: each image, and the image without each cluster of its patches (section 3)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float, Int, Int16

from cuescope_cci.options import CCIOptions, Metric
from cuescope_cci.scores import ClusterMap, importance_map
from cuescope_sdk import Audit, HideTokens, Outcome, Output, Readout, Sample, Trial
from cuescope_sdk.maths import normalise, spherical_kmeans

LOGITS: frozenset[Output] = frozenset({"logits"})


def patch_clusters(
    features: Float[np.ndarray, "row col dim"], k: int, metric: Metric, seed: int
) -> ClusterMap:
    """Return the cluster of each patch, 0 the largest; at most `k`, none of them empty."""
    # a tenth of a second, which not all who import us need
    from scipy.cluster.vq import kmeans2

    rows, cols, dim = features.shape
    # patches as points: where they lie has no part in the clusters
    points = features.reshape(-1, dim)
    if metric == "cosine":
        _, cluster, _ = spherical_kmeans(normalise(points), k, seed)
    else:
        # kmeans2 leaves clusters empty where there are fewer distinct points than clusters
        count = min(k, len(np.unique(points, axis=0)))
        rng = np.random.default_rng(seed)
        _, cluster = kmeans2(points.astype(float), count, minit="++", rng=rng)
    return _largest_first(cluster).reshape(rows, cols)


def _largest_first(cluster: Int[np.ndarray, " patch"]) -> Int16[np.ndarray, " patch"]:
    """Number the clusters by size; of equal sizes the first to appear leads."""
    _, first, number, sizes = np.unique(
        cluster, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((first, -sizes))
    return np.argsort(order)[number].astype(np.int16)


class PatchClusters(Readout):
    """`patch_clusters` of an image, beside the model: what is kept is a small map of numbers."""

    name = "cci-patch-clusters-4"
    gives: ClassVar[Any] = Int16[np.ndarray, "row col"]
    k: int
    metric: Metric
    seed: int

    def read(self, model: Any, trials: Sequence[Trial]) -> list[np.ndarray]:
        """An int16 map (row, col) for each single-frame sample."""
        maps = []
        for trial in trials:
            # the last block's: the paper's Z
            [features] = model.patch_features(trial.sample.frames, -1)
            maps.append(patch_clusters(features, self.k, self.metric, self.seed))
        return maps

    def accepts(self, array: np.ndarray, trial: Trial) -> bool:
        """A map of `k` clusters at most: each is asked for by itself."""
        is_map = super().accepts(array, trial) and array.size > 0
        return is_map and array.min() >= 0 and array.max() < self.k


@dataclass(frozen=True, eq=False)
class ClusteredImage:
    """A sample of one frame, on the model's canvas, with its cluster map (row, col)."""

    sample: Sample
    cluster: np.ndarray

    @property
    def clusters(self) -> int:
        """How many there are."""
        return int(self.cluster.max()) + 1

    def trials(self, outputs: frozenset[Output] = LOGITS) -> Iterator[Trial]:
        """The image as it is, of which more `outputs` may be asked, then without each cluster."""
        yield Trial(sample=self.sample, outputs=outputs)
        yield from self.hidden_trials()

    def hidden_trials(self) -> Iterator[Trial]:
        """The image without each cluster."""
        for number in range(self.clusters):
            # Hidden from attention, not painted over: a grey patch would be new evidence.
            yield self.hide(self.cluster == number, "cluster-hidden")

    def hide(self, mask: Bool[np.ndarray, "row col"], condition: str) -> Trial:
        """The image without the patches under a mask, in every layer and head."""
        return Trial(
            sample=self.sample,
            edit=HideTokens.from_mask(mask[None]),
            condition=condition,
        )


@dataclass(frozen=True, eq=False)
class Start:
    """One start of the k-means: a cluster map (row, col), and `drops` (cluster, choice)."""

    cluster: np.ndarray
    drops: np.ndarray


@dataclass(frozen=True, eq=False)
class AnsweredImage(ClusteredImage):
    """An image with the answers: `logits` (choice) as it is, `drops` (cluster, choice) without.

    `outcomes` are those of its `trials`, in order. The clusters are those of the first start of the
    k-means; maps are made of the `further` ones too.
    """

    logits: np.ndarray
    drops: np.ndarray
    outcomes: Sequence[Outcome] = ()
    further: Sequence[Start] = ()

    @property
    def prediction(self) -> str:
        """The predicted choice."""
        return self.sample.choices[int(self.logits.argmax())]

    @property
    def wrong(self) -> bool:
        """Whether there is a true class, and the predicted one is another."""
        return self.sample.label is not None and self.sample.label != self.prediction

    def map_of(
        self, text: str, *, signed: bool = False
    ) -> Float[np.ndarray, "row col"]:
        """The map about one of the choices: the mean over the starts of the k-means."""
        choice = self.sample.choices.index(text)
        maps = []
        for start in (Start(self.cluster, self.drops), *self.further):
            drops = start.drops[:, choice]
            maps.append(importance_map(start.cluster, drops, signed=signed))
        # maps of two starts correlate by 0.3 to 0.6 only: their mean is steadier
        return np.asarray(np.mean(maps, axis=0))


def ask_images(
    audit: Audit,
    options: CCIOptions,
    samples: Sequence[Sample],
) -> list[AnsweredImage]:
    """Cluster the images, which are on the model's canvas already, and hide each cluster."""
    images = _cluster_images(audit, options, samples)
    # embeddings tell near copies: frames of one film (docs/adr/0023)
    outputs = answer_outputs(audit)
    trials = chain.from_iterable(image.trials(outputs) for image in images)
    outcomes = iter(audit.respond(trials))
    answered = []
    for image in images:
        # one trial for the whole image
        of_image = list(islice(outcomes, image.clusters + 1))
        whole, *without = map(_logits, of_image)
        drops = whole - np.stack(without)
        answered.append(
            AnsweredImage(image.sample, image.cluster, whole, drops, of_image)
        )
    for number in range(1, options.starts):
        starts = _ask_start(audit, options, answered, number)
        answered = [
            replace(image, further=(*image.further, start))
            for image, start in zip(answered, starts, strict=True)
        ]
    return answered


def answer_outputs(audit: Audit) -> frozenset[Output]:
    """The answer, and the embedding where the model gives it: it comes for free with the answer."""
    if "embedding" in audit.capabilities.outputs:
        return LOGITS | {"embedding"}
    return LOGITS


def _cluster_images(
    audit: Audit,
    options: CCIOptions,
    samples: Sequence[Sample],
    start: int = 0,
) -> list[ClusteredImage]:
    """Each `start` of the k-means is another draw."""
    names = ["patch-clusters"]
    # the first start keeps its plain name, and so the answers that are cached under it
    if start:
        names.append(f"start {start}")
    readout = PatchClusters(
        k=options.k,
        metric=options.metric,
        seed=audit.derive_seed(*names),
    )
    # all maps before any hiding: a trial needs the clusters that it hides
    maps = audit.respond(readout.of(sample) for sample in samples)
    images = []
    for sample, outcome in zip(samples, maps, strict=True):
        images.append(ClusteredImage(sample, np.asarray(outcome.response.readout)))
    return images


def _logits(outcome: Outcome) -> np.ndarray:
    # In float64: a drop is a small difference of large logits.
    return np.asarray(outcome.response.logits, dtype=np.float64)


def _ask_start(
    audit: Audit,
    options: CCIOptions,
    images: Sequence[AnsweredImage],
    number: int,
) -> Iterator[Start]:
    """What a further start costs each image: whole, it has been asked."""
    samples = [image.sample for image in images]
    clustered = _cluster_images(audit, options, samples, number)
    trials = chain.from_iterable(image.hidden_trials() for image in clustered)
    outcomes = iter(audit.respond(trials))
    for image, again in zip(images, clustered, strict=True):
        without = list(map(_logits, islice(outcomes, again.clusters)))
        yield Start(again.cluster, image.logits - np.stack(without))


def most_trials(audit: Audit, options: CCIOptions) -> int:
    """How many trials follow the images' canvases, at most.

    Each image has its clusters, is asked whole and without each of them (again for a text that is
    none of the choices), without its objects, without its background, and with its mask drawn. Each
    start of the k-means has clusters of its own.
    """
    # a text of its own is asked apart from the choices
    texts = 1 if options.target in ("predicted", "true") else 2
    trials = texts * (1 + options.starts * (options.k + 1)) + 3
    return len(audit.samples) * trials


def answers_about(
    audit: Audit,
    options: CCIOptions,
    images: Sequence[AnsweredImage],
    texts: Sequence[str],
) -> list[AnsweredImage]:
    """The images with their text among the choices; only where it is not, they are asked anew."""
    others = []
    for image, text in zip(images, texts, strict=True):
        if text not in image.sample.choices:
            others.append(with_text(image.sample, text))
    asked = iter(ask_images(audit, options, others))
    about = []
    for image, text in zip(images, texts, strict=True):
        # What was asked about all choices holds for each of them: their logits came together.
        about.append(image if text in image.sample.choices else next(asked))
    return about


def with_text(sample: Sample, text: str) -> Sample:
    """The sample with the text among its choices; a text of its own takes their place."""
    if text in sample.choices:
        return sample
    # Beside the choices it would change what they are compared with; a label must be a choice.
    return replace(sample, choices=(text,), label=None)
