"""Recorded answers and the samples of a data set: which belongs to which, and what does not."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cuescope_sdk import Dataset, Sample, UserError, nearest
from cuescope_sdk.data import shorten_names
from cuescope_sdk.logs import Choices, Log, Record

# another revision of the data misses nearly all (docs/adr/0032)
MOST_UNMATCHED = 0.01  # of the answers, and of the samples
SHORTEST = 8  # letters of a question that tell it from others


@dataclass(frozen=True)
class Joined:
    """The answers to each sample by its index, those of all epochs in order.

    `unmatched` counts, by reason, answers without a sample and samples without an answer.
    """

    answers: Mapping[int, tuple[Record, ...]]
    samples: int
    unmatched: Mapping[str, int] = field(default_factory=dict)
    examples: Sequence[str] = ()

    @property
    def words(self) -> str:
        """What was joined and what was not, in a line."""
        words = f"{len(self.answers):,} of {self.samples:,} samples have an answer"
        rest = "; ".join(f"{count:,} {why}" for why, count in self.unmatched.items())
        return f"{words}; not joined: {rest}" if rest else words


def join(log: Log, data: Dataset, key: str | None = None) -> Joined:
    """Join by the key of a sample, by an annotation named `key`, or else by the row of the split.

    An answer belongs to its sample only where both ask the same and have the same right answer, as
    far as both say it.
    """
    by_key: dict[str, list[Record]] = defaultdict(list)
    for record in log.records:
        by_key[record.key].append(record)
    samples = [data[index] for index in range(len(data))]
    rows: list[list[Record]] = []
    for sample in samples:
        name = str(sample.annotations.get(key)) if key else sample.key
        rows.append(by_key.get(name, []))
    count_joined = sum(map(bool, rows))
    shares_keys = 2 * count_joined >= min(len(by_key), len(samples))
    if key is None and not shares_keys:
        # harnesses of data sets without keys count rows (docs/logs.md)
        by_row = _by_position(log)
        if by_row:
            rows = [by_row.get(index, []) for index in range(len(samples))]
    answers: dict[int, tuple[Record, ...]] = {}
    unmatched: Counter[str] = Counter()
    examples: list[str] = []
    used: set[str] = set()
    for index, (sample, records) in enumerate(zip(samples, rows, strict=True)):
        if not records:
            unmatched["samples without an answer"] += 1
            examples.append(sample.key)
            continue
        # the first is enough: epochs ask the same
        first = records[0]
        used.add(first.key)
        fault = misfit(first, sample)
        if fault is not None:
            unmatched[f"whose {fault}"] += 1
            examples.append(sample.key)
            continue
        answers[index] = tuple(sorted(records, key=lambda record: record.epoch))
    strangers = by_key.keys() - used
    if strangers:
        unmatched["answers of no sample"] += len(strangers)
        examples += sorted(strangers)
    return Joined(answers, len(samples), unmatched, examples)


def require_joined(
    joined: Joined,
    log: Log,
    title: str,
    *,
    allowed: bool,
) -> None:
    """Raise UserError where nothing was joined, or more than a hundredth was not."""
    keys = {record.key for record in log.records}
    # of the larger side: a log of a hundred questions about a set of ten thousand misfits, too
    total = max(joined.samples, len(keys))
    # a wrong key is missed on both sides, and counts once
    missed = total - len(joined.answers)
    if joined.answers and (allowed or missed <= MOST_UNMATCHED * total):
        return
    shown = shorten_names([f"'{name}'" for name in joined.examples])
    first = log.records[0].key
    remedy = "Give the data that were asked, at the same revision, or add allow_unmatched=true"
    if not joined.answers:
        remedy = nearest(first, joined.examples) or (
            "Name the annotation that holds the log's keys: key=NAME"
        )
    raise UserError(
        f"{title}: log and data do not fit: {joined.words}",
        expected=f"at most {MOST_UNMATCHED:.0%} that is not joined",
        got=f"keys as '{first}' in the log, and not joined {shown}",
        remedy=remedy,
    )


def misfit(record: Record, sample: Sample) -> str | None:
    """Why an answer is about something else than its sample; None where nothing says so."""
    if record.question and sample.question:
        asked = _plain(sample.question)
        said = _plain(record.question)
        # a log may hold the whole prompt, with the options and what the harness put around
        if len(asked) >= SHORTEST and asked not in said and said not in asked:
            return "question is another one in the data"
    if record.label is not None and sample.label is not None and sample.choices:
        label = position_of(record.label, record, sample.choices)
        if label is None or sample.choices[label] != sample.label:
            return "right answer is another one in the data"
    return None


def position_of(
    choice: int | str | None,
    record: Record,
    choices: Sequence[str],
) -> int | None:
    """Which of the `choices` a choice of a record is; None where it is none of them."""
    text = record.text_of(choice)
    if text is not None:
        # exactly first: two choices may differ in case alone
        if text in choices:
            return choices.index(text)
        return Choices(choices).index(text)
    # a number without texts counts the choices of the data
    if isinstance(choice, int) and 0 <= choice < len(choices):
        return choice
    return None


def choice_of(record: Record, choices: Sequence[str]) -> int | None:
    """Which of the `choices` the model chose, as the harness counted it; None for none of them."""
    label = position_of(record.label, record, choices)
    # the harness's judgement comes before any reading of words (docs/adr/0032)
    if record.right and label is not None:
        return label
    answer = position_of(record.answer, record, choices)
    if answer is None and record.log_probs:
        best = record.log_probs.index(max(record.log_probs))
        answer = position_of(best, record, choices)
    if answer is None:
        answer = _choice_in_words(record, choices)
    # judged wrong: whatever the words look like, this is not what the harness read in them
    if record.right is False and answer is not None and answer == label:
        return None
    return answer


def _choice_in_words(record: Record, choices: Sequence[str]) -> int | None:
    """The choice that the words name; a letter counts in the order that the model saw."""
    if record.choices:
        shown = Choices(record.choices).find(record.said)
        if shown is not None:
            return position_of(shown, record, choices)
    return Choices(choices).find(record.said)


def _by_position(log: Log) -> dict[int, list[Record]]:
    """The answers by the row of the split; {} where not all have one."""
    by_row: dict[int, list[Record]] = defaultdict(list)
    for record in log.records:
        if record.position is None:
            return {}
        by_row[record.position].append(record)
    return by_row


def _plain(text: str) -> str:
    # case and marks may change on the way into a prompt
    return " ".join(re.findall(r"\w+", text.casefold()))
