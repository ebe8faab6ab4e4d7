"""lighteval: `details_{task}_{date}.parquet`, a row a question in three columns of objects."""

from pathlib import Path
from typing import Any

from cuescope_logs.values import (
    as_list,
    as_text,
    finite_number,
    first_text,
    list_at,
    mapping_at,
    text_at,
)
from cuescope_sdk.logs import Choices, Log, LogFile, LogReader, Record

COLUMNS = ("doc", "metric", "model_response")


class LightevalLog(LogReader):
    """A row a question; the log-likelihoods of its choices are the model's logits."""

    title = "lighteval"

    @classmethod
    def fits(cls, path: Path) -> bool:
        """Parquet named as the harness names it."""
        named = path.name.startswith("details_") and path.suffix == ".parquet"
        return named and LogFile(path).first_bytes(4) == b"PAR1"

    def read(self, path: Path) -> Log:
        """The rows."""
        rows = LogFile(path, self.title).parquet_rows(COLUMNS)
        records = []
        for number, (place, row) in enumerate(rows):
            records.append(read_row(row, number, place))
        # details_TASK_DATE: a task may hold `_`, the date holds none
        task = path.stem.removeprefix("details_").rpartition("_")[0]
        return Log(title=task or path.stem, records=tuple(records))


def read_row(row: dict[str, Any], number: int, place: str) -> Record:
    """One row; raises UserError that begins with `place`."""
    document = mapping_at(row, "doc")
    response = mapping_at(row, "model_response")
    choices = tuple(as_text(choice).strip() for choice in list_at(document, "choices"))
    listed = list_at(response, "logprobs")
    log_probs = tuple(finite_number(value, place) for value in listed)
    # the harness judges the processed text where there is one
    texts = list_at(response, "text_post_processed") or as_list(response.get("text"))
    said = first_text(texts)
    gold = _gold(document.get("gold_index"))
    label: int | str | None = gold
    answer = None
    # a question to be answered in words has its right answer as the one choice
    if len(choices) < 2:
        if gold is not None and 0 <= gold < len(choices):
            label = choices[gold]
        choices = ()
    elif said:
        answer = Choices(choices).find(said)
    if len(log_probs) != len(choices):
        log_probs = ()
    figures = mapping_at(row, "metric")
    return Record(
        key=text_at(document, "id") or str(number),
        position=number,
        said=said,
        question=text_at(document, "query"),
        choices=choices,
        label=label,
        answer=answer,
        log_probs=log_probs,
        figures=figures,
        annotations=mapping_at(document, "specific"),
    )


def _gold(value: Any) -> int | None:
    """The number of the right choice; None where there are several, or none."""
    golds = value if isinstance(value, list) else [value]
    if len(golds) == 1 and isinstance(golds[0], int):
        return golds[0]
    return None
