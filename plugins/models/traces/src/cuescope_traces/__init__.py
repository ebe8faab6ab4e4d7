"""Recorded reasoning traces as a model: what somebody's model has said before."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from cuescope_sdk import (
    Capabilities,
    Context,
    Dataset,
    Options,
    Plugin,
    Response,
    Sample,
    Trial,
    UserError,
    digest,
    nearest,
)
from cuescope_sdk.models import refuse_unanswerable

NAMED = 3


class TracesOptions(Options):
    """Where the traces are."""

    argument = "file"

    file: Path = Field(description="JSONL: a line a sample, with its key and its trace")


class Traces(Plugin):
    """Says of each sample of the audited data what was recorded of it, and "" of any other.

    A sample is known by what it shows and asks, as the cache knows it, and not by its key; so it
    has to be shown as it is in the data.
    """

    Options: ClassVar[type[Options]] = TracesOptions
    options: TracesOptions
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset(("text",)), exposes=frozenset({"recorded"}), min_frames=0
    )

    def __init__(self, options: TracesOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_traces.recording import read_recording

        traces = read_recording(options.file)
        if context.dataset is None:
            raise UserError("traces: no data set to which the traces belong")
        self._said = by_content(traces, context.dataset, options.file.name)
        self.fingerprint = digest("traces", 1, traces, sorted(self._said))
        self.facts: Mapping[str, str] = {"recorded traces": told(traces, context.dataset)}

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """What was recorded."""
        for trial in trials:
            refuse_unanswerable("traces", self.capabilities, trial)
        return [Response(text=self._said.get(content(trial.sample), "")) for trial in trials]


def by_content(traces: Mapping[str, str], data: Dataset, file: str) -> dict[str, str]:
    """The traces by what their samples show and ask.

    Raises UserError where no trace belongs to the data, and where two that differ belong to samples
    that do not.
    """
    found: dict[str, tuple[str, str]] = {}
    for index in range(len(data)):
        sample = data[index]
        if sample.key not in traces:
            continue
        other, said = found.setdefault(content(sample), (sample.key, traces[sample.key]))
        if said != traces[sample.key]:
            raise UserError(
                f"traces: samples '{other}' and '{sample.key}' show and ask the same",
                expected="one trace for both", got="two that differ", remedy="Leave one out",
            )  # fmt: skip
    if not found:
        keys = [data[index].key for index in range(len(data))]
        known = ", ".join(f"'{key}'" for key in keys[:NAMED])
        raise UserError(
            f"traces: {file} has no trace of any sample of the data", expected=f"keys as {known}",
            got=f"'{next(iter(traces))}'", remedy=nearest(next(iter(traces)), keys),
        )  # fmt: skip
    return {shown: said for shown, (_, said) in found.items()}


def content(sample: Sample) -> str:
    """What a sample shows and asks."""
    return digest([frame.key for frame in sample.frames], sample.question, sample.choices)


def told(traces: Mapping[str, str], data: Dataset) -> str:
    """How many samples have a trace, and which traces belong to none."""
    keys = {data[index].key for index in range(len(data))}
    strange = [key for key in traces if key not in keys]
    named = ", ".join(f"'{key}'" for key in strange[:NAMED])
    left = f"; {len(strange)} of no sample of the data ({named})" if strange else ""
    return f"{len(keys & traces.keys())} of {len(keys)} samples{left}"


__all__ = ["Traces", "TracesOptions"]
