"""QUAG's edits against the plain fused attention, and QUAG-attention against what it should save.

Video tokens come first, then 64 of text. One core and processor seconds, so that other programs
hardly move the ratios; where there is a CUDA device, that device and seconds of its clock. Edited
and plain forwards are timed by turns. Memory is what a forward allocates at its peak.
"""

import argparse
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import inf

# the profiler says when it starts and stops
os.environ.setdefault("KINETO_LOG_LEVEL", "99")

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import gelu, layer_norm, linear
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

from cuescope_quag.scores import multiplications_saved
from cuescope_sdk.fusion import (
    TEXT,
    VIDEO,
    AverageAttention,
    AverageTokens,
    FusionShape,
)
from cuescope_sdk.torch import (
    Fusion,
    fused_attention,
    fused_self_attention,
    resolve_device,
)

TEXT_TOKENS = 64
HEADS, HEAD_DIM, LAYERS = 2, 64, 4
DIM = HEADS * HEAD_DIM
# tokens; the matrix of 16k takes 2 GB, and its copies as much again
MATRIX_LIMIT = 4096
SHORT_CIRCUITS = {
    "unimodal": AverageAttention(quadrants=frozenset({"VV", "TT"})),
    "crossmodal": AverageAttention(quadrants=frozenset({"VT", "TV"})),
    "video": AverageAttention(quadrants=frozenset({"VV", "TV"})),
    "text": AverageAttention(quadrants=frozenset({"TT", "VT"})),
}
EDITS: dict[str, AverageAttention | AverageTokens] = {
    **SHORT_CIRCUITS,
    "merged video": AverageTokens(modalities=frozenset({"video"})),
    "merged text": AverageTokens(modalities=frozenset({"text"})),
    "merged both": AverageTokens(modalities=frozenset({"video", "text"})),
}
# Words, causal, and whether it is a batch of two with padding.
MASKS = (
    ("none", False, False),
    ("causal", True, False),
    ("padded", False, True),
    ("causal, padded", True, True),
)
STACK_EDITS: dict[str, AverageAttention | AverageTokens] = {
    "crossmodal": SHORT_CIRCUITS["crossmodal"],
    "average video": AverageTokens(modalities=frozenset({"video"})),
    "average text": AverageTokens(modalities=frozenset({"text"})),
    "average both": AverageTokens(modalities=frozenset({"video", "text"})),
}
RATIO_LIMIT, EXPONENT_LIMIT, SAVED_LIMIT, COUNTED_TOLERANCE = 1.3, 1.1, 0.5, 0.01
WORTH_SAVING = 0.05  # of the multiplications; less is lost in the noise of the clock

Edit = AverageAttention | AverageTokens | None
Work = Callable[[], object]


