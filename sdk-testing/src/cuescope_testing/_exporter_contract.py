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
from cuescope_testing._contract import Contract, expect
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
            run.save(report, {}, page="", answers=context.cache)
            folder = place / "exported"
            folder.mkdir()
            yield StoredRun(run.path, context), folder

    def exercise(self) -> None:
        """Export a run."""
        with self.run_folder() as (run, folder):
            self.built.export(run, folder)

    def test_writes_into_its_folder(self) -> None:
        """Files are named, and lie where they were asked for."""
        with self.run_folder() as (run, folder):
            before = set(folder.parent.rglob("*"))
            named = self.built.export(run, folder)
            made = set(folder.parent.rglob("*")) - before
            strays = [path for path in made if not path.is_relative_to(folder)]
            expect(
                not strays,
                "files in the folder that was given",
                got=", ".join(map(str, strays)),
                remedy="Write to `folder`; names that come from data may be paths",
            )
            expect(
                bool(named) and all(path in made for path in named),
                "the files that were written, returned",
                got=", ".join(map(str, named)) or "none",
                remedy="Return a list of paths",
            )

    def test_writes_the_same_twice(self) -> None:
        """A file that changes with the clock cannot be kept in a repository."""
        with self.run_folder() as (run, folder):
            contents = []
            for name in ("first", "second"):
                home = folder / name
                home.mkdir()
                self.built.export(run, home)
                files = [path for path in sorted(home.rglob("*")) if path.is_file()]
                contents.append(
                    [(path.relative_to(home), path.read_bytes()) for path in files]
                )
            first, second = contents
            expect(
                first == second,
                "the same files",
                got="others the second time",
                remedy="Take times and names from the report, and draw nothing",
            )

    def test_needs_no_data(self) -> None:
        """Reports outlive data: without samples it writes what it can, or says so in a line."""
        with self.run_folder() as (run, folder):
            bare = RunWithoutData(run.path, run.context)
            got: object = None
            try:
                self.built.export(bare, folder)
            except UserError as error:
                got = None if "\n" not in str(error) else error
            except Exception as error:
                got = repr(error)
            expect(
                got is None,
                "files, or a UserError of one line",
                got=got,
                remedy="Take samples by `samples_of(run)` of cuescope_sdk.exporting",
            )
