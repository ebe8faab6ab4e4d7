"""Whole investigations beside those that begin with a log: verdicts and calls, on toys.

    python benchmarks/investigate_log.py DIR [TOY ...]

Of each toy the answers of `audit answers` are written as a log of keys and answers, which is all
that the second investigation is given. A cue is the same where its name says so, or where the
merged cue of the whole investigation occurs in about the same samples.
"""

import json
import subprocess
import sys
from pathlib import Path

from cuescope_sdk import StoredRun

TOYS = {
    "clip": ["--model", "toy-clip", "--data", "scenes"],
    "shapes": ["--model", "toy", "--data", "moving-shapes", "--limit", "1000"],
}
ONLY_LOG = {"shapes": ["--tool", "embedder=toy"]}


def cuescope(*words: str) -> None:
    """A command that must end well."""
    program = Path(sys.executable).with_name("cuescope")
    line = [str(program), *words, "--quiet"]
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL)


def calls(folder: Path) -> int:
    """What all audits of an investigation asked of the model, and of an outside eye."""
    total = 0
    for file in [*folder.glob("found/*/report.json"), folder / "report.json"]:
        cost = StoredRun(file.parent).report.cost
        eye = cost.tool_calls.get("samples shown to the embedder", 0)
        total += cost.model_calls + eye
    return total


def verdicts(folder: Path) -> list[tuple[object, ...]]:
    """The rows of the dossier: cue, label and verdict."""
    report = StoredRun(folder).report
    [table] = [
        table for table in report.tables if table.title.startswith("Cues by harm")
    ]
    return [
        tuple(row[name] for name in ("cue", "label", "verdict")) for row in table.rows
    ]


def main(home: Path, toys: list[str]) -> None:
    """Print what each toy gave."""
    for toy in toys:
        words = TOYS[toy]
        model = words[: words.index("--data")]
        data = words[words.index("--data") :]
        whole = home / f"{toy}-whole"
        answered = home / f"{toy}-answered"
        from_log = home / f"{toy}-log"
        cuescope("investigate", *words, "--out", str(whole))
        cuescope("audit", "answers", *model, *data, "--out", str(answered))
        log = home / f"{toy}.jsonl"
        lines = []
        for row in StoredRun(answered).answers:
            if row["figure"] is None:
                said = {"id": row["sample"], "prediction": row["prediction"]}
                lines.append(json.dumps(said | {"answer": row["label"]}))
        log.write_text("\n".join(lines))
        given = ["--log", str(log), *words, *ONLY_LOG.get(toy, [])]
        cuescope("investigate", *given, "--no-cache", "--out", str(from_log))
        sys.stdout.write(
            f"{toy}: calls {calls(whole):,}, with the log {calls(from_log):,}\n"
        )
        for name, folder in (("whole", whole), ("log", from_log)):
            for row in verdicts(folder):
                sys.stdout.write(" | ".join(map(str, (name, *row))) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or list(TOYS))
