"""lmms-eval: `{date}_samples_{task}.jsonl`; its questions' data set is not in it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cuescope_logs.prompts import listed_choices
from cuescope_logs.values import (
    as_list,
    as_mapping,
    as_text,
    finite_number,
    first_text,
    list_at,
    mapping_at,
    own_scores,
    row_number,
    text_at,
)
from cuescope_sdk.logs import Log, LogFile, LogReader, Record

# columns of every task; the others are its metrics
COLUMNS = {
    "doc_id", "doc_hash", "target", "input", "resps", "filtered_resps", "token_counts",
    "input_media", "doc", "arguments", "submission",
}  # fmt: skip
WORDS_IN = ("category", "l2_category", "subset", "task", "type")


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
        records = []
        for place, line in LogFile(path, self.title).json_lines():
            records.append(read_line(line, place))
        scores: dict[str, float] = {}
        model = None
        results = LogFile(path, self.title).beside(f"{date}_results.json")
        if task and results is not None:
            document = as_mapping(results.json_document())
            of_task = mapping_at(mapping_at(document, "results"), task)
            scores = own_scores(of_task)
            model = text_at(document, "model_name") or None
        return Log(
            title=task or path.stem,
            records=tuple(records),
            model=model,
            scores=scores,
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
        right=read_metrics(line),
        images=tuple(media),
        annotations=_annotations(line),
    )


def read_metrics(line: Mapping[str, Any]) -> bool | None:
    """Whether the task's own figure says right: a number, or the `score` of an object."""
    for name, value in line.items():
        if name in COLUMNS:
            continue
        score = as_mapping(value).get("score", value)
        if isinstance(score, bool | int | float) and score in (0, 1):
            return bool(score)
    return None


def _annotations(line: Mapping[str, Any]) -> dict[str, Any]:
    """Kinds of questions, which the objects of metrics name."""
    annotations = {}
    for value in line.values():
        for name in WORDS_IN:
            word = as_mapping(value).get(name)
            if isinstance(word, str):
                annotations[name] = word
    return annotations
