"""`cuescope bench auditors`: methods, and `confirm` on top of each, graded on the zoo."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, PositiveInt

from cuescope_sdk import NamesPlugin, Options, Plugin, Table, UserError, digest

if TYPE_CHECKING:
    from cuescope_cuebench.tables import Result
    from cuescope_cuebench.zoo import Configuration

VERSION = 1  # raise it when equal settings give other grades
QUICK = 12
RIVALS = ("domino", "george", "distilling-failures")
# all of them are looked for before the first job: one run takes up to an hour
NEEDED: dict[str, tuple[str, ...]] = {
    "method": ("confirm", "trove", *RIVALS, "cci", "saliency", "quag", "spurlens"),
    "model": ("toy", "toy-clip", "toy-fusion"),
    "dataset": ("moving-shapes", "scenes", "object-scenes", "shape-world"),
}


class AuditorsOptions(Options):
    """docs/cuebench.md describes the zoo."""

    configs: PositiveInt | None = Field(
        None, description="so many configurations, the first ones; default: all"
    )
    quick: bool = Field(
        False, description=f"the first {QUICK}: most worlds, causes, decoys, a null"
    )
    workers: PositiveInt = Field(
        2, description="configurations at once, on a core each"
    )
    out: Path | None = Field(
        None,
        description="folder of kept results and of table.md; default: in the cache folder",
    )
    auditor: Annotated[str, NamesPlugin()] = Field(
        "",
        description="further auditors, METHOD or METHOD:option=value,option=value, with a space "
        "between two",
    )
    findings: Path | None = Field(
        None, description="JSON of another auditor's findings"
    )
    list: Path | None = Field(
        None, description="write the configurations here for another auditor, and stop"
    )


class AuditorsBench(Plugin):
    """Trains the toys of the zoo, runs every auditor that fits, and grades what they find."""

    Options = AuditorsOptions
    options: AuditorsOptions

    def run(self) -> Iterator[Table]:
        """Promises, auditors, strength, kinds of cues, and all configurations."""
        from cuescope_cuebench.tables import all_tables, markdown

        chosen = self._configurations()
        # nothing is trained for a list
        if self.options.list is not None:
            yield write_list(self.options.list, chosen, self.context.seed)
            return
        folder = self.options.out or self.context.cache / "bench" / "auditors"
        tables = list(all_tables(self._results(chosen, folder)))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "table.md").write_text(markdown(tables), encoding="utf-8")
        yield from tables

    def _configurations(self) -> "list[Configuration]":
        from cuescope_cuebench.findings import read_findings, require_known
        from cuescope_cuebench.zoo import zoo

        options = self.options
        everything = zoo()
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
        if options.findings is not None:
            # told now, for the file is graded only after toys were trained
            require_known(read_findings(options.findings), options.findings, everything)
        return everything[: QUICK if options.quick else options.configs]

    def _results(
        self,
        chosen: "Sequence[Configuration]",
        folder: Path,
    ) -> "list[Result]":
        from cuescope_cuebench.grading import Settings, grade, grade_sheet, train
        from cuescope_cuebench.tables import Result
        from cuescope_sdk.workers import KeptJobs

        context = self.context
        settings = Settings(context.seed, context.device, context.cache, folder)
        # grades of another version, seed or device are no grades of this run
        stamp = [VERSION, context.seed, context.device, self._versions()]
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
            for audit, given in self._audits(configuration):
                names_of[name].append(audit)
                audits[audit] = partial(grade, settings, configuration, *given)
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
    ) -> Iterator[tuple[str, tuple[Sequence[str], Path | None]]]:
        """The zoo's own auditors together, so that they share answers; each further one alone.

        Of a file its auditor alone: the zoo's own were graded for everybody.
        """
        from cuescope_cuebench.findings import read_findings
        from cuescope_cuebench.grading import parse_auditor

        about = f"audit {name_of(configuration)}"
        file = self.options.findings
        if file is None:
            # no part of it is done again when further auditors join
            yield f"{about} own", (configuration.auditors, None)
        else:
            stated = read_findings(file).configurations.get(configuration.name)
            if stated is not None:
                # with a digest of what is stated, so that a changed file is graded anew
                yield f"{about} stated {digest(stated.model_dump_json())}", ((), file)
        for spec in self.options.auditor.split():
            # raises now for what is not installed, and not after the first jobs
            self.context.registry.find("method", parse_auditor(spec)[0])
            # without a file, those of the zoo are graded already
            # without a file those of the zoo are graded already
            if file is not None or spec not in configuration.auditors:
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


def write_list(
    file: Path,
    configurations: "Sequence[Configuration]",
    seed: int,
) -> Table:
    """What another auditor needs of each configuration; nothing of the answer sheet."""

    content = {}
    for configuration in configurations:
        model, model_options = configuration.model
        data, data_options = configuration.data
        content[configuration.name] = {
            "model": model,
            "model_options": model_options,
            "data": data,
            "data_options": data_options,
            # the other half is kept for `confirm`
            "part": "1/2",
            # it deals the halves: another auditor must see the one that is graded
            "seed": seed,
        }
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return Table.of(
        "Configurations",
        ("file", "configurations"),
        [(str(file), len(content))],
        "The names and options say what is planted: an auditor must not read them.",
    )
