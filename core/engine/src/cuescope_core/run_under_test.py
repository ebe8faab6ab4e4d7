"""The run that a test of cues is about, and what to type for it."""

import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cuescope_core.errors import UserError
from cuescope_core.next_commands import Typed
from cuescope_core.runs import load_report


@dataclass(frozen=True)
class Tested:
    """The `run` that found the cues, or a folder of several such runs.

    With `folds` it is one of so many that left a part of the data out each: no run to go on with.
    They were made of `whole`, or of no run where `investigate` made them. `mitigator` is the remedy
    that is typed.
    """

    run: Path
    folds: int | None = None
    whole: Path | None = None
    mitigator: str = "NAME"

    @classmethod
    def by(cls, method: Any, options: Mapping[str, Any]) -> "Tested":
        """The runs that a method with `started_by` tested, by its options.

        The options of such a method have a property `tested`, or at least a `run`.
        """
        # another version of the method may have had other options
        with suppress(AttributeError, ValidationError):
            tested: Tested = method.Options.model_validate(dict(options)).tested
            return tested
        return cls(Path(options["run"]))

    @property
    def next_step(self) -> str:
        """How a remedy is tried for what was tested, in words with commands."""
        run = self.whole or self._first
        following = _typed_after(run)
        if self.folds is None or self.whole is not None:
            return f"`{following.mitigate(str(run), self.folds, self.mitigator)}`"
        whole = str(run.parent.with_name("whole") / run.name)
        made = following.again(part=None, out=whole)
        tried = following.mitigate(whole, self.folds, self.mitigator)
        how = f", `{made}`" if made else f" in {whole}"
        return f"first make the run of all samples{how}, then `{tried}`"

    @property
    def test_step(self) -> str:
        """How the cues of what was tested are tested again, as a command."""
        run = self.whole or self._first
        folds = self.folds if self.whole is not None else None
        return f"`{_typed_after(run).confirm(str(run), folds)}`"

    def audit_with(self, option: str) -> str | None:
        """The command that audits the same model with one more option; None in Python."""
        run = self.whole or self._first
        with suppress(UserError):
            command = load_report(run).provenance.command
            if command.startswith("cuescope "):
                # of all samples, in a folder of its own
                whole = Typed(command).again(part=None, out=None)
                return f"{whole} -O {shlex.quote(f'model.{option}')}"
        return None

    @property
    def _first(self) -> Path:
        """The run, or the first one in the folder that `investigate` wrote."""
        if (self.run / "report.json").exists():
            return self.run
        reports = sorted(self.run.glob("*/report.json"))
        return reports[0].parent if reports else self.run


def _typed_after(run: Path) -> Typed:
    # one that is gone or damaged is told by the command that opens it
    with suppress(UserError):
        return Typed(load_report(run).provenance.command)
    return Typed("")
