"""How long `cuescope plugins` and `--help` take with 30 plugins installed.

A process of nothing but `import typer` runs in turns with them: what is left above that is ours.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from distributions import write_distribution
from rich.console import Console
from rich.table import Table

LIMIT = 0.3
GROUPS = ("methods", "models", "datasets", "tools", "observers", "commands")
MAIN = "from cuescope.cli import main; main()"


def install_stubs(folder: Path, count: int) -> None:
    """As many distributions of a plugin each; the modules would fail if they were imported."""
    metadata = "Summary: a stub\nRequires-Dist: cuescope-sdk\n"
    for number in range(count):
        group = GROUPS[number % len(GROUPS)]
        plugins = {group: {f"stub-{number}": f"stub_{number}:Stub"}}
        write_distribution(folder, f"cuescope-stub-{number}", plugins, metadata)
        module = folder / f"stub_{number}.py"
        module.write_text("raise SystemExit('imported')\n")


def seconds_of(program: str, words: list[str], folder: Path) -> float:
    """Wall time of a fresh interpreter."""
    environment = os.environ | {"PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", program, *words]
    start = time.perf_counter()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--repeats", type=int, default=11, help="turns; the median counts"
    )
    parser.add_argument("--plugins", type=int, default=30, help="stub dists")
    options = parser.parse_args()
    programs = {
        "import typer": ("import typer", []),
        "cuescope plugins": (MAIN, ["plugins"]),
        "cuescope --help": (MAIN, ["--help"]),
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        install_stubs(folder, options.plugins)
        turns = [
            {label: seconds_of(*program, folder) for label, program in programs.items()}
            for _ in range(options.repeats + 1)
        ][1:]  # the first fills caches
    table = Table("process", "took", "over typer", "aim", "", box=None)
    for label in programs:
        took = median(turn[label] for turn in turns)
        ratio = median(turn[label] / turn["import typer"] for turn in turns)
        ours = label != "import typer"
        table.add_row(
            label,
            f"{took:.3f} s",
            f"{ratio:.2f}x",
            f"< {LIMIT} s" if ours else "",
            ("met" if took < LIMIT else "missed") if ours else "",
        )
    console = Console()
    console.print(f"{options.plugins} stub plugins, median of {options.repeats} turns")
    console.print(table)


if __name__ == "__main__":
    main()
