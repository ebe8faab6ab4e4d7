"""Cues that are words, or a whole modality."""

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from cuescope_confirm.locating.annotated import size_of
from cuescope_confirm.study import Cue
from cuescope_sdk import Sample
from cuescope_sdk.interventions import Localisation, LocatedCue, Place


def locate_words(cue: Cue, word: str, pool: Mapping[str, Sample]) -> LocatedCue | None:
    """Where questions name the cue; None where no sample has a question."""
    asked = {key: sample for key, sample in pool.items() if sample.question}
    if not asked:
        return None
    pattern = re.compile(rf"\b{re.escape(word)}(?:e?s)?\b", re.IGNORECASE)
    spans = {
        key: tuple(found.span() for found in pattern.finditer(str(sample.question)))
        for key, sample in asked.items()
    }
    places = {key: Place(spans=own) for key, own in spans.items() if own}
    return LocatedCue(
        key=cue.feature.key,
        name=cue.name,
        label=cue.label,
        places=places,
        without=frozenset(asked.keys() - places.keys()),
        quality=Localisation("the words of the question", n=len(places)),
        word=word,
    )


def locate_modality(cue: Cue, pool: Mapping[str, Sample]) -> LocatedCue:
    """All of the video, or all of the text, as the finding's key says."""
    text = re.search(r"text|question", cue.feature.key) is not None
    places = {}
    for key, sample in pool.items():
        if text:
            places[key] = Place(modality="text")
        elif sample.frames:
            masks = tuple(np.ones(size_of(frame), dtype=bool) for frame in sample.frames)
            places[key] = Place(masks=masks, modality="video")
    return LocatedCue(
        key=cue.feature.key,
        name=cue.name,
        label=cue.label,
        places=places,
        without=frozenset(),
        quality=Localisation("all of the modality", n=len(places)),
    )


def merged(seen: LocatedCue | None, spoken: LocatedCue | None) -> LocatedCue | None:
    """What is seen decides which samples show the cue; where nothing is, the words do."""
    if spoken is None or seen is None:
        return seen or spoken
    places = {
        key: replace(place, spans=spoken.places[key].spans) if key in spoken.places else place
        for key, place in seen.places.items()
    }
    return replace(seen, places=places)
