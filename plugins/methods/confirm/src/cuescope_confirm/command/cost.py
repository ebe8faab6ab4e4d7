"""Cost of an investigation: the plans of its methods, and the most that its test may ask."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from cuescope.application import Plan, Runner, reason_of
from cuescope_confirm.command import METHOD
from cuescope_confirm.study import LISTED
from cuescope_sdk import Context, Request, UserError

# a note of `cuescope_sdk.data`: too few samples for what is not strong
WEAK = "weak data"


class Investigation(Protocol):
    """The audits of methods and of the test, as far as they can be planned."""

    runner: Runner
    requests: dict[str, Request]
    test: Request
    lists: list[Path]

    def of_method(self, name: str) -> Runner:
        """The runner of a method."""


def plans_of(work: Investigation) -> tuple[dict[str, Plan], dict[str, str]]:
    """Plans of what has not run, by name, and why others would fail; a trial is counted once.

    What the test asks is known when all methods have run.
    """
    counted = set[str]()
    plans = {}
    faults: dict[str, str] = {}
    for name, request in work.requests.items():
        runner = work.of_method(name)
        if not runner.folder(request).report_file.exists():
            try:
                plans[name] = runner.plan(request, counted)
            except UserError as error:  # as where they run, it costs itself
                faults[name] = reason_of(error)
    if not plans and all((home / LISTED).exists() for home in work.lists):
        plans[METHOD] = work.runner.plan(work.test, counted)
    return plans, faults


def seconds_of(plans: Mapping[str, Plan]) -> float | None:
    """Seconds of the model for these plans; None where it was never timed here."""
    known = [plan.seconds for plan in plans.values() if plan.model_inputs]
    seconds = [each for each in known if each is not None]
    return None if len(seconds) < len(known) else sum(seconds)


def most_of_test(runner: Runner, test: Request) -> tuple[int, int, int]:
    """Cues, interventions of each, and samples that each changes, at most."""
    context = runner.context
    method = context.resolve("method", METHOD, test.method_options)
    given = method.options.model_dump()
    ways = len(given["interventions"]) or _count_usable(context, test)
    return given["top"], ways, given["samples"]


def _count_usable(context: Context, test: Request) -> int:
    """The installed interventions that this model and these tools can serve."""
    model = context.resolve("model", test.model, test.model_options).plugin
    declared = getattr(model, "capabilities", None)
    entries = context.registry.of_kind("intervention")
    usable = len(entries)
    if declared is None:
        return usable
    for entry in entries:
        # one that fails costs itself, and the dossier says so
        with suppress(Exception):
            kind = context.resolve("intervention", entry.name).plugin
            usable -= bool(kind.lacks(declared, list(test.tools)))
    return usable
