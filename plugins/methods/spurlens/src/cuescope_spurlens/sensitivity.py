"""How the gap of a finding changes with K (appendix I)."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float, Int

from cuescope_sdk import Audit, Evidence, Picture
from cuescope_spurlens.scoring import Heard, Scored

STEPS = 10
CURVES = 8
NAMES = {
    "recognition": "", "hallucination": " (imagined)", "drop": " (dropped)", "mask": " (blackened)",
}  # fmt: skip


def gap_by_k(
    rates: Float[np.ndarray, " sample"], top: Int[np.ndarray, " k"], bottom: Int[np.ndarray, " k"]
) -> Float[np.ndarray, " k"]:
    """Gap at every K from 1 to k; `top` is best first, `bottom` has its lowest last."""
    count = np.arange(1, len(top) + 1)
    return np.asarray(np.cumsum(rates[top]) / count - np.cumsum(rates[bottom[::-1]]) / count)


def check_other_k(audit: Audit, heard: Heard) -> Iterator[Evidence]:
    """Is the gap there with half as many images too? Costs no question; drawn for the strongest."""
    curves = {id(one): _curve(one) for one in heard.findings}
    for one in heard.findings:
        curve, k = curves[id(one)], one.case.k
        half = curve[(k + 1) // 2 - 1 :]
        yield Evidence(
            check="other K: the gap from K / 2 on", feature=one.case.key(one.cue),
            label=one.case.label, value=float(half.min()), threshold=0.0, n=k,
            verdict="supported" if half.min() > 0 else "refuted",
            detail=f"{one.case.label} and {one.cue}, {one.case.task}: between "
            f"{half.min():.2f} and {half.max():.2f} for K from {(k + 1) // 2} to {k}",
        )  # fmt: skip
    if heard.findings:
        audit.attach(_picture(heard.findings[:CURVES]))


def _curve(one: Scored) -> Float[np.ndarray, " k"]:
    case, cue = one.case, one.strongest
    return gap_by_k(one.rates, case.local(case.top[cue]), case.local(case.bottom[cue]))


def _picture(findings: tuple[Scored, ...]) -> Picture:
    from cuescope_sdk.report import Line, line_chart

    lines = []
    for one in findings:
        k = np.unique(np.linspace(one.case.k / STEPS, one.case.k, STEPS).astype(int).clip(1))
        name = f"{one.case.label} / {one.cue}{NAMES[one.case.task]}"
        lines.append(Line(name, k.astype(float), _curve(one)[k - 1]))
    title = "The gap by K"
    return Picture(
        title=title,
        caption="The gap of each finding with fewer images of those that show the cue most and "
        "least. A steady gap does not hang on the choice of K.",
        image=line_chart(lines, title, "K, images with the cue, and as many without", "gap"),
    )
