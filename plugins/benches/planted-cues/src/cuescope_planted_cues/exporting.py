"""Configurations as files: for auditors in any language, and for a sealed part."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from cuescope_planted_cues.opaque import audit_of, without_traces
from cuescope_planted_cues.worlds import Configuration
from cuescope_sdk import Context, Sample, Trial
from cuescope_sdk.data import Draft


def export(
    folder: Path, configurations: Mapping[str, Configuration], context: Context
) -> None:
    """A folder each: `samples.json`, `answers.npz`, and the frames as pictures."""
    with context.progress("configurations", len(configurations)) as advance:
        for name, configuration in configurations.items():
            export_one(folder / name, configuration, context)
            advance(1)


def export_one(folder: Path, configuration: Configuration, context: Context) -> None:
    """The half that auditors see, with the model's answers to it."""
    audit = audit_of(configuration, context)
    outputs = audit.capabilities.outputs & {"logits", "embedding"}
    trials = [Trial(sample=sample, outputs=outputs) for sample in audit.samples]
    outcomes = audit.respond(trials)
    folder.mkdir(parents=True, exist_ok=True)
    rows = [write_sample(folder, without_traces(sample)) for sample in audit.samples]
    with Draft(folder / "answers.npz") as draft:
        arrays: dict[str, np.ndarray] = {}
        for output in sorted(outputs):
            vectors = [getattr(outcome, output) for outcome in outcomes]
            # choices may differ in number from sample to sample
            arrays[output] = pad(vectors)
        np.savez(draft.file, allow_pickle=False, **arrays)
    # last: a folder that has it is whole
    with Draft(folder / "samples.json") as draft:
        draft.file.write(json.dumps(rows, indent=1).encode())


def pad(vectors: Sequence[np.ndarray]) -> np.ndarray:
    """One row a vector; what a shorter one lacks is -inf."""
    rows = np.full((len(vectors), max(map(len, vectors))), -np.inf, np.float32)
    for row, vector in zip(rows, vectors, strict=True):
        row[: len(vector)] = vector
    return rows


def write_sample(folder: Path, sample: Sample) -> dict[str, object]:
    """Its frames as PNG; what is said of it, with the names of these files."""
    files = []
    for number, frame in enumerate(sample.frames):
        name = f"{sample.key}-{number}.png"
        frame.load().save(folder / name)
        files.append(name)
    return {
        "key": sample.key,
        "label": sample.label,
        "choices": sample.choices,
        "question": sample.question,
        "frames": files,
    }
