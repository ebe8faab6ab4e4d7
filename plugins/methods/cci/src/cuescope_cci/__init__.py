"""CCI (COVAR, sections 3 and 3.1): which image regions a CLIP model really uses."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from cuescope_cci.options import CCIOptions
from cuescope_sdk import (
    AnnotationNeed,
    Audit,
    DataNeeds,
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
        name="pull",
        title="Pull",
        meaning="for a kind of background and a class: share of the answers that are this class, "
        "and another without the background, less the same share before other backgrounds, for "
        "the same true classes (-1 to 1). For the background as a whole: share of the answers that "
        "are others without it",
        unit="proportion",
    ),
    Metric(
        name="bg_er",
        title="Background errors",
        meaning="share of the wrong answers that lean more on the background than on an object "
        "(0 to 1; the paper's BG-Er)",
        unit="proportion",
    ),
    Metric(
        name="fine_er",
        title="Look-alike errors",
        meaning="share of the wrong answers that rely on an object and name its look-alike "
        "(0 to 1; the paper's Fine-Er)",
        unit="proportion",
    ),
)


class CCI(Plugin):
    """Hides clusters of an image's patches, and asks what that costs the answer.

    A feature is the background, as a whole or of a kind. Which answers rely on it is known only
    after every cluster was hidden, so proposing asks those trials.
    """

    title = "CCI: which image regions the model uses, and which backgrounds draw which answers"
    requires = Requirements(
        outputs=frozenset({"logits"}),
        edits=frozenset({"hide-tokens"}),
        exposes=frozenset({"patches", "choices"}),
        may_use=frozenset({"detector", "segmenter", "text-generator"}),
    )
    finds = "Backgrounds that pull the answers of a CLIP model to another class."
    data_needs = DataNeeds(
        each="data set",
        least=6,
        enough=96,
        enough_for="backgrounds that outweigh the object (a pull of 3 logits)",
        choices=2,
        annotation=AnnotationNeed(
            key="foreground",
            name="masks of the objects",
            how="Name mask files in a manifest (folder: a column 'mask')",
            unless="maps_only",
            tool="segmenter",
        ),
    )
    no_effect = 0.0
    metrics = METRICS
    Options = CCIOptions

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """The background, as a whole and of each kind found, with the images that rely on it."""
        # imported in the hooks: `cuescope plugins list` must not pay for numpy and scipy
        from cuescope_cci.backgrounds import measure_backgrounds
        from cuescope_cci.error_source import answer_sources, features
        from cuescope_cci.trials import most_trials
        from cuescope_sdk.data import require_data

        require_data(audit, self.data_needs, "cci")
        audit.expect_more(most_trials(audit, self.options))
        sources = audit.once(answer_sources, audit, self.options)
        known = audit.once(measure_backgrounds, audit, self.options, sources)
        pulls = known.shown(self.options.fdr) if known else ()
        yield from features(sources, {row.feature for row in pulls})

    @hookimpl
    def perturb(self, audit: Audit) -> Iterator[Outcome]:
        """Each image as it is, and without each cluster of its patches: proposing asked them."""
        from cuescope_cci.error_source import answer_sources

        for source in audit.once(answer_sources, audit, self.options):
            yield from source.outcomes

    @hookimpl
    def compute_scores(self, audit: Audit) -> Iterable[Score]:
        """Pull, BG-Er and Fine-Er of each kind of background and label."""
        from cuescope_cci.backgrounds import measure_backgrounds
        from cuescope_cci.error_source import answer_sources
        from cuescope_cci.figures import attach_evidence
        from cuescope_cci.report import scores

        # once: a language model and a segmenter need not say the same twice
        sources = audit.once(answer_sources, audit, self.options)
        ranked = list(scores(audit, self.options, sources))
        known = audit.once(measure_backgrounds, audit, self.options, sources)
        attach_evidence(audit, sources, known, self.options.fdr)
        return ranked

    @hookimpl
    def verify(self, audit: Audit) -> Iterator[Evidence]:
        """Backgrounds alone, images of one source, the planted truth, and the pictures."""
        from cuescope_cci.error_source import answer_sources
        from cuescope_cci.figures import attach_examples
        from cuescope_cci.verify import evidence
        from cuescope_sdk.data import independent_samples

        # else another method's audit, which says so itself
        if audit.options is self.options:
            yield from independent_samples(audit)
        sources = audit.once(answer_sources, audit, self.options)
        yield from evidence(audit, self.options, sources)
        attach_examples(audit, sources)

    def maps(
        self,
        audit: Audit,
        samples: Sequence[Sample],
        texts: Sequence[str],
    ) -> Iterator[np.ndarray]:
        """The importance map (row, col) of each canvas sample for its text, on the patch grid."""
        from cuescope_cci.trials import ask_images, with_text

        asked = [with_text(*pair) for pair in zip(samples, texts, strict=True)]
        images = ask_images(audit, self.options, asked)
        for image, text in zip(images, texts, strict=True):
            yield image.map_of(text, signed=self.options.paper)
