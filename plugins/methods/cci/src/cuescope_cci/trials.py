"""What CCI asks: each image, and the image without each cluster of its patches (section 3)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float

from cuescope_cci.kmeans import euclidean_kmeans
from cuescope_cci.options import CCIOptions
from cuescope_cci.scores import ClusterMap, PerCluster, importance_map
from cuescope_sdk import Audit, HideTokens, Outcome, Readout, Sample, Trial
from cuescope_sdk.explain import FaithfulnessCheck
from cuescope_sdk.maths import normalise, spherical_kmeans


def patch_clusters(
    features: Float[np.ndarray, "row col dim"],
    k: int,
    metric: Literal["cosine", "euclidean"],
    seed: int,
    restarts: int = 1,
) -> ClusterMap:
    """The cluster of each patch, 0 the largest; at most `k`, none of them empty.

    Of several `restarts` the tightest clusters are kept.
    """
    rows, cols, dim = features.shape
    # patches as points: where they lie has no part in the clusters
    points = features.reshape(-1, dim)
    if metric == "cosine":
        # A few patches of a ViT have norms far above the rest (registers); by distance each of
        # them would be a cluster of its own.
        _, cluster, _ = spherical_kmeans(normalise(points), k, seed, restarts=restarts)
    else:
        rng = np.random.default_rng(seed)
        _, cluster = euclidean_kmeans(points.astype(float), k, rng, restarts=restarts)
    return np.asarray(cluster, dtype=np.int16).reshape(rows, cols)


class PatchClusters(Readout):
    """`patch_clusters` of an image, beside the model: what is kept is a small map of numbers."""

    name = "cci-patch-clusters-2"
    k: int
    layer: int
    metric: Literal["cosine", "euclidean"]
    seed: int
    restarts: int = 1

    def read(self, model: Any, trials: Sequence[Trial]) -> list[np.ndarray]:
        """An int16 map (row, col) for each single-frame sample."""
        maps = []
        for trial in trials:
            [features] = model.patch_features(trial.sample.frames, self.layer)
            maps.append(
                patch_clusters(features, self.k, self.metric, self.seed, self.restarts)
            )
        return maps


@dataclass(frozen=True, eq=False)
class ClusteredImage:
    """A sample of one frame, on the model's canvas, with its cluster map (row, col)."""

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
class AnsweredImage(ClusteredImage):
    """An image with the answers: `logits` (choice) as it is, `drops` (cluster, choice) without.

    `outcomes` are those of its `trials`, in order.
    """

    logits: np.ndarray
    drops: np.ndarray
    outcomes: Sequence[Outcome] = ()

    @property
    def prediction(self) -> str:
        """The predicted choice."""
        return self.sample.choices[int(self.logits.argmax())]

    @property
    def wrong(self) -> bool:
        """Whether there is a true class, and the predicted one is another."""
        return self.sample.label is not None and self.sample.label != self.prediction

    def drops_for(self, choice: str) -> PerCluster:
        """The similarity that one of the choices loses without each cluster."""
        return self.drops[:, self.sample.choices.index(choice)]


def ask_images(
    audit: Audit,
    options: CCIOptions,
    samples: Sequence[Sample],
    start: int = 0,
) -> list[AnsweredImage]:
    """Cluster the images, which are on the model's canvas already, and hide each cluster.

    Each `start` of the k-means is another draw.
    """
    names = ["patch-clusters"]
    # the first start keeps its plain name, and so the answers that are cached under it
    if start:
        names.append(f"start {start}")
    readout = PatchClusters(
        k=options.k,
        layer=options.layer,
        metric=options.metric,
        seed=audit.derive_seed(*names) % 2**31,  # faiss takes a C int
        restarts=options.restarts,
    )
    # all maps before any hiding: a trial needs the clusters that it hides
    maps = audit.respond(readout.of(sample) for sample in samples)
    images = []
    for sample, outcome in zip(samples, maps, strict=True):
        images.append(ClusteredImage(sample, np.asarray(outcome.response.readout)))
    outcomes = iter(
        audit.respond(chain.from_iterable(image.trials() for image in images))
    )
    answered = []
    for image in images:
        of_image = list(
            islice(outcomes, image.clusters + 1)
        )  # one trial for the whole image
        # In float64: a drop is a small difference of large logits.
        logits = np.array(
            [outcome.response.logits for outcome in of_image], dtype=np.float64
        )
        drops = logits[0] - logits[1:]
        answered.append(
            AnsweredImage(image.sample, image.cluster, logits[0], drops, of_image)
        )
    return answered


def importance_maps(
    audit: Audit,
    options: CCIOptions,
    images: Sequence[AnsweredImage],
    texts: Sequence[str],
) -> Iterator[Float[np.ndarray, "row col"]]:
    """The map of each image about its text: the mean over the starts of the k-means.

    The images, of the first start, were asked about their texts.
    """
    samples = [image.sample for image in images]
    # start 0 is what the images were asked with already
    others = [
        ask_images(audit, options, samples, start) for start in range(1, options.starts)
    ]
    for *of_image, text in zip(images, *others, texts, strict=True):
        maps = []
        for image in of_image:
            drops = image.drops_for(text)
            maps.append(importance_map(image.cluster, drops, options.negative))
        # maps of two starts correlate by 0.3 to 0.6 only: their mean is steadier
        yield np.mean(maps, axis=0)


def most_trials(audit: Audit, options: CCIOptions) -> int:
    """How many trials follow the images' canvases, at most.

    Each image has its clusters, is asked whole and without each of them (again for a text that is
    none of the choices), without its objects, without its background, and with its mask drawn.
    """
    # a text of its own is asked apart from the choices
    texts = 2 if options.target == "text" else 1
    trials = texts * (options.k + 2) + 3
    check = FaithfulnessCheck(options.faithfulness, options.steps)
    # 1: the embeddings of all classes
    return len(audit.samples) * trials + check.most_trials(audit) + 1


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
