"""The figures of `blind_table.py` once more, by a program that shares no line with cuescope.

    python benchmarks/blind_cross_check.py QUESTIONS

Another reader, other features and another model: each option by itself is right or wrong to a
logistic regression of scikit-learn, by its words, its length and how often it is offered. Folds are
scikit-learn's `GroupKFold` over videos, and words are learned in the training folds alone. The last
column has right answers that are drawn anew.
"""

import argparse
import csv
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as pq
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

FOLDS = 5
REDRAWS = 3
RANKS = 6


class Item(NamedTuple):
    """A question; `right` is the number of the right option."""

    options: list[str]
    right: int
    video: str
    kind: str


def egoschema(folder: Path) -> Iterator[Item]:
    for row in pq.read_table(folder / "egoschema_subset.parquet").to_pylist():
        options = [text.partition(". ")[2] or text for text in row["option"]]
        yield Item(options, int(row["answer"]), row["video_idx"], "")


def nextqa(folder: Path) -> Iterator[Item]:
    with (folder / "nextqa_test.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            options = [row[f"a{number}"] for number in range(5)]
            yield Item(options, int(row["answer"]), row["video"], row["type"])


def tasks(folder: Path) -> Iterator[Item]:
    for file in sorted(folder.glob("*.json")):
        for row in json.loads(file.read_text(encoding="utf-8")):
            options = [str(text) for text in row["candidates"]]
            if str(row["answer"]) in options:
                right = options.index(str(row["answer"]))
                yield Item(options, right, row["video"], file.stem)


def longvideobench(folder: Path) -> Iterator[Item]:
    text = (folder / "longvideobench_val.json").read_text(encoding="utf-8")
    for row in json.loads(text):
        right = int(row["correct_choice"])
        yield Item(row["candidates"], right, row["video_id"], row["question_category"])


def video_mme(folder: Path) -> Iterator[Item]:
    for row in pq.read_table(folder / "video-mme.parquet").to_pylist():
        options = [text.partition(". ")[2] or text for text in row["options"]]
        yield Item(
            options, "ABCD".index(row["answer"]), row["videoID"], row["task_type"]
        )


def vsi_bench(folder: Path) -> Iterator[Item]:
    with (folder / "vsi-bench.jsonl").open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if row["options"]:
                options = [text.partition(". ")[2] or text for text in row["options"]]
                right = "ABCDEFGH".index(row["ground_truth"])
                yield Item(options, right, row["scene_name"], row["question_type"])


READERS = {
    "EgoSchema subset": egoschema,
    "MVBench": lambda folder: tasks(folder / "mvbench"),
    "TVBench": lambda folder: tasks(folder / "tvbench"),
    "NExT-QA test": nextqa,
    "LongVideoBench val": longvideobench,
    "VSI-Bench": vsi_bench,
    "Video-MME": video_mme,
}


def shape_columns(items: list[Item]) -> np.ndarray:
    """Rank by length, place, and how often the text is offered, of each option."""
    offered = Counter(text for item in items for text in item.options)
    rows = []
    for item in items:
        lengths = [len(text) for text in item.options]
        for place, text in enumerate(item.options):
            rank = sum(length < len(text) for length in lengths)
            row = np.zeros(2 * RANKS + 2)
            row[min(rank, RANKS - 1)] = 1
            row[RANKS + min(place, RANKS - 1)] = 1
            row[-2] = np.log(len(text) / np.mean(lengths))
            mean = np.mean([np.log(offered[other]) for other in item.options])
            row[-1] = np.log(offered[text]) - mean
            rows.append(row)
    return np.array(rows)


def word_views(items: list[Item]) -> list[list[str]]:
    """The words of each option, the same by kind of question, and its whole text by kind."""
    kinds = sorted({item.kind for item in items})
    plain = []
    by_kind = []
    whole = []
    for item in items:
        kind = kinds.index(item.kind)
        for text in item.options:
            words = re.findall(r"\w+", text.lower())
            pairs = [f"{first}_{second}" for first, second in pairwise(words)]
            plain.append(" ".join(words + pairs))
            by_kind.append(" ".join(f"{kind}:{word}" for word in words + pairs))
            whole.append(f"{kind}:{'_'.join(words)}")
    return [plain, by_kind, whole]


def accuracy(items: list[Item], right: np.ndarray) -> float:
    """How often the option with the largest probability is right, of equals any."""
    counts = np.array([len(item.options) for item in items])
    owner = np.repeat(np.arange(len(items)), counts)
    starts = np.cumsum(counts) - counts
    is_right = np.zeros(len(owner), dtype=int)
    is_right[starts + right] = 1
    views = word_views(items)
    shape = shape_columns(items)
    names = sorted({item.kind for item in items})
    kind = np.array([names.index(item.kind) for item in items])[owner]
    by_kind = [shape * (kind == number)[:, None] for number in range(len(names))]
    shapes = sparse.csr_array(np.hstack([shape, *by_kind]))
    videos = np.array([item.video for item in items])
    correct = np.zeros(len(items))
    for training, tested in GroupKFold(FOLDS).split(videos, groups=videos):
        learned = np.flatnonzero(np.isin(owner, training))
        asked = np.flatnonzero(np.isin(owner, tested))
        blocks = [shapes]
        for view in views:
            counter = CountVectorizer(analyzer=str.split, min_df=2, binary=True)
            counter.fit([view[place] for place in learned])
            blocks.append(counter.transform(view))
        matrix = sparse.csr_array(sparse.hstack(blocks, format="csr"))
        model = LogisticRegression(C=0.1, max_iter=300, class_weight="balanced")
        model.fit(matrix[learned], is_right[learned])
        score = np.full(len(owner), -np.inf)
        score[asked] = model.decision_function(matrix[asked])
        for number in tested:
            own = slice(starts[number], starts[number] + counts[number])
            strongest = score[own] >= score[own].max() - 1e-9
            correct[number] = strongest[right[number]] / strongest.sum()
    return float(correct.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--only", help="name of one benchmark")
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    for name, read in READERS.items():
        if given.only not in (None, name):
            continue
        items = list(read(given.questions))
        counts = np.array([len(item.options) for item in items])
        right = np.array([item.right for item in items])
        blind = accuracy(items, right)
        redrawn = []
        for _ in range(REDRAWS):
            drawn = (rng.random(len(items)) * counts).astype(int)
            redrawn.append(accuracy(items, drawn))
        sys.stdout.write(
            f"{name:20}{len(items):7,}{100 * np.mean(1 / counts):8.1f}{100 * blind:8.1f}"
            f"{100 * np.mean(redrawn):9.1f}\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
