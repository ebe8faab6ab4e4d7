"""A name for each cue that methods have only numbered: what its pictures show, which is a guess."""

from collections import Counter
from dataclasses import replace

from cuescope_confirm.merging.modalities import place_of
from cuescope_confirm.merging.recognition import name_of
from cuescope_confirm.study import NOWHERE, Cue, Cues, Study, guess_in
from cuescope_sdk.locating import Sight, look_at_features


def with_guesses(study: Study, cues: Cues) -> list[Cue]:
    """The cues, those that nobody has named by what their pictures have that others have not.

    Number and method stand in the table of what found each cue; in a sentence they say nothing.
    """
    numbered = [cue for cue in cues if _is_numbered(cue)]
    # it takes seconds for each, and a plan prints no name
    if not numbered or study.audit.context.planning:
        return list(cues)
    guesses: dict[str, str] = {}
    sights: dict[str, Sight] = {}
    unseen = []
    for cue in numbered:
        made = guess_in(cue.name)
        # what several methods have found is looked at anew
        if made is None or len(cue.members) > 1:
            unseen.append(cue)
        else:
            guesses[cue.id] = made
    features = [cue.feature for cue in unseen]
    seen = look_at_features(study.audit, study.seen, features) if unseen else []
    for cue, sight in zip(unseen, seen, strict=True):
        if sight is not None and sight.name is not None:
            guesses[cue.id] = sight.name
            sights[cue.id] = sight
    counts = Counter(guesses.values())
    met = Counter[str]()
    named = []
    for cue in cues:
        guess = guesses.get(cue.id)
        if guess is not None:
            met[guess] += 1
            # two cues may look alike in these words
            which = f", {met[guess]} of {counts[guess]}" if counts[guess] > 1 else ""
            sight = sights.get(cue.id, cue.sight)
            cue = replace(cue, name=f"{guess} (a guess{which})", sight=sight)
        named.append(cue)
    return named


def _is_numbered(cue: Cue) -> bool:
    """Whether it has occurrences to look at, and a number or another guess for a name."""
    if name_of(cue) is not None or place_of(cue) is not None or cue.kind in NOWHERE:
        return False
    return bool(cue.feature.occurrences) and cue.is_numbered
