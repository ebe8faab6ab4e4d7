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
        expect(isinstance(log, Log), "a cuescope_sdk.logs.Log", got=type(log).__name__)
        return log  # type: ignore[no-any-return]

    def test_knows_its_own_files(self) -> None:
        """Nobody wants to say which format a file has; a reader that takes all hides the others."""
        with TemporaryDirectory() as name:
            folder = Path(name)
            empty = folder / "empty.jsonl"
            empty.write_bytes(b"")
            other = folder / "other.jsonl"
            other.write_text('{"neither": "a log"}\n')
            for path in (folder, empty, other, folder / "missing.jsonl"):
                fits = self.plugin.fits(path)
                expect(not fits, f"fits() of {path.name}, no such log, to be False")
        with self.log_file() as path:
            expect(self.plugin.fits(path), "fits() of the format's own file")

    def test_reads_answers(self) -> None:
        """Each answer names its question once, whose choices, from 0, hold what it says of them."""
        with self.log_file() as path:
            log = self.read(path)
            expect(self.read(path) == log, "the same log twice", got="another")
        keys = {(record.key, record.epoch) for record in log.records}
        whole = len(keys) == len(log.records) >= 3
        expect(whole, "three records or more, each key and epoch once", got=len(keys))
        for record in log.records:
            count = len(record.choices)
            for choice in (record.label, record.answer):
                is_number = isinstance(choice, int) and count
                fits = not is_number or choice in range(count)
                expect(fits, f"a label or answer of {count} choices", got=choice)
            figures = record.log_probs
            fits = not figures or len(figures) == count
            expect(fits, "a log-likelihood a choice, or none", got=figures)

    def test_refuses_damaged_files_in_one_line(self) -> None:
        """Files arrive cut, empty and in other encodings: read by LogFile or Archive of the sdk."""
        for content in (b"", bytes(range(128, 256)), b"[" * 100_000):
            with self.log_file() as path:
                for file in [path] if path.is_file() else list(path.iterdir()):
                    file.write_bytes(content)
                got: object = "a log"
                try:
                    # one without an answer is refused later, by whoever opens it
                    if not self.built.read(path).records:
                        continue
                except Exception as error:
                    got = error
                is_line = isinstance(got, UserError) and not isinstance(
                    got, PluginError
                )
                told = is_line and "\n" not in str(got)
                expect(
                    told, f"a UserError of one line for {content[:9]!r}", got=repr(got)
                )
