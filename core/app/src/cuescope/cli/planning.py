"""`cuescope audit ... --plan`: what an audit would cost."""

from typing import TYPE_CHECKING

from cuescope.cli.echo import echo
from cuescope_core.planning import Plan

if TYPE_CHECKING:
    from cuescope.runner import Runner
    from cuescope_core.request import Request


def show_plan(runner: "Runner", request: "Request", *, as_json: bool = False) -> None:
    """Print what a request would cost."""
    print_plan(runner.plan(request), as_json=as_json)


def print_plan(plan: Plan, *, as_json: bool = False) -> None:
    """Print a plan."""
    from cuescope.cli.outputs import AuditPlan

    if as_json:
        AuditPlan.of(plan).show()
        return
    for line in str(plan).splitlines():
        echo(line)
