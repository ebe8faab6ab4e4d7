"""Whole investigations beside those that begin with a log: verdicts and calls, on toys.

    python benchmarks/investigate_log.py [DIR] [TOY ...]

Of each toy the answers of `audit answers` are written as a log of keys and answers, which is all
that the second investigation is given. A cue is the same where its name says so, or where the
merged cue of the whole investigation occurs in about the same samples.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from cuescope_sdk import StoredRun

# a word of the question goes with an answer, which the clip alone should tell
WORD = "planted:moving-shapes:none"
TRAINED = (
    "data_options={{world_options: {{questions: video, length: 3, train: 2000, val: 400}},"
    " cues: {{north: question}}, rate: {}, elsewhere: {}}}"
)
ASKED = [
    *("--data", WORD, "-O", "data.cues={north: question}"),
    *("-O", "data.world_options={questions: video, length: 3, val: 1200}"),
    *("-O", "data.rate=0.5", "-O", "data.elsewhere=0.25"),
]
TOYS = {
    "clip": ["--model", "toy-clip", "--data", "scenes"],
    "solids": ["--model", "toy-clip", "--data", "camera-scenes"],
    "words": [
        *("--model", f"toy-fusion:{WORD}", "-M", TRAINED.format(0.95, 0.05)),
        *("-O", "model.epochs=10", *ASKED),
    ],
    # trained until it tells motion, this one has no use for the word
    "unread": [
        *("--model", f"toy-fusion:{WORD}", "-M", TRAINED.format(0.9, 0.1), *ASKED),
    ],
    "shapes": ["--model", "toy", "--data", "moving-shapes", "-O", "data.val=1000"],
    # a thing in the picture goes with another one, which is asked for
    "presence": [
        *("--model", "toy-fusion:object-scenes:presence", "-O", "model.patches=4"),
        *(
            "-O",
            "model.epochs=10",
            "--data",
            "object-scenes:presence",
            "-O",
            "data.val=3000",
        ),
    ],
}
# of some toys one kind of question is investigated: the keys of its samples end so
ONLY_KIND = {"presence": "-bird"}
ONLY_LOG = {"shapes": ["--tool", "embedder=toy"]}


def cuescope(cache: Path, *words: str) -> None:
    """A command that must end well; with a cache of its own all of its calls are counted."""
    program = Path(sys.executable).with_name("cuescope")
    line = [str(program), *words, "--quiet"]
    environment = os.environ | {"CUESCOPE_CACHE": str(cache)}
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL, env=environment)


def calls(folder: Path) -> tuple[int, int]:
    """What all audits of an investigation asked of the model, and of an outside eye."""
    of_model = 0
    of_eye = 0
    for file in [*folder.glob("found/*/report.json"), folder / "report.json"]:
        cost = StoredRun(file.parent).report.cost
        of_model += cost.model_calls
        of_eye += cost.tool_calls.get("samples shown to the embedder", 0)
    return of_model, of_eye


def verdicts(folder: Path) -> list[tuple[object, ...]]:
    """The rows of the dossier: cue, label and verdict."""
    report = StoredRun(folder).report
    rows = []
    # no such table where nothing was tested
    for table in report.tables:
        if table.title.startswith("Cues by harm"):
            rows += [(row["cue"], row["label"], row["verdict"]) for row in table.rows]
    return rows


def on_log(words: list[str], log: Path) -> list[str]:
    """The same model on the questions that a log has, of the same data."""
    place = words.index("--data")
    data, given = words[place + 1], words[place + 2 :]
    options = ", ".join(option.replace("=", ": ") for option in given[1::2])
    of_log = [f"data={data}", f"data_options={{{options}}}", "allow_unmatched=true"]
    asked = [part for option in of_log for part in ("-D", option)]
    return [*words[:place], "--data", f"log:{log}", *asked]


def write_log(answered: Path, log: Path, kind: str) -> None:
    """The plain answers of a run as a log of keys, answers and labels, to one kind of question."""
    lines = []
    for row in StoredRun(answered).answers:
        if row["figure"] is None and row["sample"].endswith(kind):
            said = {"key": row["sample"], "prediction": row["prediction"]}
            lines.append(json.dumps(said | {"answer": row["label"]}))
    log.write_text("\n".join(lines))


def main(home: Path, toys: list[str]) -> None:
    """Print what each toy gave."""
    for toy in toys:
        words = TOYS[toy]
        whole = home / f"{toy}-whole"
        answered = home / f"{toy}-answered"
        from_log = home / f"{toy}-log"
        log = home / f"{toy}.jsonl"
        # in a cache of its own, or the investigation would find its answers there
        audit = ("audit", "answers", *words, "--out", str(answered))
        cuescope(home / f"{toy}-answered-cache", *audit)
        kind = ONLY_KIND.get(toy, "")
        write_log(answered, log, kind)
        if kind:
            words = on_log(words, log)
        if not (whole / "report.json").exists():
            cuescope(home / f"{toy}-cache", "investigate", *words, "--out", str(whole))
        given = ("--log", str(log), *words, *ONLY_LOG.get(toy, []))
        own = home / f"{toy}-log-cache"
        cuescope(own, "investigate", *given, "--out", str(from_log))
        all_calls, _ = calls(whole)
        few_calls, of_eye = calls(from_log)
        eye = f" and {of_eye:,} of the eye" if of_eye else ""
        sys.stdout.write(
            f"{toy}: calls {all_calls:,}, with the log {few_calls:,}{eye}: "
            f"{few_calls / all_calls:.1%}\n"
        )
        for name, folder in (("whole", whole), ("log", from_log)):
            for row in verdicts(folder):
                sys.stdout.write(" | ".join(map(str, (name, *row))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    given = sys.argv[1:]
    with tempfile.TemporaryDirectory() as spare:
        main(Path(given[0] if given else spare), given[1:] or list(TOYS))
