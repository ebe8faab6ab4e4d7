"""Commands to type after a report: in a shell, or in Python where objects stood for SPECs."""

import re
import shlex
from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

# `PythonRequest.command` writes the name of an object so, which no Python reads
_OBJECT = re.compile(r"\b(model|data)=<[\w.-]+>")
_REMARK = "  # Python, "


@dataclass(frozen=True)
class Typed:
    """The command of a run, and what can be typed after it.

    Of a call of `cuescope.audit` with objects of the caller that is what its run alone is needed
    for; for all else the caller has the call.
    """

    command: str

    @property
    def in_python(self) -> bool:
        """True if it is a call."""
        return self.command.startswith("cuescope.")

    @property
    def objects(self) -> list[str]:
        """The words of a call whose values are objects, and what these are called here."""
        return _OBJECT.findall(self.command) if self.in_python else []

    def again(self, **words: Any) -> str | None:
        """With other options, as `seed=1` for --seed 1; None leaves one out.

        >>> Typed("cuescope audit cci --model a --seed 2").again(seed=1)
        'cuescope audit cci --model a --seed 1'
        """
        if self.in_python:
            call = _OBJECT.sub(r"\1=\1", self.command.partition(_REMARK)[0])
            return None if words else call
        if not words:
            return self.command
        kept = words_without(self.command, {f"--{name}" for name in words})
        for name, value in words.items():
            kept += [] if value is None else [f"--{name}", str(value)]
        return shlex.join(kept)

    def plan(self) -> str | None:
        """With --plan."""
        return None if self.in_python else f"{self.command} --plan"

    def of_other_model(self) -> str | None:
        """About a model OTHER: same data, part, options and tools.

        >>> Typed("cuescope audit cci --model a -O model.b=1 --data d --out r").of_other_model()
        'cuescope audit cci --data d --model OTHER'
        """
        if self.in_python:
            return None
        kept = words_without(
            self.command, {"--out", "--batch-size", "--model"}, "model."
        )
        return shlex.join([*kept, "--model", "OTHER"])

    def confirm(self, run: str, folds: int | None = None) -> str:
        """Test the cues of the run."""
        if self.in_python:
            return self._call("confirm", [run], folds)
        return f"cuescope confirm {shlex.quote(run)}{_folds(folds)}"

    def mitigate(
        self, run: str, folds: int | None = None, mitigator: str = "NAME"
    ) -> str:
        """Try a remedy for the cues of the run."""
        if self.in_python:
            return self._call("mitigate", [run, mitigator], folds)
        return f"cuescope mitigate {shlex.quote(run)} --with {mitigator}{_folds(folds)}"

    def export(self, run: str) -> str | None:
        """Save what the first cue hurts; None where its data cannot be opened again."""
        if self.in_python:
            return None
        return f"cuescope export {shlex.quote(run)} --affected 1 --out affected.jsonl"

    def _call(self, name: str, first: list[str], folds: int | None) -> str:
        words = [repr(word) for word in first]
        words += [f"{word}={word}" for word in self.objects]
        words += [] if folds is None else [f"folds={folds}"]
        return f"cuescope.{name}({', '.join(words)})"


def command_words(command: str) -> list[str]:
    """The words of a command, also where a stored one has a quote that nothing closes.

    >>> command_words("cuescope open 'my run'"), command_words("cuescope open 'my run")
    (['cuescope', 'open', 'my run'], ['cuescope', 'open', "'my", 'run'])
    """
    try:
        return shlex.split(command)
    except ValueError:  # a stranger's report says what it likes
        return command.split()


def data_words(command: str) -> str | None:
    """The data with their options, as a command has them; None where they were an object in Python.

    >>> data_words("cuescope audit trove --data folder:a -O data.frames=4 --model toy")
    'folder:a -O data.frames=4'
    """
    words = command_words(command)
    if words[:1] != ["cuescope"] or "--data" not in words:
        return None
    given: list[str] = []
    for option, value in pairwise(words):
        if option == "--data":
            given.insert(0, shlex.quote(value))
        elif option == "-O" and value.startswith("data."):
            given.append(f"-O {shlex.quote(value)}")
    return " ".join(given)


def words_without(command: str, options: Collection[str], *owners: str) -> list[str]:
    """The words of a command without some options, and without the `-O` of these owners."""
    kept = []
    words = iter(command_words(command))
    for word in words:
        if word == "-O" and owners:
            value = next(words, "")
            kept += [] if value.startswith(owners) else [word, value]
        elif word in options:
            next(words, None)  # its value
        else:
            kept.append(word)
    return kept


def _folds(folds: int | None) -> str:
    return "" if folds is None else f" --folds {folds}"
