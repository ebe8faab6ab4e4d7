"""`cuescope schema`: the JSON schema of the run file, for editors."""

import json

import typer


def schema() -> None:
    """Print the JSON schema of the run file, for editors."""
    from cuescope.matrix import Matrix

    typer.echo(json.dumps(Matrix.model_json_schema(), indent=1))
