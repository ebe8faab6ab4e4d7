"""Commands to type after a report: in a shell, or in Python where objects stood for SPECs."""

import ast
import re
import shlex
from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

# `PythonRequest.command` writes the name of an object so, which no Python reads
_OBJECT = re.compile(r"\b(model|data)=<[\w.-]+>")
_REMARK = "  # Python, "


class Typed(Protocol):
    """The command of a run, and what can be typed after it."""

    @property
    def objects(self) -> dict[str, str]:
        """The words whose values are objects of the caller, and what these are called here."""

    def again(self, **words: Any) -> str:
        """The same with other words; None leaves one out."""

    def plan(self) -> str:
        """The call that tells the cost."""

    def of_other_model(self) -> str:
        """The same about another model, in a run of its own."""

    def confirm(self, run: str, folds: int | None = None) -> str:
        """Test the cues of the run."""

    def mitigate(
        self, run: str, folds: int | None = None, mitigator: str = "NAME"
    ) -> str:
        """Try a remedy for the cues of the run."""

    def export(self, run: str) -> str | None:
        """Save what the first cue hurts; None where its data cannot be opened again."""


def typed(command: str) -> Typed:
    """Read the command of a report, for what a person types after it."""
    return PythonCall(command) if command.startswith("cuescope.") else Shell(command)


@dataclass(frozen=True)
class Shell:
    """A command of a shell."""

    command: str

    @property
    def objects(self) -> dict[str, str]:
        """None."""
        return {}

    def again(self, **words: Any) -> str:
        """With other options, as `seed=1` for --seed 1."""
        kept = words_without(self.command, {f"--{name}" for name in words})
        for name, value in words.items():
            kept += [] if value is None else [f"--{name}", str(value)]
        return shlex.join(kept) if words else self.command

    def plan(self) -> str:
        """With --plan."""
        return f"{self.command} --plan"

    def of_other_model(self) -> str:
        """About a model OTHER: same data, part, options and tools.

        >>> Shell("cuescope audit cci --model a -O model.b=1 --data d --out r").of_other_model()
        'cuescope audit cci --model OTHER --data d'
        """
        kept = words_without(self.command, {"--out", "--batch-size"}, "model.")
        words: list[str] = []
        for word in kept:
            is_model = words[-1:] in (["--model"], ["-m"])
            words.append("OTHER" if is_model else word)
        return shlex.join(words)

    def confirm(self, run: str, folds: int | None = None) -> str:
        """`cuescope confirm RUN`."""
        return f"cuescope confirm {shlex.quote(run)}{_folds(folds)}"

    def mitigate(
        self, run: str, folds: int | None = None, mitigator: str = "NAME"
    ) -> str:
        """`cuescope mitigate RUN --with NAME`."""
        return f"cuescope mitigate {shlex.quote(run)} --with {mitigator}{_folds(folds)}"

    def export(self, run: str) -> str | None:
        """`cuescope export RUN`, of the first finding."""
        return f"cuescope export {shlex.quote(run)} --affected 1 --out affected.jsonl"


@dataclass(frozen=True)
class PythonCall:
    """A call of `cuescope.audit` with objects of the caller, who has them as `model` and `data`."""

    command: str

    @property
    def objects(self) -> dict[str, str]:
        """The words whose values are objects, and what these are called here."""
        return {word: word for word in _OBJECT.findall(self.command)}

    def again(self, **words: Any) -> str:
        """With other words.

        >>> call = PythonCall("cuescope.audit('cci', model=<net>, data='d')  # Python, <...>: ...")
        >>> call.again(seed=1)
        "cuescope.audit('cci', model=model, data='d', seed=1)"
        """
        return self._call("audit", words)

    def plan(self) -> str:
        """`cuescope.plan` of the same words."""
        return self._call("plan", {"out": None})

    def of_other_model(self) -> str:
        """About a model that the caller has as `other`."""
        own = {"model_options": None, "out": None, "batch_size": None}
        return self._call("audit", own, model="other")

    def confirm(self, run: str, folds: int | None = None) -> str:
        """`cuescope.confirm` of the run's folder."""
        return self._of_run("confirm", [run], folds)

    def mitigate(
        self, run: str, folds: int | None = None, mitigator: str = "NAME"
    ) -> str:
        """`cuescope.mitigate` of the run's folder."""
        return self._of_run("mitigate", [run, mitigator], folds)

    def export(self, run: str) -> str | None:
        """Nothing: a command line cannot open an object."""
        return None

    def _of_run(self, name: str, first: list[str], folds: int | None) -> str:
        words = [repr(word) for word in first]
        words += [f"{word}={value}" for word, value in self.objects.items()]
        words += [] if folds is None else [f"folds={folds}"]
        return f"cuescope.{name}({', '.join(words)})"

    def _call(self, name: str, words: dict[str, Any], **names: str) -> str:
        """The call of a function with other words; `names` are words that take a variable."""
        plain = _OBJECT.sub(r"\1=\1", self.command.partition(_REMARK)[0])
        try:
            call = ast.parse(plain, mode="eval").body
        except (SyntaxError, ValueError, RecursionError):
            # a value that Python writes and does not read
            return plain
        if not isinstance(call, ast.Call):
            return plain
        kept = {str(word.arg): ast.unparse(word.value) for word in call.keywords}
        for word, value in words.items():
            kept.pop(word, None)
            if value is not None:
                kept[word] = repr(value)
        kept |= names
        arguments = [ast.unparse(argument) for argument in call.args]
        arguments += [f"{word}={value}" for word, value in kept.items()]
        return f"cuescope.{name}({', '.join(arguments)})"


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
