"""The questions of a log as data; what the log lacks comes from the data set that was asked."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from cuescope_logs.joining import join, require_joined
from cuescope_logs.opening import LogOptions, facts_of, mend, open_log
from cuescope_logs.pictures import Pictures
from cuescope_logs.values import as_number
from cuescope_sdk import (
    Context,
    Dataset,
    Names,
    Plugin,
    Sample,
    UserError,
    Words,
    digest,
    nearest,
)
from cuescope_sdk.data import (
    BY_ITSELF,
    Grouping,
    shorten_names,
    source_column,
    source_of,
)
from cuescope_sdk.logs import Choices, Log, Record, option_letter
from cuescope_sdk.report import count_of

NUMBER = re.compile(r"[-+]?[.,]?\d[\d.,/ ]*%?")  # 3, 1.5, 1,000, 3/4, 10%
MOST_LABELS = 10  # right answers that are no list of choices, and few enough to be one
EACH_LABEL = 5  # answers that each of them needs
LONGEST_LABEL = 40  # characters
SEVERAL = " + "  # between right options that count together
LONGEST_VALUE = 200  # characters of an annotation


class LogDataOptions(LogOptions):
    """Which log, and the data set that it lacks."""

    data: Annotated[str | None, Names.plugin()] = Field(
        None,
        description="SPEC of the data set that was asked: its samples with an answer are shown",
    )
    data_options: Annotated[Mapping[str, Any], Names.plugin()] = Field(
        {}, description="options of that data set"
    )
    group: Annotated[str | None, Words()] = Field(
        None,
        description="column of what was drawn together (video, patient), or 'none' where each row "
        "was drawn by itself; default: a column whose name and values show it",
    )
    key: Annotated[str | None, Words()] = Field(
        None, description="annotation of that data set that holds the log's keys"
    )
    allow_unmatched: bool = Field(
        False, description="go on where more than 1% of log and data do not fit"
    )


class LogData(Plugin):
    """A sample a question of the log.

    Choices stand in the order that the model saw. The group is what the harness drew together. With
    `data` the samples are those of the data set, as far as they were answered.
    """

    Options = LogDataOptions
    options: LogDataOptions

    def __init__(self, options: LogDataOptions, context: Context) -> None:
        super().__init__(options, context)
        log = open_log(options, context)
        facts = facts_of(log, options)
        self.input_checks = log.checks
        faults = [one for one in self.input_checks if one.status == "fault"]
        if faults:
            lines = [f"{fault.check}: {fault.detail}" for fault in faults]
            facts["faults"] = "; ".join(lines)
        if options.data is not None and options.group is not None:
            raise UserError(
                "log: -O data.group with -O data.data",
                expected="the group of the data set that was asked",
                remedy=f"-O data.data_options='{{group: {options.group}}}'",
            )
        if options.data is None:
            own = LogSamples(log, options.file, options.group)
            self.samples = own.all()
            # letters stand for choices that nobody wrote down: they are no classes
            self.labels = () if own.letters else _shared_choices(self.samples)
            self.facts: Mapping[str, str] = facts | own.facts
            return
        inner: Dataset = context.build("dataset", options.data, options.data_options)
        joined = join(log, inner, options.key)
        require_joined(joined, log, "log", allowed=options.allow_unmatched)
        # in the order of the data: that of the log may be chance
        self.samples = tuple(inner[index] for index in sorted(joined.answers))
        self.labels = inner.labels
        self.facts = {**facts, "answers": joined.words, **inner.facts}

    @cached_property
    def fingerprint(self) -> str:
        """Of everything that a sample shows."""
        shown = []
        for sample in self.samples:
            frames = [frame.key for frame in sample.frames]
            known = (sample.key, sample.question, sample.choices, sample.label)
            shown.append((*known, sample.group, frames, str(sample.annotations)))
        return digest("log", 1, shown)

    def __len__(self) -> int:
        return len(self.samples)

    def group_of(self, index: int) -> str | None:
        """What the harness drew together."""
        return self.samples[index].group

    def __getitem__(self, index: int) -> Sample:
        return self.samples[index]


class LogSamples:
    """The samples of a log, made of its records alone."""

    def __init__(self, log: Log, file: Path, group: str | None = None) -> None:
        self.pictures = Pictures(file)
        self.facts: dict[str, str] = {}
        # another epoch asks the same
        first: dict[str, Record] = {}
        for record in log.records:
            first.setdefault(record.key, record)
        self.records = tuple(first.values())
        self.groups = self._groups(group)
        self.letters = _letters(self.records)
        self.closed = _closed_labels(self.records)
        self.telling = _telling(self.records)
        questions = Counter(_question_parts(record) for record in self.records)
        # questions that two records or more ask
        self.twins = {asked for asked, count in questions.items() if count > 1}

    def all(self) -> tuple[Sample, ...]:
        """Every sample, in the log's order."""
        samples = []
        named = 0
        shown = 0
        twins = 0
        # records whose right answer is none of the choices: "E" of four
        strange = []
        for record in self.records:
            sample = self._sample(record)
            samples.append(sample)
            if record.label is not None and sample.label is None:
                strange.append(f"'{record.label!s:.60}' in '{record.key:.60}'")
            named += bool(record.images)
            shown += bool(sample.frames)
            twins += not sample.frames and _question_parts(record) in self.twins
        if named > shown or not shown:
            # a log that names no picture lacks them all
            lacking = named - shown or len(samples)
            self.facts["pictures"] = (
                f"not in the log for {count_of(lacking, 'samples')}: they have no frames"
            )
        if turned := len(self.pictures.turned):
            self.facts["turned pictures"] = (
                f"{count_of(turned, 'pictures')} shown upright, as EXIF says: some servers show a "
                "model the stored pixels"
            )
        if strange:
            self.facts["right answers"] = (
                f"{count_of(len(strange), 'questions')} without a label, since what the log calls "
                f"right is none of the choices: {shorten_names(strange)}"
            )
        several = sum(bool(record.labels and record.choices) for record in self.records)
        if several:
            self.facts["several right options"] = (
                f"{count_of(several, 'questions')}: judged as a whole by the figure of the log; "
                "places and lengths of options are not tested, since an answer names several"
            )
        if twins:
            self.facts["alike"] = (
                f"{count_of(twins, 'questions')} without a picture, and with no text or that of "
                "others: the key of the row is written behind each, so that answers are not mixed "
                "up"
            )
        return tuple(samples)

    def _groups(self, column: str | None) -> dict[str, str]:
        """What each record was drawn together with, by key, where the log shows it."""
        keys = [record.key for record in self.records]
        if column == BY_ITSELF:
            self.facts["groups"] = (
                "each row was drawn by itself, as declared (group=none)"
            )
            return dict(zip(keys, keys, strict=True))
        rows = [record.annotations for record in self.records]
        if column is not None:
            names = list(dict.fromkeys(name for row in rows for name in row))
            if column not in names:
                raise UserError(
                    f"log: no column '{column}' for the group",
                    expected=f"{', '.join(map(str, names))[:200] or 'a column'} or {BY_ITSELF}",
                    remedy=nearest(column, list(map(str, names))),
                )
            groups = [source_of(row, column) for row in rows]
            words = f"column '{column}'"
        elif any(record.group for record in self.records):
            groups = [record.group for record in self.records]
            words = "what the log says"
        elif (column := source_column(rows)) is not None:
            groups = [source_of(row, column) for row in rows]
            words = f"column '{column}'"
        else:
            pictures = [", ".join(record.images) or None for record in self.records]
            if len(set(filter(None, pictures))) in (
                0,
                1,
                len(list(filter(None, pictures))),
            ):
                return {}
            groups = [picture and digest(picture) for picture in pictures]
            words = "picture, as several rows show the same"
        grouping = Grouping.of(keys, groups, words)
        labels = [record.text_of(record.label) for record in self.records]
        self.facts["groups"] = grouping.describe(labels)
        return dict(zip(keys, grouping.groups, strict=True))

    def _sample(self, record: Record) -> Sample:
        choices, label = self._choices(record)
        frames = self.pictures.frames(record)
        question = record.question
        if not frames and _question_parts(record) in self.twins:
            # told apart, or the answer to one would be given for the other
            question = f"{question or ''} [{record.key}]".strip()
        return Sample(
            key=record.key,
            frames=frames,
            question=question,
            choices=choices,
            label=label,
            group=self.groups.get(record.key),
            annotations=_plain_annotations(record.annotations, self.telling),
        )

    def _choices(self, record: Record) -> tuple[tuple[str, ...], str | None]:
        """The choices and the right one; letters where the log has numbers alone.

        Of several right answers any one counts, or of options all of them: no option is the label.
        """
        if record.labels:
            texts = record.right_texts
            return (), (
                SEVERAL.join(texts) if record.choices else texts[0]
            ) if texts else None
        choices = record.choices or self.letters or self.closed
        index = record.label
        if isinstance(index, str):
            # an answer in words has nothing to stand among
            if not choices:
                return choices, index
            index = Choices(choices).index(index)
        if index is None or not 0 <= index < len(choices):
            return choices, None
        return choices, choices[index]


