"""A log by lmms-eval itself: its evaluator and its writer, a model whose answers are known.

python lmms_eval_writes.py QUESTIONS.jsonl FOLDER      (in an environment with lmms-eval)
"""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from lmms_eval.api.model import lmms
from lmms_eval.evaluator import simple_evaluate
from lmms_eval.loggers import EvaluationTracker
from lmms_eval.utils import get_datetime_str

TASK = """\
task: known_letters
dataset_path: json
dataset_kwargs:
  data_files: {{test: {questions}}}
test_split: test
output_type: generate_until
doc_to_visual: !function known.visual
doc_to_text: !function known.text
doc_to_target: letter
process_results: !function known.judged
generation_kwargs: {{max_new_tokens: 16}}
metric_list:
  - metric: average
    aggregation: !function known.mean
    higher_is_better: true
metadata:
  version: 0.0
"""
# as the tasks of its own: a picture, the prompt, and an object a figure
FUNCTIONS = """\
from PIL import Image


def visual(doc):
    return [Image.new("RGB", (8, 8), (doc["number"], 0, 0))]


def text(doc, lmms_eval_specific_kwargs=None):
    return doc["prompt"]


def judged(doc, results):
    said = results[0].partition("(")[2][:1]
    score = float(said == doc["letter"])
    return {"average": {"question_id": doc["number"], "category": doc["category"], "score": score}}


def mean(results):
    return sum(result["score"] for result in results) / len(results)
"""


class KnownAnswers(lmms):
    """Finds the question in the prompt, and says what the file says."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        super().__init__()
        self.rows = rows

    def generate_until(self, requests: Any) -> list[str]:
        """A sentence with the letter in it."""
        prompts = [request.args[0] for request in requests]
        return [
            next(row["said"] for row in self.rows if row["question"] in prompt)
            for prompt in prompts
        ]

    def loglikelihood(self, requests: Any) -> Any:
        """Nobody asks for it."""
        raise NotImplementedError

    def generate_until_multi_round(self, requests: Any) -> Any:
        """Nobody asks for it."""
        raise NotImplementedError


def main(questions: Path, folder: Path) -> None:
    """As `lmms_eval --log_samples --output_path` does it."""
    from lmms_eval.tasks import TaskManager

    home = folder / "task"
    home.mkdir(parents=True)
    (home / "known.yaml").write_text(TASK.format(questions=questions))
    (home / "known.py").write_text(FUNCTIONS)
    rows = [json.loads(line) for line in questions.read_text().splitlines()]
    tracker = EvaluationTracker(output_path=str(folder))
    date = get_datetime_str()
    results = simple_evaluate(
        model=KnownAnswers(rows),
        tasks=["known_letters"],
        task_manager=TaskManager(include_path=str(home), include_defaults=False),
        batch_size=1,
        log_samples=True,
        evaluation_tracker=tracker,
        datetime_str=date,
        cli_args=SimpleNamespace(
            output_path=str(folder), process_with_media=False, verbosity="ERROR"
        ),
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples, datetime_str=date)
    for name in results["configs"]:
        tracker.save_results_samples(task_name=name, samples=samples[name])


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute())
