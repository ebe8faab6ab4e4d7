"""From a file to its log: the reader that fits, and what every log must hold."""

import json
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from cuescope_sdk import Context, Names, Options, UserError, Words, nearest
from cuescope_sdk.logs import Log, LogFile, LogReader, Record, examine, in_child, judge

KIND = "log"
FALLBACK = "table"  # fits any table, so the others are asked before
TABLES = (".csv", ".tsv")  # what these hold can be nothing else
PICKLES = (".pkl", ".pickle", ".pt", ".joblib")
PICKLE = b"\x80"  # how a binary pickle of protocol 2 or later begins
# control characters, which a terminal would obey
REFUSED = {"Cc"}
KEPT = 2  # logs in memory: those of a comparison

_logs: dict[tuple[Any, ...], Log] = {}


class LogOptions(Options):
    """Which log, and how to read it."""

    argument = "file"

    file: Path = Field(
        description="the log: a file, or the folder of a run where it has several"
    )
    format: Annotated[str | None, Names.plugin()] = Field(
        None,
        description="its format, as `cuescope plugins --kind log` lists them; default: as it shows",
    )
    metric: Annotated[str | None, Words()] = Field(
        None,
        description="figure of the log that says what is correct, or 'words' to compare the words "
        "alone; default: the first that the harness wrote",
    )
    reader: Annotated[Mapping[str, Any], Names.plugin()] = Field(
        {}, description="options of the format's reader: '{question: q, answer: a}'"
    )


def open_log(options: LogOptions, context: Context) -> Log:
    """The log; read once for the model and the data. Raises UserError for what cannot be read."""
    path = options.file.expanduser()
    if not path.exists():
        raise UserError(
            "log: no such file or folder",
            expected="a log",
            got=f"'{path}'",
            remedy=_nearest_file(path),
        )
    refuse_pickle(path)
    name = options.format or find_format(path, context)
    given = json.dumps(dict(options.reader), sort_keys=True, default=str)
    # resolved: one file under two paths is read once
    stamp = (str(path.resolve()), *_stamp(path), name, given, options.metric)
    if stamp not in _logs:
        reader: LogReader = context.build(KIND, name, dict(options.reader))
        where = f"{name}: {path.name}"
        # in a child: workbooks, archives and Parquet of strangers are read there
        read = in_child(where, read_log, type(reader), reader.options, path.absolute())
        log = judge(check_log(read, where), where, options.metric)
        # before the first audit of it, and once: later it is in memory
        log = replace(log, checks=tuple(examine(log)))
        for check in log.checks:
            if check.status == "fault":
                context.announce(f"{where}: {check.check}: {check.detail}")
        # the oldest goes: what a process keeps does not grow with the logs that it opened
        while len(_logs) >= KEPT:
            del _logs[next(iter(_logs))]
        _logs[stamp] = log
    return _logs[stamp]


def read_log(kind: type[LogReader], options: Options, path: Path) -> Log:
    """The log as a reader of this kind has it."""
    return kind(options, Context()).read(path)


def refuse_pickle(path: Path) -> None:
    """Raise UserError for a pickle: to open one is to run it."""
    # by name too: an old pickle begins like text, and torch writes a ZIP
    if path.suffix.lower() in PICKLES or LogFile(path).first_bytes(1) == PICKLE:
        raise UserError(
            f"log: {path.name} is a pickle, which runs code as it is opened",
            expected="the log as xlsx, tsv, json, jsonl, parquet or eval",
            remedy="Write it in one of these with the harness that made it",
        )


