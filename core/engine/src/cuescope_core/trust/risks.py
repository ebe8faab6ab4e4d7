"""Marks on options: what the value of an option can make this computer do.

There are three: `Words` name nothing, `NamesFile` names what is read, which has to lie in the
sender's own folder, and `NeedsAllow` is for all else. A number, a flag or a fixed word can name
nothing; a number has a limit by itself. Every other option has a mark, `Annotated[str, Words()]`,
or holds paths alone: mark enough. A value that arrives for an option without a mark is refused: a
new plugin cannot forget it. So is one for an option that is marked as words and can hold anything
else.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from pathlib import Path
from types import NoneType
from typing import Any, Literal, Protocol, get_args, get_origin

from pydantic.fields import FieldInfo

MOST_TIMES = 1000  # of a plugin's own number: what took seconds takes an hour
HUB = "hub"  # what `--allow` calls the Hugging Face hub
_HARMLESS = (bool, int, float, complex, NoneType, Enum)
# a word of `--allow`, as a shell takes it
_WORD = re.compile(r"\S{1,200}")


@dataclass(frozen=True)
class Refusal:
    """A refused value: its request, the word for `--allow`, and why to be sure of it."""

    wanted: str
    word: str
    why: str


class Sender(Protocol):
    """Whatever named a value: see `cuescope_core.trust.source.Source`."""

    @property
    def folder(self) -> Path:
        """The folder that is its own."""

    @property
    def allowed(self) -> frozenset[str]:
        """The words of `--allow`."""

    def may_read(self, path: str) -> bool:
        """True if a file lies where the sender may name it."""


@dataclass(frozen=True)
class Risk(ABC):
    """Risk of an option's value.

    A guard that was opened for one command stays closed in the next one, and has to be
    `typed_anew`. `of_defaults_too`: the plugin's own value is looked at as well.
    """

    typed_anew: bool = field(default=False, kw_only=True)
    of_defaults_too: bool = field(default=False, kw_only=True)

    @abstractmethod
    def refusal(
        self,
        name: str,
        value: Any,
        source: Sender,
        options: Any,
    ) -> Refusal | None:
        """Why the value of option `name` is not taken from `source`, None where it is."""


@dataclass(frozen=True)
class Words(Risk):
    """Text that is compared, shown, or put to the model: it names nothing."""

    def refusal(self, name: str, value: Any, source: Sender, options: Any) -> None:
        """Never."""


@dataclass(frozen=True)
class NeedsAllow(Risk):
    """Value that spends, names or runs something, or opens a guard; `why` says what may happen.

    A smaller number than the plugin's own is harmless, and so is a text that fits the pattern
    `harmless`.
    """

    why: str
    harmless: str | None = None

    def refusal(
        self,
        name: str,
        value: Any,
        source: Sender,
        options: Any,
    ) -> Refusal | None:
        """Where it is not harmless."""
        usual = _usual(options, name)
        # None is no limit at all
        if isinstance(value, Mapping | NoneType):
            is_more = value != usual
        elif isinstance(value, int | float):
            # True is more than False
            is_more = not isinstance(usual, int | float) or value > usual
        else:
            return self._refusal_of_texts(name, value)
        wanted = name if value is True else f"{name}={value}"
        return Refusal(wanted, name, self.why) if is_more else None

    def _refusal_of_texts(self, name: str, value: Any) -> Refusal | None:
        for text in _texts(value):
            if self.harmless is None or not re.fullmatch(self.harmless, text):
                word = text if _WORD.fullmatch(text) else name
                return Refusal(text, word, self.why)
        return None


@dataclass(frozen=True)
class NamesFile(Risk):
    """A file or folder that is read.

    With `or_words` a text that is no path and names nothing here is words, and with `or_hub` the id
    of a repository of the hub, from which weights or data are fetched. `from_here` is whether a
    path in it is from the working folder.
    """

    or_words: bool = False
    or_hub: bool = False
    from_here: bool = True

    def refusal(
        self,
        name: str,
        value: Any,
        source: Sender,
        options: Any,
    ) -> Refusal | None:
        """Where it does not lie in the source's own folder."""
        for text in _texts(value):
            paths = [text]
            if self.or_words or self.or_hub:
                # an ARG may be written A:B, and either side be a path
                parts = (text, text.rpartition(":")[0], text.partition(":")[2])
                paths = [part for part in parts if part and _is_path(part)]
            for path in paths:
                # as a path an address lies in the working folder, but a library would fetch it
                if "://" in path or not source.may_read(path):
                    why = f"it is not in {source.folder}, and is read"
                    return Refusal(text, path, why)
            if self.or_hub and not paths and not {HUB, text} & source.allowed:
                return Refusal(text, HUB, "it is fetched from the hub, with your token")
        return None


