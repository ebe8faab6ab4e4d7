"""`cuescope bench auditors`: methods, and `confirm` on top of each, graded on the zoo."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, PositiveInt

from cuescope.application import OutputFile, write_atomically
from cuescope_sdk import Names, Options, Plugin, Table, UserError, digest

if TYPE_CHECKING:
    from cuescope_planted_cues.findings import Stated, Zoo
    from cuescope_planted_cues.tables import Result
    from cuescope_planted_cues.worlds import Configuration

VERSION = 3  # raise it when equal settings give other grades
QUICK = 18
QUICK_AUDITORS = ("trove", "error-ranker", "gap-ranker")
RIVALS = ("domino", "george", "distilling-failures")
# all of them are looked for before the first job: one run takes up to an hour
NEEDED: dict[str, tuple[str, ...]] = {
    "method": ("confirm", "trove", *RIVALS, "cci", "saliency", "quag", "spurlens"),
    "model": ("toy", "toy-clip", "toy-fusion"),
    "dataset": ("moving-shapes", "scenes", "object-scenes", "shape-world"),
}


class AuditorsOptions(Options):
    """Options of the bench; the README of the package describes the configurations."""

    configs: PositiveInt | None = Field(
        None, description="so many configurations, the first ones; default: all"
    )
    quick: bool = Field(
        False,
        description=f"the first {QUICK}: four worlds, five trials, two nulls; of the zoo's own "
        f"auditors {', '.join(QUICK_AUDITORS)}",
    )
    workers: PositiveInt = Field(
        2, description="configurations at once, on a core each"
    )
    out: Path | None = Field(
        None,
        description="folder of kept results and of table.md; default: in the cache folder",
    )
    auditor: Annotated[str, Names.plugin()] = Field(
        "",
        description="further auditors, METHOD or METHOD:option=value,option=value, with a space "
        "between two",
    )
    confirm: bool = Field(
        True,
        description="false: auditors alone, without `confirm` on top, in a tenth of the time",
    )
    findings: Path | None = Field(
        None,
        description="JSON of another auditor's findings: it is graded, and no other",
    )
    list: Path | None = Field(
        None, description="write the configurations here for another auditor, and stop"
    )


class AuditorsBench(Plugin):
    """Trains the toys of the zoo, runs every auditor that fits, and grades what they find."""

    Options = AuditorsOptions
    options: AuditorsOptions

    def run(self) -> Iterator[Table]:
        """Promises, auditors, effects, trials, and all configurations."""
        from cuescope_planted_cues.tables import all_tables, markdown

        chosen = self._configurations()
        self._require_outputs()
        # nothing is trained for a list
        if self.options.list is not None:
            yield self._write_list(self.options.list, chosen)
            return
        folder = self.options.out or self.context.cache / "bench" / "auditors"
        tables = list(all_tables(self._results(chosen, folder)))
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / "table.md", markdown(tables))
        yield from tables

    def _require_outputs(self) -> None:
        """Raises UserError for what is not this bench's to write; before toys are trained."""
        options = self.options
        if options.list is not None:
            OutputFile(".json").require("--list", options.list)
        if options.out is not None:
            OutputFile().require("--out", options.out)

    @cached_property
    def _everything(self) -> "list[Configuration]":
        from cuescope_planted_cues.zoo import zoo

        return zoo()

    @cached_property
    def _stated(self) -> "Stated | None":
        """The submission; raises UserError where it is of another zoo."""
        from cuescope_planted_cues.findings import read_findings, require_fitting

        file = self.options.findings
        if file is None:
            return None
        stated = read_findings(file)
        require_fitting(stated, file, self._zoo(), self._by_name(self._everything))
        return stated

    def _zoo(self) -> "Zoo":
        from cuescope_planted_cues.findings import Zoo
        from cuescope_planted_cues.naming import ZOO_VERSION, hash_of

        return Zoo(
            version=ZOO_VERSION,
            hash=hash_of(self._everything),
            # it deals the halves: another auditor must see the one that is graded
            seed=self.context.seed,
        )

    def _by_name(
        self, configurations: "Sequence[Configuration]"
    ) -> "dict[str, Configuration]":
        """By opaque names, whose order tells nothing either."""
        from cuescope_planted_cues.naming import opaque_name

        named = {opaque_name(each): each for each in configurations}
        return dict(sorted(named.items()))

    def _configurations(self) -> "list[Configuration]":
        options = self.options
        everything = self._everything
        if options.quick and options.configs:
            raise UserError(
                "bench auditors: --quick and --configs", expected="one of them"
            )
        if options.configs and options.configs > len(everything):
            raise UserError(
                "bench auditors: --configs",
                expected=f"at most {len(everything)}",
                got=str(options.configs),
            )
        # told now, for the file is graded only after toys were trained
        _ = self._stated
        return everything[: QUICK if options.quick else options.configs]

    def _write_list(self, file: Path, chosen: "Sequence[Configuration]") -> Table:
        """What another auditor needs of each configuration; nothing of the answer sheet."""
        configurations = {}
        for name in self._by_name(chosen):
            spec = f"planted-trial:{name}"
            configurations[name] = {"model": spec, "data": spec}
        content = {
            "zoo": self._zoo().model_dump(),
            "configurations": configurations,
        }
        write_atomically(file, json.dumps(content, indent=1) + "\n")
        return Table.of(
            "Configurations",
            ("file", "configurations", "zoo"),
            [(str(file), len(chosen), self._zoo().hash)],
            "the package's README shows how to see their samples and ask their models.",
        )

    def _results(
        self,
        chosen: "Sequence[Configuration]",
        folder: Path,
    ) -> "list[Result]":
        from cuescope_planted_cues.grading import (
            Settings,
            grade,
            grade_sheet,
            measure_use,
            train,
        )
        from cuescope_planted_cues.tables import Result
        from cuescope_sdk.workers import KeptJobs

        context = self.context
        settings = Settings(
            context.seed,
            context.device,
            context.cache,
            folder,
            self.options.confirm,
        )
        # grades of another version, seed or device are no grades of this run
        versions = self._versions()
        confirms = self.options.confirm
        stamp = [VERSION, context.seed, context.device, confirms, versions]
        kept = KeptJobs(folder / "kept", stamp, self.options.workers)
        # by a digest of the toy: one answers many configurations and is trained once
        toys: dict[str, partial[Any]] = {}
        sheets: dict[str, partial[Any]] = {}
        audits: dict[str, partial[Any]] = {}
        names_of: dict[str, list[str]] = {}
        # a submission is graded alone: what the zoo's own auditors say was told to everybody
        look = grade_sheet
        if self._stated is not None:
            look = measure_use
        for configuration in chosen:
            name = name_of(configuration)
            toy = f"toy {digest(configuration.model)}"
            toys.setdefault(toy, partial(train, settings, configuration))
            sheets[f"{look.__name__} {name}"] = partial(look, settings, configuration)
            # results are put together from the jobs' names, whoever finished first
            names_of[name] = []
            for audit, given in self._audits(configuration):
                names_of[name].append(audit)
                audits[audit] = partial(grade, settings, configuration, *given)
        # Toys first, so that no other job waits for one; then the answer sheet: what must hold of
        # `confirm` is known before all else is graded.
        done = kept.run({**toys, **sheets, **audits}, context, "toys and audits")
        results = []
        for configuration in chosen:
            name = name_of(configuration)
            sheet = done[f"{look.__name__} {name}"]
            auditors: dict[str, Any] = dict(sheet["auditors"])
            for audit in names_of[name]:
                auditors |= done[audit]
            results.append(
                Result(configuration, sheet["use"], sheet["accuracy"], auditors)
            )
        return results

    def _audits(
        self, configuration: "Configuration"
    ) -> "Iterator[tuple[str, tuple[Sequence[str], Stated | None]]]":
        """The zoo's own auditors together, so that they share answers; each further one alone.

        Of a submission its auditor alone: the zoo's own were graded for everybody.
        """
        from cuescope_planted_cues.grading import parse_auditor
        from cuescope_planted_cues.naming import opaque_name

        about = f"audit {name_of(configuration)}"
        stated = self._stated
        if stated is None:
            own = configuration.auditors
            if self.options.quick:
                own = tuple(spec for spec in own if spec in QUICK_AUDITORS)
            # no part of it is done again when further auditors join
            yield f"{about} own {digest(own)}", (own, None)
        else:
            of_this = stated.of(opaque_name(configuration))
            # with a digest of what is stated, so that a changed file is graded anew
            said = digest(stated.auditor, of_this.model_dump_json())
            yield f"{about} stated {said}", ((), stated)
        for spec in self.options.auditor.split():
            # raises now for what is not installed, and not after the first jobs
            self.context.registry.find("method", parse_auditor(spec)[0])
            # without a file those of the zoo are graded already
            if stated is not None or spec not in configuration.auditors:
                yield f"{about} {spec}", ((spec,), None)

    def _versions(self) -> Mapping[str, str]:
        """Of every package that decides the grades; raises UserError where one is missing."""
        registry = self.context.registry
        versions = {}
        for kind, names in NEEDED.items():
            for name in names:
                entry = registry.find(kind, name)
                versions[entry.dist] = entry.version
        return versions


def name_of(configuration: "Configuration") -> str:
    """All that decides a configuration, in short."""
    # not the name alone: a changed configuration must not find its old grades
    return digest(asdict(configuration))
