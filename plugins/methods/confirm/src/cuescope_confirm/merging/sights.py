"""What the pictures of each cue show: a name, which is a guess, for one that is only numbered."""

from collections import Counter
from dataclasses import replace

from cuescope_confirm.merging.modalities import place_of
from cuescope_confirm.merging.sameness import name_of
from cuescope_confirm.study import NOWHERE, Cue, Cues, Study, guess_in
from cuescope_sdk.locating import look_at_features


def with_sights(study: Study, cues: Cues) -> list[Cue]:
    """The cues with what their pictures have that others have not: it names the numbered ones."""
    pictured = [cue for cue in cues if _has_pictures(cue)]
    # it takes seconds for each, and a plan prints no name
    if not pictured or study.audit.context.planning:
        return list(cues)
    features = [cue.feature for cue in pictured]
    seen = look_at_features(study.audit, study.seen, features)
    sights = dict(zip((cue.id for cue in pictured), seen, strict=True))
    return _named([replace(cue, sight=sights.get(cue.id)) for cue in cues])


def _has_pictures(cue: Cue) -> bool:
    """Whether it is of frames that can be looked at."""
    if place_of(cue) is not None or cue.kind in NOWHERE:
        return False
    return bool(cue.feature.occurrences)


def _named(cues: Cues) -> list[Cue]:
    """The cues, those that are only numbered by what they are guessed to be.

    Number and method stand in the table of what found each cue; in a sentence they say nothing.
    """
    guesses = list(map(_guess, cues))
    counts = Counter(guesses)
    met = Counter[str]()
    named: list[Cue] = []
    for cue, guess in zip(cues, guesses, strict=True):
        if guess is None:
            named.append(cue)
            continue
        met[guess] += 1
        # two cues may look alike in these words
        which = f", {met[guess]} of {counts[guess]}" if counts[guess] > 1 else ""
        named.append(replace(cue, name=f"{guess} (a guess{which})"))
    return named


def _guess(cue: Cue) -> str | None:
    """A name for a cue that methods have only numbered; None for one that has a name."""
    if not (_has_pictures(cue) and cue.is_numbered) or name_of(cue) is not None:
        return None
    made = guess_in(cue.name)
    # what several methods have found has a name by what is seen of it all
    if cue.sight is not None and (made is None or len(cue.members) > 1):
        return cue.sight.name or made
    return made
