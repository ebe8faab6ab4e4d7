"""A cue with more samples told: its recogniser is learned again from old examples and new ones."""

from dataclasses import replace

import numpy as np
from numpy.random import Generator

from cuescope_core.auditing import Audit
from cuescope_sdk.cues._cue import Cue, LinearRecogniser, content_of, examples_of
from cuescope_sdk.cues._embedded import Embedded
from cuescope_sdk.cues._learning import IntPerSample, learn
from cuescope_sdk.cues._recognition import (
    embedded_examples,
    groups_with_examples,
    labels_of_examples,
)


def refine_cue(
    audit: Audit, data: Embedded, cue: Cue, shows: IntPerSample, rng: Generator
) -> Cue:
    """The cue with the samples that `shows` tells of (1 with it, 0 without, -1 nothing)."""
    told = np.flatnonzero(shows >= 0)
    anew = {content_of(data.samples[number]) for number in told}
    kept = [n for n, each in enumerate(cue.examples) if each.content not in anew]
    of_examples = embedded_examples(audit, data, cue)[0][kept]
    old = replace(cue, examples=tuple(cue.examples[number] for number in kept))
    learned = learn(
        np.concatenate([data.points, of_examples]),
        np.concatenate([data.label, labels_of_examples(data, old)]),
        np.concatenate([shows, [int(each.shows) for each in old.examples]]),
        groups_with_examples(data, old),
        rng,
    )
    examples, pictures = examples_of(
        [data.samples[number] for number in told],
        (shows[told] == 1).tolist(),
        [True] * len(told),
    )
    moved = [
        each.model_copy(
            update={"pictures": tuple(at + len(pictures) for at in each.pictures)}
        )
        for each in old.examples
    ]
    recogniser = LinearRecogniser(
        audit.embedder,
        learned.direction,
        np.concatenate([data.points[told], of_examples]),
        learned.auroc,
    )
    return replace(
        cue,
        origin=cue.origin.removesuffix(", refined") + ", refined",
        examples=(*examples, *moved),
        pictures=(*pictures, *cue.pictures),
        recogniser=recogniser,
    )
