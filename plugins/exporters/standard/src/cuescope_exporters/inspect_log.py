"""A log of inspect (version 2, JSON): `inspect view` browses our answers."""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from cuescope_sdk import Options, Report, StoredRun
from cuescope_sdk.exporting import Exporter, PlainAnswer, plain_answers

SCORER = "cuescope"


class InspectLog(Exporter):
    """log.json: a sample a plain answer, right or wrong as the run counted it."""

    title = "inspect log"
    Options = Options

    def export(self, run: StoredRun, folder: Path) -> list[Path]:
        """Write the log."""
        report = run.report
        answers = plain_answers(run)
        file = folder / "log.json"
        content = log_of(report, answers)
        file.write_text(json.dumps(content), encoding="utf-8")
        return [file]


def log_of(report: Report, answers: list[PlainAnswer]) -> dict[str, Any]:
    """The whole log."""
    origin = report.provenance
    judged = [answer.correct for answer in answers if answer.correct is not None]
    # the log needs a number: without judged answers every sample lacks its score as well
    accuracy = sum(judged) / len(judged) if judged else 0.0
    keys = [answer.key for answer in answers]
    metrics = {"accuracy": {"name": "accuracy", "value": accuracy, "params": {}}}
    score = {"name": SCORER, "scorer": SCORER, "params": {}, "metrics": metrics}
    return {
        "version": 2,
        "status": "success",
        "eval": {
            # the report's hash: the same run is the same log
            "eval_id": report.hash,
            "run_id": report.hash,
            "created": origin.started,
            "task": origin.method.spec,
            "task_id": report.hash,
            "task_version": 0,
            "task_args": {},
            "task_attribs": {},
            "dataset": {
                "name": origin.data.spec,
                "samples": len(answers),
                "sample_ids": keys,
                "shuffled": False,
            },
            "model": origin.model.spec,
            "model_args": {},
            "config": {"epochs": 1},
            "packages": {"cuescope": version("cuescope-sdk")},
            "metadata": {
                "findings": list(report.statements),
                "command": origin.command,
            },
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {
            "total_samples": len(answers),
            "completed_samples": len(answers),
            # a run keeps no usage of tokens
            "scores": [score],
        },
        "stats": {
            "started_at": origin.started,
            "completed_at": origin.started,
            "model_usage": {},
        },
        "samples": [sample_of(answer, origin.model.spec) for answer in answers],
    }


def sample_of(answer: PlainAnswer, model: str) -> dict[str, Any]:
    """A sample of the log."""
    question = answer.question or answer.key
    said = {"role": "assistant", "content": answer.text, "source": "generate"}
    # no score at all, where nothing says what is right
    scores = {}
    if answer.correct is not None:
        value = "C" if answer.correct else "I"
        scores[SCORER] = {"value": value, "answer": answer.text}
    choices = list(answer.shown.choices) if answer.shown else []
    return {
        "id": answer.key,
        "epoch": 1,
        "input": question,
        "choices": choices or None,
        "target": answer.label or "",
        "messages": [{"role": "user", "content": question, "source": "input"}, said],
        "output": {
            "model": model,
            "choices": [{"message": said, "stop_reason": "stop"}],
        },
        "scores": scores,
        "metadata": {"frames": answer.content, "probability": answer.probability},
        "store": {},
        "events": [],
        "model_usage": {},
        "attachments": {},
    }
