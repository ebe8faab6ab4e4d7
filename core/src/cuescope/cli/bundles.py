"""Options that commands share, declared once: a dataclass of them is one parameter of a command."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cuescope.cli.calling import as_asked, current_call, open_registry
from cuescope.cli.options import (
    DATA,
    MODEL,
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
    Verbose,
    by_role,
    open_runner,
)
from cuescope.cli.paths import output_folder
from cuescope.errors import UserError

if TYPE_CHECKING:
    from cuescope.request import Request
    from cuescope.runner import Runner


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
    """How a command says what it found."""

    as_json: AsJson = False
    quiet: Quiet = False
    verbose: Verbose = 0


@dataclass(frozen=True)
class Asking:
    """What a request says of model, data and the way; the first two may be left open."""

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

    def request(
        self, method: str, method_options: Mapping[str, Any], **more: Any
    ) -> "Request":
        """The request of a method; raises UserError for values that do not fit."""
        from cuescope.cli.hints import refuse_bare_argument
        from cuescope.request import make_request
        from cuescope.spec import pairs

        if self.model is None or self.data is None:
            missing = "--model" if self.model is None else "--data"
            raise UserError(f"{missing} is missing", remedy=f"Add {missing} SPEC")
        registry = open_registry()
        # first: else a hub id is reported as a plugin that is not installed
        if current_call() is None:
            refuse_bare_argument("model", self.model, registry)
            refuse_bare_argument("dataset", self.data, registry)
        request = make_request(
            method=method,
            model=self.model,
            data=self.data,
            method_options=method_options,
            model_options=pairs("-M", self.model_option or ()),
            data_options=pairs("-D", self.data_option or ()),
            tools=pairs("--tool", self.tool or ()),
            tool_options=by_role(pairs("-T", self.tool_option or ())),
            executor=self.executor,
            device=self.device,
            dtype=self.dtype,
            seed=self.seed,
            limit=self.limit,
            batch_size=self.batch_size,
            **more,
        )
        return as_asked(request)

    def runner(
        self,
        output: Output,
        *,
        out: Path | None = None,
        observe: Iterable[str] = (),
    ) -> AbstractContextManager["Runner"]:
        """What runs the request; `out` is its folder where the person names none."""
        return open_runner(
            out=self.out or out,
            observe=observe,
            cache_responses=not self.no_cache,
            quiet=output.quiet,
            verbose=output.verbose,
        )


@dataclass(frozen=True)
class Asked(Asking):
    """A model on data: what a request says of both, and of the way."""

    # a field: else the default of the base would be inherited
    model: ModelSpec = field()
    data: DataSpec = field()
