"""Contract of exporters: files in its own folder, the same twice, and no need of the data."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from cuescope_core.answers import AnswersFile
from cuescope_core.engine import Session
from cuescope_core.runs import RunFolder
from cuescope_sdk import Sample, StoredRun, UserError
from cuescope_testing._contract import Contract, expect, expect_no_error
from cuescope_testing._fake_method import FakeMethod
from cuescope_testing._running import Setup, temporary_cache


@dataclass(frozen=True)
class RunWithoutData(StoredRun):
    """A run whose data set is gone."""

    @cached_property
    def samples(self) -> dict[str, Sample]:
        """Nobody has them."""
        raise UserError("the data of the run cannot be opened")


class ExporterContract(Contract):
    """Checks of an exporter: it writes a run of the suite's fake method."""

    kind: ClassVar[str] = "exporter"

    @contextmanager
    def run_folder(self) -> Iterator[tuple[StoredRun, Path]]:
        """A stored run, and an empty folder."""
        with TemporaryDirectory() as name, temporary_cache() as cache:
            place = Path(name)
            plain = Setup(FakeMethod, folder=place / "cache").session(cache, limit=24)
            context = plain.parts.context
            run = RunFolder(place / "run")
            run.prepare()
            kept = AnswersFile(run.answers_file)
            session = Session(plain.request, context, cache, [kept])
            report = session.run()
            kept.finish(session.audit, report)
            run.save(report, {}, page="", own=True)
            folder = place / "exported"
            folder.mkdir()
            yield StoredRun(run.path, context), folder

    def exercise(self) -> None:
        """Export a run."""
        with self.run_folder() as (run, folder):
            self.built.export(run, folder)

    def test_writes_into_its_folder(self) -> None:
        """It returns the files that it wrote to `folder`, the same each time, without a clock."""
        with self.run_folder() as (run, folder):
            contents = []
            for name in ("first", "second"):
                home = folder / name
                home.mkdir()
                before = set(folder.parent.rglob("*"))
                named = self.built.export(run, home)
                made = set(folder.parent.rglob("*")) - before
                strays = [path for path in made if not path.is_relative_to(home)]
                expect(not strays, "files in the folder that was given", got=strays)
                whole = named and made.issuperset(named)
                expect(whole, "the files that were written, returned", got=named)
                files = [path for path in sorted(made) if path.is_file()]
                contents.append(
                    [(path.relative_to(home), path.read_bytes()) for path in files]
                )
            expect(contents[0] == contents[1], "the same files", got="others")

    def test_needs_no_data(self) -> None:
        """Reports outlive data: take samples by `samples_of(run)`, or say in a line what lacks."""
        with self.run_folder() as (run, folder), expect_no_error("files, or a line"):
            self.built.export(RunWithoutData(run.path, run.context), folder)
