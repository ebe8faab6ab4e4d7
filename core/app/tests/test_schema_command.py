"""`cuescope dev schema` describes the run file."""

import json

import pytest
from typer.testing import CliRunner

from cuescope.cli import app
from cuescope.matrix import Matrix


def printed() -> str:
    return CliRunner().invoke(app, ["dev", "schema"]).stdout


def test_the_schema_describes_the_file() -> None:
    schema = json.loads(printed())
    assert schema["properties"].keys() == Matrix.model_fields.keys()
    assert set(schema["required"]) == {"methods", "models", "data"}
    assert schema["additionalProperties"] is False
    assert schema["$defs"]["Use"]["required"] == ["use"]
    assert schema["properties"]["dtype"]["enum"] == ["float32", "float16", "bfloat16"]


def test_the_schema_validates_the_file() -> None:
    jsonschema = pytest.importorskip(
        "jsonschema", reason="needs `pip install jsonschema`"
    )
    schema = json.loads(printed())
    file = {
        "methods": ["red"],
        "models": [{"use": "colour", "options": {"a": 1}}],
        "data": ["c"],
    }
    jsonschema.validate(file, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(file | {"sed": 1}, schema)
