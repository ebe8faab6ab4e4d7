"""Every Eval Ever 0.3.0: an aggregate of the run's figures, and its answers one a line."""

import hashlib
import json
from collections.abc import Iterator
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from cuescope_sdk import Options, Report, Score, StoredRun, UserError, Words, printable
from cuescope_sdk.exporting import Exporter, PlainAnswer, plain_answers

SCHEMA = "0.3.0"
# by the unit of a metric; of a method's own scale no bounds are known
SCALES: dict[str | None, dict[str, Any]] = {
    "proportion": {"metric_unit": "proportion", "min_score": -1, "max_score": 1},
    "points": {"metric_unit": "points", "min_score": -100, "max_score": 100},
    None: {"min_score": "-Infinity", "max_score": "Infinity"},
}


class EveryEvalEverOptions(Options):
    """What the format wants to know and a run does not."""

    # the format requires these texts, and a run does not know them
    organization: Annotated[str, Words()] = Field(
        "unknown", description="who ran the audit"
    )
    developer: Annotated[str, Words()] = Field(
        "unknown", description="who made the model"
    )


class EveryEvalEver(Exporter):
    """data/cuescope/DEVELOPER/MODEL/UUID.json, and UUID_samples.jsonl beside it."""

    title = "Every Eval Ever 0.3.0"
    Options = EveryEvalEverOptions
    options: EveryEvalEverOptions

    def export(self, run: StoredRun, folder: Path) -> list[Path]:
        """Write both files."""
        report = run.report
        answers = plain_answers(run)
        name = plain_name(report.provenance.model.spec)
        options = self.options
        home = folder / "data" / "cuescope" / plain_name(options.developer) / name
        home.mkdir(parents=True, exist_ok=True)
        # of the report, not drawn: the same run is the same record
        record = str(UUID(report.hash, version=4))
        about = {
            "schema_version": SCHEMA,
            "evaluation_id": f"{report.title}/{name}/{record}",
        }
        samples = home / f"{record}_samples.jsonl"
        model = f"{options.developer}/{name}"
        lines = [
            json.dumps(about | instance(answer, report, model)) for answer in answers
        ]
        # as bytes, so that the checksum is of what stands in the file on every system
        content = ("\n".join(lines) + "\n").encode()
        samples.write_bytes(content)
        aggregate = about | self._aggregate(report, model, answers)
        aggregate["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": samples.relative_to(folder).as_posix(),
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(content).hexdigest(),
            "total_rows": len(lines),
        }
        file = home / f"{record}.json"
        file.write_text(json.dumps(aggregate, indent=1), encoding="utf-8")
        return [file, samples]

    def _aggregate(
        self, report: Report, model: str, answers: list[PlainAnswer]
    ) -> dict[str, Any]:
        origin = report.provenance
        try:
            started = datetime.fromisoformat(origin.started)
        except ValueError as error:
            raise UserError(
                "every-eval-ever: the report does not say when it was made",
                expected="a time in ISO 8601",
                got=repr(origin.started),
            ) from error
        return {
            # not the clock: the same run gives the same file
            "retrieved_timestamp": str(started.timestamp()),
            "evaluation_timestamp": origin.started,
            "source_metadata": {
                "source_name": "cuescope",
                "source_type": "evaluation_run",
                "source_organization_name": self.options.organization,
                "evaluator_relationship": "other",
            },
            "eval_library": {"name": "cuescope", "version": version("cuescope-sdk")},
            "model_info": {
                "name": origin.model.spec,
                "id": model,
                "developer": self.options.developer,
                "additional_details": {
                    "deployment_type": "unknown",
                    "model_availability": "unknown",
                },
            },
            "evaluation_results": list(results(report, answers)),
        }


