"""Logs that harnesses write themselves, read back: each answer, likelihood and accuracy.

    python benchmarks/harness_logs.py [FOLDER] [HARNESS ...]

Each harness gets a throw-away environment in FOLDER, by uv from the package index, and runs there
over the same questions with a model whose answers are known (`benchmarks/harnesses`).
"""

import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from cuescope_sdk import Context, Trial

HERE = Path(__file__).parent
QUESTIONS = 60
PACKAGES = {
    "lm-eval": "lm-eval",
    "lmms-eval": "lmms-eval",
    "inspect": "inspect-ai",
}


def written_logs() -> ModuleType:
    """The questions of the tests."""
    file = HERE.parent / "plugins/models/logs/tests/written_logs.py"
    spec = spec_from_file_location("written_logs", file)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(file)
    module = module_from_spec(spec)
    sys.modules["written_logs"] = module
    spec.loader.exec_module(module)
    return module


def questions() -> list[dict[str, Any]]:
    """Each with what the model is to say of it."""
    rng = np.random.default_rng(0)
    rows = []
    for item in written_logs().items(QUESTIONS):
        log_probs = np.log(rng.dirichlet(np.ones(len(item.choices))))
        # the chosen one is the likeliest
        order = np.argsort(log_probs)
        place = int(order[-1])
        log_probs[[item.answer, place]] = log_probs[[place, item.answer]]
        letter = "ABCD"[item.answer]
        rows.append(
            {
                "number": item.number,
                "question": item.question,
                "prompt": item.prompt,
                "category": item.category,
                "choices": list(item.choices),
                "label": item.label,
                "letter": "ABCD"[item.label],
                "chosen": item.answer,
                "log_probs": [float(p) for p in log_probs],
                "said": f"The answer is ({letter})",
            }
        )
    return rows


def environment(folder: Path, harness: str) -> Path:
    """The Python of an environment with the harness; made where it is not there."""
    home = folder / f"{harness}-env"
    python = home / "bin" / "python"
    if not python.exists():
        uv = HERE.parent / ".uv/bin/uv"
        line = [str(uv) if uv.exists() else "uv"]
        subprocess.run(
            [*line, "venv", "--quiet", "--python", sys.executable, home], check=True
        )
        install = [*line, "pip", "install", "--quiet", "--python", str(python)]
        subprocess.run([*install, PACKAGES[harness]], check=True)
    return python


def version(python: Path, package: str) -> str:
    """Of a package in an environment."""
    code = f"from importlib.metadata import version; print(version({package!r}))"
    line = [str(python), "-c", code]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout


def logs(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Each log that was written, with options of its reader."""
    for path in sorted(folder.rglob("*.eval")):
        yield path, {}
    for path in sorted(folder.rglob("*samples_*.jsonl")):
        yield path, {}
        if "known_letters" in path.name and '"filter"' in path.read_text()[:20_000]:
            yield path, {"reader": {"filter": "flexible-extract"}}


def compare(
    path: Path, options: dict[str, Any], rows: list[dict[str, Any]]
) -> dict[str, Any]:
    """What is read beside what the model said."""
    data = Context().build("dataset", f"log:{path}", options)
    model = Context().for_dataset(data).build("model", f"log:{path}", options)
    by_question = {row["question"]: row for row in rows}
    same_answer = same_label = same_log_probs = likelihoods = 0
    for index in range(len(data)):
        sample = data[index]
        asked = sample.question.partition("\n")[0]
        row = by_question[asked]
        [response] = model.respond([Trial(sample=sample)])
        read = np.asarray(response.logits)
        said = sample.choices[int(np.argmax(read))]
        same_answer += said == row["choices"][row["chosen"]]
        same_label += sample.label == row["choices"][row["label"]]
        if "known_choices" in path.name:
            likelihoods += 1
            given = dict(zip(row["choices"], row["log_probs"], strict=True))
            pairs = zip(sample.choices, read.tolist(), strict=True)
            same_log_probs += all(
                math.isclose(given[choice], value, rel_tol=1e-6)
                for choice, value in pairs
            )
    return {
        "log": path.name,
        "reader": options.get("reader", {}),
        "samples": len(data),
        "same answer": same_answer,
        "same label": same_label,
        "same likelihoods": f"{same_log_probs} of {likelihoods}",
        "accuracy": model.facts["accuracy"],
        "the harness's own": data.facts.get("scores in the log", "not in the log"),
    }


def main(folder: Path, harnesses: list[str]) -> None:
    """A line a log; ends with 1 where anything differs."""
    rows = questions()
    file = folder / "questions.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    differs = False
    for harness in harnesses:
        python = environment(folder, harness)
        out = Path(tempfile.mkdtemp(prefix=harness, dir=folder))
        script = HERE / "harnesses" / f"{harness.replace('-', '_')}_writes.py"
        subprocess.run([str(python), str(script), str(file), str(out)], check=True)
        sys.stdout.write(f"{harness} {version(python, PACKAGES[harness])}")
        for path, options in logs(out):
            told = compare(path, options, rows)
            sys.stdout.write(json.dumps(told) + "\n")
            sys.stdout.flush()
            whole = {told["samples"], told["same answer"], told["same label"]}
            first, _, second = told["same likelihoods"].partition(" of ")
            differs = differs or whole != {QUESTIONS} or first != second
    sys.exit(int(differs))


if __name__ == "__main__":
    given = sys.argv[1:]
    with tempfile.TemporaryDirectory() as spare:
        main(Path(given[0] if given else spare).absolute(), given[1:] or list(PACKAGES))
