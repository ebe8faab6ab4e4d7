"""Which region an answer relies on, and the foreground masks that tell (section 3.1, appendix A.3).

Patches of one background say the same. With six of seven clusters still there, hiding the seventh
costs nothing, so the clusters' own drops (and any map made of them) can pass over a background that
the model relies on entirely. Hidden whole, a region has no stand-in.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cuescope_cci.scores import (
    Mask,
    Region,
    background_clusters,
    is_mixed,
    relative_drop,
)
from cuescope_cci.trials import AnsweredImage, answer_outputs
from cuescope_sdk import Audit, Sample, UserError
from cuescope_sdk.explain import Canvas, foreground_of


@dataclass(frozen=True, eq=False)
class Apart:
    """What the model answers to the background alone and to the objects alone, as `logits`.

    `embedding` is that of the background alone, None for a model that gives none.
    """

    background: np.ndarray
    objects: np.ndarray
    embedding: np.ndarray | None = None


def answers_apart(
    audit: Audit,
    images: Sequence[AnsweredImage],
    masks: Sequence[Mask],
) -> list[Apart | None]:
    """Each image without its objects, then without its background.

    None for a mask that leaves no foreground or no background, or that no cluster follows.
    """
    # kinds of backgrounds are made of the embeddings
    outputs = answer_outputs(audit)
    # images of which nothing can be said are not asked: their trials would be wasted
    decidable = []
    trials = []
    for index, (image, mask) in enumerate(zip(images, masks, strict=True)):
        clusters = background_clusters(image.cluster, mask)
        # The mask may be finer than the patches: an object between them has no cluster to hide.
        if is_mixed(mask) and is_mixed(clusters):
            background = clusters[image.cluster]
            objects_hidden = image.hide(~background, "objects-hidden")
            trials.append(replace(objects_hidden, outputs=outputs))
            trials.append(image.hide(background, "background-hidden"))
            decidable.append(index)
    responses = [outcome.response for outcome in audit.respond(trials)]
    apart: list[Apart | None] = [None] * len(images)
    for index, alone, objects in zip(
        decidable,
        responses[::2],
        responses[1::2],
        strict=True,
    ):
        apart[index] = Apart(
            np.asarray(alone.logits, dtype=np.float64),
            np.asarray(objects.logits, dtype=np.float64),
            alone.embedding,
        )
    return apart


def hidden_region(
    image: AnsweredImage,
    target: str,
    apart: Apart | None,
) -> Region | None:
    """The region whose absence costs the target more; of equals the foreground."""
    if apart is None:
        return None
    choice = image.sample.choices.index(target)
    # against the other choices: hiding anything large lowers all of them
    without_objects = relative_drop(image.logits, apart.background, choice)
    without_background = relative_drop(image.logits, apart.objects, choice)
    return "background" if without_background > without_objects else "foreground"


def foreground_masks(audit: Audit, samples: Sequence[Sample]) -> list[Mask] | None:
    """Foreground masks on the model's canvas, from a segmenter or from the annotations.

    None where there is neither. Raises UserError where only some samples are annotated, or where a
    mask does not fit its frame.
    """
    masks = []
    bare = []
    for sample in samples:
        mask = (
            segment(audit, sample)
            if "segmenter" in audit.tools
            else foreground_of(sample)
        )
        if mask is None:
            bare.append(sample)
        else:
            masks.append(mask)
    if not masks:
        return None
    # masks of some only would be shares of those that somebody chose to annotate
    if bare:
        raise UserError(
            f"cci: sample '{bare[0].key}' has no foreground mask, and others have",
            expected="a mask for each sample, or for none",
            remedy="Complete the annotation, or name a tool: --tool segmenter=SPEC",
        )
    # The model sees a resized and cropped image: the mask must go through the same.
    return Canvas.masks(audit, samples, masks)


def segment(audit: Audit, sample: Sample) -> Mask:
    """Whatever is the label or another object in front (the prompt of appendix A.3)."""
    # Other objects count as foreground too: to look at one is no error from the background.
    names = [name for name in (sample.label, "foreground objects") if name]
    [masks] = audit.tools["segmenter"].segment([Canvas.frame(sample)], names)
    return np.asarray(np.asarray(masks, dtype=bool).any(axis=0))
