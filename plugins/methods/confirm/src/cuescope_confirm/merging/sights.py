"""What the pictures of each cue show: a name, which is a guess, for one that is only numbered."""

from collections import Counter
from dataclasses import replace

from cuescope_confirm.merging.modalities import place_of
from cuescope_confirm.merging.recognition import name_of
from cuescope_confirm.study import NOWHERE, Cue, Cues, Study, guess_in
from cuescope_sdk.locating import look_at_features


def with_sights(study: Study, cues: Cues) -> list[Cue]:
    """The cues with what their pictures have that others have not, which names the numbered ones.

    Number and method stand in the table of what found each cue; in a sentence they say nothing.
    """
    pictured = [cue for cue in cues if _has_pictures(cue)]
    # it takes seconds for each, and a plan prints no name
    if not pictured or study.audit.context.planning:
        return list(cues)
    features = [cue.feature for cue in pictured]
    seen = look_at_features(study.audit, study.seen, features)
    sights = {
        cue.id: sight
        for cue, sight in zip(pictured, seen, strict=True)
        if sight is not None
    }
    guesses: dict[str, str] = {}
    for cue in pictured:
        if not cue.is_numbered or name_of(cue) is not None:
            continue
        made = guess_in(cue.name)
        sight = sights.get(cue.id)
        # what several methods have found has a name by what is seen of it all
        if (made is None or len(cue.members) > 1) and sight is not None:
            made = sight.name
        if made is not None:
            guesses[cue.id] = made
    counts = Counter(guesses.values())
    met = Counter[str]()
    named = []
    for cue in cues:
        cue = replace(cue, sight=sights.get(cue.id, cue.sight))
        guess = guesses.get(cue.id)
        if guess is not None:
            met[guess] += 1
            # two cues may look alike in these words
            which = f", {met[guess]} of {counts[guess]}" if counts[guess] > 1 else ""
            cue = replace(cue, name=f"{guess} (a guess{which})")
        named.append(cue)
    return named


def _has_pictures(cue: Cue) -> bool:
    """Whether it is of frames that can be looked at."""
    if place_of(cue) is not None or cue.kind in NOWHERE:
        return False
    return bool(cue.feature.occurrences)
