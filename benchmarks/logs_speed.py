"""How long a log of 50,000 answers takes to open, as data and as model, and how much memory.

    python benchmarks/logs_speed.py [ROWS] [FORMAT ...]

Each format is written to a folder of its own and opened in a process of its own.
"""

import importlib.util
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]
ROWS = 50_000


def written_logs() -> ModuleType:
    """The writers of the tests."""
    file = ROOT / "plugins/models/logs/tests/written_logs.py"
    spec = importlib.util.spec_from_file_location("written_logs", file)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(file)
    module = importlib.util.module_from_spec(spec)
    sys.modules["written_logs"] = module
    spec.loader.exec_module(module)
    return module


def measure(path: str) -> None:
    """Open one log, and print what it took as JSON."""
    from cuescope_sdk import Context

    context = Context()
    clock = time.perf_counter()
    processor = time.process_time()
    data = context.build("dataset", f"log:{path}")
    model = context.for_dataset(data).build("model", f"log:{path}")
    figures = {
        "seconds": time.perf_counter() - clock,
        "processor": time.process_time() - processor,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "accuracy": model.facts["accuracy"],
    }
    sys.stdout.write(json.dumps(figures))


def write(name: str, folder: str, rows: int) -> None:
    """Write a log of a format, and print its path."""
    written = written_logs()
    path = written.WRITERS[name](Path(folder), written.items(rows))
    sys.stdout.write(str(path))


def in_its_own_process(*words: str) -> str:
    """What this file prints; the memory of another process is no part of its own."""
    line = [sys.executable, __file__, *words]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout


def main() -> None:
    """A row a format."""
    rows = sys.argv[1] if len(sys.argv) > 1 else str(ROWS)
    say = sys.stdout.write
    say("format | file MB | seconds | processor seconds | peak MB | accuracy\n")
    for name in sys.argv[2:] or written_logs().WRITERS:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(in_its_own_process("--write", name, folder, rows))
            files = path.iterdir() if path.is_dir() else [path]
            size = sum(file.stat().st_size for file in files) / 1e6
            row = json.loads(in_its_own_process("--measure", str(path)))
        say(
            f"{name} | {size:.0f} | {row['seconds']:.1f} | {row['processor']:.1f} | "
            f"{row['megabytes']:.0f} | {row['accuracy']}\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--measure", path]:
            measure(path)
        case ["--write", name, folder, rows]:
            write(name, folder, int(rows))
        case _:
            main()
