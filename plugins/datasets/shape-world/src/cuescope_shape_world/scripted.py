"""The model `scripted`: a reasoner whose faults are known, for audits of reasoning.

What it says step by step, under dials; and what it makes up of a video that it never opens.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.random import Generator
from pydantic import Field

from cuescope_sdk import (
    Capabilities,
    Context,
    Options,
    Plugin,
    Response,
    Sample,
    Trial,
    digest,
    generator,
)
from cuescope_sdk.grounding import Claim, SceneFrame
from cuescope_sdk.models import refuse_unanswerable
from cuescope_shape_world.questions import (
    PLACES,
    SIDES,
    Scene,
    all_shapes,
    answer,
    phrases_in,
)
from cuescope_shape_world.statements import (
    VERBS,
    Statement,
    action_of,
    camera_turn,
    draw,
    presence,
    relation,
    spoil,
    true_statements,
)
from cuescope_shape_world.tracking import track_frames
from cuescope_shape_world.words import HELD_OUT, PHRASES

VERSION = 1  # part of the fingerprint: raise it when the same frames and dials give other traces

Share = Annotated[float, Field(ge=0, le=1)]


class ScriptedOptions(Options):
    grounding: Share = Field(1.0, description="share of claims that are true")
    hallucination: Share | None = Field(
        None, description="share of steps with one false claim; overrides grounding"
    )
    stale: Share = Field(
        0.0, description="chance to repeat a belief that no longer holds"
    )
    decay: Share = Field(
        0.0, description="grounding lost evenly from the first to the last step"
    )
    reliance: Literal["vision", "question"] = Field(
        "vision", description="question: never opens a frame, and makes all of it up"
    )
    accuracy: Share = Field(1.0, description="chance of the right answer")
    ood_accuracy: Share | None = Field(
        None,
        description="the same where a shape of the split ood is seen; default: accuracy",
    )
    steps: int = Field(
        7,
        ge=1,
        le=64,
        description="steps of a trace; of a short video fewer",
    )
    seed: int = Field(0, ge=0, description="another seed, another draw")

    def true_claims(
        self,
        claims: int,
        progress: float,
        rng: Generator,
    ) -> int:
        """How many claims of a step are true; `progress` goes from 0 (first) to 1 (last)."""
        if self.hallucination is not None:
            return claims - int(rng.random() < self.hallucination)
        # late in a trace the decay may be more than there is
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
    def belief(self) -> dict[str, int | str]:
        """As an entry of a JSON list."""
        return {"frame": self.frame + 1, "belief": f"{self.statement.words}."}

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What it claims, and of which frame."""
        when = {"frames": (self.frame,), "text": self.sentence}
        return tuple(claim.model_copy(update=when) for claim in self.statement.claims)


class Scripted(Plugin):
    """Reads shape-world's pixels, and says of them what its dials want.

    Numbered steps and an answer, or a JSON list where the question asks for JSON. Everything is
    drawn from the seed, the question and what it sees: what looks the same gets the same trace.
    """

    Options = ScriptedOptions
    options: ScriptedOptions
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset({"text", "logits"})
    )

    def __init__(self, options: ScriptedOptions, context: Context) -> None:
        super().__init__(options, context)
        self.fingerprint = digest("scripted", VERSION, options)
        dials = options.model_dump(exclude_defaults=True).items()
        listed = ", ".join(f"{name} {value}" for name, value in dials)
        self.facts = {"dials": listed or "all true"}

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """A trace as `text`; `logits` are 1 for the chosen answer and 0 for the others."""
        refuse_unanswerable("scripted", self.capabilities, trials)
        return [self._response(trial.sample) for trial in trials]

    def reason(self, sample: Sample) -> tuple[list[Step], str]:
        """The steps that it takes, with the claims that it means, and its answer."""
        question = sample.question or ""
        # in one order, so that the order of the choices does not decide which wrong one is drawn
        choices = sorted(sample.choices or listed_choices(question))
        if self.options.reliance == "question":
            rng = self._rng("steps", question)
            steps = guess(question, len(sample.frames), self.options.steps, rng)
            rng = self._rng("answer", question)
            return steps, _draw_answer(None, choices, 0.0, rng)
        scene, content = track_frames(sample.frames)
        rng = self._rng("steps", question, content)
        steps = script(scene, question, self.options, rng)
        chance = self.options.ood_accuracy
        # it is not told the split: the shapes tell it
        if chance is None or HELD_OUT.isdisjoint(all_shapes(scene)):
            chance = self.options.accuracy
        rng = self._rng("answer", question, content)
        right = answer(question, scene)
        return steps, _draw_answer(right, choices, chance, rng)

    def _response(self, sample: Sample) -> Response:
        steps, answer = self.reason(sample)
        as_json = "json" in (sample.question or "").lower()
        trace = write_trace(steps, answer, as_json=as_json)
        if not sample.choices:
            return Response(text=trace)
        logits = np.array(sample.choices) == answer
        return Response(text=trace, logits=logits.astype(np.float32))

    def _rng(self, *names: str) -> Generator:
        return generator(self.options.seed, "scripted", *names)


