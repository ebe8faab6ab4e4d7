"""TRoVe's synthetic benchmark: Precision@K of ranked frames, on models with a planted bias."""

from collections.abc import Iterator
from itertools import islice
from typing import Annotated

from pydantic import Field, PositiveInt

from cuescope_sdk import Names, Options, Plugin, Table, how_to_install

GRID = 240  # configurations of appendix A: 3 cues, 4 strengths, 1 to n frames of 2, 3, 5 or 10


class TRoVeBenchOptions(Options):
    """`cuescope dev bench trove --configs 101`."""

    configs: PositiveInt = Field(
        default=12,
        le=GRID,
        description="how many configurations; 12 have every cue type and length once, the paper "
        "kept 101",
    )
    model: Annotated[str, Names.plugin()] = Field(
        default="toy", description="SPEC of the model that is trained"
    )
    encoder: Annotated[str | None, Names.plugin()] = Field(
        default=None,
        description="image encoder of the model, as open-clip:ViT-L-14/openai; none: its own",
    )
    data: Annotated[str, Names.plugin()] = Field(
        default="moving-shapes", description="data set with the planted cues"
    )
    workers: PositiveInt = Field(
        default=2, description="configurations at once, on a core each"
    )


class TRoVeBench(Plugin):
    """Trains a model a configuration, asks it, grades all rankings; a killed run goes on."""

    Options = TRoVeBenchOptions
    options: TRoVeBenchOptions

    def run(self) -> Iterator[Table]:
        """The configurations with their quality, Tables 1 and 3, and appendix B."""
        from cuescope_trove.suite.configurations import configurations
        from cuescope_trove.suite.grading import RIVALS, Settings
        from cuescope_trove.suite.tables import Result, all_tables
        from cuescope_trove.suite.work import Suite

        options = self.options
        context = self.context
        entries = context.registry.entries
        versions = {
            entry.name: entry.version for entry in entries if entry.kind == "method"
        }
        rivals = []
        # the rivals are a distribution of their own, and may not be installed
        for name in RIVALS:
            if name in versions:
                # with its version: a new release of a rival must be graded again
                rivals.append((name, versions[name]))
            else:
                context.announce(
                    f"no ranking by {name}: {how_to_install('cuescope-slices')}"
                )
        settings = Settings(
            model=options.model,
            data=options.data,
            model_options={"encoder": options.encoder} if options.encoder else {},
            seed=context.seed,
            device=context.device,
            cache=context.cache,
            rivals=tuple(name for name, _ in rivals),
        )
        chosen = list(islice(configurations(), options.configs))
        # One session tells the versions and the source of what decides the results.
        first = settings.runner.session(settings.request(chosen[0].cue, {}))
        suite = Suite(
            settings=settings,
            folder=context.cache / "bench" / "trove",
            origin=[*first.provenance().origin, *rivals],
            workers=options.workers,
        )
        unbiased, graded = suite.run(chosen, context)
        results = []
        for configuration in chosen:
            grades = graded[configuration]
            accuracies = unbiased[configuration.length]
            results.append(
                Result(configuration, *accuracies, grades.gaps, grades.grades)
            )
        yield from all_tables(results)
