"""Files that say what to audit, in YAML or TOML: every method on every model on every data set."""

import shlex
import tomllib
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import AliasChoices, BeforeValidator, Field, ValidationError

from cuescope_core.atomic_files import read_whole
from cuescope_core.errors import UserError
from cuescope_core.plain_yaml import MAX_BYTES, load_yaml
from cuescope_core.request import Request, Settings
from cuescope_core.spec import fault
from cuescope_core.types import Value

REMEDY = "`cuescope dev schema` describes the file"
Form = TypeVar("Form", bound="Project")


class Use(Value):
    """A plugin with options, in a matrix."""

    use: str = Field(description="NAME or NAME:ARG")
    options: Mapping[str, Any] = {}


def _uses(given: Any) -> Any:
    """One plugin for a list of one, and a name for a plugin without options."""
    plugins = given if isinstance(given, list | tuple) else [given]
    return [{"use": each} if isinstance(each, str) else each for each in plugins]


Uses = Annotated[
    tuple[Use, ...],
    BeforeValidator(_uses, json_schema_input_type=Use | str | list[Use | str]),
]


class Project(Settings):
    """`cuescope.toml`: what `cuescope audit` need not be told; each may be left out."""

    methods: Uses = Field(
        default=(), validation_alias=AliasChoices("methods", "method")
    )
    models: Uses = Field(default=(), validation_alias=AliasChoices("models", "model"))
    data: Uses = ()
    out: Path | None = Field(default=None, description="folder of the runs")


class Matrix(Project):
    """`cuescope run FILE`: every method on every model on every data set."""

    methods: Uses = Field(
        min_length=1, validation_alias=AliasChoices("methods", "method")
    )
    models: Uses = Field(min_length=1, validation_alias=AliasChoices("models", "model"))
    data: Uses = Field(min_length=1)

    def requests(self) -> Iterator[Request]:
        """The audits, data sets outermost so that each is opened for its models in turn."""
        # whatever is said beside the lists holds for every audit
        settings = {name: getattr(self, name) for name in Settings.model_fields}
        for data, model, method in product(self.data, self.models, self.methods):
            yield Request(
                **settings,
                method=method.use,
                method_options=method.options,
                model=model.use,
                model_options=model.options,
                data=data.use,
                data_options=data.options,
            )


def read_matrix(path: Path) -> Matrix:
    """The audits of a file; raises UserError with the place of what does not fit."""
    return read_file(path, Matrix)


def read_file(path: Path, form: type[Form]) -> Form:
    """From YAML or TOML; raises UserError with the place of what does not fit."""
    try:
        text = read_whole(path, most=MAX_BYTES)
        is_toml = path.suffix == ".toml"
        content = _read_toml(path, text) if is_toml else load_yaml(text)
    except OSError as error:
        raise UserError(
            f"cannot read {path}",
            expected="a run file, in YAML or TOML",
            got=error.strerror or str(error),
            remedy=f"`cuescope list {shlex.quote(str(path))}` lists the runs of a folder"
            if path.is_dir()
            else REMEDY,
        ) from error
    except yaml.YAMLError as error:
        raise UserError(
            f"{path} is no YAML", got=" ".join(str(error).split()), remedy=REMEDY
        ) from error
    try:
        return form.model_validate(content)
    except ValidationError as error:
        written = "`{name} = VALUE`" if is_toml else "`{name}: VALUE`"
        known = [*form.model_fields, *Use.model_fields]
        raise fault(str(path), error, known, REMEDY, written=written) from error


def _read_toml(file: Path, content: bytes) -> Any:
    """The words of a TOML file, of pyproject.toml those of its table."""
    try:
        table = tomllib.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise UserError(f"{file} is no TOML", got=str(error)) from error
    return (
        table.get("tool", {}).get("cuescope", {})
        if file.name == "pyproject.toml"
        else table
    )