def listed_choices(question: str) -> list[str]:
    """The choices that a prompt lists in its words: "Choices: yes; no."."""
    line = re.search(r"^choices: (.+?)\.?$", question, re.IGNORECASE | re.MULTILINE)
    return line[1].split("; ") if line else []


def write_trace(
    steps: Sequence[Step],
    answer: str,
    *,
    as_json: bool = False,
) -> str:
    if as_json:
        beliefs = [step.belief for step in steps]
        lines = [json.dumps(beliefs, indent=1)]
    else:
        numbered = enumerate(steps, start=1)
        lines = [f"{number}. {step.sentence}" for number, step in numbered]
    return "\n".join([*lines, f"Answer: {answer}"])


def _draw_answer(
    right: str | None,
    choices: Sequence[str],
    chance: float,
    rng: Generator,
) -> str:
    """The right answer with this chance, else another; any where none is known to be right."""
    knows = rng.random() < chance
    if right is not None and knows and (not choices or right in choices):
        return right
    others = [choice for choice in choices if choice != right]
    return draw(others or choices or ["unknown"], rng)


# --------------------------------------------------------------------------------------- steps


def script(
    scene: Scene,
    question: str,
    dials: ScriptedOptions,
    rng: Generator,
) -> list[Step]:
    """Steps over a video as it was seen.

    A belief is kept while it holds, and else gives way to one about other things, if there is one
    that the next step's frame will contradict. Shapes that the question names come first.
    """
    steps: list[Step] = []
    frames = draw_moments(len(scene), dials.steps, rng)
    named = set(phrases_in(question))
    before: Statement | None = None
    # whether the belief of the step before was true when it was first said
    was_true = False
    for number, frame in enumerate(frames):
        base = None
        if before is not None and was_true:
            if before.holds(scene[frame]):
                base = before
            # Only what was true at first can be stale; a false belief was never about the scene.
            elif rng.random() < dials.stale:
                steps.append(Step(frame, before))
                continue
        if base is None:
            later = map(scene.__getitem__, frames[number + 1 : number + 2])
            truths = true_statements(scene, frame)
            base = _draw_truth(truths, later, before, named, rng)
        # a single step is the first one
        progress = number / max(len(frames) - 1, 1)
        right = dials.true_claims(len(base.claims), progress, rng)
        was_true = right == len(base.claims)
        before = base if was_true else spoil(base, right, scene, frame, rng)
        steps.append(Step(frame, before))
    return steps


def draw_moments(
    frames: int,
    steps: int,
    rng: Generator,
) -> list[int]:
    """A frame for each step, one from each of as many stretches of the video."""
    # a stretch without a frame would have none to draw
    stretches = np.array_split(np.arange(frames), min(steps, frames))
    return [int(rng.choice(stretch)) for stretch in stretches]


def _draw_truth(
    truths: list[Statement],
    later: Iterable[SceneFrame],
    before: Statement | None,
    named: set[str],
    rng: Generator,
) -> Statement:
    """One of them; each form is as likely as the others that there are."""
    # Each wish is dropped where nothing would be left.
    for frame in later:
        truths = [truth for truth in truths if not truth.holds(frame)] or truths
    if before is not None:
        unrelated = [truth for truth in truths if _is_unrelated(truth, before)]
        others = [truth for truth in truths if truth != before]
        truths = unrelated or others or truths
    form = draw(sorted({truth.form for truth in truths}), rng)
    truths = [truth for truth in truths if truth.form == form]
    about_named = [truth for truth in truths if named.intersection(truth.about)]
    return draw(about_named or truths, rng)


def _is_unrelated(statement: Statement, other: Statement) -> bool:
    """Whether they have different forms, and no colour and no kind in common."""
    words = " ".join(statement.about).split()
    other_words = " ".join(other.about).split()
    return statement.form != other.form and set(words).isdisjoint(other_words)


def guess(
    question: str,
    frames: int,
    steps: int,
    rng: Generator,
) -> list[Step]:
    """Steps over a video that is not looked at."""
    named = phrases_in(question)
    guesses = []
    for moment in draw_moments(frames, steps, rng):
        statement = _guess_statement(named, rng)
        guesses.append(Step(moment, statement))
    return guesses


def _guess_statement(named: Sequence[str], rng: Generator) -> Statement:
    """Anything, of the shapes that the question names more often than of others."""
    of_question = named and rng.random() < 0.5
    name = draw(named if of_question else PHRASES, rng)
    other = draw(PHRASES, rng)
    match rng.integers(4):
        case 0:
            return presence((name,))
        case 1 if name != other:
            return relation(name, draw(PLACES, rng), other)
        case 2:
            return camera_turn(draw(SIDES, rng))
        case _:
            return action_of(name, draw(VERBS, rng))
