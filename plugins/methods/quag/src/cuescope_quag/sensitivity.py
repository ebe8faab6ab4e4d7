"""Appendix B.7: complements that are both answered rightly should be represented differently."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from scipy.stats import mannwhitneyu

from cuescope_quag.answers import is_correct
from cuescope_quag.conditions import asked, fusion_shape, outputs_for
from cuescope_sdk import Audit, Evidence, Sample, Trial
from cuescope_sdk.fusion import AttentionWeights, TokenModalities
from cuescope_sdk.maths import ConsistentPair, aligned_distance, consistent_pairs

if TYPE_CHECKING:
    from cuescope_quag import QUAG

SIGNIFICANT, FEWEST = 0.05, 5
QUESTION_TYPE = "BA"
MOST_TOKENS = 128  # the time of an alignment grows with their cube
LAYERS = 4  # evenly spread over the model's


def sensitivity(audit: Audit, options: "QUAG.Options") -> Iterator[Evidence]:
    """Distances of before/after complements, in video and in text; nothing without any."""
    samples = {sample.key: sample for sample in asked(audit)}
    known = [s for s in samples.values() if s.annotations.get("question_type") == QUESTION_TYPE]
    pairs = [pair for pair in consistent_pairs(known) if pair.subset != "control"]
    if not pairs or not options.pairs:
        return
    outcomes = audit.respond(Trial(sample=one, outputs=outputs_for(one)) for one in known)
    correct = {one.trial.sample.key: is_correct(one) for one in outcomes}
    for complement in ("video", "text"):
        check = f"complements are told apart inside, {complement} (appendix B.7)"
        own = [pair for pair in pairs if pair.complement == complement]
        both, others = chosen(own, correct, options.pairs, audit.rng("pairs", complement))
        found = [distances(audit, samples, group) for group in (both, others)]
        yield compared_distances(check, *found)


def chosen(
    pairs: Sequence[ConsistentPair],
    correct: Mapping[str, bool],
    most: int,
    rng: np.random.Generator,
) -> tuple[list[ConsistentPair], list[ConsistentPair]]:
    """Up to `most` pairs that are both answered rightly, and up to `most` that are not."""
    groups: tuple[list[ConsistentPair], list[ConsistentPair]] = ([], [])
    for place in rng.permutation(len(pairs)).tolist():
        pair = pairs[place]
        group = groups[not (correct[pair.first] and correct[pair.second])]
        if len(group) < most:
            group.append(pair)
    return groups


def distances(
    audit: Audit, samples: Mapping[str, Sample], pairs: Sequence[ConsistentPair]
) -> Float[np.ndarray, " pair"]:
    """Aligned distance of each pair's attention, mean over heads and up to LAYERS layers.

    Pairs of long sequences, or of two lengths, which no alignment matches, are left out.
    """
    members = [samples[key] for pair in pairs for key in (pair.first, pair.second)]
    tokens = audit.respond(TokenModalities(layer=0).of(sample) for sample in members)
    sizes = {one.trial.sample.key: len(np.asarray(one.response.readout)) for one in tokens}
    kept = [p for p in pairs if sizes[p.first] == sizes[p.second] <= 2 * MOST_TOKENS]
    asked_for = [samples[key] for pair in kept for key in (pair.first, pair.second)]
    depth = fusion_shape(audit).layers if kept else 0
    by_layer = []
    for layer in np.unique(np.linspace(0, depth - 1, LAYERS).round().astype(int)[:depth]).tolist():
        outcomes = audit.respond(AttentionWeights(layer=layer).of(one) for one in asked_for)
        weights = [np.asarray(one.response.readout) for one in outcomes]
        if any(one.shape[1] != one.shape[2] for one in weights):
            return np.empty(0)  # cross-attention: its queries and keys are other tokens
        two = zip(weights[::2], weights[1::2], strict=True)
        by_layer.append([float(aligned_distance(*pair).mean()) for pair in two])
    return np.mean(by_layer, axis=0) if by_layer else np.empty(0)


def compared_distances(
    check: str, both: Float[np.ndarray, " pair"], others: Float[np.ndarray, " pair"]
) -> Evidence:
    """Whether pairs that are both answered rightly are further apart (Mann and Whitney, 1947)."""
    if min(len(both), len(others)) < FEWEST:
        return Evidence(
            check=check,
            verdict="inconclusive",
            detail=f"{len(both)} pairs are both answered rightly and {len(others)} are not, with "
            f"attention that can be aligned; {FEWEST} of each are needed",
            n=len(both) + len(others),
        )
    p_value = float(mannwhitneyu(both, others, alternative="greater").pvalue)
    return Evidence(
        check=check,
        verdict="supported" if p_value < SIGNIFICANT else "inconclusive",
        detail=f"mean distance of aligned attention {both.mean():.3f} for {len(both)} pairs that "
        f"are both answered rightly, {others.mean():.3f} for {len(others)} others (Mann-Whitney "
        f"p = {p_value:.3f}); the paper finds the first larger in FrozenBiLM",
        value=p_value,
        threshold=SIGNIFICANT,
        n=len(both) + len(others),
    )
