"""A log by lm-eval itself: its evaluator and its writer, a model whose answers are known.

python lm_eval_writes.py QUESTIONS.jsonl FOLDER      (in an environment with lm-eval)
"""

import json
import sys
from pathlib import Path
from typing import Any

from lm_eval.api.model import LM
from lm_eval.evaluator import simple_evaluate
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager


class KnownAnswers(LM):
    """Finds the question in the prompt, and gives the log-likelihood that the file has."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        super().__init__()
        self.rows = rows

    def row(self, prompt: str) -> dict[str, Any]:
        """The question that the prompt ends with."""
        return next(row for row in self.rows if row["question"] in prompt)

    def loglikelihood(self, requests: Any) -> list[tuple[float, bool]]:
        """Of one choice a request."""
        answers = []
        for request in requests:
            prompt, continuation = request.args
            row = self.row(prompt)
            place = row["choices"].index(continuation.strip())
            answers.append((row["log_probs"][place], place == row["chosen"]))
        return answers

    def generate_until(self, requests: Any) -> list[str]:
        """A sentence with the letter in it."""
        return [self.row(request.args[0])["said"] for request in requests]

    def loglikelihood_rolling(self, requests: Any) -> Any:
        """Nobody asks for it."""
        raise NotImplementedError


def tasks(questions: Path) -> list[dict[str, Any]]:
    """Choices by their likelihood, and a written answer behind two filters."""
    common = {
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(questions)}},
        "test_split": "test",
        "metadata": {"version": 1},
    }
    choices = {
        "task": "known_choices",
        "output_type": "multiple_choice",
        "doc_to_text": "{{question}}\nAnswer:",
        "doc_to_choice": "{{choices}}",
        "doc_to_target": "label",
        "metric_list": [{"metric": "acc", "aggregation": "mean"}],
    }
    letter = {"function": "regex", "regex_pattern": r"answer is \((\w)\)"}
    any_letter = {"function": "regex", "regex_pattern": r"\((\w)\)"}
    first = {"function": "take_first"}
    written = {
        "task": "known_letters",
        "output_type": "generate_until",
        "doc_to_text": "{{prompt}}",
        "doc_to_target": "{{letter}}",
        "generation_kwargs": {"until": ["\n\n"], "do_sample": False},
        "filter_list": [
            {"name": "strict-match", "filter": [letter, first]},
            {"name": "flexible-extract", "filter": [any_letter, first]},
        ],
        "metric_list": [{"metric": "exact_match", "aggregation": "mean"}],
    }
    return [common | choices, common | written]


def main(questions: Path, folder: Path) -> None:
    """As `lm_eval --log_samples --output_path` does it."""
    rows = [json.loads(line) for line in questions.read_text().splitlines()]
    tracker = EvaluationTracker(output_path=str(folder))
    results = simple_evaluate(
        model=KnownAnswers(rows),
        tasks=tasks(questions),
        task_manager=TaskManager(include_defaults=False),
        log_samples=True,
        evaluation_tracker=tracker,
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    for name in results["configs"]:
        tracker.save_results_samples(task_name=name, samples=samples[name])


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute())
