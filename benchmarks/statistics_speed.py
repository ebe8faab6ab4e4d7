"""Permuting whole groups: the time of an audit's tests and intervals, and their cost a draw."""

import argparse
import time

import numpy as np
from rich.console import Console
from rich.table import Table

from cuescope_sdk.statistics import Groups, gap_intervals, gap_p_values

LIMIT = 10.0  # seconds for 20,000 samples


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labels", type=int, default=20)
    parser.add_argument("--clusters", type=int, default=80)
    parser.add_argument("--groups", type=int, default=2000)
    parser.add_argument("--samples", type=int, default=20_000)
    options = parser.parse_args()
    table = Table(
        "groups",
        "of samples each",
        "pairs",
        "p-values",
        "intervals",
        "aim",
        "",
        box=None,
    )
    for uneven in (False, True):
        tests, intervals = timed(options, uneven=uneven)
        size = options.samples // options.groups
        table.add_row(
            f"{options.groups:,}",
            f"1 to {3 * size}" if uneven else str(size),
            f"{options.labels * options.clusters:,}",
            f"{tests:.2f} s",
            f"{intervals:.2f} s",
            f"< {LIMIT:.0f} s",
            "met" if tests + intervals < LIMIT else "missed",
        )
    Console().print(table)


def timed(options: argparse.Namespace, *, uneven: bool) -> tuple[float, float]:
    """Seconds for the tests and for the intervals of all labels; a quarter has a real cue."""
    rng = np.random.default_rng(0)
    size, of_label = options.samples // options.groups, options.groups // options.labels
    tests = intervals = 0.0
    for label in range(options.labels):
        sizes = (
            rng.integers(1, 2 * size, of_label) if uneven else np.full(of_label, size)
        )
        codes = np.repeat(np.arange(of_label), sizes)
        groups = Groups(codes, of_label, True)
        present = (rng.random((of_label, options.clusters)) < 0.05)[codes]
        present |= rng.random(present.shape) < 0.02
        right = rng.random(len(codes)) < rng.beta(8, 2, of_label)[codes]
        if label < options.labels // 4:
            right &= ~present[:, 0] | (rng.random(len(codes)) < 0.2)
        start = time.perf_counter()
        gap_p_values(right.astype(float), present, groups, rng)
        middle = time.perf_counter()
        gap_intervals(right.astype(float), present, groups)
        tests += middle - start
        intervals += time.perf_counter() - middle
    return tests, intervals


if __name__ == "__main__":
    main()
