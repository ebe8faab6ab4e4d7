"""A recorded answer, a log of them, and the base of what reads one format."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from cuescope_core.types import Options
from cuescope_sdk import Plugin
from cuescope_sdk.data._input_checks import InputCheck


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One recorded answer to one question.

    `key` names the question in its log; another `epoch` of a key is the same question, asked again.
    `choices` stand in the order that the model saw. `answer` is what it chose and `label` what is
    right: the number of a choice, or a text; None where nobody knows. `labels` are the right
    answers where there are several. `log_probs` has one number a choice. `figures` are the
    harness's own judgements by name, as they stand in the log; `judge` reads `right` from them.
    `position` is the row of the data set's split, for logs that name no other key. `images` are
    data URIs, or files in the log's folder. `group` is shared by questions that were drawn
    together, where the log says so; `annotations` may name it too. `shuffled` says that letters in
    `said` count another order than that of `choices`.
    """

    key: str
    epoch: int = 0
    said: str = ""
    question: str | None = None
    choices: tuple[str, ...] = ()
    label: int | str | None = None
    labels: tuple[int | str, ...] = ()
    answer: int | str | None = None
    log_probs: tuple[float, ...] = ()
    right: bool | None = None
    figures: Mapping[str, Any] = field(default_factory=dict)
    position: int | None = None
    group: str | None = None
    images: tuple[str, ...] = ()
    shuffled: bool = False
    annotations: Mapping[str, Any] = field(default_factory=dict)

    def text_of(self, choice: int | str | None) -> str | None:
        """A choice as text; of a number without its choice None."""
        if not isinstance(choice, int):
            return choice
        return self.choices[choice] if 0 <= choice < len(self.choices) else None

    @property
    def right_texts(self) -> tuple[str, ...]:
        """The right answers as texts, those of numbers without choices left out."""
        labels = self.labels or (self.label,)
        return tuple(text for text in map(self.text_of, labels) if text is not None)


@dataclass(frozen=True, slots=True)
class Log:
    """Content of a file: `records` in its order, the harness's own `scores`, what was passed over.

    `left_out` counts, by reason, the answers that cannot be used, and `errors` those of them that
    the harness asked in vain. `notes` are what else a report should say of the file, by a short
    title. `higher_is_better` is the direction of each figure, as the harness states it. `expected`
    is how many questions the harness says that it asked; `counts_rows` that positions count them
    from 0 without a gap. `judgement` is what `judge` read, `checks` what
    `examine` found.
    """

    title: str
    records: tuple[Record, ...]
    model: str | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    errors: int = 0
    higher_is_better: Mapping[str, bool] = field(default_factory=dict)
    expected: int | None = None
    counts_rows: bool = False
    judgement: "Judgement | None" = None
    checks: tuple[InputCheck, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Which `figure` of a log says what is correct, and how it was read.

    `source` says in words where its direction is from. `means` are the means of all figures that
    are judgements, as the harness counts them. `against` counts answers that are the right one word
    for word and count as incorrect, and the other way round; `examples` name some. `contradicted`
    says that the rows show the other direction than is `stated`.
    """

    figure: str | None
    source: str
    higher_is_better: bool = True
    means: Mapping[str, float] = field(default_factory=dict)
    judged: int = 0
    partial: int = 0
    unknown: Mapping[str, int] = field(default_factory=dict)
    others: Mapping[str, float] = field(default_factory=dict)
    against: Mapping[str, int] = field(default_factory=dict)
    examples: tuple[str, ...] = ()
    stated: bool = False
    contradicted: bool = False


class LogReader(Plugin):
    """Reads one format. Subclass it with `title`, `fits` and `read`.

    Nothing in a log is run, fetched or written; each fault is a UserError of one line.
    """

    Options: ClassVar[type[Options]] = Options
    title: ClassVar[str]

    @classmethod
    @abstractmethod
    def fits(cls, path: Path) -> bool:
        """True if a file or folder looks like this format, by its name and its first bytes."""

    @abstractmethod
    def read(self, path: Path) -> Log:
        """Read the file."""
