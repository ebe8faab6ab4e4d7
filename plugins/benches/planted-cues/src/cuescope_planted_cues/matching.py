"""The one rule by which a found feature is a planted cue (README)."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import NamedTuple

import numpy as np

from cuescope_planted_cues.planted import WORD
from cuescope_planted_cues.planted.painting import NAMES
from cuescope_sdk import Dataset, Feature, HasPlantedCues

LEAST_SHARE = 0.5  # of what a feature could show of the cue beyond chance
LEAST_RECALL = 0.1  # of the audited samples that show the cue
LEAST_OCCURRENCES = 5
MOST_OCCURRENCES = 300  # the strongest ones
ALWAYS = 0.95  # where chance alone shows the cue so often, nothing can be told
ALIKE = 40  # samples that tell the chance of another one
# QUAG calls its kinds of features by what is averaged or left out
MODALITIES = ("verdict", "short-circuit", "quag-attention", "modality", "mean")


class Answer(NamedTuple):
    """What the model said of a sample, and the probability that it gave the right answer."""

    said: str | None
    probability: float


NO_ANSWER = Answer(None, 0.0)


class Match(NamedTuple):
    """How far a feature is a cue, by where it occurs.

    `beyond` is the share of its frames that show the cue beyond chance, `purity` that share as it
    is, `recall` the share of the audited samples with the cue that the feature holds.
    """

    beyond: float
    purity: float
    recall: float

    @property
    def is_plant(self) -> bool:
        """Pure beyond chance, and more than a few samples."""
        return self.beyond >= LEAST_SHARE and self.recall >= LEAST_RECALL


NO_MATCH = Match(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Sheet:
    """What was planted: by sample, which frames show each cue, and the label.

    `names` are the words for each cue. `answers` are those of the audited model to the samples as
    they are; without them chance is told by the label alone. `audited` are the samples that an
    auditor saw, None for all.
    """

    shown: dict[str, Mapping[str, tuple[bool, ...]]]
    label: dict[str, str | None]
    names: dict[str, str]
    answers: Mapping[str, Answer] = field(default_factory=dict)
    audited: Collection[str] | None = None

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

    def answer(self, key: str) -> Answer:
        """Of a sample; the same for all where the model was not asked."""
        return self.answers.get(key, NO_ANSWER)

    def alike(self, key: str) -> list[str]:
        """Samples of the same label that got the same answer with about the same probability.

        Those are what a list of errors holds that knows of no cue. The sample is one of them.
        """
        answer = self.answer(key)
        keys = self._by_answer[self.label[key], answer.said]
        chances = [self.answer(other).probability for other in keys]
        place = bisect_left(chances, answer.probability)
        begin = max(0, min(place - ALIKE // 2, len(keys) - ALIKE))
        return keys[begin : begin + ALIKE] if self.answers else keys

    @cached_property
    def _by_answer(self) -> dict[tuple[str | None, str | None], list[str]]:
        """The samples of each label and answer, the least probable first."""
        keys: dict[tuple[str | None, str | None], list[str]] = defaultdict(list)
        for key in sorted(self.shown, key=lambda key: self.answer(key).probability):
            keys[self.label[key], self.answer(key).said].append(key)
        return dict(keys)


def is_planted(feature: Feature, cue: str, sheet: Sheet) -> bool:
    """Whether a feature is this cue: by what it names, else by where it occurs.

    By occurrence: of the frames (of the samples, where it names no frame) in which it occurs, the
    share that shows the cue, less the share that chance gives, over what chance leaves, is at
    least `LEAST_SHARE` (the form of Cohen's kappa, 1960), and it holds `LEAST_RECALL` of the
    audited samples with the cue. Chance is the cue's share in the same frame of samples that are
    alike (`Sheet.alike`): a feature that only follows label, time or errors is not the cue.
    """
    by_name = _by_name(feature, cue, sheet)
    if by_name is not None:
        return by_name
    match = match_of(feature, cue, sheet)
    others = (sheet.names.keys() & NAMES.keys()) - {cue}
    # of two painted cues it is the one that it shows more of
    return match.is_plant and all(
        match_of(feature, other, sheet).beyond <= match.beyond for other in others
    )


def _by_name(feature: Feature, cue: str, sheet: Sheet) -> bool | None:
    """Of what speaks of a thing, a modality or a background; None for anything else."""
    name = sheet.names.get(cue, cue)
    last = feature.key.rpartition("/")[2]
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


def match_of(feature: Feature, cue: str, sheet: Sheet) -> Match:
    """How far a feature is a cue; nothing of one with too few frames."""
    # Each frame of each sample counts once.
    places: dict[tuple[str, int | None], bool] = {}
    for occurrence in feature.occurrences:
        key = sheet.root(occurrence.sample)
        if key is not None and cue in sheet.shown[key]:
            frame = occurrence.frame
            places[key, frame] = is_shown(sheet.shown[key][cue], frame)
    frames = list(places)
    shown = list(places.values())
    hits: list[bool] = []
    chance: list[float] = []
    for hit, (key, frame) in islice(zip(shown, frames, strict=True), MOST_OCCURRENCES):
        by_chance = chance_of(cue, sheet, key, frame)
        # where nearly all that is alike shows the cue, a frame with it tells nothing
        if by_chance <= ALWAYS:
            hits.append(hit)
            chance.append(by_chance)
    # one or two frames can show anything
    if len(hits) < LEAST_OCCURRENCES:
        return NO_MATCH
    held = {key for hit, (key, _) in zip(shown, frames, strict=True) if hit}
    return Match(
        beyond=beyond_chance(hits, chance),
        purity=float(np.mean(shown)),
        recall=_recall(held, cue, sheet),
    )


def _recall(held: Collection[str], cue: str, sheet: Sheet) -> float:
    """The share of the audited samples with the cue that is held."""
    audited = sheet.shown if sheet.audited is None else sheet.audited
    showing = {key for key in audited if any(sheet.shown[key].get(cue, ()))}
    return len(showing & set(held)) / len(showing) if showing else 0.0


def is_shown(shown: Sequence[bool], frame: int | None) -> bool:
    """Whether a frame shows a cue; any frame, if None. The last one stands for later ones."""
    if frame is None or not shown:
        return any(shown)
    return shown[min(frame, len(shown) - 1)]


def beyond_chance(hits: Sequence[bool], chance: Sequence[float]) -> float:
    """(share - chance) / (1 - chance)."""
    expected = float(np.mean(chance))
    return (float(np.mean(hits)) - expected) / (1 - expected)


def chance_of(cue: str, sheet: Sheet, key: str, frame: int | None) -> float:
    """The share of the samples like this one that show a cue in this frame; in any, if None."""
    alike = sheet.alike(key)
    shown = [is_shown(sheet.shown[other].get(cue, ()), frame) for other in alike]
    return float(np.mean(shown))
