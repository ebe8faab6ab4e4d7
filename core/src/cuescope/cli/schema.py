"""`cuescope schema`: the JSON schema of the run file, for editors."""

import json

from cuescope.cli.echo import echo_json


def schema() -> None:
    """Print the JSON schema of the run file, for editors."""
    from cuescope.matrix import Matrix

    echo_json(json.dumps(Matrix.model_json_schema(), indent=1))
