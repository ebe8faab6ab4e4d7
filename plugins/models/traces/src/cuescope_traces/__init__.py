"""Recorded reasoning traces as a model: what somebody's model has said before."""

from collections.abc import Mapping, Sequence
from pathlib import Path

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
from cuescope_sdk.data import shorten_names
from cuescope_sdk.models import refuse_unanswerable


class TracesOptions(Options):
    argument = "file"

    file: Path = Field(description="JSONL: a line a sample, with its key and its trace")


class Traces(Plugin):
    """Answers each sample of the audited data with its recorded trace, and any other with "".

    A sample is known by what it shows and asks, as the cache knows it, and not by its key; a
    changed sample has no trace.
    """

    Options = TracesOptions
    options: TracesOptions
    answers_version = 1
    capabilities = Capabilities(
        outputs=frozenset(("text",)),
        exposes=frozenset({"recorded"}),
        min_frames=0,
    )

    def __init__(self, options: TracesOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_traces.recording import read_recording

        traces = read_recording(options.file)
        if context.dataset is None:
            raise UserError("traces: no data set to which the traces belong")
        self._traces = traces_by_content(traces, context.dataset, options.file.name)
        # the keys too: in other data the same file belongs to other samples
        self.fingerprint = digest("traces", 1, traces, sorted(self._traces))
        recorded = coverage(traces, context.dataset)
        self.facts: Mapping[str, str] = {"recorded traces": recorded}

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        refuse_unanswerable("traces", self.capabilities, trials)
        responses = []
        for trial in trials:
            content = sample_content(trial.sample)
            responses.append(Response(text=self._traces.get(content, "")))
        return responses


def traces_by_content(
    traces: Mapping[str, str],
    data: Dataset,
    file: str,
) -> dict[str, str]:
    """The traces by what their samples show and ask.

    Raises UserError where no trace belongs to the data, and where two that differ belong to samples
    that do not.
    """
    # By content, not by key: a method may rename what it shows again, and the cache knows no key.
    traces_of: dict[str, str] = {}
    key_of: dict[str, str] = {}  # to name the first sample of a content
    keys = []
    for index in range(len(data)):
        sample = data[index]
        keys.append(sample.key)
        if sample.key not in traces:
            continue
        content = sample_content(sample)
        first = key_of.setdefault(content, sample.key)
        trace = traces_of.setdefault(content, traces[sample.key])
        if trace != traces[sample.key]:
            raise UserError(
                f"traces: samples '{first}' and '{sample.key}' show and ask the same",
                expected="one trace for both",
                got="two that differ",
                remedy="Leave one out",
            )
    if not traces_of:
        first = next(iter(traces))
        raise UserError(
            f"traces: {file} has no trace of any sample of the data",
            expected=f"keys as {quote(keys)}",
            got=f"'{first}'",
            remedy=nearest(first, keys),
        )
    return traces_of


def quote(keys: Sequence[str]) -> str:
    """The first of the keys, as an error or a fact lists them."""
    return shorten_names([f"'{key}'" for key in keys])


def sample_content(sample: Sample) -> str:
    """Digest of what a sample shows and asks."""
    frames = [frame.key for frame in sample.frames]
    return digest(frames, sample.question, sample.choices)


def coverage(traces: Mapping[str, str], data: Dataset) -> str:
    """How many samples have a trace, and which traces belong to none."""
    keys = {data[index].key for index in range(len(data))}
    unknown = [key for key in traces if key not in keys]
    left = (
        f"; {len(unknown)} of no sample of the data ({quote(unknown)})"
        if unknown
        else ""
    )
    return f"{len(keys & traces.keys())} of {len(keys)} samples{left}"


__all__ = ["Traces", "TracesOptions"]
