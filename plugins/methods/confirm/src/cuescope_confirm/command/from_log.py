"""`cuescope investigate --log FILE`: cues from recorded answers; a model is asked what decides."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from cuescope.application import Asking, Pairs, Registry, pairs
from cuescope_sdk import UserError
from cuescope_sdk.choosing import Question

LOG = "log"  # the model, and the data, that recorded answers are
SAMPLES = 60  # that an intervention changes, at most
TOP = 5  # findings of each method


@dataclass(frozen=True)
class FromLog:
    """A log in the place of a model's answers."""

    log: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Find cues in these recorded answers. A --model is asked only what decides.",
        ),
    ] = None
    log_option: Annotated[
        Pairs, typer.Option("-L", metavar="KEY=VALUE", help="Option of the log.")
    ] = None

    def asking(self, asked: Asking, registry: Registry) -> Asking:
        """What is asked to find cues: the log, on the data that it holds or that are named."""
        if self.log is None:
            if self.log_option:
                raise UserError("-L without --log", remedy="Add --log FILE")
            return asked
        options = pairs("-L", self.log_option or ())
        spec = f"{LOG}:{self.log}"
        named = Question(spec, asked.data, options).with_own_data(registry)
        of_data = list(asked.data_option or ())
        for name, value in (named.data_options or {}).items():
            of_data.append(f"{name}={value}")
        return replace(
            asked,
            model=spec,
            model_option=self.log_option,
            data=named.data,
            data_option=of_data,
        )

    def testing(self, asked: Asking, found: Asking) -> Asking | None:
        """What is asked to test them: the model on the same data; None without a model."""
        if self.log is None:
            return asked
        if asked.model is None:
            return None
        return replace(found, model=asked.model, model_option=asked.model_option)


def of_test(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of the test that asks little; what the person typed goes before."""
    return {"samples": SAMPLES, "top": TOP, **options}


def saved_words(calls: Mapping[str, int], methods: Sequence[str]) -> str:
    """How many calls the log spares, in a line; `calls` are those of methods on the model."""
    whole = sum(calls.values())
    words = f"saved: at least {whole:,} model calls"
    others = [name for name in calls if name not in methods]
    more = (
        f", {len(others)} of them only on a model ({', '.join(others)})"
        if others
        else ""
    )
    return (
        f"{words}: so many {len(calls)} methods would ask to find cues{more}; "
        "cues are found in the log, and a test changes "
        f"at most {SAMPLES} samples in each way that decides"
    )
