"""Maps against those of other images, as evidence, a table and curves of a report."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from cuescope_core.amounts import count_of
from cuescope_core.auditing import Audit
from cuescope_core.conclusions import Cell, Evidence, Picture, Table, Verdict
from cuescope_core.types import Sample
from cuescope_sdk.explain._canvas import Canvas, Explainer
from cuescope_sdk.explain._curves import Difference, Maps, Perturbation
from cuescope_sdk.report._figures import line_chart
from cuescope_sdk.statistics import Groups, mean_interval

FEWEST_IMAGES = 8  # a bootstrap of fewer is too narrow to decide anything
OTHERS = "maps of other images"
ByTop = Mapping[int, Bool[np.ndarray, "image step"]]


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
    where the interval of the improvement is above 0, refuted where it is below. A table and a
    picture of the curves are shown on the way. `name` is what the maps are called, and `samples`
    as `classification_curves` takes them; of `schedule` both directions are tried. Nothing is
    shown where all images are of one group.
    """
    groups = Groups.of(samples)
    if groups.count < 2:
        return
    dealt = maps_of_others(audit, samples, maps)
    # top 5 of 5 choices is always right
    fewest = min(len(sample.choices) for sample in samples)
    ranks = [k for k in (1, 5) if k < fewest] or [1]
    row: dict[str, Cell] = {"maps": name}
    row_of_others: dict[str, Cell] = {"maps": OTHERS}
    row_of_gains: dict[str, Cell] = {"maps": "better by"}
    for perturbation in schedule.both:
        ours = perturbation.classification_curves(audit, samples, maps, ranks)
        theirs = perturbation.classification_curves(audit, samples, dealt, ranks)
        for k in ranks:
            better = perturbation.gain(ours[k], theirs[k], groups)
            area = perturbation.auc(ours[k])
            other = perturbation.auc(theirs[k])
            column = f"{perturbation.direction}, top {k}"
            row[column] = area
            row_of_others[column] = other
            row_of_gains[column] = str(better)
            if k == ranks[0]:  # one check a direction: top 1 and top 5 are no two tests
                yield _evidence(perturbation, k, area, other, better, len(samples))
        curves = {name: ours, OTHERS: theirs}
        audit.attach(_picture(perturbation, curves, ranks[0], groups))
    audit.attach(_table([row, row_of_others, row_of_gains], schedule, len(samples)))


def maps_of_others(audit: Audit, samples: Sequence[Sample], maps: Maps) -> Maps:
    """For each sample the map of a random one that was drawn apart from it."""
    codes = Groups.of(samples).codes
    rng = audit.rng("faithfulness of other maps")
    return [maps[int(rng.choice(np.flatnonzero(codes != code)))] for code in codes]


def _evidence(
    perturbation: Perturbation,
    k: int,
    ours: float,
    theirs: float,
    better: Difference,
    images: int,
) -> Evidence:
    verdicts: dict[int, Verdict] = {1: "supported", 0: "inconclusive", -1: "refuted"}
    verdict = verdicts[better.sign]
    detail = (
        f"top-{k} accuracy over the {perturbation.direction} of pixels: {ours:.3f} with these "
        f"maps, {theirs:.3f} with those of other images, better by {better}"
    )
    if images < FEWEST_IMAGES:  # then the verdict is withheld, the figures are not
        verdict = "inconclusive"
        detail += f"; fewer than {FEWEST_IMAGES} images decide nothing"
    return Evidence(
        check=f"{perturbation.direction} by an image's own map",
        verdict=verdict,
        detail=detail,
        value=better.value,
        threshold=0.0,
        n=images,
    )


def _table(
    rows: Sequence[dict[str, Cell]],
    schedule: Perturbation,
    images: int,
) -> Table:
    deletion, insertion = schedule.both
    changed = (
        f"{count_of(schedule.steps, 'steps')} of {schedule.per_step:.2%} of the pixels"
    )
    fills = f"deleted pixels become {deletion.fill}"
    grounds = f"inserted ones are revealed in {insertion.fill}"
    return Table(
        title="Faithfulness: area under the accuracy curve",
        columns=tuple(rows[0]),
        rows=tuple(rows),
        notes=(
            f"{count_of(images, 'images')}; {changed}, the most important first; {fills}, "
            f"{grounds}.",
            "Deletion: lower is better. Insertion: higher is better. In brackets: 95% interval.",
        ),
        decimals=3,
    )


def _picture(
    perturbation: Perturbation,
    curves: Mapping[str, ByTop],
    k: int,
    groups: Groups,
) -> Picture:
    lines = {}
    areas = []
    for name, by_top in curves.items():
        right = by_top[k]
        steps = right.astype(np.float64).T
        ends = [mean_interval(step, groups) for step in steps]
        low, high = np.array(ends, dtype=np.float64).T
        changed = 100 * perturbation.changed
        lines[name] = (changed, right.mean(axis=0), low, high)
        areas.append(f"{name}: AUC {perturbation.auc(right):.3f}")
    verb, good = perturbation.words
    caption = f"A faithful map's accuracy {good} fast. {', '.join(areas)}. Bands: 95% intervals."
    return Picture(
        title=f"{perturbation.direction.capitalize()} of the most important pixels first",
        caption=caption,
        image=line_chart(lines, "", f"pixels {verb} (%)", f"top-{k} accuracy"),
    )
