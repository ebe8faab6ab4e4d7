"""Hugging Face: `.eval_results` of a model's repository, and a text for its model card."""

from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import Field

from cuescope_exporters.every_eval_ever import plain_name
from cuescope_sdk import Options, Report, StoredRun, UserError, Words, printable
from cuescope_sdk.exporting import Exporter, plain_answers
from cuescope_sdk.report import count_of


class HuggingFaceOptions(Options):
    """The data set's repository, which a run need not know."""

    dataset: Annotated[str | None, Words()] = Field(
        None,
        description="repository of the data set on the hub, which must hold an eval.yaml",
    )
    task: Annotated[str, Words()] = Field(
        "default", description="task of that repository's eval.yaml"
    )
    source: Annotated[str | None, Words()] = Field(
        None, description="address where the report can be read"
    )


class HuggingFace(Exporter):
    """.eval_results/NAME.yaml where the data set has a repository, and cues.md in any case."""

    title = "Hugging Face .eval_results and model card"
    Options = HuggingFaceOptions
    options: HuggingFaceOptions

    def export(self, run: StoredRun, folder: Path) -> list[Path]:
        """Write both; a private data set has no .eval_results, as the hub would not show them."""
        card = folder / "cues.md"
        card.write_text(card_text(run.report), encoding="utf-8")
        if self.options.dataset is None:
            return [card]
        home = folder / ".eval_results"
        home.mkdir(exist_ok=True)
        file = home / f"{plain_name(self.options.dataset)}.yaml"
        entries = [self._entry(run)]
        # the table shows a share of right answers, so those without a label are not asked
        file.write_text(yaml.safe_dump(entries, sort_keys=False), encoding="utf-8")
        return [card, file]

    def _entry(self, run: StoredRun) -> dict[str, Any]:
        options = self.options
        judged = [a.correct for a in plain_answers(run) if a.correct is not None]
        # an entry is a number, and there is no accuracy of nothing
        if not judged:
            raise UserError(
                f"{run.path} has no answer that is right or wrong",
                expected="one or more, for an accuracy",
            )
        report = run.report
        entry: dict[str, Any] = {
            "dataset": {"id": options.dataset, "task_id": options.task},
            "value": round(100 * sum(judged) / len(judged), 4),
            # of the audit: the same run gives the same file
            "date": report.provenance.started[:10],
        }
        if options.source is not None:
            entry["source"] = {"url": options.source, "name": "cuescope"}
        count = len(report.findings)
        entry["notes"] = (
            f"accuracy in percent of {len(judged):,} answers; "
            f"{report.provenance.method.spec} by cuescope has {count_of(count, 'findings')}"
        )
        return entry


def card_text(report: Report) -> str:
    """A section of a model card: what was tested, what was found, and the limits of both."""
    origin = report.provenance
    lines = [
        "## Cues that this model relies on",
        "",
        f"[cuescope](https://github.com/cuescope/cuescope) tested `{_plain(origin.model.spec)}` "
        f"on {count_of(origin.samples, 'samples')} of `{_plain(origin.data.spec)}` by "
        f"`{_plain(origin.method.spec)}` ({origin.started[:10]}, report {report.hash}).",
        "",
    ]
    lines += [f"- {_plain(statement)}" for statement in report.statements]
    # silence would be read as a clean bill
    if not report.findings:
        lines.append(
            "- Nothing was found. Smaller cues may be there; the report says which."
        )
    lines += [
        "",
        "What correlates with incorrect answers need not cause them, unless the sentence says so. "
        "Other data may hold other cues.",
        "",
    ]
    return "\n".join(lines)


def _plain(text: str) -> str:
    # names of cues come from data of strangers, and a card is read as Markdown with HTML
    shown = printable(text).replace("<", "&lt;").replace("`", "'")
    return " ".join(shown.split())
