"""A matrix of audits in a YAML file: every method on every model on every data set."""

import shlex
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, ValidationError

from cuescope_core.atomic_files import read_whole
from cuescope_core.errors import UserError, nearest
from cuescope_core.plain_yaml import MAX_BYTES, load_yaml
from cuescope_core.request import Request, Settings
from cuescope_core.spec import fault
from cuescope_core.types import Value


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
        # whatever is said beside the lists holds for every audit
        settings = {name: getattr(self, name) for name in Settings.model_fields}
        lists = [
            map(_use_of, plugins) for plugins in (self.data, self.models, self.methods)
        ]
        for data, model, method in product(*lists):
            yield Request(
                **settings,
                method=method.use,
                method_options=method.options,
                model=model.use,
                model_options=model.options,
                data=data.use,
                data_options=data.options,
            )


def _use_of(plugin: str | Use) -> Use:
    return Use(use=plugin) if isinstance(plugin, str) else plugin


def read_matrix(path: Path) -> Matrix:
    """From YAML; raises UserError with the place of what does not fit."""
    try:
        content = load_yaml(read_whole(path, most=MAX_BYTES))
    except OSError as error:
        raise UserError(
            f"cannot read {path}",
            expected="a run file, in YAML",
            got=error.strerror or str(error),
            remedy=f"`cuescope runs {shlex.quote(str(path))}` lists the runs of a folder"
            if path.is_dir()
            else "`cuescope schema` describes a run file",
        ) from error
    except yaml.YAMLError as error:
        raise UserError(
            f"{path} is no YAML",
            got=" ".join(str(error).split()),
            remedy="`cuescope schema` describes a run file",
        ) from error
    # before pydantic: `fault` would suggest words of the file's top level
    _refuse_unknown_words(path, content)
    try:
        return Matrix.model_validate(content)
    except ValidationError as error:
        remedy = "`cuescope schema` describes the file"
        raise fault(
            str(path), error, Matrix.model_fields, remedy, written="`{name}: VALUE`"
        ) from error


def _refuse_unknown_words(path: Path, content: object) -> None:
    """Raise UserError for a plugin that is described by other words than `use` and `options`."""
    # what is no mapping pydantic refuses below
    lists = content if isinstance(content, dict) else {}
    for kind in ("methods", "models", "data"):
        uses = lists.get(kind)
        for use in uses if isinstance(uses, list) else ():
            for word in (
                set(use if isinstance(use, dict) else ()) - Use.model_fields.keys()
            ):
                raise UserError(
                    f"{path}: '{word}:' in {kind}",
                    expected=" and ".join(f"`{field}:`" for field in Use.model_fields),
                    remedy=nearest(str(word), Use.model_fields)
                    or "`cuescope schema` describes it",
                )
