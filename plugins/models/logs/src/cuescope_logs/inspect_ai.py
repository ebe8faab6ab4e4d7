"""inspect_ai's logs: `.eval` archives of both layouts, and the same in one JSON file."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
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
from cuescope_sdk.logs import (
    Archive,
    Choices,
    Log,
    LogFile,
    LogReader,
    Record,
    listed_choices,
)

VERSIONS = (2, 3)  # 3 has samples in chunks
# inspect stores a long text once, and puts such an address in its place
ATTACHED = ("attachment://", "tc://")
TITLE = "inspect"
SAMPLES = "samples/"
SHELL = "sample.json"
METADATA = "metadata.json"
SENT = "the following was sent to the model:"


class InspectLog(LogReader):
    """A sample an answer; its epochs are the same question again.

    The choices stand as the model saw them: shuffled ones are read from its messages.
    """

    title = TITLE

    @classmethod
    def fits(cls, path: Path) -> bool:
        """An archive `.eval`, or JSON that begins with the version and the task."""
        start = LogFile(path).first_bytes()
        if path.suffix == ".eval":
            return start.startswith(b"PK")
        return path.suffix == ".json" and b'"eval"' in start and b'"version"' in start

    def read(self, path: Path) -> Log:
        """Its samples; of a run that broke off those that were written."""
        if path.suffix != ".eval":
            document = _object(LogFile(path, TITLE).json_document(), path.name)
            samples = document.get("samples") or []
            if not isinstance(samples, list):
                raise UserError(
                    f"{TITLE}: {path.name}",
                    expected="a list of samples",
                    got=f"{samples!r:.60}",
                )
            return self._log(document, samples, path)
        with Archive.open(path, TITLE) as archive:
            members = set(archive.members)
            header = {}
            # a run that broke off has no header yet
            for name in ("header.json", "_journal/start.json"):
                if name in members:
                    header = _object(archive.json(name), name)
                    break
            samples = read_samples(archive, sorted(archive.members))
            return self._log(header, samples, path)

    def _log(self, header: Mapping[str, Any], samples: Any, path: Path) -> Log:
        version = header.get("version", VERSIONS[0])
        if version not in VERSIONS:
            raise UserError(
                f"{TITLE}: {path.name}",
                expected=f"a log of version {VERSIONS[0]}",
                got=f"{version!r:.20}",
                remedy="`inspect log convert` writes the newer form",
            )
        about = mapping_at(header, "eval")
        records = []
        failed = 0
        for number, sample in enumerate(samples, start=1):
            place = f"{path.name} sample {number}"
            record = self._record(_object(sample, place), f"{TITLE}: {place}")
            # an error is no answer of the model
            if record is None:
                failed += 1
            else:
                records.append(record)
        task = text_at(about, "task")
        dataset = text_at(mapping_at(about, "dataset"), "name")
        return Log(
            title=" on ".join(filter(None, (task, dataset))),
            records=tuple(records),
            model=text_at(about, "model") or None,
            scores=_scores(header),
            left_out={"ended with an error": failed} if failed else {},
            errors=failed,
            higher_is_better=_directions(header),
            expected=_asked(about),
        )

    def _record(self, sample: dict[str, Any], place: str) -> Record | None:
        key = sample.get("id")
        if sample.get("error") is not None or not isinstance(key, int | str):
            return None
        attached = mapping_at(sample, "attachments")
        listed = list_at(sample, "messages")
        messages = [message for message in listed if isinstance(message, dict)]
        asked, images = read_parts(_question_content(sample, messages), attached)
        choices = [as_text(choice) for choice in list_at(sample, "choices")]
        figures = mapping_at(sample, "scores")
        score = mapping_at(figures, next(iter(figures), ""))
        prompt, _ = read_parts(_first_user(messages), attached)
        order = shown_order(choices, text_at(score, "explanation"), prompt)
        said = _last_words(sample, attached)
        labels = read_labels(sample.get("target"), choices, order)
        return Record(
            key=str(key),
            # inspect counts them from 1
            epoch=int(as_number(sample.get("epoch")) or 1),
            said=said,
            question=asked,
            choices=tuple(order),
            label=labels[0] if len(labels) == 1 else None,
            labels=labels if len(labels) > 1 else (),
            answer=read_answer(score.get("answer"), choices, order, said),
            figures={
                name: as_mapping(score).get("value") for name, score in figures.items()
            },
            images=tuple(images),
            shuffled=list(order) != choices,
            annotations=mapping_at(sample, "metadata"),
        )


def shown_order(
    choices: Sequence[str],
    explanation: str,
    prompt: str,
) -> Sequence[str]:
    """The choices in the order that the model saw.

    A solver that shuffles puts its messages back in order afterwards, and says in the score what it
    had sent; data that were shuffled before stand so in the prompt.
    """
    for text in (explanation.partition(SENT)[2], prompt):
        shown = listed_choices(text)
        # a list of other texts belongs to an example in the prompt
        if shown and sorted(shown) == sorted(choices):
            return shown
    return choices


def read_labels(
    target: Any,
    choices: Sequence[str],
    order: Sequence[str],
) -> tuple[int | str, ...]:
    """The right answers: numbers of choices as they were shown, or texts."""
    targets = target if isinstance(target, list) else [target]
    labels: list[int | str] = []
    for text in filter(None, (as_text(target).strip() for target in targets)):
        # the letter is of the order before the shuffle
        index = Choices.letter_index(text, len(choices))
        labels.append(text if index is None else order.index(choices[index]))
    return tuple(labels)


def read_answer(
    answer: Any,
    choices: Sequence[str],
    order: Sequence[str],
    said: str,
) -> int | str | None:
    """What the harness read in the answer: the number of a choice as it was shown, or a text."""
    if not choices:
        return as_text(answer) or None
    # the scorer's letter is of the order before the shuffle
    index = Choices.letter_index(as_text(answer), len(choices))
    if index is not None:
        return order.index(choices[index])
    return Choices(order).find(said)


def read_samples(archive: Archive, members: Sequence[str]) -> Iterator[Any]:
    """Every sample of an archive, one at a time, of either layout; `members` are sorted.

    Raises UserError for a sample that stands there twice.
    """
    # by folder once: to look through all members for each sample would take their square
    chunks: dict[str, list[str]] = defaultdict(list)
    before = None
    for name in members:
        if name == before and name.startswith(SAMPLES):
            # of two the archive gives the last, and the first would be passed over
            raise UserError(f"{archive.name}: two members '{name[:80]}'")
        before = name
        folder, _, last = name.rpartition("/")
        chunks[folder].append(last)
    for name in members:
        if not name.startswith(SAMPLES):
            continue
        parts = name.split("/")
        if len(parts) == 2 and name.endswith(".json"):
            yield archive.json(name)
        elif len(parts) == 3 and parts[2] == SHELL:
            yield read_chunked(archive, "/".join(parts[:2]), chunks)


def read_chunked(
    archive: Archive,
    folder: str,
    chunks: Mapping[str, Sequence[str]],
) -> Any:
    """A sample in chunks as one object; its events are passed over."""
    sample = _object(archive.json(f"{folder}/{SHELL}"), folder)
    pool = _sequence(archive, f"{folder}/messages", chunks)
    messages = []
    for pair in list_at(sample, "message_refs"):
        ends = as_list(pair)
        if len(ends) == 2 and all(isinstance(end, int) for end in ends):
            messages += pool[ends[0] : ends[1]]
    attached = _sequence(archive, f"{folder}/attachments", chunks)
    sample["messages"] = messages
    sample["attachments"] = {str(n): text for n, text in enumerate(attached)}
    if METADATA in chunks[folder]:
        sample["metadata"] = archive.json(f"{folder}/{METADATA}")
    return sample


def _sequence(
    archive: Archive,
    folder: str,
    chunks: Mapping[str, Sequence[str]],
) -> list[Any]:
    """The items of a sequence: its chunks are named by their first item."""
    starts = []
    for name in chunks.get(folder, ()):
        stem = name.removesuffix(".json")
        # int() refuses thousands of digits, which a stranger may write
        if stem.isdecimal() and len(stem) < 10:
            starts.append(int(stem))
    items: list[Any] = []
    # by number: as texts, 10 comes before 9
    for start in sorted(starts):
        items += as_list(archive.json(f"{folder}/{start}.json"))
    return items


def read_parts(content: Any, attached: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The text of a message's content, and its pictures."""
    if isinstance(content, str):
        return _resolve(content, attached), []
    texts: list[str] = []
    images: list[str] = []
    for part in map(as_mapping, as_list(content)):
        kind = part.get("type")
        if kind not in ("text", "image"):
            continue
        text = text_at(part, kind)
        (texts if kind == "text" else images).append(_resolve(text, attached))
    return "\n".join(texts), images