def _question_parts(record: Record) -> tuple[object, ...]:
    return (record.question, record.choices)


def _letters(records: tuple[Record, ...]) -> tuple[str, ...]:
    """Choices that nobody wrote down: as many letters as the highest number needs."""
    highest = 0
    for record in records:
        if record.choices:
            return ()
        for choice in (record.answer, record.label):
            if isinstance(choice, int):
                highest = max(highest, choice)
    # numbers that are all 0 show no second choice
    return tuple(map(option_letter, range(highest + 1))) if highest else ()


def _closed_labels(records: tuple[Record, ...]) -> tuple[str, ...]:
    """The right answers, where they are few words that come again and again, as yes and no."""
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    for record in records:
        # a row without a right answer says nothing of them, one with several stands by itself
        if record.labels or (record.label is None and not record.choices):
            continue
        if record.choices or not isinstance(record.label, str):
            return ()
        # "Yes" and "yes" are one answer
        spellings[record.label.strip().casefold()][record.label.strip()] += 1
    labels = [count.most_common(1)[0][0] for count in spellings.values()]
    if not 2 <= len(labels) <= MOST_LABELS:
        return ()
    if len(records) < EACH_LABEL * len(labels):
        return ()
    for label in labels:
        # a number is counted or worked out, and not picked from a few
        if len(label) > LONGEST_LABEL or NUMBER.fullmatch(label):
            return ()
    # sorted: the choices must not depend on which question comes first
    return tuple(sorted(labels))


