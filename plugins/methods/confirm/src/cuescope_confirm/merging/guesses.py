"""A name for each cue that methods have only numbered: what its pictures show, which is a guess."""

from collections import Counter
from dataclasses import replace

from cuescope_confirm.merging.modalities import place_of
from cuescope_confirm.merging.recognition import name_of
from cuescope_confirm.study import GUESSED, NOWHERE, Cue, Cues, Study
from cuescope_sdk.locating import look_at_features


def with_guesses(study: Study, cues: Cues) -> list[Cue]:
    """The cues, those that nobody has named by what their pictures have that others have not.

    Number and method stand in the table of what found each cue; in a sentence they say nothing.
    """
    numbered = [cue for cue in cues if _is_numbered(cue)]
    # it takes seconds for each, and a plan prints no name
    if not numbered or study.audit.context.planning:
        return list(cues)
    sights = look_at_features(
        study.audit, study.seen, [cue.feature for cue in numbered]
    )
    found = zip(numbered, sights, strict=True)
    by_id = {cue.id: sight for cue, sight in found if sight is not None}
    counts = Counter(sight.name for sight in by_id.values())
    met = Counter[str]()
    named = []
    for cue in cues:
        sight = by_id.get(cue.id)
        if sight is not None and sight.name is not None:
            name = f"{sight.name} (a guess)"
            # two cues may look alike in these words
            if counts[sight.name] > 1:
                met[sight.name] += 1
                name = (
                    f"{sight.name} (a guess, {met[sight.name]} of {counts[sight.name]})"
                )
            cue = replace(cue, name=name, sight=sight)
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
