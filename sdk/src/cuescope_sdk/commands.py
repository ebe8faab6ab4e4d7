"""What a plugin's own command shares with those of cuescope: options, output, built plugins.

An entry point of the group `cuescope.commands` names a `typer.Typer`; see `cuescope new`.
"""

from cuescope.building import Built as Built, build as build, build_tool as build_tool
from cuescope.cli.echo import echo as echo, echo_json as echo_json
from cuescope.cli.options import (
    AsJson as AsJson,
    Quiet as Quiet,
    Verbose as Verbose,
    by_role as by_role,
    open_runner as open_runner,
)
from cuescope.cli.progress import duration as duration
from cuescope.spec import pairs as pairs
