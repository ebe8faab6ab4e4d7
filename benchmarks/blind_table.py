"""How much of seven benchmarks is answered without looking, from their question files alone.

    python benchmarks/blind_table.py QUESTIONS [--redraws 5] [--scenes]

QUESTIONS is a folder with the authors' files under the names below. `--scenes` prints VSI-Bench
with folds of whole scenes and of single questions, beside the figures of TsT's authors.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import cuescope_questions as readers
from cuescope_blind import learner
from cuescope_blind.analysis import accuracies_of_redrawn
from cuescope_blind.questions import Questions, deal_folds
from cuescope_blind.scores import expected_correct, measure_gain
from cuescope_sdk import Context, generator
from cuescope_sdk.statistics import Groups

# name: reader, file, options; what the issue measured with a simpler learner
FILES: dict[str, tuple[Any, str, dict[str, str], float]] = {
    "LongVideoBench val": (readers.LongVideoBench, "longvideobench_val.json", {}, 36.1),
    "MVBench": (readers.MVBench, "mvbench", {}, 42.7),
    "NExT-QA test": (readers.NextQA, "nextqa_test.csv", {}, 29.9),
    "VSI-Bench": (readers.VSIBench, "vsi-bench.jsonl", {}, 36.0),
    "TVBench": (readers.TVBench, "tvbench", {}, 40.2),
    "Video-MME": (readers.VideoMME, "video-mme.parquet", {}, 29.4),
    "EgoSchema subset": (readers.EgoSchema, "egoschema_subset.parquet", {}, 20.4),
}


def read(folder: Path, name: str) -> Questions:
    """The questions of a benchmark."""
    reader, file, options, _ = FILES[name]
    data = reader(reader.Options(path=folder / file, **options), Context())
    return Questions.of([data[index] for index in range(len(data))])


def rows(folder: Path, redraws: int) -> Iterator[str]:
    """A line a benchmark."""
    for name, (_, _, _, before) in FILES.items():
        start = time.perf_counter()
        questions = read(folder, name)
        features = learner.all_columns(questions)
        fold = deal_folds(questions.fold_groups, 5, generator(0, "folds"))
        probability = learner.out_of_fold(questions, features, fold)
        correct = expected_correct(questions, probability)
        gain = measure_gain(
            questions,
            correct,
            np.ones(len(questions), dtype=bool),
        )
        assert gain is not None
        assert gain.low is not None
        assert gain.high is not None
        null = list(
            accuracies_of_redrawn(
                questions,
                features,
                fold,
                redraws,
                generator(0, "redraws"),
            )
        )
        seconds = time.perf_counter() - start
        interval = f"{100 * gain.low:+.1f} to {100 * gain.high:+.1f}"
        redrawn = f"{100 * np.mean(null):.1f}" if null else "-"
        yield (
            f"{name:20}{gain.n:7,}{100 * gain.chance:8.1f}{100 * gain.accuracy:7.1f}"
            f"{100 * gain.gain:+7.1f}  {interval:16}{redrawn:>9}{before:9.1f}{seconds:8.1f}"
        )


def scenes(folder: Path, deals: int = 3) -> Iterator[str]:
    """A line for folds of scenes and one for folds of questions: the mean of several deals."""
    questions = read(folder, "VSI-Bench")
    features = learner.all_columns(questions)
    single = Groups.single(len(questions))
    ways = (("scenes", questions.fold_groups, 38.8), ("questions", single, 43.0))
    for name, groups, published in ways:
        accuracies = []
        for deal in range(deals):
            fold = deal_folds(groups, 5, generator(deal, "folds"))
            probability = learner.out_of_fold(questions, features, fold)
            accuracies.append(expected_correct(questions, probability).mean())
        ours = 100 * np.mean(accuracies)
        yield f"VSI-Bench, folds of {name:10}{ours:6.1f}   TsT {published:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--redraws", type=int, default=5)
    parser.add_argument("--scenes", action="store_true")
    given = parser.parse_args()
    lines = rows(given.questions, given.redraws)
    if given.scenes:
        lines = scenes(given.questions)
    for line in lines:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