def results(report: Report, answers: list[PlainAnswer]) -> Iterator[dict[str, Any]]:
    """Accuracy, then each finding with its interval."""
    # an answer without a label is neither right nor wrong, and counts in no accuracy
    judged = [answer.correct for answer in answers if answer.correct is not None]
    if judged:
        share = sum(judged) / len(judged)
        yield {
            **_about(report, "accuracy", "answers"),
            "metric_config": {
                "metric_id": "accuracy",
                "metric_name": "Accuracy",
                "metric_kind": "accuracy",
                "metric_unit": "proportion",
                "lower_is_better": False,
                "score_type": "continuous",
                "min_score": 0,
                "max_score": 1,
            },
            "score_details": {
                "score": share,
                "uncertainty": {"num_samples": len(judged)},
            },
        }
    metrics = {metric.name: metric for metric in report.metrics}
    for number, score in enumerate(report.findings, 1):
        # a score that could not be computed is no result: the format wants a number
        if score.value is not None:
            name = report.names[score.feature]
            metric = metrics[score.metric]
            yield {
                **_about(report, f"finding-{number}", name),
                "metric_config": {
                    "metric_id": f"cuescope.{score.metric}",
                    "metric_name": metric.title,
                    "evaluation_description": metric.meaning,
                    # an association, unless the run is one of `confirm`
                    "metric_kind": "cue_reliance",
                    **SCALES[metric.unit],
                    "lower_is_better": not metric.higher_is_better,
                    "score_type": "continuous",
                },
                "score_details": score_details(score, name),
            }


def _about(report: Report, identifier: str, name: str) -> dict[str, Any]:
    origin = report.provenance
    # data of a user's folder has no public address
    private = {"dataset_name": origin.data.spec, "source_type": "other"}
    return {
        "evaluation_result_id": identifier,
        "evaluation_name": printable(f"{origin.method.spec}: {name}"),
        "source_data": private,
    }


def score_details(score: Score, name: str) -> dict[str, Any]:
    """The figure with its interval; a detail of the format is always a text."""
    details = {"cue": name, "label": score.label, "q_value": score.q_value}
    uncertainty: dict[str, Any] = {}
    if score.n is not None:
        uncertainty["num_samples"] = score.n
    if score.low is not None and score.high is not None:
        interval = {"lower": score.low, "upper": score.high, "confidence_level": 0.95}
        uncertainty["confidence_interval"] = interval
    # a value that is not there is left out, since "None" would be read as a text
    told = {key: str(value) for key, value in details.items() if value is not None}
    return {"score": score.value, "details": told, "uncertainty": uncertainty}


def instance(answer: PlainAnswer, report: Report, model: str) -> dict[str, Any]:
    """A line of the samples' file."""
    choices = answer.shown.choices if answer.shown else ()
    reference = [] if answer.label is None else [answer.label]
    raw = answer.question
    digest = hashlib.sha256((raw + "".join(reference)).encode()).hexdigest()
    # the format has no field for pictures: their digests tell them (docs/scale.md)
    metadata = {"cuescope.frame_keys": answer.content or ""}
    return {
        "model_id": model,
        "evaluation_name": printable(f"{report.provenance.method.spec}: answers"),
        "evaluation_result_id": "accuracy",
        "sample_id": answer.key,
        "sample_hash": digest,
        "interaction_type": "single_turn",
        "input": {"raw": raw, "reference": reference, "choices": list(choices) or None},
        "output": {"raw": [answer.text]},
        "answer_attribution": [
            {
                "turn_idx": 0,
                "source": "output.raw",
                "extracted_value": answer.text,
                "extraction_method": "exact_match",
                "is_terminal": True,
            }
        ],
        "evaluation": {
            # both fields are required: an answer without a label counts as not right here
            "score": float(bool(answer.correct)),
            "is_correct": bool(answer.correct),
        },
        "metadata": metadata,
    }


def plain_name(text: str) -> str:
    """The text as a folder's name: letters, digits, dot and dash."""
    # a spec holds slashes and colons, which would be folders or drives
    kept = [letter if letter.isalnum() or letter in "._-" else "-" for letter in text]
    return "".join(kept).strip(".-") or "unknown"
