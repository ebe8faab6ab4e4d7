"""`cuescope schema`: the JSON schema of the run file, for editors."""

import json

import typer

from cuescope_sdk.matrix import Matrix

schema = typer.Typer(add_completion=False, rich_markup_mode=None)


@schema.command()
def show() -> None:
    """Print the JSON schema of `cuescope run`'s YAML."""
    typer.echo(json.dumps(Matrix.model_json_schema(), indent=1))
