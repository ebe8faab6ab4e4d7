"""Theorem 2.1 and lemma 2.2, checked inside the user's model; and what QUAG-attention saves.

Arrays are (head, query, key); `of_query` and `of_key` hold OTHER, VIDEO or TEXT of each token.
The readouts bring back figures, not matrices, which grow with the square of the tokens.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float, Float64, Int8

from cuescope_quag.clavi.sensitivity import sensitivity
from cuescope_quag.options import QUAGOptions
from cuescope_quag.paper import BENCHMARKS, SAVINGS, PaperRows, paper_rows
from cuescope_quag.scores import multiplications_saved
from cuescope_quag.trials import (
    SHORT_CIRCUITS,
    Readouts,
    TokenModalities,
    benchmark_of,
    edited_layers,
    fusion_shape,
    questions,
    read,
)
from cuescope_sdk import Audit, Evidence, Readout, Table, Trial
from cuescope_sdk.fusion import TEXT, VIDEO, AverageAttention, HasFusion
from cuescope_sdk.report import count_of

TOLERANCE = 1e-4  # of attention weights that the model computes in float32
CONFORMABLE = "averaged attention stays averaged (theorem 2.1)"
RANK = "rank of attention after the video short-circuit (lemma 2.2)"

Weights = Float[np.ndarray, "head query key"]
QueryModality = Int8[np.ndarray, " query"]
KeyModality = Int8[np.ndarray, " key"]
Cells = Bool[np.ndarray, "query key"]


def evidence(audit: Audit, options: QUAGOptions) -> Iterator[Evidence]:
    """What can be seen of a model that exposes its fusion layers."""
    if "fusion" not in audit.capabilities.exposes:
        return
    if "average-tokens" in audit.capabilities.edits and options.quag_attention:
        _note_multiplications(audit, options)
    if options.captures:
        yield from theory(audit, options)
    yield from sensitivity(audit, options)


def _note_multiplications(audit: Audit, options: QUAGOptions) -> None:
    """Multiplications saved in a changed layer of self-attention, at the first sample's length."""
    layer = (edited_layers(audit, options) or (0,))[0]
    sample = audit.once(questions, audit)[0]
    [tokens_of_layer] = read(audit, [TokenModalities(layer=layer).of(sample)])
    queries, keys = np.array_split(tokens_of_layer, 2)
    # The formula of section 2.4 is that of self-attention: the same tokens are queries and keys.
    if not np.array_equal(queries, keys):
        return
    video = int((keys == VIDEO).sum())
    text = int((keys == TEXT).sum())
    saved = partial(
        multiplications_saved,
        audit.once(fusion_shape, audit),
        video,
        text,
        len(keys) - video - text,
    )
    shares = []
    rows = []
    for words in options.quag_attention:
        merged = words.split("-")
        of_layer = saved(merged)
        of_attention = saved(merged, attention_alone=True)
        shares.append(f"{words} {of_layer:.1%}")
        name = f"merged {'both' if '-' in words else words}"
        rows.append((name, 100 * of_attention, 100 * of_layer))
    tokens = f"{video} video and {text} text tokens"
    audit.note(
        "multiplications saved", f"{', '.join(shares)} of a changed layer's ({tokens})"
    )
    note = (
        f"Of a changed layer with {tokens}. Attention alone: queries, keys and values projected, "
        "scores and mixing, which no longer grow with the averaged tokens. Whole layer: also the "
        "output projection and the MLP, which QUAG-attention leaves as they are."
    )
    paper: PaperRows = ()
    if benchmark_of(audit) in BENCHMARKS:
        paper = paper_rows(options.beside, SAVINGS)
        note += (
            " In brackets: the paper's table 1, which does not say what it counts; "
            "attention alone comes nearest to it."
        )
    audit.attach(
        Table.of(
            "Multiplications saved by QUAG-attention, %",
            ("condition", "attention alone", "whole layer"),
            rows,
            note,
            paper=paper,
        )
    )


