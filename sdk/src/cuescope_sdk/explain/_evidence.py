"""Maps against those of other images, as evidence, a table and curves of a report."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from jaxtyping import Bool

from cuescope.auditing import Audit
from cuescope.conclusions import Cell, Evidence, Picture, Table, Verdict
from cuescope.types import Sample
from cuescope_sdk.explain._canvas import Explainer, canvas_samples
from cuescope_sdk.explain._curves import (
    Difference,
    Maps,
    auc,
    classification_curves,
    paired_difference,
)
from cuescope_sdk.explain._perturbation import DIRECTIONS, Direction, Schedule
from cuescope_sdk.report._figures import Line, line_chart
from cuescope_sdk.statistics import Groups, mean_interval
from cuescope_sdk.stills import samples_by_key

FEWEST_IMAGES = 8  # a bootstrap of fewer is too narrow to decide anything
OTHERS = "maps of other images"
ByTop = Mapping[int, Bool[np.ndarray, "image step"]]


def measure_faithfulness(
    audit: Audit, method: Explainer, name: str, *, images: int, steps: int
) -> Iterator[Evidence]:
    """`faithfulness_evidence` of an explainer, on a seeded draw of the audited images.

    The maps are about the true class, and there are at most `images`, all of them labelled.
    """
    # by key, so that the draw does not depend on the data set's order
    labelled = [sample for sample in samples_by_key(audit) if sample.label is not None]
    few = min(images, len(labelled))
    indices = audit.rng("faithfulness draw").choice(len(labelled), few, replace=False)
    samples = canvas_samples(audit, [labelled[index] for index in sorted(indices)])
    maps = list(method.maps(audit, samples, [str(sample.label) for sample in samples]))
    schedule = Schedule(steps=steps)
    yield from faithfulness_evidence(audit, samples, maps, name=name, schedule=schedule)


def faithfulness_trials(audit: Audit, *, images: int, steps: int) -> int:
    """How many trials `measure_faithfulness` asks at most, with a map for each image."""
    few = min(images, len(audit.samples))
    curves = 2 * len(DIRECTIONS)  # of its own map, and of another image's
    return few * (2 + curves * (steps + 1))  # its canvas, its map, and each step


def faithfulness_evidence(
    audit: Audit,
    samples: Sequence[Sample],
    maps: Maps,
    *,
    name: str,
    schedule: Schedule | None = None,
) -> Iterator[Evidence]:
    """Whether `maps` find what the model relies on in their own image, better than in another one.

    One check for deletion and one for insertion, on top-1 accuracy: the area under the
    curve against that of maps dealt anew to images of other groups, image by image. A map that
    always marks the middle beats random ones, and is no better than another image's. Supported
    where the interval of the improvement is above 0, refuted where it is below. A table and a
    picture of the curves are shown on the way. `name` is what the maps are called, and `samples`
    as `classification_curves` takes them. Nothing is shown where all images are of one group.
    """
    groups = Groups.of(samples)
    if groups.count < 2:
        return
    schedule = schedule or Schedule()
    dealt = maps_of_others(audit, samples, maps)
    fewest = min(
        len(sample.choices) for sample in samples
    )  # top 5 of 5 choices is always right
    ranks = [k for k in (1, 5) if k < fewest] or [1]
    row: dict[str, Cell] = {"maps": name}
    row_of_others: dict[str, Cell] = {"maps": OTHERS}
    row_of_gains: dict[str, Cell] = {"maps": "better by"}
    for direction in DIRECTIONS:
        ours = classification_curves(audit, samples, maps, schedule, direction, ranks)
        theirs = classification_curves(
            audit, samples, dealt, schedule, direction, ranks
        )
        for k in ranks:
            better = improvement(ours[k], theirs[k], direction, groups)
            area = auc(ours[k])
            other = auc(theirs[k])
            column = f"{direction}, top {k}"
            row[column] = area
            row_of_others[column] = other
            row_of_gains[column] = _words(better)
            if k == ranks[0]:  # one check a direction: top 1 and top 5 are no two tests
                yield _evidence(direction, k, area, other, better, len(samples))
        curves = {name: ours, OTHERS: theirs}
        audit.attach(_picture(direction, schedule, curves, ranks[0], groups))
    audit.attach(_table([row, row_of_others, row_of_gains], schedule, len(samples)))


def maps_of_others(audit: Audit, samples: Sequence[Sample], maps: Maps) -> Maps:
    """For each sample the map of a random one that was drawn apart from it."""
    codes = Groups.of(samples).codes
    rng = audit.rng("faithfulness of other maps")
    return [maps[int(rng.choice(np.flatnonzero(codes != code)))] for code in codes]


def improvement(
    ours: np.ndarray, theirs: np.ndarray, direction: Direction, groups: Groups
) -> Difference:
    """By how much the area is better: lower in deletion, higher in insertion."""
    if direction == "deletion":
        return paired_difference(theirs, ours, groups)
    return paired_difference(ours, theirs, groups)


def _evidence(
    direction: Direction,
    k: int,
    ours: float,
    theirs: float,
    better: Difference,
    images: int,
) -> Evidence:
    verdicts: dict[int, Verdict] = {1: "supported", 0: "inconclusive", -1: "refuted"}
    verdict = verdicts[better.sign]
    detail = (
        f"top-{k} accuracy over the {direction} of pixels: {ours:.3f} with these maps, "
        f"{theirs:.3f} with those of other images, better by {_words(better)}"
    )
    if images < FEWEST_IMAGES:  # then the verdict is withheld, the figures are not
        verdict = "inconclusive"
        detail += f"; fewer than {FEWEST_IMAGES} images decide nothing"
    return Evidence(
        check=f"{direction} by an image's own map",
        verdict=verdict,
        detail=detail,
        value=better.value,
        threshold=0.0,
        n=images,
    )


def _words(difference: Difference) -> str:
    return f"{difference.value:+.3f} [{difference.low:+.3f}, {difference.high:+.3f}]"


def _table(rows: Sequence[dict[str, Cell]], schedule: Schedule, images: int) -> Table:
    changed = f"{schedule.steps} steps of {schedule.per_step:.2%} of the pixels"
    fills = f"deleted pixels become {schedule.fill('deletion')}"
    grounds = f"inserted ones are revealed in {schedule.fill('insertion')}"
    return Table(
        title="Faithfulness: area under the accuracy curve",
        columns=tuple(rows[0]),
        rows=tuple(rows),
        notes=(
            f"{images} images; {changed}, the most important first; {fills}, {grounds}.",
            "Deletion: lower is better. Insertion: higher is better. In brackets: 95% interval.",
        ),
        decimals=3,
    )


def _picture(
    direction: Direction,
    schedule: Schedule,
    curves: Mapping[str, ByTop],
    k: int,
    groups: Groups,
) -> Picture:
    lines = []
    areas = []
    for name, by_top in curves.items():
        right = by_top[k]
        steps = right.astype(np.float64).T
        ends = [mean_interval(step, groups) for step in steps]
        low, high = np.array(ends, dtype=np.float64).T
        lines.append(Line(name, 100 * schedule.changed, right.mean(axis=0), low, high))
        areas.append(f"{name}: AUC {auc(right):.3f}")
    verb = "deleted" if direction == "deletion" else "inserted"
    good = "falls" if direction == "deletion" else "rises"
    caption = f"A faithful map's accuracy {good} fast. {', '.join(areas)}. Bands: 95% intervals."
    return Picture(
        title=f"{direction.capitalize()} of the most important pixels first",
        caption=caption,
        image=line_chart(lines, "", f"pixels {verb} (%)", f"top-{k} accuracy"),
    )
