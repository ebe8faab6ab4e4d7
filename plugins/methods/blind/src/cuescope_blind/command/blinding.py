"""Questions of a benchmark that are answered without looking, and the lists made of them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from cuescope.application import (
    Draft,
    OutputFile,
    OutputFolder,
    Plan,
    Runner,
    StoredReport,
    write_atomically,
)
from cuescope_sdk import StoredRun, UserError
from cuescope_sdk.report import count_of

if TYPE_CHECKING:
    from cuescope_blind.questions import Questions

METHOD = "blind"
MODEL = "none"
# with a model the questions are asked of it
ASKING = "looking"
Count = Annotated[int, Field(ge=1)] | None


@dataclass(frozen=True)
class Choice:
    """The hardest questions, which are written to a `manifest`."""

    hardest: int | None
    manifest: Path | None

    def require_whole(self) -> None:
        """Raise UserError where an option lacks its partner."""
        if (self.hardest is None) != (self.manifest is None):
            missing = "--hardest N" if self.manifest else "--manifest FILE"
            raise UserError(
                "--hardest N --manifest FILE", expected="both", got=f"no {missing}"
            )

    def write(self, runner: Runner, report: StoredReport) -> Iterator[str]:
        """Write the manifest, where there is one, and say what it holds."""
        if self.manifest is None or self.hardest is None:
            return
        run = StoredRun(report.folder, runner.context)
        rows = hardest_rows(run, self.hardest)
        write_atomically(self.manifest, "".join(rows))
        yield f"wrote {self.manifest}: {count_of(len(rows), 'questions')}"
        yield f"next: --data questions:{self.manifest}"


def blind(
    runner: Runner,
    draft: Draft,
    *,
    options: Mapping[str, Any] | None = None,
    hardest: Count = None,
    manifest: Annotated[Path | None, OutputFile(".jsonl")] = None,
    plan: bool = False,
    out: Annotated[Path | None, OutputFolder()] = None,
) -> StoredReport | Plan:
    """Answer the questions of a benchmark from their text alone; a model is asked where named.

    The `hardest` questions are written to the `manifest`.
    """
    choice = Choice(hardest, manifest)
    if out is not None:
        runner = replace(runner, out=out)
    report = ask(runner, draft, options or {}, choice, plan=plan)
    if isinstance(report, StoredReport):
        for line in choice.write(runner, report):
            runner.context.announce(line)
    return report


def ask(
    runner: Runner,
    draft: Draft,
    options: Mapping[str, Any],
    choice: Choice,
    *,
    plan: bool,
) -> StoredReport | Plan:
    """The report of the questions, or what it would cost."""
    # before the audit: a wrong name is told now
    choice.require_whole()
    model = draft.model or MODEL
    if choice.manifest is not None and model != MODEL:
        raise UserError(
            "--manifest with a model",
            expected="none: questions are chosen by their texts",
            remedy="Leave --model out",
        )
    method = METHOD if model == MODEL else ASKING
    request = draft.model_copy(update={"model": model}).request(method, options)
    request = runner.on_objects(request)
    return runner.plan(request) if plan else runner.audit(request)


def hardest_rows(run: StoredRun, count: int) -> list[str]:
    """A line of JSON a question, hardest first, by the `blind_score` of a run's answers."""
    # late: `--help` does not pay for numpy and scipy
    import numpy as np

    from cuescope_blind.scores import hardest

    questions, figures = scored_questions(run)
    scores = np.array([figures[key] for key in questions.keys])
    return _rows(run, questions, figures, hardest(questions, scores, count).tolist())


def scored_questions(run: StoredRun) -> "tuple[Questions, dict[str, float]]":
    """The questions of a run, and the score of each by its key."""
    from cuescope_blind.questions import Questions

    samples = run.samples
    # other rows of the table are answers, of which a blind run has none
    figures = {}
    for row in run.answers:
        if row["condition"] == "blind_score" and row["sample"] in samples:
            figures[row["sample"]] = row["figure"]
    asked = [samples[key] for key in figures]
    if any(sample.question is None for sample in asked):
        raise UserError(
            "--manifest: these data have labels and no questions",
            expected="questions, each with options of its own",
            remedy="`cuescope export RUN --affected 1` writes the samples of a tell",
        )
    return Questions.of(asked), figures


def _rows(
    run: StoredRun,
    questions: "Questions",
    figures: Mapping[str, float],
    numbers: Sequence[int],
) -> list[str]:
    lines = []
    for number in numbers:
        sample = run.samples[questions.keys[number]]
        row = {
            "key": sample.key,
            # the group: intervals of the next audit are over whole videos again
            "video": sample.group or sample.key,
            "question": sample.question,
            "options": list(sample.choices),
            # json writes no integer of numpy
            "answer": int(questions.right[number]),
            # said, for options that are numbers could be read as text too
            "answer_is": "index",
            "kind": sample.annotations.get("question_type"),
            "blind_score": round(figures[sample.key], 4),
        }
        # questions in other scripts stay readable in an editor
        lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    return lines
