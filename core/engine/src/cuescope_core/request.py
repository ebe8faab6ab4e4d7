"""The request of one audit."""

import json
import re
import shlex
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, NonNegativeInt, PositiveInt, ValidationError

from cuescope_core.digest import digest
from cuescope_core.errors import UserError
from cuescope_core.spec import Spec, fault, name_of
from cuescope_core.types import Value

Given = Mapping[str, Any]
Dtype = Literal["float32", "float16", "bfloat16"]
PART = r"^\d{1,9}(\+\d{1,9})*/\d{1,9}$"  # int() refuses thousands of digits


def _require_part(text: str) -> str:
    # a pattern of pydantic would tell the pattern
    if re.fullmatch(PART, text) is None:
        raise ValueError("a part such as 1/3, or 2+3/3 for two of three")
    return text


Part = Annotated[
    str,
    AfterValidator(_require_part),
    Field(json_schema_extra={"pattern": PART}),
]


class Settings(Value):
    """How to run, whatever is run."""

    tools: Mapping[str, str] = Field(default={}, description="role -> SPEC of the tool")
    tool_options: Mapping[str, Given] = Field(
        default={}, description="role -> options of the tool"
    )
    verify_with: tuple[str, ...] = Field(
        default=(), description="methods that verify too"
    )
    executor: str | None = Field(
        default=None, description="SPEC of where responses are made"
    )
    seed: NonNegativeInt = 0
    limit: PositiveInt | None = Field(
        default=None, lt=2**63, description="audit this many samples only"
    )
    part: Part | None = Field(
        default=None,
        description="part of the groups, dealt by the seed: 1/3 is the first third, 2+3/3 the rest",
    )
    device: str = "auto"
    dtype: Dtype = "float32"
    batch_size: PositiveInt = Field(
        default=64, description="inputs (frames) of a model call"
    )
    repeats: PositiveInt = Field(
        default=1,
        description="times that each question is asked, where answers are drawn by chance",
    )


class Draft(Settings):
    """Model, data and settings, before a method is chosen; both may be left open."""

    model: str | None = None
    data: str | None = None
    model_options: Given = {}
    data_options: Given = {}

    def request(self, method: str, options: Given, **more: Any) -> "Request":
        """The request of a method; raises UserError for values that do not fit."""
        for name in ("model", "data"):
            if getattr(self, name) is None:
                raise UserError(
                    f"--{name} is missing",
                    remedy="Add it: `cuescope audit --model SPEC --data SPEC`",
                )
        fields = {name: getattr(self, name) for name in Draft.model_fields}
        return make_request(method=method, method_options=options, **fields | more)


class Request(Settings):
    """One audit: plugins by SPEC, their options, the settings."""

    method: str
    model: str
    data: str
    method_options: Given = {}
    model_options: Given = {}
    data_options: Given = {}

    @property
    def slug(self) -> str:
        """A folder name: readable, and another one where the answer may be another."""
        specs = (self.method, self.model, self.data)
        # DIST/NAME and FILE.py:CLASS are no folders in a folder
        names = [name_of(Spec.parse(spec).name) for spec in specs]
        # they change the way, not the answer
        answer = self.model_dump(
            mode="json", exclude={"batch_size", "executor", "device"}
        )
        if self.part is None:  # as it was before there were parts
            del answer["part"]
        # eight letters: where two meet, `refuse_another_audit` keeps the first
        return "-".join([*names, digest(answer)[:8]])

    @property
    def command(self) -> str:
        """The command line that asks for the same again."""
        words = [
            "cuescope",
            "audit",
            self.method,
            "--model",
            self.model,
            "--data",
            self.data,
        ]
        for role, spec in self.tools.items():
            words += ["--tool", f"{role}={spec}"]
        owners = {"model.": self.model_options, "data.": self.data_options}
        owners |= {"": self.method_options}
        owners |= {f"tool.{role}.": given for role, given in self.tool_options.items()}
        for owner, options in owners.items():
            for key, value in options.items():
                words += ["-O", f"{owner}{key}={option_text(value)}"]
        for name in self.verify_with:
            words += ["--verify-with", name]
        for name, field in Settings.model_fields.items():
            value = getattr(self, name)
            if isinstance(value, str | int) and value != field.default:
                words += [f"--{name.replace('_', '-')}", str(value)]
        return shlex.join(words)


def make_request(**fields: Any) -> Request:
    """A request; raises UserError for values that do not fit."""
    try:
        return Request(**fields)
    except ValidationError as error:
        raise fault("audit", error, Request.model_fields) from error


def make_draft(**fields: Any) -> Draft:
    """A draft; raises UserError for values that do not fit."""
    try:
        return Draft(**fields)
    except ValidationError as error:
        raise fault("audit", error, Draft.model_fields) from error


def option_text(value: Any) -> str:
    """An option's value as the command line takes it."""
    if value is None:
        return "none"
    # YAML reads JSON back
    return value if isinstance(value, str) else json.dumps(value, default=str)