@dataclass(frozen=True)
class Clock:
    """Seconds and bytes on a device."""

    device: torch.device
    rounds: int

    def seconds(self, work: Work) -> float:
        """Of the processor, or on CUDA of the wall until it is done."""
        cuda = self.device.type == "cuda"
        clock = time.perf_counter if cuda else time.process_time
        if cuda:
            torch.cuda.synchronize()
        start = clock()
        work()
        if cuda:
            torch.cuda.synchronize()
        return clock() - start

    def by_turns(self, works: Sequence[Work], tokens: int) -> list[float]:
        """Least seconds of each, after one that warms up, timed round by round.

        What else runs on the machine only ever adds to a time, so the least is the truest.
        """
        for work in works:
            work()
        rounds = self.rounds * max(1, MATRIX_LIMIT // tokens) ** 2
        taken = [[self.seconds(work) for work in works] for _ in range(rounds)]
        return [min(seconds) for seconds in zip(*taken, strict=True)]

    def peak(self, work: Work) -> int:
        """Bytes at the peak above what was there before."""
        if self.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats()
            before = torch.cuda.memory_allocated()
            work()
            return torch.cuda.max_memory_allocated() - before
        with profile(
            activities=[ProfilerActivity.CPU], profile_memory=True
        ) as profiled:
            work()
        events = profiled.profiler.kineto_results.events()
        sizes = sorted(
            (e.start_ns(), e.nbytes()) for e in events if e.name() == "[memory]"
        )
        return int(np.cumsum([size for _, size in sizes]).max(initial=0))


def modalities(tokens: int, device: torch.device) -> Tensor:
    """Video, then text."""
    of_tokens = [VIDEO] * (tokens - TEXT_TOKENS) + [TEXT] * TEXT_TOKENS
    return torch.tensor([of_tokens], dtype=torch.int8, device=device)


# ------------------------------------------------------------------------------- one attention


class Layer:
    """One attention over random queries, keys and values.

    `padded`: a batch of two, the second of which begins with padding for a quarter of its tokens.
    """

    def __init__(
        self, tokens: int, causal: bool, padded: bool, device: torch.device
    ) -> None:
        drawn = torch.Generator().manual_seed(tokens)
        shape = 3, 1 + padded, HEADS, tokens, HEAD_DIM
        self._states = torch.randn(shape, generator=drawn).to(device).unbind()
        self._modalities = modalities(tokens, device).repeat(1 + padded, 1)
        self._causal, self._mask = causal, None
        if padded:
            seen = torch.ones(2, tokens, dtype=torch.bool, device=device)
            seen[1, : tokens // 4] = False
            self._modalities *= seen
            self._mask = seen[:, None, None]
            if causal:
                self._mask = self._mask.expand(-1, -1, tokens, -1).tril()

    def forward(self, edit: Edit) -> Tensor:
        """By the fused kernels."""
        with torch.inference_mode(), Fusion(self._modalities, edit).use():
            return fused_attention(
                *self._states,
                layer=0,
                mask=self._mask,
                causal=self._causal and self._mask is None,
            )

    def by_matrix(self, edit: Edit) -> Tensor:
        """By the attention matrix."""
        with Fusion.by_matrix():
            return self.forward(edit)


def layer_table(clock: Clock, sizes: Sequence[int]) -> tuple[Table, bool]:
    """Time and memory of every short-circuit, and whether one is above its limit."""
    columns = "mask", "tokens", *EDITS, "matrix", "plain s"
    table = Table(*columns, title="attention: time of an edit / plain")
    over = False
    for (kind, causal, padded), tokens in product(MASKS, sizes):
        layer = Layer(tokens, causal, padded, clock.device)
        edits = list(EDITS.values())
        works = [partial(layer.forward, edit) for edit in (None, *edits)]
        if tokens <= MATRIX_LIMIT:
            works.append(partial(layer.by_matrix, edits[0]))
        plain, *taken = clock.by_turns(works, tokens)
        ratios = [seconds / plain for seconds in taken]
        over |= max(ratios[: len(edits)]) > RATIO_LIMIT
        shown = [f"{ratio:.2f}" for ratio in ratios] + [""] * (tokens > MATRIX_LIMIT)
        table.add_row(kind, f"{tokens}", *shown, f"{plain:.3f}")
    return table, over


def memory_table(clock: Clock, sizes: Sequence[int]) -> tuple[Table, bool]:
    """Peak MB of each form, and the exponent with which it grows."""
    table = Table(
        "mask", "form", *map(str, sizes), "exponent", title="attention: peak MB"
    )
    over = False
    matrix = EDITS["crossmodal"]
    for kind, causal, padded in MASKS:
        layers = {
            tokens: Layer(tokens, causal, padded, clock.device) for tokens in sizes
        }
        forms: dict[str, tuple[float, Callable[[Layer], object]]] = {
            "plain": (inf, lambda layer: layer.forward(None)),
            **{
                name: (inf, lambda layer, edit=EDITS[name]: layer.forward(edit))
                for name in ("crossmodal", "merged text")
            },
            "by matrix": (MATRIX_LIMIT, lambda layer: layer.by_matrix(matrix)),
        }
        for form, (largest, forward) in forms.items():
            peaks = {
                tokens: clock.peak(partial(forward, layer))
                for tokens, layer in layers.items()
                if tokens <= largest
            }
            slope = float(
                np.polyfit(np.log(list(peaks)), np.log(list(peaks.values())), 1)[0]
            )
            over |= form in EDITS and slope > EXPONENT_LIMIT
            shown = [f"{peaks[t] / 1e6:.1f}" if t in peaks else "" for t in sizes]
            table.add_row(kind, form, *shown, f"{slope:.2f}")
    return table, over


# ------------------------------------------------------------------------------------- a stack


class Stack:
    """A transformer of random weights that projects its own keys and values."""

    def __init__(self, tokens: int, device: torch.device) -> None:
        drawn = torch.Generator().manual_seed(tokens)

        def normal(*shape: int) -> Tensor:
            return torch.randn(shape, generator=drawn).to(device) * shape[-1] ** -0.5

        self._tokens = normal(1, tokens, DIM)
        self._projections = normal(LAYERS, 4, DIM, DIM)
        self._hidden, self._output = (
            normal(LAYERS, 4 * DIM, DIM),
            normal(LAYERS, DIM, 4 * DIM),
        )
        self._modalities = modalities(tokens, device)
        self.shape = FusionShape(
            layers=LAYERS,
            heads=HEADS,
            kv_heads=HEADS,
            head_dim=HEAD_DIM,
            dim=DIM,
            mlp_multiplications=8 * DIM**2,
        )

    def forward(self, edit: Edit) -> Tensor:
        """Through all layers."""
        with torch.inference_mode(), Fusion(self._modalities, edit).use():
            stream = self._tokens
            for layer, (*parts, mixed) in enumerate(self._projections):
                states = layer_norm(stream, [DIM])
                query, key, value = (partial(linear, weight=matrix) for matrix in parts)
                attended = fused_self_attention(
                    states, query, key, value, heads=HEADS, layer=layer
                )
                stream = stream + linear(attended, mixed)
                hidden = gelu(linear(layer_norm(stream, [DIM]), self._hidden[layer]))
                stream = stream + linear(hidden, self._output[layer])
            return stream

    def counted(self, edit: Edit) -> int:
        """Multiplications by torch's own counter, which counts none in the CPU's fused kernel."""
        with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
            self.forward(edit)
        return int(counter.get_total_flops()) // 2


def stack_table(clock: Clock, sizes: Sequence[int]) -> tuple[Table, bool]:
    """Time of each edit in all layers, and what QUAG-attention saves of multiplications."""
    columns = "tokens", "edit", "ratio", "saved", "analytic", "counted", "plain s"
    table = Table(*columns, title=f"{LAYERS} layers: time / plain, and what is saved")
    over = False
    for tokens in sizes:
        stack = Stack(tokens, clock.device)
        works = [partial(stack.forward, edit) for edit in (None, *STACK_EDITS.values())]
        plain, *taken = clock.by_turns(works, tokens)
        for (name, edit), seconds in zip(STACK_EDITS.items(), taken, strict=True):
            ratio = seconds / plain
            savings = list(_savings(stack, tokens, edit))
            if savings and savings[0] > WORTH_SAVING:
                over |= 1 - ratio < SAVED_LIMIT * savings[0]
                over |= abs(savings[0] - savings[-1]) > COUNTED_TOLERANCE
            else:
                over |= ratio > RATIO_LIMIT
            shown = [
                f"{share:.1%}" for share in ((1 - ratio, *savings) if savings else ())
            ]
            shown += [""] * (3 - len(shown))
            table.add_row(f"{tokens}", name, f"{ratio:.2f}", *shown, f"{plain:.3f}")
    return table, over


def _savings(stack: Stack, tokens: int, edit: Edit) -> Iterator[float]:
    """Share of the multiplications: by the formula, and counted where that takes no time."""
    if isinstance(edit, AverageTokens):
        video = tokens - TEXT_TOKENS
        yield multiplications_saved(stack.shape, video, TEXT_TOKENS, 0, edit.modalities)
        if tokens <= MATRIX_LIMIT:
            yield 1 - stack.counted(edit) / stack.counted(None)


def main() -> None:
    """Print the tables; exits with 1 where a figure is above its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, nargs="+", default=[1024, 4096])
    parser.add_argument(
        "--long",
        action="store_true",
        help="16,384 tokens too, which takes minutes on one core",
    )
    parser.add_argument(
        "--rounds", type=int, default=2, help="at 4k tokens or more; more below"
    )
    parser.add_argument("--device", default="auto")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    clock = Clock(resolve_device(asked.device), asked.rounds)
    over = False
    for measured in (layer_table, memory_table, stack_table):
        table, above = measured(
            clock, [*asked.tokens, *([16384] if asked.long else [])]
        )
        Console().print(table)
        over |= above
    Console().print(
        f"limits: ratio {RATIO_LIMIT}, exponent of memory {EXPONENT_LIMIT}, saved "
        f"{SAVED_LIMIT:.0%} of the analytic saving"
    )
    raise SystemExit(int(over))


if __name__ == "__main__":
    main()
