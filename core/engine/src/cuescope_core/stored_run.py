"""A run as it is stored: its report, its answers, and the data that it was about."""

from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuescope_core.answers import content_of, read_answers
from cuescope_core.context import Context
from cuescope_core.data_parts import select_part
from cuescope_core.errors import UserError
from cuescope_core.in_memory import IN_MEMORY
from cuescope_core.run_location import whole_paths
from cuescope_core.runs import RunFolder, asked_in, load_report, source_of
from cuescope_core.spec import Spec
from cuescope_core.trust.paths import require_own_place
from cuescope_core.trust.source import ELSEWHERE

if TYPE_CHECKING:
    from cuescope_core.capabilities import Dataset, Model
    from cuescope_core.conclusions import PluginStamp, Report
    from cuescope_core.trust.source import Source
    from cuescope_core.types import Sample


class ChangedDataError(UserError):
    """A sample of a stored run is no longer what was asked about."""


@dataclass(frozen=True)
class StoredRun:
    """A run by its folder, or a file in it; each part is read when it is first asked for.

    `context` builds the data set. Each part raises UserError where it is missing or was changed.
    """

    path: Path
    context: Context = field(default_factory=Context)

    @property
    def folder(self) -> Path:
        """Where it is stored."""
        return self.path if self.path.is_dir() else self.path.parent

    def place(self, name: str) -> Path:
        """A file or folder of the run that is to be written, by its name.

        Raises UserError where a link in it leads out of the run: a stranger may have put it there.
        """
        place = self.folder / name
        require_own_place(place, self.folder)
        return place

    @cached_property
    def report(self) -> "Report":
        """The report of the run."""
        return load_report(self.path)

    @cached_property
    def has_answers(self) -> bool:
        """True if there are any; a dossier of what nobody has tested has none."""
        folder = RunFolder(self.folder)
        return folder.holds(folder.answers_file.name)

    @cached_property
    def answers(self) -> list[dict[str, Any]]:
        """The rows of `answers.parquet`: a trial each, or a figure measured of a sample."""
        # Python's own values: readers of a row need not know Arrow
        rows: list[dict[str, Any]] = read_answers(self.folder).to_pylist()
        return rows

    @cached_property
    def data(self) -> "Dataset":
        """The data set that it names; raises UserError where it cannot be opened.

        Of a run that was made elsewhere nothing is opened: it is then the context's own data set,
        which the person typed.
        """
        if not self._source.typed_before:
            if self.context.dataset is not None:
                return self.context.dataset
            raise UserError(
                f"{self.path} is {ELSEWHERE}",
                remedy="To open its data, type it: --data SPEC, with -O data.KEY=VALUE for options",
            )
        stamp = self.report.provenance.data
        self._require_object(stamp)
        # None: no data set is built with another one at hand
        held = replace(self.context, source=self._source, dataset=None)
        name = Spec.parse(stamp.spec).name
        try:
            # the options hold the ARG too
            options = dict(stamp.options)
            if place := asked_in(self.path):
                registry = self.context.registry
                plugin = registry.load(registry.find("dataset", name))
                options = whole_paths(plugin, options, place)
            # late: it needs the whole engine
            from cuescope_core.building import build_data_of

            data = build_data_of(self.report.provenance, held, name, options)
        except UserError as error:
            raise UserError(
                f"the data set {stamp.spec} cannot be opened: {error}",
                remedy="Run this in the folder where the audit was run, with the same data",
            ) from error
        return data

    @cached_property
    def samples(self) -> "dict[str, Sample]":
        # built at need: most readers of a run look at its report alone
        """The samples of `data` by key, as they were when the run asked about them.

        Raises ChangedDataError for one that was another then. Where the data set has changed
        otherwise, or nobody can tell, samples that the run did not ask about are left out.
        """
        samples = {}
        is_same = self.data.fingerprint == self.report.provenance.data.fingerprint
        contents = self._contents
        for index in range(len(self.data)):
            sample = self.data[index]
            asked = contents.get(sample.key)
            if asked and content_of(sample) not in asked:
                raise ChangedDataError(
                    f"sample '{sample.key}' is not what {self.path} asked about",
                    expected="the pictures that its answers are to",
                    got="others",
                    remedy="Name the data as they were: run this in the folder where the audit was "
                    "run; or audit again",
                )
            if is_same or asked:
                samples[sample.key] = sample
        if not samples and not is_same:
            raise ChangedDataError(
                f"the data of {self.path} has changed since the run was made",
                expected=f"{self.report.provenance.data.spec} as it was",
                got="other samples",
                remedy="Run this in the folder where the audit was run, or audit again",
            )
        return samples

    @cached_property
    def _contents(self) -> dict[str, set[str]]:
        """Digests of what was shown of each sample; nothing of what was asked in no row."""
        if not self.has_answers:
            return {}
        table = read_answers(self.folder)
        # older runs do not say
        if "content" not in table.column_names:
            return {}
        contents: dict[str, set[str]] = {}
        for row in table.group_by(["sample", "content"]).aggregate([]).to_pylist():
            # of a figure no content is known
            if row["content"] is not None:
                contents.setdefault(row["sample"], set()).add(row["content"])
        return contents

    @cached_property
    def part(self) -> "dict[str, Sample]":
        """Those of the part of the data that it was about, by key; all where it names none."""
        origin = self.report.provenance
        if origin.part is None:
            return self.samples
        # the numbers of a part are of the whole data set
        chosen = (
            self.data[index]
            for index in select_part(self.data, origin.part, origin.seed)
        )
        return {each.key: each for each in chosen if each.key in self.samples}

    @property
    def is_recorded(self) -> bool:
        """True if its model is a log, which answers what it was asked then and nothing else."""
        stamp = self.report.provenance.model
        # an object has gone with its process, and is no log
        if stamp.dist == IN_MEMORY:
            return False
        name = Spec.parse(stamp.spec).name
        registry = self.context.registry
        model = registry.load(registry.find("model", name))
        declared = getattr(model, "capabilities", None)
        return declared is not None and "recorded" in declared.exposes

    @cached_property
    def recorded(self) -> "Model | None":
        """The model where it is a log, which answers again at no cost; None for any other."""
        if not self.is_recorded:
            return None
        stamp = self.report.provenance.model
        name = Spec.parse(stamp.spec).name
        held = replace(self.context, source=self._source, dataset=self.data)
        log: Model = held.build("model", name, stamp.options)
        return log

    def _require_object(self, stamp: "PluginStamp") -> None:
        """Raise UserError for data that were objects of a caller, where the caller has none."""
        if stamp.dist != IN_MEMORY:
            return
        registry = self.context.registry
        # not by name alone: a data set that is installed may have the same
        with suppress(UserError):
            if registry.find("dataset", stamp.spec).dist == IN_MEMORY:
                return
        raise UserError(
            f"the data of {self.path}, '{stamp.spec}', were objects in memory",
            expected="data by SPEC, which a command can open again",
            remedy="Save them in files, and audit these (data='folder:PATH'); in Python "
            f"`cuescope.load({str(self.path)!r}).answers()` has what was answered to each",
        )

    @cached_property
    def _source(self) -> "Source":
        return source_of(self.path, self.context.allowed)
