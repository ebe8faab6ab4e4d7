"""Theorem 2.1 and lemma 2.2, looked up inside the user's model.

The readings bring back figures, not matrices, which grow with the square of the tokens.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from cuescope_quag.attention import (
    conformability_error,
    fused_part,
    rank_bound,
    ranks,
    row_averaged,
    sees_alike,
    visible_keys,
)
from cuescope_quag.conditions import (
    SHORT_CIRCUITS,
    asked,
    chosen_layers,
    fusion_shape,
    quadrants_of,
)
from cuescope_sdk import Audit, Evidence, Readout, Trial
from cuescope_sdk.fusion import AverageAttention, HasFusion

if TYPE_CHECKING:
    from cuescope_quag import QUAG

TOLERANCE = 1e-4  # of attention weights that the model computes in float32
CONFORMABLE = "averaged attention stays averaged (theorem 2.1)"
RANK = "averaged attention to video holds no more than the text (lemma 2.2)"


class Captured(NamedTuple):
    """A layer's attention (head, query, key) to one trial, without its edit and with it."""

    of_query: np.ndarray
    of_key: np.ndarray
    plain: np.ndarray
    edited: np.ndarray

    @classmethod
    def of(cls, model: HasFusion, trial: Trial, layer: int, longest: int) -> "Captured | None":
        """None for more than `longest` tokens."""
        (tokens,) = model.modalities([trial], layer)
        if len(tokens) > 2 * longest:
            return None
        (plain,) = model.attention([trial.model_copy(update={"edit": None})], layer)
        (edited,) = model.attention([trial], layer)
        queries = plain.shape[1]
        return cls(tokens[:queries], tokens[queries:], plain, edited)


class LayerReadout(Readout):
    """Figures of a layer under the trial's `AverageAttention`; () where there are many tokens."""

    layer: int
    longest: int

    def read(self, model: Any, trials: Sequence[Trial]) -> list[np.ndarray]:
        """One row of figures a trial."""
        return [np.array(self._figures_of(model, trial), dtype=np.float64) for trial in trials]

    def _figures_of(self, model: HasFusion, trial: Trial) -> tuple[float, ...]:
        captured = Captured.of(model, trial, self.layer, self.longest)
        if captured is None or not isinstance(trial.edit, AverageAttention):
            return ()
        return self.figures(captured, trial.edit)

    def figures(self, captured: Captured, edit: AverageAttention) -> tuple[float, ...]:
        """What is brought back."""
        raise NotImplementedError


class Conformability(LayerReadout):
    """How far rows of averaged quadrants are from constant, and rows of the first from means."""

    name: ClassVar[str] = "quag-conformability"
    first: bool

    def figures(self, captured: Captured, edit: AverageAttention) -> tuple[float, ...]:
        """The largest error."""
        of_query, of_key, plain, edited = captured
        place = of_query, of_key, visible_keys(plain), sorted(edit.quadrants)
        errors = [conformability_error(edited, *place)]
        if self.first:
            expected = row_averaged(plain, *place)
            errors.append(float(np.abs(edited - expected).max(initial=0)))
        return (max(errors),)


class RankExcess(LayerReadout):
    """The largest rank of a head, the bound, the largest rank that a matrix of this shape may
    have, and 1 where all queries see the same video keys."""

    name: ClassVar[str] = "quag-rank"

    def figures(self, captured: Captured, edit: AverageAttention) -> tuple[float, ...]:
        """These four."""
        of_query, of_key, plain, edited = captured
        part = fused_part(edited, of_query, of_key)
        alike = sees_alike(visible_keys(plain), of_query, of_key)
        return max(ranks(part), default=0), rank_bound(of_key), min(part.shape[1:]), alike


def theory(audit: Audit, options: "QUAG.Options") -> Iterator[Evidence]:
    """Both checks, in the first, middle and last edited layer of a few samples."""
    whole = chosen_layers(audit, options)
    layers = whole or tuple(range(fusion_shape(audit).layers))
    looked = sorted({layers[0], layers[len(layers) // 2], layers[-1]})
    about = f"{{count}} samples, layers {', '.join(map(str, looked))}"
    rows: dict[str, list[np.ndarray]] = {"unimodal": [], "video": []}
    for layer in looked:
        place = {"layer": layer, "longest": options.longest}
        conformable = Conformability(**place, first=layer == layers[0])
        for name, reading in (("unimodal", conformable), ("video", RankExcess(**place))):
            edit = AverageAttention(quadrants=quadrants_of(SHORT_CIRCUITS[name][0]), layers=whole)
            samples = asked(audit)[: options.captures]
            outcomes = audit.respond(reading.of(sample, edit) for sample in samples)
            rows[name] += [np.asarray(one.response.readout) for one in outcomes]
    for name, judge in (("unimodal", conformability), ("video", rank)):
        found = [row for row in rows[name] if row.size]
        yield judge(found, about.format(count=len(found) // len(looked)), options.longest)


def conformability(found: Sequence[np.ndarray], about: str, longest: int) -> Evidence:
    """Verdict on rows of `Conformability`."""
    if not found:
        return undecided(CONFORMABLE, f"no sample has {longest} tokens or fewer")
    worst = float(np.max(found))
    return Evidence(
        check=CONFORMABLE,
        verdict="supported" if worst <= TOLERANCE else "refuted",
        detail="average conformability: after the unimodal short-circuit each row of VV and TT "
        "is constant over the keys that it may see, rows sum to 1, and the first layer keeps the "
        f"mass of each row and quadrant, but for {worst:.1e} at most ({about})",
        value=worst,
        threshold=TOLERANCE,
        n=len(found),
    )


def rank(found: Sequence[np.ndarray], about: str, longest: int) -> Evidence:
    """Verdict on rows of `RankExcess`."""
    if not found:
        return undecided(RANK, f"no sample has {longest} tokens or fewer")
    alike = [row for row in found if row[3]]
    if not alike:
        return undecided(
            RANK,
            "the attention is causal: queries see different video keys, so that averaged columns "
            "differ, and the lemma does not speak of that",
        )
    telling = [row for row in alike if row[1] < row[2]]
    if not telling:
        return undecided(RANK, "too few video tokens: no such matrix could exceed l_T + 2")
    excess = max(row[0] - row[1] for row in telling)
    least = max(telling, key=lambda row: row[0] - row[1])
    return Evidence(
        check=RANK,
        verdict="supported" if excess <= 0 else "refuted",
        detail="after the video short-circuit the rank of a head's attention is at most l_T + 2, "
        f"the text tokens and two; nearest to that: {least[0]:.0f} where it is {least[1]:.0f}, of "
        f"a matrix that could have {least[2]:.0f} ({about})",
        value=float(excess),
        threshold=0.0,
        n=len(telling),
    )


def undecided(check: str, detail: str) -> Evidence:
    """A check that could not be made."""
    return Evidence(check=check, verdict="inconclusive", detail=detail)
