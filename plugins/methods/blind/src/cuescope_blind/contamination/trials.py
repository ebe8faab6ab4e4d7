"""Pairs of an original and a changed sample, and what the model is asked about them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cuescope_sdk import Audit, Outcome, Sample, Trial, UserError
from cuescope_sdk.report import count_of

ORIGINAL = "original"
CHANGED = "changed"
ANOTHER = "another pair's picture"


@dataclass(frozen=True)
class Pair:
    """A sample as it was published, and one with a changed picture and another right answer."""

    original: Sample
    changed: Sample

    @property
    def old_answer(self) -> str:
        """What was right of the original, and is wrong now."""
        assert self.original.label is not None
        return self.original.label


def pairs_of(audit: Audit) -> list[Pair]:
    """The pairs that can be tested, by key; for `audit.once`."""
    by_key = {sample.key: sample for sample in audit.samples}
    named = [sample for sample in audit.samples if sample.annotations.get(ORIGINAL)]
    pairs = []
    for changed in sorted(named, key=lambda sample: sample.key):
        original = by_key.get(str(changed.annotations[ORIGINAL]))
        if original is not None and _is_pair(original, changed):
            pairs.append(Pair(original, changed))
    if not pairs:
        raise UserError(
            "contamination: there is no pair",
            expected="changed samples whose column 'original' has the key of the original, with "
            "the same question and options, three or more, and another right answer",
            got=f"{count_of(len(named), 'samples')} with that column, of {len(by_key):,}",
            remedy="The key of a picture is its path below the folder (docs/blind.md)",
        )
    return pairs


def _is_pair(original: Sample, changed: Sample) -> bool:
    """True if the picture alone tells the two right answers apart."""
    same = (original.question, set(original.choices)) == (
        changed.question,
        set(changed.choices),
    )
    answers = original.label, changed.label
    differ = None not in answers and answers[0] != answers[1]
    return same and differ and len(changed.choices) > 2 and bool(changed.frames)


def trials_of(audit: Audit) -> Iterator[Trial]:
    """Each pair as an original, changed, and with the changed picture of another group."""
    pairs = audit.once(pairs_of, audit)
    order = audit.rng("another picture").permutation(len(pairs)).tolist()
    for pair, other in zip(pairs, np.roll(order, 1)[np.argsort(order)], strict=True):
        yield Trial(sample=pair.original, condition=ORIGINAL)
        yield Trial(sample=pair.changed, condition=CHANGED)
        frames = pairs[other].changed.frames
        strange = pair.changed.with_frames(frames, f"picture of {other}")
        yield Trial(sample=strange, condition=ANOTHER)


def ask(audit: Audit) -> Sequence[Outcome]:
    """What the model says to all of them, three outcomes a pair; for `audit.once`."""
    return audit.respond(list(trials_of(audit)))
