"""What the cues are called, for mitigators that tell the model, and what placebos say instead."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from cuescope_sdk import Feature, Report, UserError
from cuescope_sdk.models import refuse_unknown
from cuescope_sdk.tools import NameGuess

# kinds of features whose own name says where errors are, not what
NUMBERED = ("cluster", "slice")
# what a placebo warns of in place of a cue: things that a person could put into any scene
THINGS = (
    "umbrella",
    "wall clock",
    "bicycle",
    "potted plant",
    "ladder",
    "suitcase",
    "curtain",
    "lamp",
    "bucket",
    "street sign",
    "guitar",
    "blanket",
)


def word_of(report: Report, feature: Feature, given: Mapping[str, str]) -> str | None:
    """What a feature shows, in words: as given, as a check of the run found, or as guessed there.

    None for a feature that nobody has named.
    """
    checked = {check.feature: check.name for check in report.evidence if check.name}
    word = given.get(feature.key) or checked.get(feature.key)
    # "cluster-03" says nothing to a model: only a guess behind it does
    if word or (feature.name and feature.kind not in NUMBERED):
        return word or feature.name
    return NameGuess.name_in(feature.name or "")


def check_names(findings: Iterable[str], given: Mapping[str, str]) -> None:
    """Raises UserError for a name of what is no finding, and for a name without a word."""
    known = tuple(dict.fromkeys(findings))
    for key, word in given.items():
        refuse_unknown("mitigate", "finding", key, known)
        if not word.strip():
            raise UserError(
                f"mitigate: the name of {key}",
                expected="words",
                got="none",
            )


def other_words(
    words: Sequence[str | None],
    labels: Sequence[str],
    rng: np.random.Generator,
) -> tuple[str | None, ...]:
    """A thing drawn at random in place of each word; the same for the same word, None for None."""
    known = filter(None, (*words, *labels))
    # what is a cue or an answer here would be no placebo
    taken = set(" ".join(known).lower().split())
    free = [name for name in THINGS if taken.isdisjoint(name.split())]
    names = free or THINGS  # hundreds of labels may name them all
    # with more cues than things, things come again
    count = max(len(words), len(names))
    order = rng.permutation(count) % len(names)
    other = {}
    for word, row in zip(dict.fromkeys(words), order, strict=False):
        other[word] = names[row]
    other[None] = None
    return tuple(other[word] for word in words)