def _shared_choices(samples: tuple[Sample, ...]) -> tuple[str, ...]:
    """The choices of every sample where all have the same ones, else none."""
    # as sets: options in another order are the same classes
    shared = {frozenset(sample.choices) for sample in samples}
    # a question alone shares its choices with nobody
    if len(samples) < 2 or len(shared) > 1:
        return ()
    return samples[0].choices


def _telling(records: tuple[Record, ...]) -> frozenset[str]:
    """Columns that say the right answer again: they are no property of a question."""
    same: Counter[str] = Counter()
    for record in records:
        label = record.text_of(record.label)
        if label is None:
            continue
        # by its text, its letter or its number
        index = Choices(record.choices).index(label)
        ways = {label, str(record.label), str(index)}
        if index is not None:
            ways.add(option_letter(index))
        for name, value in record.annotations.items():
            same[name] += str(value).strip() in ways
    # of every record: a property may equal the answer here and there by chance
    return frozenset(name for name, count in same.items() if count == len(records))


def _plain_annotations(
    annotations: Mapping[str, Any], left_out: frozenset[str]
) -> dict[str, Any]:
    """Words and numbers alone, of a length that a report can show."""
    plain: dict[str, Any] = {}
    for name, value in annotations.items():
        if name in left_out:
            continue
        if isinstance(value, str) and value.strip():
            plain[mend(name)] = mend(value)[:LONGEST_VALUE]
        # as_number takes no bool, though Python counts it as a number
        elif isinstance(value, bool) or as_number(value) is not None:
            plain[mend(name)] = value
    plain.pop("cues", None)  # the answer sheet of planted cues is no word of a stranger
    return plain


__all__ = ["LogData", "LogDataOptions"]
