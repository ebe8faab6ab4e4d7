"""Items and what is known of their files -> samples, or why there is none."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cuescope_folder.layout import Item
from cuescope_folder.regions import mask_frame
from cuescope_sdk import Frame, Sample, UserError
from cuescope_sdk.data import Probe, kind_of
from cuescope_sdk.grounding import TIMES

Probes = Mapping[Path, Probe]


def needed_files(item: Item, frames: int) -> tuple[Path, ...]:
    """The files that a sample of this item shows: of a frame folder, the sampled frames alone."""
    if not item.folder or not item.files:
        return item.files
    return tuple(
        item.files[index] for index in Probe.sample_indices(len(item.files), frames)
    )


def with_mask(item: Item, files: tuple[Path, ...]) -> tuple[Path, ...]:
    """The files and the item's mask, if it has one."""
    return files if item.mask is None else (*files, item.mask)


def read_samples(
    items: Sequence[Item],
    probes: Probes,
    frames: int,
    choices: tuple[str, ...],
) -> tuple[list[Sample], list[str]]:
    """A sample for each readable item, and "key (problem)" for each of the others.

    `choices` are for items without their own. Where one sampled frame of a frame folder cannot be
    read, the clip is left out whole.
    """
    samples = []
    problems = []
    # many items may ask about one file
    shown_of: dict[tuple[Path, ...], tuple[Frame, ...]] = {}
    for item in items:
        files = needed_files(item, frames)
        problem = _problem(item, files, probes)
        if problem is None:
            shown = shown_of.get(files) or _frames(files, probes, frames)
            shown_of[files] = shown
            annotations = _times_and_actions(item, probes, len(shown))
            if item.mask is not None:
                annotations["foreground"] = mask_frame(item, probes)
            samples.append(_sample(item, shown, annotations, choices))
        else:
            problems.append(f"{item.key} ({problem})")
    return samples, problems


def _frames(
    files: Sequence[Path],
    probes: Probes,
    wanted: int,
) -> tuple[Frame, ...]:
    kind = kind_of(files[0])
    if kind == "image":
        return tuple(probes[file].image() for file in files)
    probe = probes[files[0]]
    # a GIF of one picture is an image
    still = kind == "animation" and probe.frames == 1
    return probe.clip(1 if still else wanted)


def _times_and_actions(
    item: Item,
    probes: Probes,
    wanted: int,
) -> dict[str, Any]:
    """Of a video, the seconds of the sampled frames, unless it is one of a class and no more.

    Its actions as (name, first frame, frame after the last) of those sampled: one that begins and
    ends between two of them is not seen, and left out.
    """
    described = item.actions or item.question or item.label is None
    # a single frame has no order in time
    if not described or wanted < 2 or kind_of(item.files[0]) == "image":
        return {}
    (file,) = item.files
    video = probes[file]
    shown = list(video.indices(wanted))
    times = video.times()[shown]
    annotations: dict[str, Any] = {
        TIMES: tuple(round(float(time), 3) for time in times)
    }
    if item.actions:
        actions = []
        for name, start, end in item.actions:
            # An action is in a frame that is taken from its start on and before its end.
            first, after = np.searchsorted(times, (start, end)).tolist()
            if first < after:
                actions.append((name, first, after))
        annotations["actions"] = tuple(actions)
    return annotations


def _problem(
    item: Item,
    files: tuple[Path, ...],
    probes: Probes,
) -> str | None:
    if not files:
        return "no images in this folder"
    for file in with_mask(item, files):
        problem = probes[file].problem
        if problem is not None:
            # An item of one file is named by its key, which the reader sees beside the problem.
            several = item.folder or file == item.mask
            return f"{file.name}: {problem}" if several else problem
    return None


def _sample(
    item: Item,
    frames: tuple[Frame, ...],
    known: Mapping[str, Any],
    choices: tuple[str, ...],
) -> Sample:
    annotations = item.annotations
    more = known if item.split is None else {**known, "split": item.split}
    # a million rows know nothing more: each has its own as it is
    if more or "path" not in annotations:
        annotations = {"path": item.key, **annotations, **more}
    for cue, present in item.annotations.get("cues", {}).items():
        # only now is it known how many frames are shown
        if len(present) != len(frames):
            raise UserError(
                f"folder: {item.location}: cue '{cue}'",
                expected=f"one true or false for each of the {len(frames)} sampled frames",
                got=f"{len(present)}",
                remedy="Annotate the frames that -O data.frames=N samples",
            )
    return Sample(
        key=item.key,
        frames=frames,
        question=item.question,
        choices=item.choices or choices,
        label=item.label,
        group=item.group,
        annotations=annotations,
    )


def contradictions(samples: Sequence[Sample]) -> list[str]:
    """Samples that show and ask the same, with other labels: "a/1.png: cat, b/1.png: dog"."""
    alike: dict[tuple[object, ...], list[Sample]] = {}
    for sample in samples:
        if sample.label is not None:
            # by content: one picture under two names is asked about twice
            shown = tuple(frame.key for frame in sample.frames)
            alike.setdefault((shown, sample.question), []).append(sample)
    lines = []
    for group in alike.values():
        # with the same label it is a duplicate, and no contradiction
        if any(sample.label != group[0].label for sample in group):
            words = [f"{sample.key}: {sample.label}" for sample in group]
            lines.append(", ".join(words))
    return lines


def losses(items: Sequence[Item], probes: Probes) -> list[str]:
    """Items of which a part is not shown: "a/1.mkv (cut off: 7 of 12 frames)"."""
    lines = []
    for item in items:
        for file in item.files:
            probe = probes.get(file)
            if probe is not None and probe.problem is None and probe.loss:
                lines.append(f"{item.key} ({probe.loss})")
    return lines
