"""`cuescope dev bench auditors`: methods, and `confirm` on top of each, graded on the zoo."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, PositiveInt

from cuescope.application import OutputFile
from cuescope_sdk import Names, Options, Plugin, Table, UserError, digest

if TYPE_CHECKING:
    from cuescope_planted_cues.tables import Result
    from cuescope_planted_cues.worlds import Configuration

VERSION = 6  # raise it when equal settings give other grades
RIVALS = ("domino", "george", "distilling-failures")
# all of them are looked for before the first job: one run takes up to an hour
NEEDED: dict[str, tuple[str, ...]] = {
    "method": ("confirm", "trove", *RIVALS, "cci", "saliency", "quag"),
    "model": ("toy", "toy-clip", "toy-fusion"),
    "dataset": ("moving-shapes", "scenes"),
}


class AuditorsOptions(Options):
    """Options of the bench; the README of the package describes the configurations."""

    configs: PositiveInt | None = Field(
        None, description="so many configurations, the first ones; default: all"
    )
    workers: PositiveInt = Field(
        2, description="configurations at once, on a core each"
    )
    out: Path | None = Field(
        None,
        description="folder of kept results; default: in the cache folder",
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


class AuditorsBench(Plugin):
    """Trains the toys of the zoo, runs every auditor that fits, and grades what they find."""

    Options = AuditorsOptions
    options: AuditorsOptions

    def run(self) -> Iterator[Table]:
        """Promises, auditors, and all configurations."""
        from cuescope_planted_cues.tables import all_tables

        chosen = self._configurations()
        # before toys are trained: what is not this bench's to write
        if self.options.out is not None:
            OutputFile().require("--out", self.options.out)
        folder = self.options.out or self.context.cache / "bench" / "auditors"
        yield from all_tables(self._results(chosen, folder))

    def _configurations(self) -> "list[Configuration]":
        from cuescope_planted_cues.zoo import zoo

        options = self.options
        everything = zoo()
        if options.configs and options.configs > len(everything):
            raise UserError(
                "bench auditors: --configs",
                expected=f"at most {len(everything)}",
                got=str(options.configs),
            )
        return everything[: options.configs]

    def _results(
        self,
        chosen: "Sequence[Configuration]",
        folder: Path,
    ) -> "list[Result]":
        from cuescope_planted_cues.grading import Settings, grade, grade_sheet, train
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
        for configuration in chosen:
            name = name_of(configuration)
            toy = f"toy {digest(configuration.model)}"
            toys.setdefault(toy, partial(train, settings, configuration))
            sheets[f"sheet {name}"] = partial(grade_sheet, settings, configuration)
            # results are put together from the jobs' names, whoever finished first
            names_of[name] = []
            for audit, specs in self._audits(configuration):
                names_of[name].append(audit)
                audits[audit] = partial(grade, settings, configuration, specs)
        # Toys first, so that no other job waits for one; then the answer sheet: what must hold of
        # `confirm` is known before all else is graded.
        done = kept.run({**toys, **sheets, **audits}, context, "toys and audits")
        results = []
        for configuration in chosen:
            name = name_of(configuration)
            sheet = done[f"sheet {name}"]
            auditors: dict[str, Any] = dict(sheet["auditors"])
            for audit in names_of[name]:
                auditors |= done[audit]
            results.append(
                Result(configuration, sheet["use"], sheet["accuracy"], auditors)
            )
        return results

    def _audits(
        self, configuration: "Configuration"
    ) -> Iterator[tuple[str, Sequence[str]]]:
        """The zoo's own auditors together, so that they share answers; each further one alone."""
        from cuescope_planted_cues.grading import parse_auditor

        about = f"audit {name_of(configuration)}"
        own = configuration.auditors
        # no part of it is done again when further auditors join
        yield f"{about} own {digest(own)}", own
        for spec in self.options.auditor.split():
            # raises now for what is not installed, and not after the first jobs
            self.context.registry.find("method", parse_auditor(spec)[0])
            if spec not in configuration.auditors:
                yield f"{about} {spec}", (spec,)

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
