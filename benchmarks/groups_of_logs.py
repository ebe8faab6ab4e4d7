"""False findings in logs whose rows share videos, where something shows it and where nothing does.

    python benchmarks/groups_of_logs.py [SEEDS]

Each log has 360 answers. A video is answered right with a chance of its own (a beta distribution
of mean 0.7, whose spread is the ICC), and three columns are drawn by coin for each video: any
finding about them is false. A column, the names of rows, their pictures or their order show the
videos, each in every reader; in "nothing" rows are shuffled and no column is left. "independent"
rows have an ICC of 0, and a column that costs 25 or 15 points: what is found there is the power,
once declared (`group=none`) and once not.
"""

import base64
import contextlib
import csv
import io
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import cycle, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from PIL import Image
from pyarrow import parquet

import cuescope

ROWS = 360
ICCS = (0.3, 0.7)
EACH = (3, 6, 10)
SHOWN = ("column", "name", "picture", "order")
COSTS = (0.25, 0.15)
COLUMNS = ("place", "light", "weather")
Rows = list[dict[str, Any]]


def draw(
    rng: np.random.Generator, each: int, icc: float, shown: str, cost: float = 0.25
) -> Rows:
    """The rows of a log: what is known of each, in the order in which they stand."""
    videos = ROWS // each
    spread = 1 / icc - 1 if icc else 1e9
    chance = rng.beta(0.7 * spread, 0.3 * spread, videos)
    coins = rng.integers(0, 2, (videos, len(COLUMNS)))
    rows = []
    for number in range(videos * each):
        video = number // each
        row: dict[str, Any] = {
            "name": f"clip{video}_{number % each}",
            "video": f"v{video}",
        }
        row |= {
            name: f"{name} {coins[video, place]}" for place, name in enumerate(COLUMNS)
        }
        right = rng.random() < chance[video]
        rows.append(row | {"label": int(rng.integers(2)), "right": bool(right)})
    if shown == "independent":
        for row in rows:
            row["place"] = f"place {rng.integers(2)}"
            share = 0.8 if row["place"] == "place 0" else 0.8 - cost
            row["right"] = bool(rng.random() < share)
    if shown in ("name", "picture", "nothing", "independent"):
        order = rng.permutation(len(rows))
        rows = [rows[index] for index in order]
    for number, row in enumerate(rows):
        row["said"] = row["label"] if row["right"] else 1 - row["label"]
        row["question"] = f"Does step {number} come before the end?"
        row["key"] = row["name"] if shown == "name" else f"{number}"
        row["about"] = {name: row[name] for name in COLUMNS}
        if shown == "column":
            row["about"] |= {"video": row["video"]}
        if shown == "picture":
            row["about"] |= {"image_path": f"{row['video']}.jpg"}
    return rows


def write_tsv(folder: Path, rows: Rows) -> Path:
    path = folder / "m_Video.tsv"
    with path.open("w", newline="") as file:
        names = [
            "index",
            "question",
            "A",
            "B",
            "answer",
            "prediction",
            *rows[0]["about"],
        ]
        writer = csv.DictWriter(file, names, delimiter="\t")
        writer.writeheader()
        for row in rows:
            line = {
                "index": row["key"],
                "question": row["question"],
                "A": "yes",
                "B": "no",
            }
            line |= {"answer": "AB"[row["label"]], "prediction": "AB"[row["said"]]}
            writer.writerow(line | row["about"])
    return path


def lines_of(name: str, of_row: Callable[[int, dict[str, Any]], dict[str, Any]]) -> Any:
    def write(folder: Path, rows: Rows) -> Path:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(of_row(number, row)) for number, row in enumerate(rows)]
        path.write_text("\n".join(lines))
        return path

    return write


def lmms_line(number: int, row: dict[str, Any]) -> dict[str, Any]:
    asked = f"{row['question']}\nA. yes\nB. no"
    line: dict[str, Any] = {
        "doc_id": number,
        "target": "AB"[row["label"]],
        "input": asked,
    }
    score = {"score": float(row["right"]), **row["about"]}
    return line | {"filtered_resps": ["AB"[row["said"]]], "score": score}


def lm_line(number: int, row: dict[str, Any]) -> dict[str, Any]:
    doc = {"question": row["question"], "choices": ["yes", "no"], **row["about"]}
    line = {
        "doc_id": number,
        "doc": doc,
        "target": "AB"[row["label"]],
        "filter": "none",
    }
    line |= {"arguments": {}, "filtered_resps": ["AB"[row["said"]]], "metrics": ["acc"]}
    return line | {"acc": float(row["right"])}


def scope_line(number: int, row: dict[str, Any]) -> dict[str, Any]:
    asked = f"{row['question']}\nA. yes\nB. no"
    said = "AB"[row["said"]]
    score: dict[str, Any] = {
        "value": {"acc": float(row["right"])},
        "extracted_prediction": said,
    }
    review: dict[str, Any] = {
        "score": score,
        "sample_id": row["key"],
        "group_id": row["key"],
    }
    messages = [
        {"role": "user", "content": asked},
        {"role": "assistant", "content": said},
    ]
    line: dict[str, Any] = {
        "index": number,
        "target": ["AB"[row["label"]]],
        "messages": messages,
    }
    return line | {"sample_score": review | {"sample_metadata": row["about"]}}


def table_line(number: int, row: dict[str, Any]) -> dict[str, Any]:
    line: dict[str, Any] = {
        "id": row["key"],
        "question": row["question"],
        "options": ["yes", "no"],
    }
    line |= {"answer": "AB"[row["label"]], "prediction": "AB"[row["said"]]}
    line.update(row["about"])
    return line


