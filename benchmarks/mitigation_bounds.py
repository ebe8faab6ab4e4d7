"""Whether a remedy takes a planted cue away, within all bounds: `coop` and `last-layer`.

    python benchmarks/mitigation_bounds.py [--out FOLDER] [--test 51200] [--dial 0.35]

toy-clip learned from pictures whose background goes with the label (scenes:0.85), and is audited on
others where it does so less often (`--dial`). The cue found first is mended by both mitigators, on
one half of the test split, and measured on the other: the worst group gains at least 20 points, all
samples lose at most 2, the gap left is within 5, and the intervals of both placebos hold 0. Eight
minutes on two cores; answers are remembered.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

from cuescope.runs import load_report
from cuescope_sdk import Report

CUESCOPE = [sys.executable, "-c", "from cuescope.cli import main; main()"]
BOUNDS = {
    "worst_group_gain": (20, 100),
    "overall_gain": (-2, 100),
    "gap_after": (-5, 5),
}  # points


def cuescope(*words: str) -> None:
    """One command, as typed."""
    sys.stdout.write(f"cuescope {' '.join(words)}\n")
    sys.stdout.flush()
    subprocess.run([*CUESCOPE, *words, "-q"], check=True, stdout=subprocess.DEVNULL)


def bounds_of(report: Report) -> dict[str, tuple[str, bool]]:
    """What was seen of each bound, in points, and whether it holds."""
    scores = {score.metric: 100 * (score.value or 0.0) for score in report.scores}
    seen = {
        name: (f"{scores[name]:+.1f}", low <= scores[name] <= high)
        for name, (low, high) in BOUNDS.items()
    }
    [table] = [
        t for t in report.tables if t.title.startswith("The remedy beside two placebos")
    ]
    for placebo in ("random cues", "shift"):
        words = str(table.rows[0][placebo])
        _, low, high = map(int, re.findall(r"[+-]\d+", words))
        seen[placebo] = (words, low <= 0 <= high)
    return seen


def main() -> None:
    """Audit, mend twice, print what was seen; exit code 1 where a bound does not hold."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("runs/mitigation-bounds"))
    parser.add_argument(
        "--test", type=int, default=51200, help="pictures to learn and measure on"
    )
    parser.add_argument(
        "--dial", type=float, default=0.35, help="own backgrounds in the audit"
    )
    given = parser.parse_args()
    found = str(given.out / "found")
    data = (
        "-D",
        f"audit_dial={given.dial}",
        "-D",
        "val=6400",
        "-D",
        f"test={given.test}",
    )
    model = ("--model", "toy-clip", "--data", "scenes:0.85")
    cuescope("audit", "trove", *model, *data, "--out", found)
    whole = True
    for name in ("coop", "last-layer"):
        out = given.out / name
        cuescope(
            "mitigate",
            found,
            "--with",
            name,
            "--on",
            "test",
            "--top",
            "1",
            "--out",
            str(out),
        )
        for bound, (words, holds) in bounds_of(load_report(out)).items():
            verdict = "holds" if holds else "DOES NOT HOLD"
            sys.stdout.write(f"{name:12} {bound:18} {words:20} {verdict}\n")
            whole &= holds
    sys.exit(not whole)


if __name__ == "__main__":
    main()
