"""Is the data set diverse enough: for how many images does it show a cue, and lack it?"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from cuescope_sdk import Evidence
from cuescope_spurlens.cases import Case, Study

if TYPE_CHECKING:
    from cuescope_spurlens import SpurLens

THRESHOLDS = tuple(step / 20 for step in range(19))


def largest_k(
    scores: Float[np.ndarray, "sample cue"], cues: int, thresholds: Sequence[float] = THRESHOLDS
) -> tuple[int, float]:
    """Largest K for which so many cues are in K samples and absent from K, and its threshold.

    Above the threshold a cue counts as present, else as absent (appendix P); the threshold with
    the largest K is taken, the lowest of equals. 0 where there are fewer cues.
    """
    if scores.shape[1] < cues:
        return 0, thresholds[0]
    best = []
    for threshold in thresholds:
        present = (scores > threshold).sum(axis=0)
        both = np.sort(np.minimum(present, len(scores) - present))
        best.append(int(both[-cues]))
    place = int(np.argmax(best))
    return best[place], thresholds[place]


def check_adequacy(options: "SpurLens.Options", study: Study) -> Iterator[Evidence]:
    """One check a task, of the class with the smallest such K."""
    for task in ("recognition", "hallucination"):
        cases = [case for case in study.cases if case.task == task]
        if cases:
            yield _checked(options.adequate_cues, cases)


def _checked(cues: int, cases: Sequence[Case]) -> Evidence:
    found = [largest_k(case.seen.scores, cues) for case in cases]
    enough = [k >= case.k for (k, _), case in zip(found, cases, strict=True)]
    worst = min(range(len(cases)), key=lambda place: found[place][0] - cases[place].k)
    (k, threshold), case = found[worst], cases[worst]
    return Evidence(
        check=f"data: {case.task} has images with and without the cues",
        verdict="supported" if all(enough) else "inconclusive",
        detail=f"{sum(enough)} of {len(cases)} classes have {cues} cues that are in K images and "
        f"absent from K; the least is '{case.label}' with {k} such images of each kind "
        f"(K-score above {threshold:g}), where K is {case.k}",
        value=float(k), threshold=float(case.k), n=len(cases),
    )  # fmt: skip