@dataclass(frozen=True)
class Counts(Risk):
    """A number: of what there is to do, as draws or samples, a sender may want without end."""

    def refusal(
        self,
        name: str,
        value: Any,
        source: Sender,
        options: Any,
    ) -> Refusal | None:
        """Where it is many times the plugin's own, or of a fraction a small part of it."""
        usual = _usual(options, name)
        # of seeds and numbers of layers 0 is usual, or less, and none of them costs more
        if (
            type(usual) not in (int, float)
            or type(value) not in (int, float)
            or usual <= 0
        ):
            return None
        # draws are as many as the inverse of a level
        is_small = type(usual) is float and 0 < value < usual / MOST_TIMES
        if value <= MOST_TIMES * usual and not is_small:
            return None
        wanted = f"{name}={str(value)[:30]}"
        kind = "so small a number" if is_small else "so many"
        return Refusal(wanted, name, f"{usual} is usual, and {kind} can take hours")


def too_many(name: str, value: Any, options: Any) -> Refusal | None:
    """Why a list of a sender is not taken: it is many times as long as the plugin's own."""
    if not isinstance(value, tuple | list | set | frozenset | Mapping):
        return None
    usual = _usual(options, name)
    most = MOST_TIMES * max(1, len(usual) if isinstance(usual, type(value)) else 1)
    if len(value) <= most:
        return None
    return Refusal(
        f"{len(value):,} of {name}", name, f"more than {most:,} of them can take hours"
    )


OpensGuard = partial(NeedsAllow, typed_anew=True)
RunsCode = partial(OpensGuard, "it runs code that others wrote")
RaisesLimit = NeedsAllow


class Names:
    """Mark of the text of an option by what it names: `Annotated[str, Names.file()]`."""

    file = NamesFile
    repository = partial(NamesFile, or_hub=True)
    # of the data, such as a split; it may be the name of a folder in it
    part = partial(NamesFile, or_words=True, from_here=False)
    # a SPEC of another plugin, or its options: they are looked at again when it is built
    plugin = partial(NamesFile, or_words=True, from_here=False)
    # `ray:4` names no host: it is four workers of this machine
    host: Callable[[], NeedsAllow] = partial(
        NeedsAllow, "requests, and what they carry, go there", harmless=r"\d+"
    )
    # no sign that repeats or groups: such a pattern never takes a second try
    pattern: Callable[[], NeedsAllow] = partial(
        NeedsAllow, "such a pattern can take hours", harmless=r"[\w ,/-]*"
    )
    # an environment variable
    secret: Callable[[], NeedsAllow] = partial(
        NeedsAllow,
        "its value is sent to a server, where you pay for what is asked",
        of_defaults_too=True,
    )


UNDECLARED = NeedsAllow(
    "its plugin does not declare what such text can do (cuescope_sdk.Words() ...)"
)


def risks_of(field: FieldInfo) -> tuple[Risk, ...]:
    """The marks of an option; `UNDECLARED` where it needs one and has none that fits."""
    marks = tuple(mark for mark in field.metadata if isinstance(mark, Risk))
    kinds = [kind for kind in _kinds(field.annotation) if not _is_a(kind, _HARMLESS)]
    # a type, not a promise: a dictionary of anything is no text
    holds_text = all(_is_a(kind, str) for kind in kinds)
    if marks and not (Words() in marks and not holds_text):
        return marks
    if not kinds:
        return (Counts(),)
    if all(_is_a(kind, Path) for kind in kinds):
        return (NamesFile(),)
    return (UNDECLARED,)


def _kinds(annotation: Any) -> Iterator[Any]:
    """The types that values of an annotation are made of."""
    if get_origin(annotation) is Literal:
        return
    inner = [part for part in get_args(annotation) if part is not Ellipsis]
    if not inner:
        yield annotation
    for part in inner:
        if isinstance(part, type) or get_origin(part) is not None:
            yield from _kinds(part)
        # of a part of a union: the field itself has no such mark
        if isinstance(part, Risk):
            yield object


def _is_a(kind: Any, base: type | tuple[type, ...]) -> bool:
    return isinstance(kind, type) and issubclass(kind, base)


def _usual(options: Any, name: str) -> Any:
    """The plugin's own value of an option."""
    return type(options).model_fields[name].get_default(call_default_factory=True)


def _texts(value: Any) -> Iterator[str]:
    """Every text of a value, of keys too."""
    if isinstance(value, str | Path):
        yield str(value)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(key)
            yield from _texts(inner)
    elif isinstance(value, tuple | list | set | frozenset):
        for inner in value:
            yield from _texts(inner)


def _is_path(text: str) -> bool:
    """True if a text is spelled as a path or an address, or names something here."""
    # both separators: a plain name here may be a path on Windows
    if text[0] in "/.~\\" or "://" in text or ".." in re.split(r"[/\\]", text):
        return True
    try:
        # expanded, as a plugin may do
        return Path(text).expanduser().exists()
    except (OSError, ValueError, RuntimeError):
        # too long, a null in it, no such user: nothing to be trusted
        return "\0" in text
