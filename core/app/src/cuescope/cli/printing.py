"""Output of commands with `--json`: each names its models, for `cuescope dev schema COMMAND`."""

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from inspect import Parameter, signature
from typing import Any

import typer

from cuescope.cli.echo import holding_lines
from cuescope.cli.options import PrintsJson

Command = Callable[..., Any]
REPORT = "cuescope_core.conclusions:Report"
PLAN = "cuescope.cli.outputs:AuditPlan"
LINES = "cuescope.cli.outputs:Lines"


def prints(*models: str) -> Callable[[Command], Command]:
    """Name the models of what a command prints with `--json`, each as "module:Class".

    By name: to list commands must not import them.
    """

    def decorate(function: Command) -> Command:
        function.json_models = models  # type: ignore[attr-defined]
        return function

    return decorate


def calls(target: str) -> Callable[[Command], Command]:
    """Name the function that a command prints the result of, as "module:function".

    `cuescope.NAME()` of Python calls it; its first parameter is a runner.
    """

    def decorate(function: Command) -> Command:
        function.function = target  # type: ignore[attr-defined]
        return function

    return decorate


def prints_lines(function: Command) -> Command:
    """A command that does something: with `--json` its lines are printed as one object."""

    @wraps(function)
    def command(*, as_json: bool = False, **values: Any) -> None:
        if not as_json:
            function(**values)
            return
        from cuescope.cli.outputs import Lines

        code = 0
        with holding_lines() as lines:
            try:
                function(**values)
            except typer.Exit as ended:
                code = ended.exit_code
        Lines(lines=tuple(lines)).show()
        if code:
            raise typer.Exit(code)

    parameters = signature(function).parameters.values()
    keywords = [p.replace(kind=Parameter.KEYWORD_ONLY) for p in parameters]
    option = Parameter(
        "as_json", Parameter.KEYWORD_ONLY, default=False, annotation=PrintsJson
    )
    # typer takes the types from the annotations, the order from the signature
    own = signature(function).replace(parameters=[*keywords, option])
    command.__signature__ = own  # type: ignore[attr-defined]
    command.__annotations__ = {**function.__annotations__, "as_json": PrintsJson}
    return prints(LINES)(command)


def models_of(callback: Command) -> tuple[Any, ...]:
    """The models of what a command prints with `--json`; () where it has no such option.

    A command that names none prints a report, and with `--plan` what it would cost.
    """
    parameters = signature(callback).parameters
    if "as_json" not in parameters:
        return ()
    reports = (REPORT, PLAN) if "plan" in parameters else (REPORT,)
    models = []
    for target in getattr(callback, "json_models", reports):
        module, _, name = target.partition(":")
        models.append(getattr(import_module(module), name))
    return tuple(models)
