"""CCI (COVAR, sections 3 and 3.1): which image regions a CLIP model really uses."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from cuescope_cci.options import CCIOptions
from cuescope_sdk import (
    Audit,
    Evidence,
    Feature,
    Metric,
    Outcome,
    Plugin,
    Requirements,
    Sample,
    Score,
    hookimpl,
)

METRICS = (
    Metric(
        name="bg_er",
        title="BG-Er",
        meaning="background errors: share of the wrong answers for which the model looked at the "
        "background rather than at an object (0 to 1); the others are FG-Er, foreground errors",
    ),
    Metric(
        name="accuracy_gap",
        title="Accuracy gap",
        meaning="accuracy where the model looked at an object, minus accuracy where it looked at "
        "the background (-1 to 1)",
    ),
    Metric(
        name="fine_er",
        title="Fine-Er",
        meaning="fine-grained errors: share of the wrong answers for which the model looked at an "
        "object and took it for a look-alike (0 to 1)",
    ),
)


class CCI(Plugin):
    """Hides clusters of an image's patches, and asks what that costs the answer.

    A feature is the background where it decided an answer. Which answers it decided is known only
    after every cluster was hidden, so proposing asks those trials.
    """

    title = "CCI: which image regions the model uses, and which errors come from the background"
    requires = Requirements(
        outputs=frozenset({"logits"}),
        edits=frozenset({"hide-tokens"}),
        exposes=frozenset({"patches", "choices"}),
        may_use=frozenset({"segmenter", "text-generator"}),
    )
    metrics = METRICS
    Options = CCIOptions

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """The background, as a whole and for each annotated factor, with where it decided."""
        from cuescope_cci.error_source import answer_sources, features

        yield from features(audit.once(answer_sources, audit, self.options))

    @hookimpl
    def perturb(self, audit: Audit) -> Iterator[Outcome]:
        """Each image as it is, and without each cluster of its patches: proposing asked them."""
        from cuescope_cci.error_source import answer_sources

        for source in audit.once(answer_sources, audit, self.options):
            yield from source.outcomes

    @hookimpl
    def compute_scores(self, audit: Audit) -> Iterable[Score]:
        """BG-Er and Fine-Er of each group and label, with the accuracy gap."""
        from cuescope_cci.error_source import answer_sources
        from cuescope_cci.report import scores

        return scores(audit, self.options, audit.once(answer_sources, audit, self.options))

    @hookimpl
    def verify(self, audit: Audit) -> Iterator[Evidence]:
        """The planted truth, deletion and insertion, and the pictures."""
        from cuescope_cci.error_source import answer_sources
        from cuescope_cci.figures import attach_examples
        from cuescope_cci.verify import evidence

        sources = audit.once(answer_sources, audit, self.options)
        yield from evidence(audit, self.options, sources)
        attach_examples(audit, sources, self.options.pictures)

    def maps(
        self, audit: Audit, samples: Sequence[Sample], texts: Sequence[str]
    ) -> Iterator[np.ndarray]:
        """The importance map (row, col) of each canvas sample for its text, on the patch grid."""
        from cuescope_cci.scores import importance_map
        from cuescope_cci.trials import ask_images, with_text

        asked = [with_text(*pair) for pair in zip(samples, texts, strict=True)]
        for image, text in zip(ask_images(audit, self.options, asked), texts, strict=True):
            drops = image.drops_for(text)
            yield importance_map(image.cluster, drops, self.options.negative)