def write_inspect(folder: Path, rows: Rows) -> Path:
    pictures: dict[str, str] = {}
    samples = []
    for row in rows:
        said = f"ANSWER: {'AB'[row['said']]}"
        parts: list[dict[str, Any]] = [{"type": "text", "text": row["question"]}]
        about = dict(row["about"])
        # here the picture itself, and not its name
        if about.pop("image_path", None):
            video = row["video"]
            parts.append(
                {"type": "image", "image": pictures.setdefault(video, drawn(video))}
            )
        output = {"choices": [{"message": {"role": "assistant", "content": said}}]}
        sample = {
            "id": row["key"],
            "epoch": 1,
            "choices": ["yes", "no"],
            "output": output,
        }
        sample |= {
            "input": [{"role": "user", "content": parts}],
            "target": "AB"[row["label"]],
        }
        score: dict[str, Any] = {
            "value": "C" if row["right"] else "I",
            "answer": "AB"[row["said"]],
        }
        samples.append(sample | {"scores": {"choice": score}, "metadata": about})
    path = folder / "2026-01-01T00-00-00_task_abc.json"
    path.write_text(
        json.dumps({"version": 2, "eval": {"task": "t"}, "samples": samples})
    )
    return path


def write_lighteval(folder: Path, rows: Rows) -> Path:
    lines = []
    for row in rows:
        doc = {"id": row["key"], "query": row["question"], "choices": ["yes", "no"]}
        doc |= {"gold_index": row["label"], "specific": row["about"]}
        said = {"text": ["AB"[row["said"]]], "text_post_processed": []}
        lines.append(
            {"doc": doc, "metric": {"acc": float(row["right"])}, "model_response": said}
        )
    path = folder / "details_video_2026-01-01T00-00-00.parquet"
    parquet.write_table(pa.Table.from_pylist(lines), path)
    return path


def drawn(video: str) -> str:
    rng = np.random.default_rng(int(video[1:]))
    file = BytesIO()
    pixels = rng.integers(0, 255, (12, 12, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(file, "PNG")
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"


WRITERS: dict[str, Callable[[Path, Rows], Path]] = {
    "vlmevalkit": write_tsv,
    "lmms-eval": lines_of("2026_samples_video.jsonl", lmms_line),
    "lm-eval": lines_of("samples_video_2026.jsonl", lm_line),
    "inspect": write_inspect,
    "evalscope": lines_of("reviews/m/video_default.jsonl", scope_line),
    "table": lines_of("mine.jsonl", table_line),
    "lighteval": write_lighteval,
}
# a harness that counts rows has no names that could show anything
UNNAMED = {"lmms-eval", "lm-eval"}


def stars(folder: Path, path: Path, **options: Any) -> list[str]:
    """The findings of an audit that keep their star, by the name of their column."""
    with (
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        report = cuescope.audit(
            "answers",
            model=f"log:{path}",
            data=f"log:{path}",
            data_options=options,
            out=folder / "run",
        )
    starred = {score.feature for score in report.scores if score.mark == "*"}
    return [name for name in starred if name.partition(":")[0] in COLUMNS]


def grid() -> Iterator[tuple[float, int, str, str]]:
    """ICC, rows a video, what shows the videos, and the reader."""
    for icc, each in product(ICCS, EACH):
        for reader, shown in product(WRITERS, SHOWN):
            if shown != "name" or reader not in UNNAMED:
                yield icc, each, shown, reader
        yield icc, each, "nothing", "table"


def simulate(seeds: int) -> Iterator[tuple[str, str, float, int, bool]]:
    """Reader, what shows the videos, ICC, rows a video, and whether a finding is there."""
    for seed in range(seeds):
        for number, (icc, each, shown, reader) in enumerate(grid()):
            rng = np.random.default_rng([seed, number])
            rows = draw(rng, each, icc, shown)
            found = is_found(reader, rows)
            yield reader, shown, icc, each, found


def is_found(reader: str, rows: Rows, place: str = "", **options: Any) -> bool:
    """True if a finding, about this column where one is named, keeps its star."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = stars(folder, WRITERS[reader](folder, rows), **options)
    return any(each.startswith(place) for each in found)


def power(seeds: int, cost: float) -> tuple[int, int]:
    """In how many logs of independent rows the true column is found: declared so, and not."""
    declared = undeclared = 0
    for seed, reader in zip(range(seeds), cycle(WRITERS), strict=False):
        rng = np.random.default_rng([seed, 77])
        rows = draw(rng, 3, 0.0, "independent", cost)
        declared += is_found(reader, rows, "place", group="none")
        undeclared += is_found(reader, rows, "place")
    return declared, undeclared


def main() -> None:
    """Print the shares of logs with a false finding, and the power."""
    say = sys.stdout.write
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    false: Counter[tuple[str, str]] = Counter()
    total: Counter[tuple[str, str]] = Counter()
    for reader, shown, icc, each, found in simulate(seeds):
        keys = [("shown by", shown)]
        if shown != "nothing":
            keys += [("reader", reader), ("ICC, rows", f"{icc}, {each}"), ("all", "")]
        for key in keys:
            false[key] += found
            total[key] += 1
    for key, count in sorted(total.items()):
        say(
            f"{' '.join(key):24} {false[key]:4} of {count:5} {false[key] / count:6.1%}\n"
        )
    for cost in COSTS:
        declared, undeclared = power(seeds, cost)
        say(
            f"power, a column that costs {cost:.0%}: declared {declared} of {seeds}, "
            f"not declared {undeclared}\n"
        )


if __name__ == "__main__":
    main()