def _question_content(
    sample: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]
) -> Any:
    """The content of the question: a text, or the last message of the user in the input."""
    asked = sample.get("input")
    if asked is None:
        return _first_user(messages)
    if not isinstance(asked, list):
        return asked
    # the last one
    for message in map(as_mapping, reversed(asked)):
        if message.get("role") == "user":
            return message.get("content")
    return ""


def _first_user(messages: Sequence[Mapping[str, Any]]) -> Any:
    for message in messages:
        if message.get("role") == "user":
            return message.get("content")
    return ""


def _last_words(sample: Mapping[str, Any], attached: Mapping[str, Any]) -> str:
    """The model's last words."""
    choices = list_at(mapping_at(sample, "output"), "choices")
    message = mapping_at(choices[0], "message") if choices else {}
    text, _ = read_parts(message.get("content"), attached)
    return text


def _resolve(text: str, attached: Mapping[str, Any]) -> str:
    for scheme in ATTACHED:
        if text.startswith(scheme):
            return as_text(attached.get(text.removeprefix(scheme)))
    return text


def _scores(header: Mapping[str, Any]) -> dict[str, float]:
    """The harness's own figures by scorer and metric."""
    scores = {}
    for score in list_at(mapping_at(header, "results"), "scores"):
        for name, metric in mapping_at(score, "metrics").items():
            value = as_number(as_mapping(metric).get("value"))
            if value is not None:
                scores[f"{text_at(score, 'name')} {name}"] = value
    return scores


def _directions(header: Mapping[str, Any]) -> dict[str, bool]:
    """Scorers that are counted as an accuracy: their scores are better when higher."""
    scorers = {}
    for score in list_at(mapping_at(header, "results"), "scores"):
        if "accuracy" in mapping_at(score, "metrics"):
            scorers[text_at(score, "name")] = True
    return scorers


def _asked(about: Mapping[str, Any]) -> int | None:
    """How many samples the harness asked, each in all of its epochs."""
    count = as_number(mapping_at(about, "dataset").get("samples"))
    limit = mapping_at(about, "config").get("limit")
    return None if count is None or limit is not None else int(count)


def _object(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UserError(
            f"{TITLE}: {place}", expected="a JSON object", got=f"{value!r:.60}"
        )
    return value
