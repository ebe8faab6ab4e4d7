"""Options that commands share, declared once: a dataclass of them is one parameter of a command."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cuescope.cli.options import (
    DATA,
    MODEL,
    Allow,
    AsJson,
    BatchSize,
    DataOptions,
    DataSpec,
    Device,
    DrawSeed,
    Dtype,
    Executor,
    ModelOptions,
    ModelSpec,
    NoCache,
    Planned,
    Quiet,
    ToolOptions,
    Tools,
    TypedData,
    TypedModel,
    Verbose,
    by_role,
    open_runner,
)
from cuescope.cli.paths import output_folder

if TYPE_CHECKING:
    from cuescope.rerun import Rerun
    from cuescope.runner import Runner
    from cuescope_core.request import Draft, Request


def spread(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with each parameter that is a bundle replaced by the bundle's own fields.

    A bundle is a dataclass whose fields are annotated as typer's parameters are.
    """
    # typer knows options one by one, and no dataclass of them (docs/adr/0022)
    bundles: dict[str, tuple[Any, list[str]]] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(function).parameters.values():
        bundle = parameter.annotation
        if not is_dataclass(bundle):
            parameters.append(parameter)
            continue
        fields = inspect.signature(bundle).parameters.values()  # type: ignore[arg-type]
        bundles[parameter.name] = (bundle, [option.name for option in fields])
        parameters.extend(fields)

    @wraps(function)
    def command(**values: Any) -> Any:
        for name, (bundle, fields) in bundles.items():
            values[name] = bundle(**{option: values.pop(option) for option in fields})
        return function(**values)

    # by keyword: a field with a default may stand before a parameter without one
    keywords = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in parameters
    ]
    command.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
    # typer takes the types from here, the order from the signature
    command.__annotations__ = {
        parameter.name: parameter.annotation for parameter in parameters
    }
    return command


@dataclass(frozen=True)
class Output:
    """Form of a command's result."""

    as_json: AsJson = False
    quiet: Quiet = False
    verbose: Verbose = 0


@dataclass(frozen=True)
class Asking:
    """Model, data and the way; the first two may be left open."""

    model: Annotated[str | None, MODEL] = None
    data: Annotated[str | None, DATA] = None
    model_option: ModelOptions = None
    data_option: DataOptions = None
    tool: Tools = None
    tool_option: ToolOptions = None
    executor: Executor = None
    device: Device = "auto"
    dtype: Dtype = "float32"
    seed: DrawSeed = 0
    limit: Annotated[
        int | None, typer.Option(help="Take at most this many samples, drawn by seed.")
    ] = None
    batch_size: BatchSize = 64
    plan: Planned = False
    out: Annotated[
        Path | None, output_folder("Folder of the run. [default: runs/...]")
    ] = None
    no_cache: NoCache = False

    @property
    def draft(self) -> "Draft":
        """The same for the functions of the application; raises UserError for bad values."""
        from cuescope.cli.hints import refuse_bare_arguments
        from cuescope_core.registry import Registry
        from cuescope_core.request import make_draft
        from cuescope_core.spec import pairs

        # first: else a hub id is reported as a plugin that is not installed
        given = {"model": self.model, "dataset": self.data}
        refuse_bare_arguments(given, Registry())
        return make_draft(
            model=self.model,
            data=self.data,
            model_options=pairs("-O model.KEY", self.model_option or ()),
            data_options=pairs("-O data.KEY", self.data_option or ()),
            tools=pairs("--tool", self.tool or ()),
            tool_options=by_role(pairs("-O tool.ROLE.KEY", self.tool_option or ())),
            executor=self.executor,
            device=self.device,
            dtype=self.dtype,
            seed=self.seed,
            limit=self.limit,
            batch_size=self.batch_size,
        )

    def request(
        self, method: str, method_options: Mapping[str, Any], **more: Any
    ) -> "Request":
        """The request of a method; raises UserError for values that do not fit."""
        return self.draft.request(method, method_options, **more)

    def runner(
        self,
        output: Output,
        *,
        out: Path | None = None,
        observe: Iterable[str] = (),
    ) -> AbstractContextManager["Runner"]:
        """The runner of the request; `out` is its folder where the person names none."""
        return open_runner(
            out=self.out or out,
            observe=observe,
            cache_responses=not self.no_cache,
            quiet=output.quiet,
            verbose=output.verbose,
        )


@dataclass(frozen=True)
class Asked(Asking):
    """A model on data, and the way."""

    # a field: else the default of the base would be inherited
    model: ModelSpec = field()
    data: DataSpec = field()


@dataclass(frozen=True)
class AskedAgain:
    """Words about a stored run: its model and data anew, and the way."""

    on: Annotated[
        str | None,
        typer.Option(
            metavar="SPLIT",
            help="Test on this split of the data. [default: the run is made again on a part of its "
            "data, and the rest is for testing]",
        ),
    ] = None
    model: TypedModel = None
    model_option: ModelOptions = None
    data: TypedData = None
    data_option: DataOptions = None
    allow: Allow = None
    executor: Executor = None
    device: Device = "auto"
    batch_size: BatchSize = 64
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Of parts and draws; without it, that of the run."),
    ] = None
    plan: Planned = False
    out: Annotated[Path | None, output_folder("[default: beside RUN]")] = None

    @property
    def rerun(self) -> "Rerun":
        """The same for the functions of the application."""
        from cuescope.rerun import Rerun
        from cuescope_core.spec import pairs

        return Rerun(
            on=self.on,
            model=self.model,
            model_options=pairs("-O model.KEY", self.model_option or ()),
            data=self.data,
            data_options=pairs("-O data.KEY", self.data_option or ()),
            allow=tuple(self.allow or ()),
            executor=self.executor,
            device=self.device,
            batch_size=self.batch_size,
            seed=self.seed,
        )


RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="Run folder.")]
Folds = Annotated[
    int | None,
    typer.Option(
        "--folds",
        min=3,
        max=20,
        metavar="N",
        help="For few samples: make the run N times, each without one part of its data, and "
        "test each part by what was found in the others.",
    ),
]
