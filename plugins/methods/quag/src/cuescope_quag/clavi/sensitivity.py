"""Appendix B.7: complements that are both answered rightly should be represented differently.

Complement pairs hold other tokens, or the same ones in another order, so the tokens of their
attention maps are matched before the maps are compared.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment, quadratic_assignment
from scipy.spatial.distance import cdist

from cuescope_quag.clavi.consistency import ConsistentPair, Pairs, consistent_pairs
from cuescope_quag.options import QUAGOptions
from cuescope_quag.paper import DISTANCES, paper_rows
from cuescope_quag.trials import (
    AttentionWeights,
    TokenModalities,
    benchmark_of,
    fusion_shape,
    is_correct,
    plain_trials,
    questions,
    read,
)
from cuescope_sdk import Audit, Evidence, Picture, Readout, Sample, Table
from cuescope_sdk.report import bar_chart, count_of
from cuescope_sdk.statistics import Roc

Distances = Float[np.ndarray, " pair"]
Matrix = Float[np.ndarray, "token token"]
# both answered rightly, and the others
ByAnswer = tuple[list[ConsistentPair], list[ConsistentPair]]

SIGNIFICANT = 0.05  # Fisher (1925)
FEWEST = 5  # pairs of either kind, for a test
# before or after: the questions whose complements need the order of events
QUESTION_TYPE = "BA"
MOST_TOKENS = 128  # the time of an alignment grows with their cube
LAYERS = 4  # evenly spread over the model's
BINS = 10  # of figure 8, appendix B.7
ANSWERED = ("both right", "not both right")


def sensitivity(audit: Audit, options: QUAGOptions) -> Iterator[Evidence]:
    """Distances of before/after complements, in video and in text; nothing without any."""
    samples = {sample.key: sample for sample in audit.once(questions, audit)}
    ordered = [
        s
        for s in samples.values()
        if s.annotations.get("question_type") == QUESTION_TYPE
    ]
    # control questions need no order of events, so their complements need not look different
    pairs = [pair for pair in consistent_pairs(ordered) if pair.subset != "control"]
    if not pairs or not options.pairs:
        return
    # As the extra verifier of another method's audit (--verify-with quag) this method perturbed
    # nothing, and `outcomes` answer that method's trials.
    if audit.options is options:
        # `trials` asks the plain questions first
        outcomes = audit.outcomes[: len(samples)]
    else:
        outcomes = audit.respond(plain_trials(ordered))
    correct = {outcome.trial.sample.key: is_correct(outcome) for outcome in outcomes}
    by_complement: dict[str, list[Distances]] = {}
    for complement in ("video", "text"):
        check = f"attention differs between complements, {complement} (appendix B.7)"
        of_complement = [pair for pair in pairs if pair.complement == complement]
        rng = audit.rng("pairs", complement)
        groups = choose_pairs(of_complement, correct, options.pairs, rng)
        by_complement[complement] = [
            distances(audit, samples, group) for group in groups
        ]
        yield compare_distances(check, *by_complement[complement])
    attach_distances(audit, options, by_complement)


def choose_pairs(
    pairs: Pairs,
    correct: Mapping[str, bool],
    most: int,
    rng: np.random.Generator,
) -> ByAnswer:
    """Up to `most` pairs that are both answered rightly, and up to `most` that are not.

    One pair of a video at most: the test that follows takes pairs as independent. Videos that have
    pairs of the rarer kind give these first.
    """
    groups: ByAnswer = ([], [])
    wrong = np.array(
        [not (correct[pair.first] and correct[pair.second]) for pair in pairs]
    )
    rarer = 2 * wrong.sum() < len(wrong)
    order = rng.permutation(len(pairs))
    seen: set[str] = set()
    # The rarer kind first, each in the drawn order.
    for index in order[np.argsort(wrong[order] != rarer, kind="stable")].tolist():
        pair = pairs[index]
        group = groups[int(wrong[index])]
        if len(group) < most and pair.video not in seen:
            group.append(pair)
            seen.add(pair.video)
    return groups


def distances(
    audit: Audit,
    samples: Mapping[str, Sample],
    pairs: Pairs,
) -> Distances:
    """Aligned distance of each pair's attention, mean over heads and up to LAYERS layers.

    Pairs of long sequences, or of two lengths, which no alignment matches, are left out.
    """
    tokens = _readouts(audit, TokenModalities(layer=0), samples, pairs)
    alike = []
    for pair in pairs:
        # The readout lists queries and then keys, so self-attention has two entries a token.
        length = len(tokens[pair.first])
        if length <= 2 * MOST_TOKENS and length == len(tokens[pair.second]):
            alike.append(pair)
    if not alike:
        return np.empty(0)
    depth = audit.once(fusion_shape, audit).layers
    # a model of fewer layers would have some of them twice
    layers = np.unique(np.linspace(0, depth - 1, LAYERS).round().astype(int)[:depth])
    by_layer = []
    for layer in layers.tolist():
        # layer by layer, for matrices grow with the square of the tokens
        weights = _readouts(audit, AttentionWeights(layer=layer), samples, alike)
        if any(matrix.shape[1] != matrix.shape[2] for matrix in weights.values()):
            return np.empty(0)  # cross-attention: its queries and keys are other tokens
        of_pairs = []
        for pair in alike:
            of_heads = aligned_distance(weights[pair.first], weights[pair.second])
            of_pairs.append(of_heads.mean())
        by_layer.append(of_pairs)
    return np.asarray(np.mean(by_layer, axis=0))


def _readouts(
    audit: Audit,
    readout: Readout,
    samples: Mapping[str, Sample],
    pairs: Pairs,
) -> dict[str, np.ndarray]:
    """What is read of the samples of the pairs, by key; of each once."""
    keys = dict.fromkeys(
        chain.from_iterable((pair.first, pair.second) for pair in pairs)
    )
    readouts = read(audit, (readout.of(samples[key]) for key in keys))
    return dict(zip(keys, readouts, strict=True))


def compare_distances(
    check: str,
    both: Distances,
    others: Float[np.ndarray, " other_pair"],
) -> Evidence:
    """Whether pairs that are both answered rightly are further apart (Mann and Whitney, 1947)."""
    count = len(both) + len(others)
    if min(len(both), len(others)) < FEWEST:
        return Evidence(
            check=check,
            verdict="inconclusive",
            detail=f"{count_of(len(both), 'pairs', 'are')} both answered rightly and "
            f"{len(others)} are not, with "
            f"attention that can be aligned; {FEWEST} of each are needed",
            n=count,
        )
    p_value = Roc.of(both, others).p_value()
    return Evidence(
        check=check,
        # Equal distances do not refute anything: a model may know the order by other means.
        verdict="supported" if p_value < SIGNIFICANT else "inconclusive",
        detail=f"mean distance of aligned attention {both.mean():.3f} for "
        f"{count_of(len(both), 'pairs')} that "
        f"are both answered rightly, {others.mean():.3f} for {len(others)} others (Mann-Whitney "
        f"p = {p_value:.3f}); in FrozenBiLM the paper finds the first distance larger",
        value=p_value,
        threshold=SIGNIFICANT,
        n=count,
    )


# --------------------------------------------------------------------------- table and figure


def attach_distances(
    audit: Audit,
    options: QUAGOptions,
    by_complement: Mapping[str, Sequence[Distances]],
) -> None:
    """Table 16 and figure 8, of pairs that are both answered rightly and of the others."""
    rows = []
    for complement, groups in by_complement.items():
        for answered, values in zip(ANSWERED, groups, strict=True):
            mean = float(values.mean()) if len(values) else None
            variance = float(values.var(ddof=1)) if len(values) > 1 else None
            rows.append((f"{complement}, {answered}", mean, variance, len(values)))
        if sum(map(len, groups)):
            audit.attach(_histogram(complement, groups))
    if not any(count for *_, count in rows):
        return
    note = (
        f"L2 distance of aligned attention matrices, mean over heads and up to {LAYERS} layers, of "
        f"before/after questions; one pair a video, at most {options.pairs} a row (-O pairs). "
        "Variance: over pairs (divided by n - 1)."
    )
    clavi = benchmark_of(audit) == "CLAVI"
    paper = paper_rows(options.beside, DISTANCES) if clavi else ()
    if paper:
        note += f" In brackets: {options.beside} in table 16 of the paper."
    audit.attach(
        Table.of(
            "Distance of complements' attention",
            ("pairs", "mean", "variance", "n"),
            rows,
            note,
            paper=paper,
            decimals=3,
        )
    )


def _histogram(complement: str, groups: Sequence[Distances]) -> Picture:
    """Figure 8: how many pairs are how far apart."""
    total = sum(map(len, groups))
    every = np.concatenate(list(groups))
    # where all distances are 0 the bins need some width
    edges = np.histogram_bin_edges(every, BINS, range=(0.0, float(every.max()) or 1.0))
    shares = [np.histogram(values, edges)[0] / total for values in groups]
    rows = {}
    for (low, high), of_bin in zip(pairwise(edges), np.transpose(shares), strict=True):
        rows[f"{low:.2f} to {high:.2f}"] = dict(
            zip(ANSWERED, of_bin.tolist(), strict=True)
        )
    title = f"Distance of complements' attention, {complement}"
    return Picture(
        title=title,
        caption="Figure 8 of the paper: shares of the pairs by the L2 distance of their aligned "
        "attention. The parts of a bar are pairs with both answers right, and the other pairs.",
        image=bar_chart(rows, title, f"share of the {total} pairs"),
    )


# -------------------------------------------------------------------------------- the distance


def aligned_distance(
    first: Float[np.ndarray, "head token token"], second: Float[np.ndarray, "_ _ _"]
) -> Float[np.ndarray, " head"]:
    """L2 distance of each head's two attention matrices, after matching their tokens.

    A matrix is a weighted directed graph, and one order of its tokens arranges rows and columns
    alike; the order of the least distance is a quadratic assignment. The paper takes a linear one
    (Crouse, 2016) and leaves open what it costs to match two tokens. Here tokens are matched
    first by what every order shows of them (`_signatures`), and from there by linear assignments
    to the gradient of the distance (FAQ: Vogelstein et al., 2015); the nearer of both counts. Two
    orders of one graph are at distance 0, up to tokens that look alike; otherwise the result is
    at least the distance under the best of all orders. Time grows with the cube of the tokens.

    Raises ValueError where the two are not of one square shape: an alignment needs as many tokens.
    """
    if (
        first.shape != second.shape
        or first.ndim != 3
        or first.shape[1] != first.shape[2]
    ):
        raise ValueError(
            f"expected two arrays of one shape (head, token, token), "
            f"got {first.shape} and {second.shape}"
        )
    least = map(_least_distance, first.astype(np.float64), second.astype(np.float64))
    return np.array(list(least))


def _least_distance(first: Matrix, second: Matrix) -> float:
    cost = cdist(_signatures(first), _signatures(second), "sqeuclidean")
    order = linear_sum_assignment(cost)[1]
    by_signature = _distance(first, second, order)
    if by_signature == 0:
        return 0.0  # nothing is nearer, and FAQ is by far the slower part
    options = {
        "maximize": True,
        # else FAQ would start at the mean of all orders
        "P0": np.eye(len(first))[order],
        "rng": np.random.default_rng(
            0
        ),  # draws nothing, but without it the global one is asked
    }
    refined = quadratic_assignment(first, second, method="faq", options=options).col_ind
    # FAQ goes to a stationary point of the relaxed problem, which may be worse than its start.
    return min(by_signature, _distance(first, second, refined))


def _distance(first: Matrix, second: Matrix, order: Int[np.ndarray, " token"]) -> float:
    return float(np.linalg.norm(first - second[np.ix_(order, order)]))


def _signatures(matrix: Matrix) -> Float[np.ndarray, "token feature"]:
    """What a token sends and receives, each sorted, and what it sends to itself."""
    # sorted: the same in every order of the other tokens
    sent = np.sort(matrix, axis=1)
    received = np.sort(matrix.T, axis=1)
    return np.concatenate([sent, received, np.diag(matrix)[:, None]], axis=1)
