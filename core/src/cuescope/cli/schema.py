"""`cuescope schema`: the JSON schema of the run file, for editors."""

import typer


def schema() -> None:
    """Print the JSON schema of `cuescope run`'s YAML."""
    import json

    from cuescope.request import Matrix

    typer.echo(json.dumps(Matrix.model_json_schema(), indent=1))
