"""What `cuescope investigate --plan --json` prints."""

from cuescope.application import JsonOutput, Plan


class InvestigationPlan(JsonOutput):
    """Methods that have run, what the others would cost, and why some are left out.

    The plan of `confirm` is there when all methods have run. `seconds` are those of the model for
    these plans on this computer; None where it has never been timed here.
    """

    done: tuple[str, ...]
    plans: dict[str, Plan]
    left_out: dict[str, str]
    seconds: float | None = None
    # what a person reads below the table
    lines: tuple[str, ...] = ()
