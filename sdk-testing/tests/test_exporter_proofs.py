"""Bad exporters fail the contract, each at the check that is about it; a good one passes."""

from itertools import count
from pathlib import Path

import pytest

from cuescope_sdk import StoredRun
from cuescope_sdk.exporting import Exporter, plain_answers
from cuescope_testing import ExporterContract

from .contract_proofs import failed


class Keys(Exporter):
    """The keys of the answers, a line each."""

    title = "keys"

    def export(self, run: StoredRun, folder: Path) -> list[Path]:
        """Write them."""
        file = folder / "keys.txt"
        file.write_text("\n".join(answer.key for answer in plain_answers(run)))
        return [file]


class Stray(Keys):
    def export(self, run: StoredRun, folder: Path) -> list[Path]:
        (folder.parent / "stray.txt").write_text("x")
        return super().export(run, folder)


class Silent(Keys):
    def export(self, run: StoredRun, folder: Path) -> list[Path]:
        super().export(run, folder)
        return []


class Clock(Keys):
    number = count()

    def export(self, run: StoredRun, folder: Path) -> list[Path]:
        file = folder / "keys.txt"
        file.write_text(str(next(self.number)))
        return [file]


class Greedy(Keys):
    def export(self, run: StoredRun, folder: Path) -> list[Path]:
        try:
            len(run.samples)
        except Exception as error:
            raise KeyError("samples") from error
        return super().export(run, folder)


def contract_of(exporter: type[Keys]) -> type[ExporterContract]:
    class Proof(ExporterContract):
        plugin = exporter

    return Proof


def test_a_good_exporter_passes() -> None:
    assert not failed(contract_of(Keys))


@pytest.mark.parametrize(
    ("exporter", "check"),
    [
        (Stray, "test_writes_into_its_folder"),
        (Silent, "test_writes_into_its_folder"),
        (Clock, "test_writes_into_its_folder"),
        (Greedy, "test_needs_no_data"),
    ],
)
def test_a_bad_exporter_fails_where_it_should(exporter: type[Keys], check: str) -> None:
    assert failed(contract_of(exporter)) == {check}
