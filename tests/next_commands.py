"""The commands that a report prints, as a person copies them: collected, completed and run."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import run

from cuescope_core.runs import load_report

# what a person fills in, of which each test knows its own
PLACEHOLDERS = {
    "FILE": "out.jsonl",
    "FILE.jsonl": "out-2.jsonl",
    "N": "3",
    "NAME": "last-layer",
}
STANDING = re.compile(r"\b[A-Z][A-Z_]{2,}\b")


def printed_commands(text: str) -> list[str]:
    """Those on lines of their own, and those in backticks, without what breaks a line."""
    whole = re.sub(r" \\\n\s+", " ", text)
    lines = re.findall(r"^ {4}(cuescope [^\n]+)$", whole, re.MULTILINE)
    # a sentence is broken where the screen ends
    flowing = re.sub(r"\s+", " ", whole)
    quoted = re.findall(r"`(cuescope [^`]+)`", flowing)
    return list(dict.fromkeys(command.strip() for command in [*lines, *quoted]))


def printed_calls(text: str) -> list[str]:
    """The calls of Python on lines of their own, and in backticks."""
    lines = re.findall(r"^ {4}(cuescope\.[^\n]+)$", text, re.MULTILINE)
    quoted = re.findall(r"`(cuescope\.[^`]+)`", re.sub(r"\s+", " ", text))
    return list(dict.fromkeys([*lines, *quoted]))


def completed(command: str, fills: dict[str, str]) -> list[str]:
    """The words after `cuescope`, with what a person fills in; nothing may be left open."""
    known = PLACEHOLDERS | fills
    words = [known.get(word, word) for word in shlex.split(command)[1:]]
    open_words = [w for w in words if STANDING.fullmatch(w)]
    assert not open_words, f"{command}: {open_words} is not said"
    return words


class Copier:
    """A person who runs an audit somewhere, and then whatever its report says, from there."""

    def __init__(
        self,
        capsys: pytest.CaptureFixture[str],
        *,
        other: str,
        plans: bool,
    ) -> None:
        self.capsys = capsys
        self.other = other
        self.plans = plans  # long commands are planned in place of run
        self.done: list[str] = []

    def follow(self, folder: str) -> list[str]:
        """Run all that the report in this folder prints; the commands."""
        self.capsys.readouterr()
        run("show", folder, "-v")
        commands = printed_commands(self.capsys.readouterr().out)
        self.type(commands)
        return commands

    def type(self, commands: list[str]) -> None:
        """Run them, one after another."""
        other_run = ""
        for command in commands:
            fills = {"OTHER": self.other, "OTHER_RUN": other_run}
            words = completed(command, fills)
            before = set(runs_below(Path("runs")))
            if words[0] in ("audit", "confirm", "mitigate", "investigate"):
                words += ["-q"]
                if self.plans and words[0] != "audit":
                    words += ["--plan"]
            self.capsys.readouterr()
            try:
                run(*words)
            except AssertionError as error:
                said = self.capsys.readouterr().err
                raise AssertionError(f"{shlex.join(words)}: {said}") from error
            followed = self.capsys.readouterr().out
            # what a command says to type after it
            for line in re.findall(r"^next: cuescope (.+)$", followed, re.MULTILINE):
                run(*shlex.split(line), "-q")
            if self.other in words:
                made = set(runs_below(Path("runs"))) - before
                other_run = str(made.pop()) if made else other_run
            self.done.append(command)


def runs_below(folder: Path) -> Iterator[Path]:
    """Folders with a report that can be opened."""
    for file in folder.glob("**/report.json"):
        load_report(file)
        yield file.parent
