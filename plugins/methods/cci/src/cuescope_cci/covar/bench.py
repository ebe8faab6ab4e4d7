"""Section 5, appendices A.5 to A.9: models on the eight subsets, with CCI's error sources."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, PositiveInt

from cuescope.application import Runner
from cuescope_cci.options import Dtype, PluginOptions, Spec, Tools
from cuescope_sdk import Context, Names, Options, Picture, Plugin, Request, Table


class CovarBenchOptions(Options):
    """`cuescope dev bench covar --models FILE --data covar:DIR`."""

    models: Annotated[str, Names.file(or_words=True)] = Field(
        "toys",
        description="YAML file of {name, model, options, design}; or `paper` (tables 3 and 4), "
        "`appendix` (figures 15 to 18), `toys` (planted truth)",
    )
    data: Spec = Field(
        "camera-scenes", description="SPEC of a data set with the eight subsets"
    )
    data_options: PluginOptions = Field({}, description="its options")
    photos: PositiveInt | None = Field(
        None, description="so many source photos, of all classes alike; default: all"
    )
    errors: PositiveInt | None = Field(
        None,
        description="wrong answers of each subset that CCI looks into, drawn by seed; default: "
        "all (each costs about 10 forward passes)",
    )
    tools: Tools = Field(
        {},
        description="text-generator=SPEC judges look-alikes; segmenter=SPEC finds the objects",
    )
    cci_options: PluginOptions = Field({}, description="options of `cci`")
    dtype: Dtype = Field("float32", description="of the models")


class CovarBench(Plugin):
    """Asks one model after the other; a killed run goes on where it was."""

    Options = CovarBenchOptions
    options: CovarBenchOptions

    def __init__(self, options: CovarBenchOptions, context: Context) -> None:
        super().__init__(options, context)
        # answers are cached, so that a killed run goes on where it was
        self._runner = Runner(context, Path("runs"))

    def run(self) -> Iterator[Table | Picture]:
        """The images, Tables 3 and 4, drops, contexts, effects, and a picture."""
        # imported here: `cuescope dev bench --help` must not pay for numpy
        from cuescope_cci.covar.run import run

        options = self.options
        yield from run(
            options.models,
            self._session,
            partial(self.context.rng, "covar"),
            photos=options.photos,
            errors=options.errors,
        )

    def _session(self, model: str, model_options: Mapping[str, Any]) -> Any:
        options = self.options
        request = Request(
            method="cci",
            model=model,
            data=options.data,
            model_options=model_options,
            data_options=options.data_options,
            method_options=options.cci_options,
            tools=options.tools,
            seed=self.context.seed,
            device=self.context.device,
            dtype=options.dtype,
        )
        return self._runner.session(request)
