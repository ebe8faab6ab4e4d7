"""The runs below a folder: listed in the background, and opened by the id of their place."""

from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Thread

from cuescope.application import ListedRun, list_run, report_files, whole_text
from cuescope_sdk import UserError, digest, inside
from cuescope_view.opened import OpenRun, require_within

ID_LETTERS = 16  # 64 bits: no two runs of a folder share an id
OPEN_AT_ONCE = 4  # runs whose answers and pictures stay in memory

Stamp = tuple[int, int]


@dataclass
class RunsFolder:
    """What lies in `folder`; nothing outside of it is read, links followed.

    With `opens_data`, pictures of any sample are drawn from the data of runs that were made here.
    """

    folder: Path
    opens_data: bool = False
    _listed: dict[Path, tuple[Stamp, ListedRun]] = field(default_factory=dict)
    _scan: Thread | None = None
    _pending: int = 0
    _open: "OrderedDict[tuple[str, Stamp], OpenRun]" = field(
        default_factory=OrderedDict
    )
    _lock: Lock = field(default_factory=Lock)

    def refresh(self) -> None:
        """Begin to look for runs that are new or changed, unless that is under way."""
        with self._lock:
            if self._scan is None or not self._scan.is_alive():
                # a daemon: Ctrl-C does not wait for a long list
                self._scan = Thread(target=self._look, daemon=True)
                self._scan.start()

    def wait(self, seconds: float | None = None) -> None:
        """Until the list is whole, or so long."""
        if self._scan is not None:
            self._scan.join(seconds)

    @property
    def pending(self) -> int:
        """How many reports are still to be read."""
        return self._pending

    @property
    def listed(self) -> dict[str, ListedRun]:
        """The runs that have been read, by id; the newest first."""
        with self._lock:
            runs = [(file, run) for file, (_, run) in self._listed.items()]
        runs.sort(key=lambda pair: pair[1].date, reverse=True)
        return {self._id_of(file): run for file, run in runs}

    def open(self, run_id: str) -> OpenRun:
        """The run of an id; raises UserError where there is none, or where it was changed."""
        path = self._path_of(run_id)
        stamp = _stamp(path / "report.json")
        with self._lock:
            known = self._open.get((run_id, stamp))
            if known is not None:
                # again: it may have been exchanged for a link since it was opened
                require_within(path, self.folder)
                self._open.move_to_end((run_id, stamp))
                return known
        # without the lock: a slow disk must not hold up the list
        opened = OpenRun.of(path, self.folder, opens_data=self.opens_data)
        with self._lock:
            self._open[run_id, stamp] = opened
            while len(self._open) > OPEN_AT_ONCE:
                self._open.popitem(last=False)
        return opened

    def _path_of(self, run_id: str) -> Path:
        with self._lock:
            files = list(self._listed)
        for file in files:
            if self._id_of(file) == run_id:
                return file.parent
        raise UserError("no such run", remedy="The list of runs has those that are")

    def _id_of(self, file: Path) -> str:
        # no path is ever taken from the page: an id is compared with those of the list
        place = file.parent.relative_to(self.folder).as_posix()
        return digest("cuescope view", whole_text(place))[:ID_LETTERS]

    def _look(self) -> None:
        found = {}
        for file in report_files(self.folder):
            try:
                inside(self.folder, file.absolute())
                found[file] = _stamp(file)
            except (OSError, UserError):  # a link that leads elsewhere; gone by now
                continue
        with self._lock:
            for file in self._listed.keys() - found.keys():
                del self._listed[file]
            fresh = []
            for file, stamp in found.items():
                if file not in self._listed or self._listed[file][0] != stamp:
                    fresh.append(file)
            self._pending = len(fresh)
        # the newest first: a list that grows shows them at its top
        fresh.sort(key=found.__getitem__, reverse=True)
        for file in fresh:
            run = list_run(file)
            with self._lock:
                self._listed[file] = (found[file], run)
                self._pending -= 1


def _stamp(file: Path) -> Stamp:
    try:
        facts = file.stat()
    except OSError as error:
        raise UserError(f"{file} cannot be read", got=error.strerror) from error
    # the time alone may be too coarse to show a change
    return facts.st_mtime_ns, facts.st_size