def theory(audit: Audit, options: QUAGOptions) -> Iterator[Evidence]:
    """Both checks, in the first, middle and last edited layer of a few samples."""
    edited = edited_layers(audit, options)
    layers = edited or tuple(range(audit.once(fusion_shape, audit).layers))
    checked = sorted({layers[0], layers[len(layers) // 2], layers[-1]})
    samples = audit.once(questions, audit)[: options.captures]
    figures: dict[str, Readouts] = {"unimodal": [], "video": []}
    for layer in checked:
        # Only the first edited layer sees the tokens of the plain model: later ones see what the
        # edit made of them, and their means are not those of the plain rows.
        first = layer == layers[0]
        readout = TheoryFigures(layer=layer, longest=options.longest, first=first)
        for name, rows in figures.items():
            edit = AverageAttention(quadrants=SHORT_CIRCUITS[name][0], layers=edited)
            read_back = read(audit, (readout.of(sample, edit) for sample in samples))
            # of a sample of many tokens nothing comes back
            rows += [row for row in read_back if row.size]
    if not figures["unimodal"]:
        nothing = f"no sample has {options.longest} tokens or fewer"
        yield _inconclusive(CONFORMABLE, nothing)
        yield _inconclusive(RANK, nothing)
        return
    count = len(figures["unimodal"]) // len(checked)
    about = f"{count_of(count, 'samples')}, layers {', '.join(map(str, checked))}"
    yield judge_conformability(figures["unimodal"], about)
    yield judge_rank(figures["video"], about)


def judge_conformability(figures: Sequence[np.ndarray], about: str) -> Evidence:
    """Verdict on rows of `TheoryFigures` under the unimodal short-circuit."""
    worst = max(float(row[0]) for row in figures)
    return Evidence(
        check=CONFORMABLE,
        verdict="supported" if worst <= TOLERANCE else "refuted",
        detail="average conformability: after the unimodal short-circuit each row of VV and TT "
        "is constant over the keys that it may see. Rows sum to 1, and the first layer keeps the "
        f"mass of each row and quadrant. The largest error is {worst:.1e} ({about})",
        value=worst,
        threshold=TOLERANCE,
        n=len(figures),
    )


def judge_rank(figures: Sequence[np.ndarray], about: str) -> Evidence:
    """Verdict on rows of `TheoryFigures` under the video short-circuit."""
    alike = [row for row in figures if row[4]]
    if not alike:
        return _inconclusive(
            RANK,
            "the attention is causal: queries see different video keys, so averaged columns "
            "differ, and the lemma does not hold for such attention",
        )
    # a matrix too small to exceed the bound says nothing of the lemma
    telling = [row for row in alike if row[2] < row[3]]
    if not telling:
        return _inconclusive(
            RANK, "too few video tokens: no such matrix could exceed l_T + 2"
        )
    _, rank, bound, largest, _ = max(telling, key=lambda row: row[1] - row[2])
    excess = rank - bound
    return Evidence(
        check=RANK,
        verdict="supported" if excess <= 0 else "refuted",
        detail="after the video short-circuit the rank of a head's attention is at most l_T + 2, "
        f"the number of text tokens plus two. Nearest to the bound: rank {rank:.0f}, where "
        f"the bound is {bound:.0f} and the matrix could have rank {largest:.0f} ({about})",
        value=float(excess),
        threshold=0.0,
        n=len(telling),
    )


def _inconclusive(check: str, detail: str) -> Evidence:
    """A check that could not be made."""
    return Evidence(check=check, verdict="inconclusive", detail=detail)


# --------------------------------------------------------------------------------- the readout


class TheoryFigures(Readout):
    """What a layer shows of the theory under the trial's `AverageAttention`.

    How far rows of averaged quadrants are at most from constant, and in the `first` edited layer
    from their means; the largest rank of a head, its bound, the largest rank that a matrix of this
    shape may have, and 1 where all queries see the same video keys. () of many tokens.
    """

    name: ClassVar[str] = "quag-theory"
    gives: ClassVar[Any] = Float64[np.ndarray, " figure"]
    layer: int
    longest: int
    first: bool

    def accepts(self, array: np.ndarray, trial: Trial) -> bool:
        """All figures, or none."""
        return super().accepts(array, trial) and len(array) in (0, 5)

    def read(self, model: Any, trials: Sequence[Trial]) -> Readouts:
        """One row of figures a trial."""
        return [
            np.array(self._figures_of(model, trial), dtype=np.float64)
            for trial in trials
        ]

    def _figures_of(self, model: HasFusion, trial: Trial) -> tuple[float, ...]:
        (tokens,) = model.modalities([trial], self.layer)  # of queries, then of keys
        edit = trial.edit
        if len(tokens) > 2 * self.longest or not isinstance(edit, AverageAttention):
            return ()
        (plain,) = model.attention([replace(trial, edit=None)], self.layer)
        (edited,) = model.attention([trial], self.layer)
        of_query, of_key = np.split(tokens, [plain.shape[1]])
        # of the plain attention: an edit must not decide what may be seen
        visible = visible_keys(plain)
        quadrants = (of_query, of_key, visible, sorted(edit.quadrants))
        error = conformability_error(edited, *quadrants)
        if self.first:
            expected = row_averaged(plain, *quadrants)
            error = max(error, float(np.abs(edited - expected).max(initial=0)))
        part = fused_part(edited, of_query, of_key)
        alike = sees_alike(visible, of_query, of_key)
        rank = max(ranks(part), default=0)
        return error, rank, rank_bound(of_key), min(part.shape[1:]), alike


# ------------------------------------------------------------------------------ their matrices


def quadrant(of_query: QueryModality, of_key: KeyModality, name: str) -> Cells:
    """Where quadrant XY lies: queries of modality X, keys of modality Y."""
    query, key = AverageAttention.sides(name)
    return np.outer(of_query == query, of_key == key)


def visible_keys(weights: Weights) -> Cells:
    """Which keys a query may see: those that any head gives weight to."""
    # Softmax gives exactly 0 to masked keys alone, unless a logit underflows in every head.
    return np.asarray((weights > 0).any(axis=0))


def row_averaged(
    weights: Weights,
    of_query: QueryModality,
    of_key: KeyModality,
    visible: Cells,
    quadrants: Iterable[str],
) -> Weights:
    """The operator phi of section 2.2: each row of a quadrant becomes its mean over visible keys.

    Equal to `weights` where they are row-wise constant already, which is what theorem 2.1 says of
    every layer that the edit reached.
    """
    # so that rounding here is not taken for an error of the model
    averaged = weights.astype(np.float64)
    for name in quadrants:
        # the paper leaves causal masks open: here the mean is over the keys that a query may see
        cells = quadrant(of_query, of_key, name) & visible
        mass = (averaged * cells).sum(axis=2, keepdims=True)
        # a row without such cells has no mass, and is left as it is
        mean = mass / np.maximum(cells.sum(axis=1), 1)[:, None]
        averaged = np.where(cells, mean, averaged)
    return averaged


def conformability_error(
    weights: Weights,
    of_query: QueryModality,
    of_key: KeyModality,
    visible: Cells,
    quadrants: Iterable[str],
) -> float:
    """How far at most a row is from its average, its sum from 1, and a hidden key from 0.

    The sum of a row that may see nothing is 0.
    """
    averaged = row_averaged(weights, of_query, of_key, visible, quadrants)
    sums = weights.sum(axis=2, dtype=np.float64)
    largest = max(
        # `initial`: the maximum of no cells would raise
        np.abs(weights - averaged).max(initial=0),
        np.abs(sums - visible.any(axis=1)).max(initial=0),
        np.abs(weights[:, ~visible]).max(initial=0),
    )
    return float(largest)


def fused_part(
    weights: Weights,
    of_query: QueryModality,
    of_key: KeyModality,
) -> Float[np.ndarray, "head fused_query fused_key"]:
    """The rows and columns of video and text tokens: the whole matrix of the paper."""
    # OTHER is 0: padding, and the token that opens a causal sequence
    return weights[:, of_query > 0][:, :, of_key > 0]


def sees_alike(visible: Cells, of_query: QueryModality, of_key: KeyModality) -> bool:
    """Whether all queries see the same video keys, which lemma 2.2 takes for granted."""
    video = visible[of_query > 0][:, of_key == VIDEO]
    return bool((video == video[:1]).all())


def rank_bound(of_key: KeyModality) -> int:
    """Lemma 2.2: the rank after the video short-circuit is at most l_T + 2."""
    return int((of_key == TEXT).sum()) + 2


def ranks(weights: Weights) -> list[int]:
    """Numerical rank of each head's matrix, at the precision of float32."""
    if 0 in weights.shape:
        return []
    # numpy's own tolerance is that of float64, under which rounding of the model's float32
    # weights would make every matrix full.
    tolerance = max(weights.shape[1:]) * float(np.finfo(np.float32).eps)
    of_heads: list[int] = np.linalg.matrix_rank(
        weights.astype(float), rtol=tolerance
    ).tolist()
    return of_heads
