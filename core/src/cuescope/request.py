"""What is asked for: one audit, or a matrix of them in a YAML file."""

import json
import shlex
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, NonNegativeInt, PositiveInt, ValidationError

from cuescope.digest import digest
from cuescope.errors import UserError
from cuescope.spec import Spec, fault
from cuescope.types import Value

Given = Mapping[str, Any]
Dtype = Literal["float32", "float16", "bfloat16"]


class Settings(Value):
    """How to run, whatever is run."""

    tools: Mapping[str, str] = Field(default={}, description="role -> SPEC of the tool")
    tool_options: Mapping[str, Given] = Field(default={}, description="role -> options of the tool")
    verify_with: tuple[str, ...] = Field(default=(), description="methods that verify too")
    executor: str | None = Field(default=None, description="SPEC of where responses are made")
    seed: NonNegativeInt = 0
    limit: PositiveInt | None = Field(default=None, description="audit this many samples only")
    device: str = "auto"
    dtype: Dtype = "float32"
    batch_size: PositiveInt = Field(default=64, description="trials a model call")


class Request(Settings):
    """One audit: plugins by SPEC, their options, the settings."""

    method: str
    model: str
    data: str
    method_options: Given = {}
    model_options: Given = {}
    data_options: Given = {}

    @property
    def plugins(self) -> tuple[tuple[str, Given], ...]:
        """SPEC and options of method, model and data."""
        kinds = ("method", "model", "data")
        return tuple((getattr(self, kind), getattr(self, f"{kind}_options")) for kind in kinds)

    @property
    def slug(self) -> str:
        """A folder name: readable, and another one where the answer may be another."""
        names = [Spec.parse(spec).name for spec, _ in self.plugins]
        answer = self.model_dump(mode="json", exclude={"batch_size", "executor", "device"})
        return "-".join([*names, digest(answer)[:8]])

    @property
    def command(self) -> str:
        """The command line that asks for the same again."""
        words = ["cuescope", "audit", self.method, "--model", self.model, "--data", self.data]
        given = {
            "-M": self.model_options,
            "-D": self.data_options,
            "-O": self.method_options,
            "--tool": self.tools,
            "-T": {f"{r}.{key}": v for r, of in self.tool_options.items() for key, v in of.items()},
        }
        for flag, options in given.items():
            for key, value in options.items():
                words += [flag, f"{key}={written(value)}"]
        words += [word for name in self.verify_with for word in ("--verify-with", name)]
        for name in ("executor", "seed", "limit", "device", "dtype", "batch_size"):
            if (value := getattr(self, name)) != Settings.model_fields[name].default:
                words += [f"--{name.replace('_', '-')}", str(value)]
        return shlex.join(words)


def written(value: Any) -> str:
    """An option's value as the command line takes it."""
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value, default=str)


class Use(Value):
    """A plugin with options, in a matrix."""

    use: str = Field(description="NAME or NAME:ARG")
    options: Mapping[str, Any] = {}


class Matrix(Settings):
    """`cuescope run FILE.yaml`: every method on every model on every data set."""

    methods: tuple[str | Use, ...] = Field(min_length=1)
    models: tuple[str | Use, ...] = Field(min_length=1)
    data: tuple[str | Use, ...] = Field(min_length=1)

    def requests(self) -> Iterator[Request]:
        """The audits, data sets outermost so that each is opened for its models in turn."""
        settings = {name: getattr(self, name) for name in Settings.model_fields}
        for data, model, method in product(self.data, self.models, self.methods):
            named = {"method": method, "model": model, "data": data}
            uses = {k: Use(use=use) if isinstance(use, str) else use for k, use in named.items()}
            specs = {kind: use.use for kind, use in uses.items()}
            options = {f"{kind}_options": use.options for kind, use in uses.items()}
            yield Request(**settings, **specs, **options)


def read_matrix(path: Path) -> Matrix:
    """From YAML; raises UserError with the place of what does not fit."""
    try:
        content = yaml.safe_load(path.read_bytes())
    except OSError as error:
        raise UserError(f"cannot read {path}", got=error.strerror or str(error)) from error
    except yaml.YAMLError as error:
        raise UserError(f"{path} is no YAML", got=" ".join(str(error).split())) from error
    try:
        return Matrix.model_validate(content)
    except ValidationError as error:
        remedy = "`cuescope schema` describes the file"
        raise fault(str(path), error, Matrix.model_fields, remedy) from error
