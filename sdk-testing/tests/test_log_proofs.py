"""Bad readers of logs fail the contract, each at the check that is about it; a good one passes."""

import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from cuescope_sdk.logs import Log, LogFile, LogReader, Record
from cuescope_testing import LogContract

from .contract_proofs import failed


class Lines(LogReader):
    """Lines with a mark of their own."""

    title = "lines"

    @classmethod
    def fits(cls, path: Path) -> bool:
        return b'"mark"' in LogFile(path).first_bytes()

    def read(self, path: Path) -> Log:
        rows = [row for _, row in LogFile(path, self.title).json_lines()]
        return Log(title="t", records=tuple(self.record(row) for row in rows))

    def record(self, row: dict[str, Any]) -> Record:
        return Record(
            key=str(row["mark"]), said="a", choices=("a", "b"), label=row["mark"] % 2
        )


class Greedy(Lines):
    @classmethod
    def fits(cls, path: Path) -> bool:
        return True


class Shy(Lines):
    @classmethod
    def fits(cls, path: Path) -> bool:
        return False


class OneKey(Lines):
    def record(self, row: dict[str, Any]) -> Record:
        return Record(key="same")


class FromOne(Lines):
    def record(self, row: dict[str, Any]) -> Record:
        return Record(key=str(row["mark"]), choices=("a", "b"), label=2)


class HalfLikely(Lines):
    def record(self, row: dict[str, Any]) -> Record:
        return Record(key=str(row["mark"]), choices=("a", "b"), log_probs=(-1.0,))


class Counts(Lines):
    number = count()

    def record(self, row: dict[str, Any]) -> Record:
        return Record(key=str(next(self.number)))


class Trusting(Lines):
    def read(self, path: Path) -> Log:
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        return Log(title="t", records=tuple(self.record(row) for row in rows))


def contract_of(reader: type[Lines]) -> type[LogContract]:
    class Proof(LogContract):
        plugin = reader

        @classmethod
        def written(cls, folder: Path) -> Path:
            path = folder / "log.jsonl"
            path.write_text("".join(f'{{"mark": {n}}}\n' for n in range(3)))
            return path

    return Proof


def test_a_good_reader_passes() -> None:
    assert not failed(contract_of(Lines))


@pytest.mark.parametrize(
    ("reader", "check"),
    [
        (Greedy, "test_knows_its_own_files"),
        (Shy, "test_knows_its_own_files"),
        (OneKey, "test_reads_answers"),
        (FromOne, "test_reads_answers"),
        (HalfLikely, "test_reads_answers"),
        (Counts, "test_reads_answers"),
        (Trusting, "test_refuses_damaged_files_in_one_line"),
    ],
)
def test_a_bad_reader_fails_where_it_should(reader: type[Lines], check: str) -> None:
    assert failed(contract_of(reader)) == {check}
