"""lighteval: `details_{task}_{date}.parquet`, a row a question in three columns of objects."""

from pathlib import Path
from typing import Any

from cuescope_logs.values import (
    as_list,
    as_text,
    finite_number,
    list_at,
    mapping_at,
    metric,
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
        records = [
            read_row(row, number, place)
            for number, (place, row) in enumerate(
                LogFile(path, self.title).parquet_rows(COLUMNS)
            )
        ]
        # details_TASK_DATE: a task may hold `_`, the date holds none
        task = path.stem.removeprefix("details_").rpartition("_")[0]
        return Log(title=task or path.stem, records=tuple(records))


def read_row(row: dict[str, Any], number: int, place: str) -> Record:
    """One row; raises UserError that begins with `place`."""
    document = mapping_at(row, "doc")
    response = mapping_at(row, "model_response")
    choices = tuple(as_text(choice).strip() for choice in list_at(document, "choices"))
    gold = document.get("gold_index")
    golds = gold if isinstance(gold, list) else [gold]
    log_probs = tuple(finite_number(v, place) for v in list_at(response, "logprobs"))
    # the harness judges the processed text where there is one
    texts = list_at(response, "text_post_processed") or as_list(response.get("text"))
    said = as_text(texts[0]) if texts else ""
    figures = mapping_at(row, "metric")
    # a question to be answered in words has its right answer as the one choice
    is_closed = len(choices) > 1
    single = golds[0] if len(golds) == 1 and isinstance(golds[0], int) else None
    label: int | str | None = single
    if not is_closed and single is not None and 0 <= single < len(choices):
        label = choices[single]
    return Record(
        key=text_at(document, "id") or str(number),
        position=number,
        said=said,
        question=text_at(document, "query"),
        choices=choices if is_closed else (),
        label=label,
        answer=Choices(choices).find(said) if is_closed and said else None,
        log_probs=log_probs if len(log_probs) == len(choices) and is_closed else (),
        right=metric(figures, figures),
        annotations=mapping_at(document, "specific"),
    )
