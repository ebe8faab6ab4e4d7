"""A name for each cue that methods have only numbered: what its pictures show, which is a guess."""

from collections import Counter
from dataclasses import replace

from cuescope_confirm.merging.modalities import place_of
from cuescope_confirm.merging.recognition import name_of
from cuescope_confirm.study import GUESSED, NOWHERE, Cue, Cues, Study
from cuescope_sdk.locating import guess_names


def with_guesses(study: Study, cues: Cues) -> list[Cue]:
    """The cues, those that nobody has named by what their pictures have that others have not.

    Number and method stand in the table of what found each cue; in a sentence they say nothing.
    """
    numbered = [cue for cue in cues if _is_numbered(cue)]
    # it takes seconds for each, and a plan prints no name
    if not numbered or study.audit.context.planning:
        return list(cues)
    guesses = guess_names(study.audit, study.seen, [cue.feature for cue in numbered])
    found = zip(numbered, guesses, strict=True)
    by_id = {cue.id: guess for cue, guess in found if guess is not None}
    counts = Counter(by_id.values())
    named = []
    for cue in cues:
        guess = by_id.get(cue.id)
        if guess is not None:
            name = f"{guess} (a guess)"
            # two cues may look alike in these words
            if counts[guess] > 1:
                name = f"{guess} (a guess; {cue.name.partition(f' {GUESSED}')[0]})"
            cue = replace(cue, name=name)
        named.append(cue)
    return named


def _is_numbered(cue: Cue) -> bool:
    """Whether it has occurrences to look at, and a number or another guess for a name."""
    if name_of(cue) is not None or place_of(cue) is not None or cue.kind in NOWHERE:
        return False
    if not cue.feature.occurrences:
        return False
    # a guess is no name; what one method alone has found keeps the one that it made
    is_guessed = GUESSED in cue.name and len(cue.members) < 2
    return cue.is_numbered and not is_guessed
