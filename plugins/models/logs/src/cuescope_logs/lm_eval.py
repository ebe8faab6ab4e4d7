"""lm-evaluation-harness: `samples_{task}_{date}.jsonl`, one line a question and filter."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from cuescope_logs.values import (
    as_index,
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
from cuescope_sdk import Options, UserError, Words
from cuescope_sdk.logs import (
    Log,
    LogFile,
    LogReader,
    Record,
    figures_of,
    listed_choices,
)

# as MMLU and ARC, MMLU-Pro, HellaSwag and TruthfulQA name them
OPTIONS = ("choices", "options", "endings", "mc1_targets")
# "problem" is MATH's, "input" BBH's and "ctx" HellaSwag's
QUESTIONS = ("question", "problem", "query", "input", "ctx")
MARKS = (b'"doc_id"', b'"doc"', b'"arguments"')


class LmEvalOptions(Options):
    """Which lines count."""

    filter: Annotated[str | None, Words()] = Field(
        None,
        description="the filter whose lines count; default: that of the first line",
    )


class LmEvalLog(LogReader):
    """A line a question, of one filter; the likelihoods of its choices are the model's logits."""

    Options = LmEvalOptions
    options: LmEvalOptions
    title = "lm-eval"

    @classmethod
    def fits(cls, path: Path) -> bool:
        """JSONL whose lines have the question's document beside the answers."""
        start = LogFile(path).first_bytes()
        return path.suffix == ".jsonl" and all(mark in start for mark in MARKS)

    def read(self, path: Path) -> Log:
        """The lines of one filter, and the figures of `results_*.json` beside them."""
        chosen = self.options.filter
        records = []
        others: Counter[str] = Counter()
        for place, line in LogFile(path, self.title).json_lines():
            name = text_at(line, "filter") or "none"
            # each question comes once a filter: two filters would answer it twice
            chosen = chosen or name
            if name == chosen:
                records.append(read_line(line, place))
            else:
                others[f"lines of the filter '{name}'"] += 1
        if not records and others:
            raise UserError(
                f"{self.title}: no line of the filter '{chosen}'",
                expected=", ".join(others),
            )
        task = path.stem.removeprefix("samples_").rpartition("_")[0]
        document = results_beside(path, self.title)
        return Log(
            title=task or path.stem,
            records=tuple(records),
            scores=own_scores(mapping_at(mapping_at(document, "results"), task)),
            left_out=others,
            higher_is_better=directions(document, task),
            expected=count_of_questions(document, task),
            counts_rows=True,
        )


def read_line(line: dict[str, Any], place: str) -> Record:
    """One line; raises UserError that begins with `place`."""
    number = row_number(line, place)
    document = mapping_at(line, "doc")
    arguments = mapping_at(line, "arguments")
    prompts = [as_mapping(arguments[name]) for name in sorted(arguments, key=_order)]
    prompt = text_at(prompts[0], "arg_0") if prompts else ""
    responses = list_at(line, "filtered_resps")
    choices = _choices(document)
    log_probs: tuple[float, ...] = ()
    label = line.get("target")
    if responses and all(isinstance(pair, list) and pair for pair in responses):
        log_probs = tuple(finite_number(pair[0], place) for pair in responses)
        continuations = [text_at(request, "arg_1").strip() for request in prompts]
        # of answers by letter the continuations are letters, and the texts stand in the document
        if len(choices) != len(log_probs):
            choices = continuations
        label = _index_of(label, choices, continuations)
    # choices that were compared by likelihood were not written
    said = "" if log_probs else first_text(responses)
    if len(choices) != len(log_probs):
        log_probs = ()
    # a number without choices is the right answer itself
    if not isinstance(label, int) or not choices:
        label = as_text(label).strip()
    names = map(as_text, list_at(line, "metrics"))
    used = {*OPTIONS, *QUESTIONS}
    return Record(
        key=str(number),
        position=number,
        said=said,
        question=_question(document, prompt),
        choices=tuple(choices or listed_choices(prompt)),
        label=None if label == "" else label,
        log_probs=log_probs,
        figures=figures_of(line, names),
        annotations={
            name: value for name, value in document.items() if name not in used
        },
    )


def results_beside(path: Path, title: str) -> dict[str, Any]:
    """The file `results_{date}.json` of the same run; {} without one."""
    date = path.stem.rpartition("_")[2]
    file = LogFile(path, title).beside(f"results_{date}.json")
    return {} if file is None else as_mapping(file.json_document())


def _order(name: str) -> tuple[int, str]:
    # gen_args_10 comes before gen_args_2 as a text
    digits = name.rpartition("_")[2]
    return (int(digits) if digits.isdecimal() and len(digits) < 9 else 0, name)


def _choices(document: dict[str, Any]) -> list[str]:
    for name in OPTIONS:
        value = document.get(name)
        if isinstance(value, dict):  # {"text": [...], "label": ["A", ...]}
            value = value.get("text", value.get("choices"))
        texts = as_list(value)
        if texts and all(isinstance(text, str) for text in texts):
            return texts
    return []


def _index_of(label: Any, choices: list[str], continuations: list[str]) -> Any:
    """The number of the right choice, however the target says it."""
    text = as_text(label).strip()
    for texts in (choices, continuations):
        if text in texts:
            return texts.index(text)
    # after the texts: a choice may be a number itself
    index = as_index(text, len(choices))
    return text if index is None else index


def _question(document: dict[str, Any], prompt: str) -> str:
    for name in QUESTIONS:
        if isinstance(document.get(name), str):
            return str(document[name])
    return prompt
