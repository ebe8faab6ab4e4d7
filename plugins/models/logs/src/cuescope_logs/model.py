"""A log as a model: it says again what was recorded, and nothing else."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from cuescope_logs.joining import Joined, choice_of, join, position_of, require_joined
from cuescope_logs.opening import LogOptions, answer_parts, facts_of, open_log
from cuescope_logs.values import LEAST_LOG_PROB
from cuescope_sdk import (
    Capabilities,
    Context,
    Dataset,
    Output,
    Plugin,
    Response,
    Sample,
    Trial,
    UserError,
    Words,
    digest,
    generator,
)
from cuescope_sdk.language import normalise_answer
from cuescope_sdk.logs import Record
from cuescope_sdk.models import refuse_unanswerable
from cuescope_sdk.report import count_of

# of choices that were not chosen, where a log says no likelihoods: as a model that is sure
UNLIKELY = -10.0


class LogModelOptions(LogOptions):
    """Which log, and how its answers are joined and given."""

    key: Annotated[str | None, Words()] = Field(
        None, description="annotation of the data that holds the log's keys"
    )
    allow_unmatched: bool = Field(
        False, description="go on where more than 1% of log and data do not fit"
    )
    text: Literal["answer", "said"] = Field(
        "answer",
        description="text to give: the answer as the harness read it, or all that the model said",
    )


class LogModel(Plugin):
    """Answers each sample as it was answered in the log.

    A sample is known by what it shows and asks, so a changed one has no answer: that is refused.
    Epochs are repeats.
    """

    Options = LogModelOptions
    options: LogModelOptions
    answers_version = 1
    own_data = "log"  # the same file holds the questions
    # at most: an instance without choices has no logits
    capabilities = Capabilities(
        outputs=frozenset(("logits", "text")),
        exposes=frozenset({"recorded"}),
        min_frames=0,
    )

    def __init__(self, options: LogModelOptions, context: Context) -> None:
        super().__init__(options, context)
        log = open_log(options, context)
        # asked what it can do, with no data named: those of the log
        shared = {name: getattr(options, name) for name in LogOptions.model_fields}
        own = self.own_data
        data: Dataset = context.dataset or context.build("dataset", own, shared)
        joined = join(log, data, options.key)
        require_joined(joined, log, "log", allowed=options.allow_unmatched)
        answers = Answers(data, joined)
        self._answers = answers.by_content
        self.random_answers = answers.epochs > 1
        self.capabilities = Capabilities(
            outputs=answers.outputs,
            exposes=frozenset({"recorded"}),
            min_frames=0,
        )
        # answers too: of other data the same file belongs to other samples
        self.fingerprint = digest("log", 1, answers.summary, options.text)
        self.facts = facts_of(log, options) | answers.facts(joined)

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """What was recorded for each trial; raises UserError for what nobody asked then."""
        refuse_unanswerable("log", self.capabilities, trials)
        return [self._answer(trial) for trial in trials]

    def _answer(self, trial: Trial) -> Response:
        sample = trial.sample
        content = content_of(sample)
        if content not in self._answers:
            raise UserError(
                f"log: nobody asked '{sample.key}' as it is shown here",
                expected="a sample of the data, unchanged",
                got="another picture, question or choice",
                remedy="`cuescope methods --model log:FILE` says which methods a log is enough for",
            )
        records = self._answers[content]
        # with more repeats than epochs they come again
        record = records[trial.repeat % len(records)] if records else None
        values: np.ndarray | None = None
        text: str | None = None
        if "logits" in trial.outputs:
            values = logits(record, sample)
        if "text" in trial.outputs:
            text = self._text(record, sample)
        return Response(logits=values, text=text)

    def _text(self, record: Record | None, sample: Sample) -> str:
        if record is None:
            return ""
        if self.options.text == "said":
            return record.said
        return answer_text(record, sample)


class Answers:
    """The answers of a data set by what its samples show and ask."""

    def __init__(self, data: Dataset, joined: Joined) -> None:
        self.by_content: dict[str, tuple[Record, ...] | None] = {}
        self.summary: list[object] = []
        self.epochs = 1
        has_choices = True
        self.unread = 0
        self.right = 0
        self.judged = 0
        clashing: Counter[str] = Counter()
        for index in range(len(data)):
            sample = data[index]
            content = content_of(sample)
            records = joined.answers.get(index)
            known = self.by_content.get(content)
            if known and records and _differ(known, records, sample):
                clashing[content] += 1
            self.by_content[content] = known or records
            has_choices = has_choices and len(sample.choices) > 1
            if not records:
                continue
            self.epochs = max(self.epochs, len(records))
            given = []
            for record in records:
                self._count(record, sample)
                given.append((*answer_parts(record), record.right))
            self.summary.append((content, given))
        # which of two answers belongs to what cannot be told apart is not known
        for content in clashing:
            self.by_content[content] = None
        self.clashes = clashing.total()
        outputs: set[Output] = {"text"}
        if has_choices:
            outputs.add("logits")
        self.outputs = frozenset(outputs)

    def _count(self, record: Record, sample: Sample) -> None:
        if sample.label is None:
            return
        self.judged += 1
        if not sample.choices:
            said = normalise_answer(answer_text(record, sample))
            self.right += said == normalise_answer(sample.label)
            return
        choice = choice_of(record, sample.choices)
        self.unread += choice is None
        self.right += choice is not None and sample.choices[choice] == sample.label

    def facts(self, joined: Joined) -> dict[str, str]:
        """What a report says of the join and of the answers."""
        facts = {"answers": joined.words}
        if self.judged:
            share = self.right / self.judged
            facts["accuracy"] = f"{share:.2%} of {self.judged:,} answers"
        if self.unread:
            facts["no choice named"] = (
                f"{count_of(self.unread, 'answers')}: counted as wrong, as one of the wrong "
                "choices by chance"
            )
        if self.clashes:
            facts["left out"] = (
                f"{count_of(self.clashes, 'samples')} with the picture and question of another "
                "one, and another answer: their logits are all equal"
            )
        if self.epochs > 1:
            facts["epochs"] = (
                f"{count_of(self.epochs, 'answers')} to a question; the first counts, and "
                "--repeats "
                f"{self.epochs} takes all"
            )
        return facts


def logits(record: Record | None, sample: Sample) -> np.ndarray:
    """Log-likelihoods where the log has them, else the choice alone.

    Where nobody answered all are equal. An answer that names no choice is wrong: it counts as one
    of the wrong choices, by chance.
    """
    choices = sample.choices
    count = len(choices)
    if record is None:
        return np.full(count, -np.log(max(count, 1)), np.float32)
    choice = choice_of(record, choices)
    if choice is None:
        choice = _wrong_choice(record, choices)
    elif len(record.log_probs) == count:
        values = _recorded_log_probs(record, choices)
        # a harness may choose by normalised likelihoods: its own choice decides
        if int(values.argmax()) == choice:
            return values
    values = np.full(count, UNLIKELY, np.float32)
    values[choice] = 0
    return values


def _recorded_log_probs(record: Record, choices: Sequence[str]) -> np.ndarray:
    """The log's likelihoods in the order of the data's choices."""
    # for a choice of the data that the log did not offer
    values = np.full(len(choices), LEAST_LOG_PROB, np.float32)
    for number, value in enumerate(record.log_probs):
        place = position_of(number, record, choices)
        if place is not None:
            values[place] = value
    return values


def answer_text(record: Record, sample: Sample) -> str:
    """The answer as the harness read it: a choice, the right answer where it said so, or words."""
    if sample.choices:
        choice = choice_of(record, sample.choices)
        return record.said.strip() if choice is None else sample.choices[choice]
    label = sample.label if record.labels else record.text_of(record.label)
    if record.right and label is not None:
        return label
    answer = record.text_of(record.answer)
    said = record.said.strip() if answer is None else answer
    accepted = {normalise_answer(text) for text in (*record.right_texts, label or "")}
    is_right = bool(said) and normalise_answer(said) in accepted
    # judged wrong, though the words are the same: it must not pass for right
    if record.right is False and is_right:
        return f"{said} (judged wrong)"
    # any of several right answers counts
    if record.right is None and is_right and not record.choices:
        return label or said
    return said


def _wrong_choice(record: Record, choices: Sequence[str]) -> int:
    """A choice that the log does not call right, by chance; the same one every time."""
    label = position_of(record.label, record, choices)
    wrong = [index for index in range(len(choices)) if index != label]
    if not wrong:
        return 0
    rng = generator(0, "log", record.key, str(record.epoch))
    return wrong[int(rng.integers(len(wrong)))]


def _differ(first: Sequence[Record], second: Sequence[Record], sample: Sample) -> bool:
    known = {answer_text(record, sample) for record in first}
    others = {answer_text(record, sample) for record in second}
    return known != others


def content_of(sample: Sample) -> str:
    """Digest of what a sample shows and asks: how recorded answers know it, whatever its key."""
    frames = [frame.key for frame in sample.frames]
    return digest(frames, sample.question, sample.choices)


__all__ = ["LogModel", "LogModelOptions"]
