"""Where values came from that nobody typed at this command line, and what they may ask for.

The one rule: such values may name what lies in their own folder, and nothing more. What a person
typed, or lets them ask for by `--allow`, is not looked at.
"""

from dataclasses import dataclass
from pathlib import Path

from cuescope_core.errors import UserError
from cuescope_core.trust.risks import Refusal, risks_of, too_many
from cuescope_core.types import Options

ELSEWHERE = (
    "untrusted, from another machine or edited: nothing of it was run (if it is yours, set "
    "CUESCOPE_OWN_RUNS to the folder of notes that has it)"
)


@dataclass(frozen=True)
class Source:
    """Whatever named the values: "the run file a.yaml", "the run runs/a".

    `folder` is the folder whose files they may name. `allowed` has the words of `--allow`: options,
    files or folders, hosts, environment variables, "hub". Values that were `typed_before`, for a
    run that is stored here, may name all but what opens a guard.
    """

    title: str
    folder: Path
    allowed: frozenset[str] = frozenset()
    typed_before: bool = False

    def check(self, where: str, options: Options) -> None:
        """Raise UserError for the first option that asks for more than the rule lets it."""
        fields = type(options).model_fields
        marks = [(risk, name) for name in fields for risk in risks_of(fields[name])]
        # last: what a sender named himself is told before what he left as it is
        marks.sort(key=lambda mark: mark[0].of_defaults_too)
        for risk, name in marks:
            value = getattr(options, name)
            usual = fields[name].get_default(call_default_factory=True)
            refusal = None if self.typed_before else too_many(name, value, options)
            # the plugin's author chose it, and not the sender
            is_asked = value != usual or risk.of_defaults_too
            # a report is read long after it was made: a guard is opened for one command
            if is_asked and (risk.typed_anew or not self.typed_before):
                refusal = refusal or risk.refusal(name, value, self, options)
            if refusal is not None and not {refusal.word, name} & self.allowed:
                raise self._error(where, name, refusal)

    def check_file(self, where: str, name: str, path: str) -> None:
        """The same of a file that is named outside of a plugin's options."""
        if not (self.typed_before or self.may_read(path)):
            refusal = Refusal(path, path, f"it is not in {self.folder}, and is read")
            raise self._error(where, name, refusal)

    def may_read(self, path: str) -> bool:
        """True if a file or folder lies in the source's folder, links followed, or is allowed."""
        # `--allow ""` would allow the folder that one is in
        homes = [self.folder, *(Path(word) for word in self.allowed if word)]
        try:
            file = Path(path).expanduser().resolve()
            return any(
                file.is_relative_to(home.expanduser().resolve()) for home in homes
            )
        except (OSError, ValueError, RuntimeError):
            # a loop of links, a null, no such user
            return False

    def _error(self, where: str, name: str, refusal: Refusal) -> UserError:
        # nobody is asked on the terminal: people say yes, and scripts cannot (docs/adr/0021)
        again = "again " if self.typed_before else ""
        return UserError(
            f"{where}: {name} in {self.title}",
            expected=f"it typed {again}on the command line",
            got=refusal.wanted if refusal.wanted != name else None,
            remedy=f"Be sure that you want it: {refusal.why}. Then add --allow {refusal.word}",
        )
