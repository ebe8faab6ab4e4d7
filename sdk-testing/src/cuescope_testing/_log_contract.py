"""Contract of readers of logs: its own files are read whole, others are refused in one line."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from cuescope_sdk import PluginError, UserError
from cuescope_sdk.logs import Log
from cuescope_testing._contract import Contract, expect


class LogContract(Contract):
    """Checks of a reader. Subclass it in a test module, with a log of three answers or more:

    class TestContract(LogContract):
        plugin = MyLog

        @classmethod
        def written(cls, folder):
            path = folder / "log.jsonl"
            path.write_text(...)
            return path
    """

    kind: ClassVar[str] = "log"

    @classmethod
    def written(cls, folder: Path) -> Path:
        """Write a small log of the format into an empty folder; its path."""
        raise NotImplementedError

    @contextmanager
    def log_file(self) -> Iterator[Path]:
        """A fresh log, which may be damaged."""
        with TemporaryDirectory() as folder:
            yield self.written(Path(folder))

    def exercise(self) -> None:
        """Read a log."""
        with self.log_file() as path:
            self.read(path)

    def read(self, path: Path) -> Log:
        """Log that the reader makes of a file."""
        log = self.built.read(path)
        expect(
            isinstance(log, Log),
            "a cuescope_sdk.logs.Log",
            got=type(log).__name__,
            remedy="Return Log(title=..., records=...)",
        )
        return log  # type: ignore[no-any-return]

    # ------------------------------------------------------------------------------------- checks

    def test_knows_its_own_files(self) -> None:
        """Nobody wants to say which format a file has."""
        with self.log_file() as path:
            expect(
                self.plugin.fits(path),
                "fits() of the format's own file to be True",
                got="False",
                remedy="Look at the name and at LogFile(path).first_bytes()",
            )

    def test_leaves_other_files_to_others(self) -> None:
        """A reader that takes every file hides all others."""
        with TemporaryDirectory() as name:
            folder = Path(name)
            empty = folder / "empty.jsonl"
            empty.write_bytes(b"")
            other = folder / "other.jsonl"
            other.write_text('{"neither": "a log"}\n')
            for path in (folder, empty, other, folder / "missing.jsonl"):
                expect(
                    not self.plugin.fits(path),
                    f"fits() of {path.suffix or 'a folder'} that is no such log to be False",
                    got="True",
                    remedy="Look for what only this format has",
                )

    def test_reads_answers(self) -> None:
        """Each answer names its question once, and its choices hold what it says of them."""
        with self.log_file() as path:
            records = self.read(path).records
        keys = [(record.key, record.epoch) for record in records]
        expect(
            len(records) >= 3,
            "three records or more",
            got=len(records),
            remedy="Write as many in `written`, and leave none out in silence: Log.left_out",
        )
        expect(
            len({*keys}) == len(keys),
            "another key, or another epoch of it, for each record",
            got="one that stands twice",
            remedy="Number the epochs of a question: Record(key=..., epoch=...)",
        )
        for record in records:
            for name in ("label", "answer"):
                choice = getattr(record, name)
                is_number = isinstance(choice, int) and record.choices
                expect(
                    not is_number or choice in range(len(record.choices)),
                    f"a {name} that is one of the choices",
                    got=f"number {choice} of {len(record.choices)}",
                    remedy="Count choices from 0",
                )
            expect(
                not record.log_probs or len(record.log_probs) == len(record.choices),
                "a log-likelihood a choice",
                got=f"{len(record.log_probs)} of {len(record.choices)} choices",
                remedy="Give all of them or none",
            )

    def test_reads_the_same_twice(self) -> None:
        """An audit that runs again finds the same."""
        with self.log_file() as path:
            expect(
                self.read(path) == self.read(path),
                "the same log twice",
                got="another one",
                remedy="Draw nothing, and keep no state between reads",
            )

    def test_refuses_damaged_files_in_one_line(self) -> None:
        """Files arrive cut, empty and in other encodings, and strangers write worse."""
        damages = {
            "empty": b"",
            "bytes": bytes(range(128, 256)),
            "nested": b"[" * 100_000,
        }
        for name, content in damages.items():
            with self.log_file() as path:
                for file in [path] if path.is_file() else list(path.iterdir()):
                    file.write_bytes(content)
                self._expect_one_line(path, name)

    def _expect_one_line(self, path: Path, damage: str) -> None:
        got: object = "a log"
        try:
            # one without an answer is refused later, by whoever opens it
            if not self.built.read(path).records:
                return
        except UserError as error:
            got = error
        except Exception as error:
            got = repr(error)
        is_line = isinstance(got, UserError) and not isinstance(got, PluginError)
        expect(
            is_line and "\n" not in str(got),
            f"a UserError of one line for a log that is damaged ({damage})",
            got=got,
            remedy="Read by LogFile or Archive of cuescope_sdk.logs",
        )
