"""EvalScope: `reviews/{model}/{task}_{subset}.jsonl`, a judged answer a line."""

from pathlib import Path
from typing import Any

from cuescope_logs.values import (
    as_list,
    as_mapping,
    as_number,
    as_text,
    list_at,
    mapping_at,
    text_at,
)
from cuescope_sdk import UserError
from cuescope_sdk.logs import Choices, Log, LogFile, LogReader, Record, listed_choices

MARKS = (b'"sample_score"', b'"target"', b'"messages"')


class EvalScopeLog(LogReader):
    """A line a question; lines of one `group_id` are the same question again."""

    title = "evalscope"

    @classmethod
    def fits(cls, path: Path) -> bool:
        """JSONL whose lines have a review beside the messages."""
        start = LogFile(path).first_bytes(2**16)
        return path.suffix == ".jsonl" and all(mark in start for mark in MARKS)

    def read(self, path: Path) -> Log:
        """The lines, and the score of the subset in `reports/{model}/{task}.json`."""
        # of each group its samples in order: the place of one is its epoch
        epochs: dict[str, list[str]] = {}
        records = []
        for place, line in LogFile(path, self.title).json_lines():
            records.append(read_line(line, place, epochs))
        main = next((name for record in records for name in record.figures), "acc")
        report = _report(path, self.title)
        own = _subset_score(report, path.stem)
        return Log(
            title=path.stem,
            records=tuple(records),
            model=text_at(report, "model_name") or path.absolute().parent.name,
            scores={} if own is None else {main: own},
        )


def read_line(line: dict[str, Any], place: str, epochs: dict[str, list[str]]) -> Record:
    """One line; raises UserError that begins with `place`."""
    review = mapping_at(line, "sample_score")
    score = mapping_at(review, "score")
    numbers = (review.get("group_id"), review.get("sample_id"), line.get("index"))
    key = next((as_text(number) for number in numbers if number is not None), "")
    if not key:
        raise UserError(f"{place} 'index'", expected="a number", got="none")
    samples = epochs.setdefault(key, [])
    sample = text_at(review, "sample_id")
    if sample not in samples:
        samples.append(sample)
    messages = [as_mapping(message) for message in list_at(line, "messages")]
    asked, images = _last_words(messages, "user")
    said, _ = _last_words(messages, "assistant")
    choices = tuple(listed_choices(asked))
    targets = line.get("target")
    labels = tuple(
        _choice(as_text(target).strip(), choices)
        for target in (targets if isinstance(targets, list) else [targets])
        if as_text(target).strip()
    )
    answer = text_at(score, "extracted_prediction").strip()
    figures = mapping_at(score, "value")
    main = text_at(score, "main_score_name")
    # the main one first: it is what the report is about
    order = sorted(figures, key=lambda name: name != main)
    return Record(
        key=key,
        epoch=samples.index(sample),
        said=said if messages else text_at(score, "prediction"),
        question=asked,
        choices=choices,
        label=labels[0] if len(labels) == 1 else None,
        labels=labels if len(labels) > 1 else (),
        answer=_choice(answer, choices) if answer else None,
        figures={name: figures[name] for name in order},
        images=tuple(images),
        annotations=mapping_at(review, "sample_metadata"),
    )


def _choice(text: str, choices: tuple[str, ...]) -> int | str:
    index = Choices(choices).index(text)
    return text if index is None else index


def _last_words(messages: list[dict[str, Any]], role: str) -> tuple[str, list[str]]:
    """The text and the pictures of the last message of a role."""
    for message in reversed(messages):
        if message.get("role") != role:
            continue
        content = message.get("content")
        if isinstance(content, str):
            return content, []
        texts = []
        images = []
        for part in map(as_mapping, as_list(content)):
            if part.get("type") == "text":
                texts.append(text_at(part, "text"))
            elif part.get("type") == "image":
                images.append(text_at(part, "image"))
        return "\n".join(texts), images
    return "", []


def _report(path: Path, title: str) -> dict[str, Any]:
    """The report of the task, in `reports/` beside `reviews/`; {} without one."""
    model = path.absolute().parent
    if model.parent.name != "reviews":
        return {}
    folder = model.parent.parent / "reports" / model.name
    for file in sorted(folder.glob("*.json"), key=lambda file: -len(file.stem)):
        # of `mmlu` and `mmlu_pro` the longer one
        is_of_task = path.stem.startswith(f"{file.stem}_") and not file.is_symlink()
        if is_of_task and file.is_file():
            return as_mapping(LogFile(file, title).json_document())
    return {}


def _subset_score(report: dict[str, Any], stem: str) -> float | None:
    """The score of the subset that the file is named by, of the report's first metric."""
    for metric in map(as_mapping, list_at(report, "metrics")[:1]):
        for category in map(as_mapping, list_at(metric, "categories")):
            for subset in map(as_mapping, list_at(category, "subsets")):
                if stem.endswith(f"_{text_at(subset, 'name')}"):
                    return as_number(subset.get("score"))
    return None
