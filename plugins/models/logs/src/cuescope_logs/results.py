"""Files of answers that papers publish: NExT-QA, MMMU and MMMU-Pro."""

from pathlib import Path
from typing import Any

from cuescope_logs.values import as_mapping, as_text, mapping_at, text_at
from cuescope_sdk import UserError
from cuescope_sdk.logs import (
    Choices,
    Log,
    LogFile,
    LogReader,
    Record,
    figures_of,
    list_of_texts,
)

ANSWERS = "answer_dict_val.json"
MOST_CHOICES = 26  # a letter each
PRO_MARKS = (b'"options"', b'"response"', b'"answer"', b'"id"')
PRO_ANNOTATIONS = ("subject", "topic_difficulty", "img_type")


class NextQALog(LogReader):
    """`{video_question: {"prediction": 4, "answer": 0}}`: numbers of choices."""

    title = "next-qa"

    @classmethod
    def fits(cls, path: Path) -> bool:
        """JSON that begins with such a pair of numbers."""
        start = LogFile(path).first_bytes(300)
        is_object = path.suffix == ".json" and start.lstrip().startswith(b"{")
        return is_object and b'"prediction"' in start and b'"answer"' in start

    def read(self, path: Path) -> Log:
        """The answers; the group is the video, which stands before the last `_` of a key."""
        # of two answers under one key JSON would keep the last without a word
        document = LogFile(path, self.title).json_document(unique=True)
        records = []
        for key, entry in as_mapping(document).items():
            place = f"{self.title}: {path.name} '{key[:60]}'"
            answer = _number(as_mapping(entry).get("prediction"), place)
            label = _number(as_mapping(entry).get("answer"), place)
            group = key.rpartition("_")[0] or key
            records.append(Record(key=key, answer=answer, label=label, group=group))
        return Log(title=path.stem, records=tuple(records))


class MmmuLog(LogReader):
    """MMMU's `total_val_output.json`, letters by id, and `answer_dict_val.json` beside it."""

    title = "mmmu"

    @classmethod
    def fits(cls, path: Path) -> bool:
        """JSON that begins with an id of a validation question and its answer."""
        start = LogFile(path).first_bytes(200).lstrip()
        return (
            path.suffix == ".json"
            and start.startswith((b'{"validation_', b"{\n"))
            # the file of right answers begins alike, but has types
            and (b'"validation_' in start and b'"question_type"' not in start)
        )

    def read(self, path: Path) -> Log:
        """The answers to questions with choices; those in words have no list to choose from."""
        said = as_mapping(LogFile(path, self.title).json_document(unique=True))
        truths = self._right_answers(path)
        if not truths:
            raise UserError(
                f"{self.title}: no {ANSWERS}",
                expected=f"it beside {path.name}, or up to two folders above",
            )
        records = []
        open_questions = 0
        for key, answer in said.items():
            truth = mapping_at(truths, key)
            letter = truth.get("ground_truth")
            has_choices = truth.get("question_type") == "multiple-choice"
            if not has_choices or not isinstance(letter, str):
                open_questions += 1
                continue
            text = as_text(answer)
            records.append(
                Record(
                    key=key,
                    said=text,
                    answer=Choices.letter_index(text, MOST_CHOICES),
                    label=Choices.letter_index(letter, MOST_CHOICES),
                    annotations={"subject": _subject(key)},
                )
            )
        left_out = {"answered in words": open_questions} if open_questions else {}
        return Log(title=path.stem, records=tuple(records), left_out=left_out)

    def _right_answers(self, path: Path) -> dict[str, Any]:
        """By id, from the folder of the answers or one of the two above it; {} without them."""
        for folder in path.absolute().parents[:3]:
            file = folder / ANSWERS
            if file.is_file():
                return as_mapping(LogFile(file, self.title).json_document())
        return {}


class MmmuProLog(LogReader):
    """MMMU-Pro's output: JSONL with question, options, answer and response."""

    title = "mmmu-pro"

    @classmethod
    def fits(cls, path: Path) -> bool:
        """JSONL whose lines have the harness's columns."""
        start = LogFile(path).first_bytes(2**16)
        return path.suffix == ".jsonl" and all(mark in start for mark in PRO_MARKS)

    def read(self, path: Path) -> Log:
        """A line a question."""
        records = []
        for place, line in LogFile(path, self.title).json_lines():
            key = text_at(line, "id")
            if not key:
                raise UserError(f"{place} 'id'", expected="a text", got="none")
            choices = tuple(list_of_texts(line.get("options"), f"{place} 'options'"))
            said = text_at(line, "response")
            stated = text_at(line, "pred_indexs")  # MMMU-Pro spells it so
            answer = Choices.letter_index(stated, len(choices))
            if answer is None:
                answer = Choices(choices).find(said)
            records.append(
                Record(
                    key=key,
                    said=said,
                    question=text_at(line, "question"),
                    choices=choices,
                    label=Choices.letter_index(text_at(line, "answer"), len(choices)),
                    answer=answer,
                    figures=figures_of(line, ("if_right",)),
                    annotations={name: line.get(name) for name in PRO_ANNOTATIONS},
                )
            )
        return Log(
            title=path.stem,
            records=tuple(records),
            higher_is_better={"if_right": True},
        )


def _number(value: Any, place: str) -> int:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if is_number and 0 <= value < MOST_CHOICES:
        return int(value)
    raise UserError(
        place,
        expected="'prediction' and 'answer', numbers of choices from 0",
        got=f"{value!r:.60}",
    )


def _subject(key: str) -> str:
    return key.removeprefix("validation_").rpartition("_")[0]
