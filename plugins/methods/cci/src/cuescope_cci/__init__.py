"""CCI (COVAR, sections 3 and 3.1): which image regions a CLIP model really uses."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field, NonNegativeInt, PositiveInt

from cuescope_sdk import (
    Audit,
    Context,
    Evidence,
    Feature,
    Metric,
    Outcome,
    Plugin,
    Requirements,
    Sample,
    Score,
    Trial,
    hookimpl,
)
from cuescope_sdk import Options as BaseOptions

if TYPE_CHECKING:
    from cuescope_cci.sources import Source

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
    """Hides clusters of an image's patches, and asks what that costs the answer."""

    title = "CCI: which image regions the model uses, and which errors come from the background"
    requires = Requirements(
        outputs=frozenset({"logits"}),
        edits=frozenset({"hide-tokens"}),
        exposes=frozenset({"patches", "choices"}),
        may_use=frozenset({"segmenter", "text-generator"}),
    )
    metrics = METRICS

    class Options(BaseOptions):
        """What the paper leaves open is an option; docs/cci.md argues the defaults."""

        k: PositiveInt = Field(7, description="clusters of an image's patches (paper: 7)")
        layer: int = Field(
            -1, description="block whose patch embeddings are clustered; -1 is the last"
        )
        metric: Literal["cosine", "euclidean"] = Field(
            "cosine", description="distance of the k-means over patch embeddings"
        )
        negative: Literal["keep", "zero"] = Field(
            "keep",
            description="a cluster whose absence helps the text: negative weight, or none; weights "
            "are normalised by the sum of sizes, as eq. w_k where all drops are positive",
        )
        target: Literal["predicted", "true", "text"] = Field(
            "predicted", description="the text that the maps are about"
        )
        text: str | None = Field(None, description="the text of target=text")
        region: Literal["hidden", "iou", "soft-iou", "mass"] = Field(
            "hidden",
            description="what tells foreground from background errors: each region hidden whole, "
            "or the map's overlap with it: IoU of its strongest part (paper), IoU of all its "
            "weights, or their share",
        )
        strongest: float = Field(
            0.5, gt=0, le=1, description="region=iou counts weights of at least this times the top"
        )
        judge: Literal["auto", "llm", "taxonomy", "embedding"] = Field(
            "auto",
            description="who says that two classes look alike: a text-generator tool, families of "
            "labels, or the model's own class embeddings; auto takes the first that is there",
        )
        taxonomy: Path | None = Field(
            None, description="YAML of label -> family, for judge=taxonomy"
        )
        alike: float = Field(
            0.9, gt=0, lt=1,
            description="judge=embedding: pairs of labels in the top share above this look alike",
        )  # fmt: skip
        min_bg_er: float = Field(0.1, ge=0, le=1, description="a finding has at least this BG-Er")
        fdr: float = Field(
            0.05, gt=0, le=1, description="false discovery rate over all groups tried"
        )
        confidence: float = Field(0.95, gt=0, lt=1, description="level of the intervals")
        faithfulness: NonNegativeInt = Field(
            24, description="images of the deletion and insertion check; 0 leaves it out"
        )
        steps: PositiveInt = Field(
            20, description="steps of that check over half of the pixels (paper: 100 of 0.5 %)"
        )
        pictures: NonNegativeInt = Field(3, description="images shown of each kind")

    def __init__(self, options: Any, context: Context) -> None:
        super().__init__(options, context)
        self._found: tuple[Audit, list[Source]] | None = None

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """The background, as a whole and for each annotated factor, with where it decided."""
        from cuescope_cci.sources import features

        yield from features(self.sources(audit))

    @hookimpl
    def perturb(self, audit: Audit, features: Sequence[Feature]) -> Iterator[Trial]:
        """Each image as it is, then with each cluster of its patches hidden."""
        from cuescope_cci.importance import look, trials

        yield from trials(look(audit, self.options, audit.samples))

    @hookimpl
    def compute_scores(
        self, audit: Audit, features: Sequence[Feature], outcomes: Sequence[Outcome]
    ) -> Iterable[Score]:
        """BG-Er and Fine-Er of each group and label, with the accuracy gap."""
        from cuescope_cci.reporting import scores

        return scores(audit, self.options, self.sources(audit))

    @hookimpl
    def verify(
        self, audit: Audit, features: Sequence[Feature], scores: Sequence[Score]
    ) -> Iterator[Evidence]:
        """The planted truth, deletion and insertion, and the pictures."""
        from cuescope_cci.verify import evidence

        yield from evidence(audit, self)

    def sources(self, audit: Audit) -> "list[Source]":
        """The source of every answer, told once an audit: tools do not remember what they said."""
        from cuescope_cci.sources import sources

        if self._found is None or self._found[0] is not audit:
            self._found = audit, sources(audit, self.options)
        return self._found[1]

    def maps(
        self, audit: Audit, samples: Sequence[Sample], texts: Sequence[str]
    ) -> Iterator[np.ndarray]:
        """The importance map (row, col) of each canvas sample for its text, on the patch grid."""
        from cuescope_cci.importance import maps

        return maps(audit, self.options, samples, texts)


__all__ = ["CCI"]
