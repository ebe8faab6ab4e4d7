"""lmms-eval: `{date}_samples_{task}.jsonl`; its questions' data set is not in it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from cuescope_logs.values import (
    as_list,
    as_mapping,
    as_text,
    count_of_questions,
    directions,
    finite_number,
    first_text,
    list_at,
    mapping_at,
    own_scores,
    row_number,
    text_at,
)
from cuescope_sdk.data import source_of
from cuescope_sdk.logs import Log, LogFile, LogReader, Record, listed_choices

# columns of every task; the others are its metrics
COLUMNS = {
    "doc_id", "doc_hash", "target", "input", "resps", "filtered_resps", "token_counts",
    "input_media", "doc", "arguments", "submission",
}  # fmt: skip


class LmmsEvalLog(LogReader):
    """A line a question; choices and pictures stand in the data set, and are joined by its rows."""

    title = "lmms-eval"

    @classmethod
    def fits(cls, path: Path) -> bool:
        """JSONL of lines with a row's number and answers, and no document."""
        start = LogFile(path).first_bytes()
        return (
            path.suffix == ".jsonl"
            and b'"doc_id"' in start
            and b'"filtered_resps"' in start
            and b'"doc"' not in start
        )

    def read(self, path: Path) -> Log:
        """The lines, and the figures of `{date}_results.json` beside them."""
        date, _, task = path.stem.partition("_samples_")
        document: dict[str, Any] = {}
        results = LogFile(path, self.title).beside(f"{date}_results.json")
        if task and results is not None:
            document = as_mapping(results.json_document())
        # the column by which the task clusters its errors, in the objects of its metrics
        cluster = text_at(
            mapping_at(mapping_at(document, "configs"), task), "cluster_key"
        )
        records = []
        for place, line in LogFile(path, self.title).json_lines():
            record = read_line(line, place)
            records.append(
                replace(record, group=source_of(record.annotations, cluster))
            )
        return Log(
            title=task or path.stem,
            records=tuple(records),
            model=text_at(document, "model_name") or None,
            scores=own_scores(mapping_at(mapping_at(document, "results"), task)),
            higher_is_better=directions(document, task),
            expected=count_of_questions(document, task),
            counts_rows=True,
        )


def read_line(line: dict[str, Any], place: str) -> Record:
    """One line; raises UserError that begins with `place`."""
    number = row_number(line, place)
    given = line.get("filtered_resps")
    # the harness takes the list of a single request away, and leaves its text
    responses = [given] if isinstance(given, str) else as_list(given)
    log_probs: tuple[float, ...] = ()
    if responses and all(
        isinstance(pair, list) and len(pair) == 2 for pair in responses
    ):
        log_probs = tuple(finite_number(pair[0], place) for pair in responses)
    prompt = text_at(line, "input")
    media = [as_text(reference) for reference in list_at(line, "input_media")]
    return Record(
        key=str(number),
        position=number,
        said="" if log_probs else first_text(responses),
        question=prompt,
        choices=tuple(listed_choices(prompt)),
        label=text_at(line, "target").strip() or None,
        log_probs=log_probs,
        figures={name: line[name] for name in line if name not in COLUMNS},
        images=tuple(media),
        annotations=_annotations(line),
    )


def _annotations(line: dict[str, Any]) -> dict[str, Any]:
    """What the objects of metrics say of a question besides its score: kinds, videos, clusters."""
    annotations: dict[str, Any] = {}
    for name, value in line.items():
        if name not in COLUMNS:
            words = as_mapping(value).items()
            annotations.update((key, word) for key, word in words if key != "score")
    return annotations
