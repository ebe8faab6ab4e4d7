"""The one rule by which a found feature is a planted cue (docs/cuebench.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from cuescope_cuebench.planted import WORD
from cuescope_cuebench.planted.painting import NAMES
from cuescope_sdk import Dataset, Feature, HasPlantedCues

LEAST_SHARE = 0.5  # of what a feature could show of the cue beyond chance
LEAST_OCCURRENCES = 5
MOST_OCCURRENCES = 300  # the strongest ones
ALWAYS = 0.95  # where chance alone shows the cue so often, nothing can be told
# SpurLens calls its kinds of features by the task
OBJECTS = ("recognition", "hallucination", "drop", "mask")
# and QUAG by what is averaged or left out
MODALITIES = ("verdict", "short-circuit", "quag-attention", "modality", "mean")


@dataclass(frozen=True)
class Sheet:
    """What was planted: by sample, which frames show each cue, and the label.

    `names` are the words for each cue.
    """

    shown: dict[str, Mapping[str, tuple[bool, ...]]]
    label: dict[str, str | None]
    names: dict[str, str]

    @classmethod
    def of(cls, data: Dataset) -> "Sheet":
        """The answer sheet of a data set; empty where it has none."""
        sheet = cls({}, {}, {})
        for index in range(len(data)):
            sample = data[index]
            # without a sheet no feature is ever the plant, and nothing is raised
            sheet.shown[sample.key] = sample.annotations.get("cues", {})
            sheet.label[sample.key] = sample.label
        for cue in data.planted_cues if isinstance(data, HasPlantedCues) else ():
            sheet.names[cue.key] = cue.name
        return sheet

    def root(self, key: str) -> str | None:
        """The sample that a derived one was made of."""
        while key and key not in self.shown:
            # what is derived of a sample has words behind its key, after a slash
            key = key.rpartition("/")[0]
        return key or None


def is_planted(feature: Feature, cue: str, sheet: Sheet) -> bool:
    """Whether a feature is this cue: by what it names, else by where it occurs.

    By occurrence: of the frames (of the samples, where it names no frame) in which it occurs, the
    share that shows the cue, less the share that chance gives, over what chance leaves, is at
    least `LEAST_SHARE` (the form of Cohen's kappa, 1960). Chance is the cue's share in the same
    frame of samples of the same label: a feature that only follows the label, or the time, is not
    the cue.
    """
    by_name = _by_name(feature, cue, sheet)
    return _by_occurrence(feature, cue, sheet) if by_name is None else by_name


def _by_name(feature: Feature, cue: str, sheet: Sheet) -> bool | None:
    """Of what speaks of an object, a modality or a background; None for anything else."""
    name = sheet.names.get(cue, cue)
    last = feature.key.rpartition("/")[2]
    if feature.kind in OBJECTS:
        return last == name
    if feature.kind in MODALITIES:
        words = feature.key.lower()
        text = "text" in words or "question" in words
        video = "video" in words
        # a feature of both modalities tells neither cue
        return text and not video if cue == "question" else video and not text
    if feature.kind == "thing":
        return (
            # a planted word is a thing by itself, with no other name
            last == name or feature.name == name or (cue == "question" and last == WORD)
        )
    if feature.key.startswith("background"):
        kind = feature.key.partition("=")[2]
        # a feature may say "background" and not of which kind
        return cue.startswith("background") and kind in ("", name)
    return None


def _by_occurrence(feature: Feature, cue: str, sheet: Sheet) -> bool:
    """Of two painted cues it is the one that it shows more of."""
    share = _shown_beyond_chance(feature, cue, sheet)
    if share < LEAST_SHARE:
        return False
    others = (sheet.names.keys() & NAMES.keys()) - {cue}
    return all(_shown_beyond_chance(feature, other, sheet) <= share for other in others)


def _shown_beyond_chance(feature: Feature, cue: str, sheet: Sheet) -> float:
    """How far the share of its frames that show a cue is beyond chance; 0 of too few frames."""
    hits: list[bool] = []
    chance: list[float] = []
    # each is a count over all samples, and needed for many frames
    by_side: dict[tuple[str | None, int | None], float] = {}
    # Each frame of each sample counts once.
    frames = dict.fromkeys((sheet.root(o.sample), o.frame) for o in feature.occurrences)
    for key, frame in islice(frames, MOST_OCCURRENCES):
        if key is None or cue not in sheet.shown[key]:
            continue
        side = (sheet.label[key], frame)
        if side not in by_side:
            by_side[side] = chance_of(cue, sheet, *side)
        hits.append(is_shown(sheet.shown[key][cue], frame))
        chance.append(by_side[side])
    # one or two frames can show anything
    return beyond_chance(hits, chance) if len(hits) >= LEAST_OCCURRENCES else 0.0


def is_shown(shown: Sequence[bool], frame: int | None) -> bool:
    """Whether a frame shows a cue; any frame, if None. The last one stands for later ones."""
    if frame is None or not shown:
        return any(shown)
    return shown[min(frame, len(shown) - 1)]


def beyond_chance(hits: Sequence[bool], chance: Sequence[float]) -> float:
    """(share - chance) / (1 - chance); 0 where chance alone gives nearly all."""
    expected = float(np.mean(chance))
    # little is left that a feature could show beyond chance
    if expected > ALWAYS:
        return 0.0
    return (float(np.mean(hits)) - expected) / (1 - expected)


def chance_of(cue: str, sheet: Sheet, label: str | None, frame: int | None) -> float:
    """The share of a label's samples that show a cue in this frame; in any, if None."""
    hits = []
    for key, label_of_sample in sheet.label.items():
        if label_of_sample == label:
            hits.append(is_shown(sheet.shown[key][cue], frame))
    return float(np.mean(hits)) if hits else 0.0
