"""What the scripted reasoner says step by step, under dials; and what it makes up unseen."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cuescope_sdk.grounding import Claim
from cuescope_shape_world.questions import Scene, phrases_in
from cuescope_shape_world.statements import (
    PLACES,
    VERBS,
    Statement,
    doing,
    present,
    related,
    spoiled,
    truths,
    turning,
)
from cuescope_shape_world.words import PHRASES


@dataclass(frozen=True)
class Dials:
    """How far steps are to be trusted; all are chances, see the options of `Scripted`."""

    grounding: float = 1.0
    hallucination: float | None = None
    stale: float = 0.0
    decay: float = 0.0

    def right(self, claims: int, progress: float, rng: np.random.Generator) -> int:
        """How many claims of a step are true; `progress` goes from 0 (first) to 1 (last)."""
        if self.hallucination is not None:
            return claims - int(rng.random() < self.hallucination)
        share = np.clip(self.grounding - self.decay * progress, 0, 1)
        return int(rng.binomial(claims, share))


@dataclass(frozen=True)
class Step:
    """A statement about a frame (from 0), in a sentence that counts frames from 1."""

    frame: int
    statement: Statement

    @property
    def sentence(self) -> str:
        """With its time."""
        return f"At frame {self.frame + 1}, {self.statement.words}."

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What it claims, and of which frame."""
        when = {"frames": (self.frame,), "text": self.sentence}
        return tuple(claim.model_copy(update=when) for claim in self.statement.claims)


def script(
    scene: Scene, question: str, dials: Dials, count: int, rng: np.random.Generator
) -> list[Step]:
    """Steps over a video as it was seen.

    A belief is kept while it holds, and else gives way to one about other things, if there is one
    that the next step's frame will contradict. Shapes that the question names come first.
    """
    steps: list[Step] = []
    frames = moments(len(scene), count, rng)
    asked = set(phrases_in(question))
    held = False  # whether the belief of the step before was true when it was first said
    for place, frame in enumerate(frames):
        before = steps[-1].statement if steps else None
        stands = before is not None and held and before.holds(scene[frame])
        if before is not None and held and not stands and rng.random() < dials.stale:
            steps.append(Step(frame, before))
            continue
        later = frames[place + 1] if place + 1 < len(frames) else None
        base = before if before and stands else _chosen(scene, frame, later, before, asked, rng)
        right = dials.right(len(base.claims), place / max(len(frames) - 1, 1), rng)
        held = right == len(base.claims)
        steps.append(Step(frame, base if held else spoiled(base, right, scene, frame, rng)))
    return steps


def moments(frames: int, steps: int, rng: np.random.Generator) -> list[int]:
    """A frame for each step, one from each of as many stretches of the video."""
    stretches = np.array_split(np.arange(frames), min(steps, frames))
    return [int(rng.choice(stretch)) for stretch in stretches]


def _chosen(
    scene: Scene,
    frame: int,
    later: int | None,
    before: Statement | None,
    asked: set[str],
    rng: np.random.Generator,
) -> Statement:
    """A true statement; each form is as likely as the others that there are."""
    found = truths(scene, frame)
    if later is not None:
        found = [one for one in found if not one.holds(scene[later])] or found
    if before is not None:
        spoken = {word for name in before.about for word in name.split()}
        other = [one for one in found if one.form != before.form and not _names(one, spoken)]
        found = other or [one for one in found if one != before] or found
    forms = sorted({one.form for one in found})
    form = forms[int(rng.integers(len(forms)))]
    of_form = [one for one in found if one.form == form]
    of_form = [one for one in of_form if asked.intersection(one.about)] or of_form
    return of_form[int(rng.integers(len(of_form)))]


def _names(statement: Statement, words: set[str]) -> bool:
    return any(words.intersection(name.split()) for name in statement.about)


def imagined(question: str, frames: int, count: int, rng: np.random.Generator) -> list[Step]:
    """Steps about a video of so many frames that was never looked at."""
    asked = phrases_in(question)
    return [Step(at, _guess(asked, rng)) for at in moments(frames, count, rng)]


def _guess(asked: Sequence[str], rng: np.random.Generator) -> Statement:
    """Anything, of the shapes that the question names more often than of others."""
    pool = list(asked) if asked and rng.random() < 0.5 else list(PHRASES)
    one, other = (str(rng.choice(names)) for names in (pool, PHRASES))
    match int(rng.integers(4)):
        case 0:
            return present((one,))
        case 1 if one != other:
            return related(one, str(rng.choice(PLACES)), other)
        case 2:
            return turning(str(rng.choice(("left", "right"))))
        case _:
            return doing(one, str(rng.choice(VERBS)))
