"""Where values came from that nobody typed at this command line, and what they may ask for.

The one rule: such values may name what lies in their own folder, and nothing more. What a person
typed, or lets them ask for by `--allow`, is not looked at.
"""

from dataclasses import dataclass
from pathlib import Path

from pydantic.fields import FieldInfo

from cuescope.errors import UserError
from cuescope.trust.risks import Refusal, risks_of, too_many
from cuescope.types import Options

ELSEWHERE = (
    "made elsewhere: nothing of it was run (if it is yours, set CUESCOPE_CACHE to the cache folder "
    "that it was made with)"
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
        for name, field in type(options).model_fields.items():
            value = getattr(options, name)
            refusal = None if self.typed_before else too_many(name, value, options)
            if refusal is not None and name not in self.allowed:
                raise self._error(where, name, refusal)
            if self._is_asked(field, value, of_defaults=False):
                self._require(where, name, field, options)
        # last: what a sender named himself is told first
        for name, field in type(options).model_fields.items():
            if self._is_asked(field, getattr(options, name), of_defaults=True):
                self._require(where, name, field, options)

    def _require(
        self, where: str, name: str, field: FieldInfo, options: Options
    ) -> None:
        for risk in risks_of(field):
            # a report is read long after it was made: a guard is opened for one command
            if self.typed_before and not getattr(risk, "typed_anew", False):
                continue
            refusal = risk.refusal(name, getattr(options, name), self, options)
            if refusal is not None and not {refusal.word, name} & self.allowed:
                raise self._error(where, name, refusal)

    def _is_asked(self, field: FieldInfo, value: object, *, of_defaults: bool) -> bool:
        """Whether a value is looked at: the plugin's author chose its default, not the sender."""
        if value != field.get_default(call_default_factory=True):
            return not of_defaults
        marks = risks_of(field)
        return of_defaults and any(getattr(m, "of_defaults_too", False) for m in marks)

    def check_file(self, where: str, name: str, path: str) -> None:
        """The same of a file that is named outside of a plugin's options."""
        if not (self.typed_before or self.may_read(path)):
            refusal = Refusal(path, path, f"it is not in {self.folder}, and is read")
            raise self._error(where, name, refusal)

    def may_read(self, path: str) -> bool:
        """Whether a file or folder lies in the source's folder, links followed, or is allowed."""
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
