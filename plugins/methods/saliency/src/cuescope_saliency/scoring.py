"""Figures of each text: where the maps lie, and whether that is more than chance."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float

from cuescope_saliency.observing import Explained, key_of
from cuescope_sdk import Audit, Score
from cuescope_sdk.maths import (
    benjamini_hochberg,
    bootstrap_mean_interval,
    energy_share,
    iou_at_area,
)

if TYPE_CHECKING:
    from cuescope_saliency import Saliency

FLIPS, CHUNK = 10_000, 500
TIE = 1e-12


@dataclass(frozen=True)
class Row:
    """The figures of one text, an entry an image; the last three over images with a mask."""

    text: str
    correct: Float[np.ndarray, " image"]
    share: Float[np.ndarray, " masked"]
    area: Float[np.ndarray, " masked"]
    iou: Float[np.ndarray, " masked"]

    @property
    def strength(self) -> float:
        """Mean lean on the background; -1 without masks."""
        return float(self.lean.mean()) if len(self.lean) else -1.0

    @property
    def lean(self) -> Float[np.ndarray, " masked"]:
        """Importance on the background, less the background's share of the picture."""
        return np.asarray(self.area - self.share)


def scores(
    audit: Audit, options: "Saliency.Options", images: Sequence[Explained]
) -> Iterator[Score]:
    """The rows of the report, findings first."""
    _note(audit, options, images)
    by_text: dict[str, list[Explained]] = {}
    for one in images:
        by_text.setdefault(one.text, []).append(one)
    rows = [measure(by_text[text]) for text in sorted(by_text)]
    p_values = [_p_value(row, audit.rng("sign flips", row.text)) for row in rows]
    verdicts = [
        Verdict(p, q, _finding(row, q, options))
        for row, p, q in zip(rows, p_values, benjamini_hochberg(p_values), strict=True)
    ]
    ranked = sorted(
        zip(rows, verdicts, strict=True), key=lambda pair: (not pair[1].finding, -pair[0].strength)
    )
    for row, verdict in ranked:
        yield from _row_scores(audit, options, row, verdict)


class Verdict(NamedTuple):
    """The test of one text."""

    p_value: float | None
    q_value: float | None
    finding: bool


def measure(images: Sequence[Explained]) -> Row:
    """The figures of the images in which one text is explained."""
    masked = [
        (one.importance, one.foreground)
        for one in images
        if one.foreground is not None and one.foreground.any() and not one.foreground.all()
    ]
    return Row(
        text=images[0].text,
        correct=np.array([one.prediction == one.sample.label for one in images], dtype=np.float64),
        share=np.array([energy_share(*pair) for pair in masked]),
        area=np.array([mask.mean() for _, mask in masked]),
        iou=np.array([iou_at_area(*pair) for pair in masked]),
    )


def sign_flip_p_value(values: Float[np.ndarray, " image"], rng: np.random.Generator) -> float:
    """One-sided p-value of a mean above 0, where each value were as likely with the other sign."""
    reached = 0
    for _ in range(FLIPS // CHUNK):
        signs = rng.integers(0, 2, (CHUNK, len(values)), dtype=np.int8) * 2.0 - 1.0
        reached += int((signs @ values >= values.sum() - TIE).sum())
    return (reached + 1) / (FLIPS + 1)


def _p_value(row: Row, rng: np.random.Generator) -> float | None:
    return sign_flip_p_value(row.lean, rng) if len(row.lean) > 1 else None


def _finding(row: Row, q_value: float | None, options: "Saliency.Options") -> bool:
    """Looks at the background more than a blind map would, by `min_lean` at the least."""
    return q_value is not None and q_value <= options.fdr and row.strength > options.min_lean


def _row_scores(
    audit: Audit, options: "Saliency.Options", row: Row, verdict: Verdict
) -> Iterator[Score]:
    """Four figures, the headline first."""
    figures = {
        "background_lean": row.lean,
        "foreground_share": row.share,
        "iou": row.iou,
        "accuracy": row.correct,
    }
    for metric, values in figures.items():
        tested = metric == "background_lean"
        value, low, high = _interval(values, audit.rng("bootstrap", metric, row.text), options)
        yield Score(
            feature=key_of(row.text),
            label=row.text if row.text in audit.labels else None,
            metric=metric,
            value=value,
            low=low,
            high=high,
            n=len(values),
            p_value=verdict.p_value if tested else None,
            q_value=verdict.q_value if tested else None,
            finding=tested and verdict.finding,
            statement=statement(row) if tested and verdict.finding else None,
        )


def _interval(
    values: Float[np.ndarray, " image"], rng: np.random.Generator, options: "Saliency.Options"
) -> tuple[float | None, float | None, float | None]:
    """Mean and bootstrap interval, None without values."""
    if len(values) == 0:
        return None, None, None
    mean = float(values.mean())
    low, high = bootstrap_mean_interval(values, rng, confidence=options.confidence)
    return mean, min(low, mean), max(high, mean)


def statement(row: Row) -> str:
    """The finding as a sentence."""
    return (
        f"The {{feature}} lie on the background, which has {1 - row.share.mean():.0%} of their "
        f"importance and {1 - row.area.mean():.0%} of the picture; the answer is right in "
        f"{row.correct.mean():.0%} of {len(row.correct)} images."
    )


def _note(audit: Audit, options: "Saliency.Options", images: Sequence[Explained]) -> None:
    target = f"the text '{options.text}'" if options.text else f"the {options.target} label"
    right = sum(one.prediction == one.sample.label for one in images)
    masks = [one.foreground for one in images if one.foreground is not None]
    blank = sum(not mask.any() or bool(mask.all()) for mask in masks)
    audit.note("explained", f"{target} in {len(images)} images, by {options.explainer}")
    audit.note("accuracy", f"{right / max(len(images), 1):.1%} of {len(images)} images")
    if not masks:
        audit.note("foreground", "no masks annotated, so nothing is said of the background")
    elif blank or len(masks) < len(images):
        audit.note(
            "foreground",
            f"left out: {len(images) - len(masks)} images without a mask, {blank} whose mask is "
            "empty or fills the picture",
        )
