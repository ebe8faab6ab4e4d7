"""Cues that are words, or a whole modality."""

import re
from dataclasses import replace

import numpy as np

from cuescope_confirm.locating.places import LocatedCue, size_of
from cuescope_confirm.study import Cue, Samples
from cuescope_sdk.interventions import Place


def locate_words(word: str, pool: Samples) -> LocatedCue | None:
    """Where questions name the cue; None where no sample has a question."""
    # of several words a mark may stand between two: "move? Today"
    words = r"\W+".join(map(re.escape, word.split()))
    # a question may have the word in the plural
    pattern = re.compile(rf"\b{words}(?:e?s)?\b", re.IGNORECASE)
    places = {}
    without = set()
    for key, sample in pool.items():
        spans = tuple(match.span() for match in pattern.finditer(sample.question or ""))
        if spans:
            places[key] = Place(spans=spans)
        # a sample without a question is in neither list: no words can be changed there
        elif sample.question:
            without.add(key)
    if not places and not without:
        return None
    return LocatedCue(places, without, "the words of the question")


def locate_modality(cue: Cue, pool: Samples) -> LocatedCue:
    """All of the video, or all of the text, as the finding's key says."""
    is_text = re.search(r"text|question", cue.feature.key) is not None
    places = {}
    for key, sample in pool.items():
        if is_text:
            places[key] = Place(modality="text")
        elif sample.frames:
            masks = [np.ones(size_of(frame), dtype=bool) for frame in sample.frames]
            places[key] = Place(masks=tuple(masks), modality="video")
    return LocatedCue(places, frozenset(), "all of the modality")


def merge_places(
    seen: LocatedCue | None, spoken: LocatedCue | None
) -> LocatedCue | None:
    """What is seen decides which samples show the cue; where nothing is, the words do."""
    if spoken is None or seen is None:
        return seen or spoken
    places = dict(seen.places)
    for key in places.keys() & spoken.places.keys():
        places[key] = replace(places[key], spans=spoken.places[key].spans)
    return replace(seen, places=places)