def find_format(path: Path, context: Context) -> str:
    """The reader whose format the file has; raises UserError where none has, or several have."""
    fitting = []
    names = []
    for entry in context.registry.of_kind(KIND):
        # a reader of somebody else that does not load must not cost the others
        if context.registry.check(entry) is not None:
            continue
        names.append(entry.name)
        if context.registry.load(entry).fits(path):
            fitting.append(entry.name)
    if len(fitting) > 1 and FALLBACK in fitting:
        fitting.remove(FALLBACK)
    if len(fitting) == 1:
        return fitting[0]
    if path.is_file() and path.stat().st_size == 0:
        raise UserError(f"log: '{path.name}' is empty", expected="answers")
    # its reader says which column a table lacks
    if not fitting and FALLBACK in names and path.suffix.lower() in TABLES:
        return FALLBACK
    problem = "looks like no format that is known here"
    if fitting:
        problem = f"may be {' or '.join(fitting)}"
    raise UserError(
        f"log: '{path.name}' {problem}",
        expected=f"one of {', '.join(names)}",
        remedy="Say which: -O log.format=NAME beside --log, else -O model.format=NAME "
        "and -O data.format=NAME",
    )


def check_log(log: Log, where: str) -> Log:
    """The log, its texts whole and each answer once.

    An answer that stands there twice is dropped and counted. Raises UserError where there is none,
    where two answers to one question differ, and for a key that a terminal would obey.
    """
    if not log.records:
        reasons = ", ".join(f"{count:,} {why}" for why, count in log.left_out.items())
        raise UserError(
            f"{where} has no answer that can be used",
            expected="an answer or more",
            got=reasons or "none",
        )
    kept: dict[tuple[str, int], Record] = {}
    left_out = Counter(log.left_out)
    for record in log.records:
        if any(unicodedata.category(letter) in REFUSED for letter in record.key):
            raise UserError(
                f"{where}: the key of an answer",
                expected="no control characters",
                got=ascii(record.key)[:80],
            )
        whole = mend_record(record)
        first = kept.setdefault((whole.key, whole.epoch), whole)
        if first is whole:
            continue
        if answer_parts(first) != answer_parts(whole):
            raise UserError(
                f"{where}: two answers to '{whole.key}' that differ",
                expected="one",
                remedy="Leave one of them out of the file",
            )
        left_out["that stand there twice"] += 1
    return replace(log, records=tuple(kept.values()), left_out=left_out)


def answer_parts(record: Record) -> tuple[object, ...]:
    """All that says what was answered."""
    return (record.said, record.answer, record.log_probs)


def mend(text: str) -> str:
    """The text with a mark for each half of a character, which no file or terminal can hold."""
    if text.isascii():
        return text
    # by UTF-16: two halves that belong together become one character again
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def mend_any(value: int | str | None) -> int | str | None:
    """The same of what may be a number."""
    return mend(value) if isinstance(value, str) else value


def mend_record(record: Record) -> Record:
    """The same of all that a reader took from the log."""
    question = record.question
    if question is not None:
        question = mend(question)
    return replace(
        record,
        key=mend(record.key),
        said=mend(record.said),
        question=question,
        choices=tuple(map(mend, record.choices)),
        label=mend_any(record.label),
        labels=tuple(mend(x) if isinstance(x, str) else x for x in record.labels),
        answer=mend_any(record.answer),
    )


def facts_of(log: Log, options: LogOptions) -> dict[str, str]:
    """What a report says of where the answers come from."""
    model = f" by {log.model}" if log.model else ""
    facts = {"log": f"{log.title}{model} ({options.file.name})"}
    scores = [f"{name} {value:.4g}" for name, value in log.scores.items()]
    if scores:
        facts["scores in the log"] = ", ".join(scores[:8])
    reasons = sorted(log.left_out.items())
    if reasons:
        left_out = [f"{count:,} {reason}" for reason, count in reasons]
        facts["left out of the log"] = ", ".join(left_out)
    judgement = log.judgement
    if judgement is not None and judgement.figure is not None:
        facts["judged by"] = f"the figure '{judgement.figure}' ({judgement.source})"
    return {**facts, **log.notes}


def _stamp(path: Path) -> Iterable[int]:
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    for file in files[:100]:  # a stranger's folder may hold millions
        with suppress(OSError):  # a link to nothing, or to itself
            status = file.stat()
            yield from (status.st_size, status.st_mtime_ns)


def _nearest_file(path: Path) -> str | None:
    if not path.parent.is_dir():
        return None
    return nearest(path.name, [file.name for file in path.parent.iterdir()])
