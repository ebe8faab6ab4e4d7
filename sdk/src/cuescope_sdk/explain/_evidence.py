"""Maps against those of other images, as evidence and curves of a report."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cuescope_core.auditing import Audit
from cuescope_core.conclusions import Evidence, Picture, Verdict
from cuescope_core.types import Sample
from cuescope_sdk.explain._canvas import Canvas, Explainer
from cuescope_sdk.explain._curves import Curves, Maps, Perturbation
from cuescope_sdk.report._figures import line_chart
from cuescope_sdk.statistics import Groups, mean_interval

FEWEST_IMAGES = 8  # a bootstrap of fewer is too narrow to decide anything
OTHERS = "maps of other images"


@dataclass(frozen=True)
class FaithfulnessCheck:
    """Deletion and insertion of so many `steps`, on a seeded draw of at most so many `images`."""

    images: int
    steps: int

    def most_trials(self, audit: Audit) -> int:
        """How many trials are asked at most, with a map for each image."""
        few = min(self.images, len(audit.samples))
        curves = 2 * 2  # of two directions: of its own map, and of another image's
        # its canvas, its map, and each step
        return few * (2 + curves * (self.steps + 1))

    def evidence(
        self,
        audit: Audit,
        method: Explainer,
        name: str,
    ) -> Iterator[Evidence]:
        """`faithfulness_evidence` of an explainer about the true class of audited images."""
        # by key, so that the draw does not depend on the data set's order
        labelled = [
            sample for sample in audit.samples_by_key() if sample.label is not None
        ]
        few = min(self.images, len(labelled))
        rng = audit.rng("faithfulness draw")
        indices = rng.choice(len(labelled), few, replace=False)
        samples = Canvas.samples(audit, [labelled[index] for index in sorted(indices)])
        labels = [str(sample.label) for sample in samples]
        maps = list(method.maps(audit, samples, labels))
        schedule = Perturbation(steps=self.steps)
        yield from faithfulness_evidence(audit, samples, maps, name, schedule)


def faithfulness_evidence(
    audit: Audit,
    samples: Sequence[Sample],
    maps: Maps,
    name: str,
    schedule: Perturbation,
) -> Iterator[Evidence]:
    """Check that `maps` find what the model relies on in their own image, better than in another.

    One check for deletion and one for insertion, on top-1 accuracy: the area under the
    curve against that of maps dealt anew to images of other groups, image by image. A map that
    always marks the middle beats random ones, and is no better than another image's. Supported
    where the interval of the improvement is above 0, refuted where it is below. A picture of the
    curves is shown on the way. `name` is what the maps are called, and `samples`
    as `classification_curves` takes them; of `schedule` both directions are tried. Nothing is
    shown where all images are of one group.
    """
    groups = Groups.of(samples)
    if groups.count < 2:
        return
    dealt = maps_of_others(audit, samples, maps)
    for perturbation in schedule.both:
        ours, theirs = (
            perturbation.classification_curves(audit, samples, each, (1,))[1]
            for each in (maps, dealt)
        )
        yield _evidence(perturbation, ours, theirs, groups)
        curves = {name: ours, OTHERS: theirs}
        audit.attach(_picture(perturbation, curves, groups))


def maps_of_others(audit: Audit, samples: Sequence[Sample], maps: Maps) -> Maps:
    """For each sample the map of a random one that was drawn apart from it."""
    codes = Groups.of(samples).codes
    rng = audit.rng("faithfulness of other maps")
    return [maps[int(rng.choice(np.flatnonzero(codes != code)))] for code in codes]


def _evidence(
    perturbation: Perturbation, ours: Curves, theirs: Curves, groups: Groups
) -> Evidence:
    better = perturbation.gain(ours, theirs, groups)
    verdicts: dict[int, Verdict] = {1: "supported", 0: "inconclusive", -1: "refuted"}
    verdict = verdicts[better.sign]
    detail = (
        f"top-1 accuracy over the {perturbation.direction} of pixels: "
        f"{perturbation.auc(ours):.3f} with these maps, {perturbation.auc(theirs):.3f} with those "
        f"of other images, better by {better}"
    )
    if len(ours) < FEWEST_IMAGES:  # then the verdict is withheld, the figures are not
        verdict = "inconclusive"
        detail += f"; fewer than {FEWEST_IMAGES} images decide nothing"
    return Evidence(
        check=f"{perturbation.direction} by an image's own map",
        verdict=verdict,
        detail=detail,
        value=better.value,
        threshold=0.0,
        n=len(ours),
    )


def _picture(
    perturbation: Perturbation, curves: Mapping[str, Curves], groups: Groups
) -> Picture:
    changed = 100 * perturbation.changed
    lines = {}
    areas = []
    for name, right in curves.items():
        ends = [mean_interval(step, groups) for step in right.astype(np.float64).T]
        low, high = np.array(ends, dtype=np.float64).T
        lines[name] = (changed, right.mean(axis=0), low, high)
        areas.append(f"{name}: AUC {perturbation.auc(right):.3f}")
    verb, good = perturbation.words
    caption = f"A faithful map's accuracy {good} fast. {', '.join(areas)}. Bands: 95% intervals."
    return Picture(
        title=f"{perturbation.direction.capitalize()} of the most important pixels first",
        caption=caption,
        image=line_chart(lines, "", f"pixels {verb} (%)", "top-1 accuracy"),
    )
