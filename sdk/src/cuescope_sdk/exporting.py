"""The exporter: it writes a stored run in a format of others.

A plugin in the group `cuescope.exporters`. `cuescope export RUN --to NAME` calls it.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from cuescope_core.stored_run import ChangedDataError
from cuescope_sdk import Plugin, Sample, StoredRun, UserError

PLAIN = "baseline"  # the condition of samples as they are


class Exporter(Plugin, ABC):
    """Writes one format. Nothing is sent anywhere, and nothing is asked of a model."""

    title: ClassVar[str]

    @abstractmethod
    def export(self, run: StoredRun, folder: Path) -> list[Path]:
        """Write the run into a folder that exists; the files that were written."""


@dataclass(frozen=True)
class PlainAnswer:
    """The answer to a sample as it is: the `text` that was said, and the sample if it opens."""

    key: str
    question: str
    label: str | None
    text: str
    correct: bool | None
    content: str | None
    probability: float | None
    shown: Sample | None


def plain_answers(run: StoredRun) -> list[PlainAnswer]:
    """The answers to samples as they are, in the order of asking; raises UserError without any."""
    samples = _open_samples(run)
    answers = []
    for row in run.answers:
        if row["condition"] != PLAIN or row["figure"] is not None:
            continue
        answers.append(_answer(row, samples.get(row["sample"])))
    if not answers:
        raise UserError(
            f"{run.path} has no answers to samples as they are",
            expected="a run that asked them, as `cuescope audit answers`",
        )
    return answers


def _answer(row: Mapping[str, Any], sample: Sample | None) -> PlainAnswer:
    said = row["prediction"] if row["text"] is None else row["text"]
    return PlainAnswer(
        key=row["sample"],
        question=row["question"] or "",
        label=row["label"],
        text=said or "",
        correct=row["correct"],
        content=row["content"],
        probability=row["p_prediction"],
        shown=sample,
    )


def _open_samples(run: StoredRun) -> dict[str, Sample]:
    """The samples by key; {} where the data are no longer at hand: an export can do without.

    Raises UserError where they are others: their pictures stand beside answers to others.
    """
    try:
        return run.samples
    except ChangedDataError:
        raise
    except UserError:
        return {}


__all__ = ["Exporter", "PlainAnswer", "plain_answers"]
