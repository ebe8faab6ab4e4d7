"""The model `scripted`: a reasoner whose faults are known, for audits of reasoning.

What it says step by step, under dials; and what it makes up of a video that it never opens.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
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
from cuescope_sdk.grounding import Claim
from cuescope_sdk.models import refuse_unanswerable
from cuescope_shape_world import statements
from cuescope_shape_world.questions import PLACES, Scene, all_shapes, answer, phrases_in
from cuescope_shape_world.statements import Statement, spoil, true_statements
from cuescope_shape_world.tracking import track_frames
from cuescope_shape_world.words import HELD_OUT, PHRASES

VERSION = 1  # part of the fingerprint: raise it when the same frames and dials give other traces


Share = Annotated[float, Field(ge=0, le=1)]


class ScriptedOptions(Options):
    grounding: Share = Field(1.0, description="share of claims that are true")
    hallucination: Share | None = Field(
        None, description="share of steps with one false claim; overrides grounding"
    )
    stale: Share = Field(0.0, description="chance to repeat a belief that no longer holds")
    decay: Share = Field(0.0, description="grounding lost evenly from the first to the last step")
    reliance: Literal["vision", "question"] = Field(
        "vision", description="question: never opens a frame, and makes all of it up"
    )
    accuracy: Share = Field(1.0, description="chance of the right answer")
    ood_accuracy: Share | None = Field(
        None, description="the same where a shape of the split ood is seen; default: accuracy"
    )
    steps: int = Field(7, ge=1, le=64, description="steps of a trace; of a short video fewer")
    seed: int = Field(0, ge=0, description="another seed, another draw")

    def true_claims(self, claims: int, progress: float, rng: np.random.Generator) -> int:
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


class Scripted(Plugin):
    """Reads shape-world's pixels, and says of them what its dials want.

    Numbered steps and an answer, or a JSON list where the question asks for JSON. Everything is
    drawn from the seed, the question and what it sees: what looks the same gets the same trace.
    """

    Options: ClassVar[type[Options]] = ScriptedOptions
    capabilities: ClassVar[Capabilities] = Capabilities(outputs=frozenset({"text", "logits"}))

    def __init__(self, options: ScriptedOptions, context: Context) -> None:
        super().__init__(options, context)
        self.options: ScriptedOptions = options
        self.fingerprint = digest("scripted", VERSION, options)
        changed = options.model_dump(exclude_defaults=True)
        self.facts: Mapping[str, str] = {
            "dials": ", ".join(f"{name} {value}" for name, value in changed.items()) or "all true"
        }

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """A trace as `text`; `logits` are 1 for the chosen answer and 0 for the others."""
        for trial in trials:
            refuse_unanswerable("scripted", self.capabilities, trial)
        return [self._response(trial.sample) for trial in trials]

    def reason(self, sample: Sample) -> tuple[list[Step], str]:
        """The steps that it takes, with the claims that it means, and its answer."""
        question, count = sample.question or "", self.options.steps
        choices = sorted(sample.choices or listed_choices(question))
        if self.options.reliance == "question":
            named, rng = phrases_in(question), self._rng("steps", question)
            frames = moments(len(sample.frames), count, rng)
            steps = [Step(frame, _guess_statement(named, rng)) for frame in frames]
            return steps, _draw_answer(None, choices, 0.0, self._rng("answer", question))
        scene, content = track_frames(sample.frames)
        steps = script(scene, question, self.options, self._rng("steps", question, content))
        chance = self.options.accuracy
        if self.options.ood_accuracy is not None and not HELD_OUT.isdisjoint(all_shapes(scene)):
            chance = self.options.ood_accuracy
        right = answer(question, scene)
        return steps, _draw_answer(right, choices, chance, self._rng("answer", question, content))

    def _response(self, sample: Sample) -> Response:
        steps, answer = self.reason(sample)
        as_json = "json" in (sample.question or "").lower()
        logits = None
        if sample.choices:
            logits = np.array([choice == answer for choice in sample.choices], np.float32)
        return Response(text=write_trace(steps, answer, as_json=as_json), logits=logits)

    def _rng(self, *names: str) -> np.random.Generator:
        return generator(self.options.seed, "scripted", *names)


def listed_choices(question: str) -> list[str]:
    """The choices that a prompt lists in its words: "Choices: yes; no."."""
    line = re.search(r"^choices: (.+?)\.?$", question, re.IGNORECASE | re.MULTILINE)
    return line[1].split("; ") if line else []


def write_trace(steps: Sequence[Step], answer: str, *, as_json: bool = False) -> str:
    if as_json:
        beliefs = [
            {"frame": step.frame + 1, "belief": f"{step.statement.words}."} for step in steps
        ]
        return f"{json.dumps(beliefs, indent=1)}\nAnswer: {answer}"
    lines = [f"{number}. {step.sentence}" for number, step in enumerate(steps, start=1)]
    return "\n".join([*lines, f"Answer: {answer}"])


def _draw_answer(
    right: str | None, choices: Sequence[str], chance: float, rng: np.random.Generator
) -> str:
    """The right answer with this chance, else another; any where none is known to be right."""
    knows = rng.random() < chance
    if right is not None and knows and (not choices or right in choices):
        return right
    others = [choice for choice in choices if choice != right] or list(choices) or ["unknown"]
    return others[int(rng.integers(len(others)))]


# --------------------------------------------------------------------------------------- steps


def script(
    scene: Scene, question: str, dials: ScriptedOptions, rng: np.random.Generator
) -> list[Step]:
    """Steps over a video as it was seen.

    A belief is kept while it holds, and else gives way to one about other things, if there is one
    that the next step's frame will contradict. Shapes that the question names come first.
    """
    steps: list[Step] = []
    frames = moments(len(scene), dials.steps, rng)
    named = set(phrases_in(question))
    held = False  # whether the belief of the step before was true when it was first said
    for number, frame in enumerate(frames):
        before = steps[-1].statement if steps else None
        stands = before is not None and held and before.holds(scene[frame])
        # Only what was true at first can be stale; a false belief was never about the scene.
        if before is not None and held and not stands and rng.random() < dials.stale:
            steps.append(Step(frame, before))
            continue
        later = frames[number + 1] if number + 1 < len(frames) else None
        base = before if before and stands else _draw_truth(scene, frame, later, before, named, rng)
        right = dials.true_claims(len(base.claims), number / max(len(frames) - 1, 1), rng)
        held = right == len(base.claims)
        steps.append(Step(frame, base if held else spoil(base, right, scene, frame, rng)))
    return steps


def moments(frames: int, steps: int, rng: np.random.Generator) -> list[int]:
    """A frame for each step, one from each of as many stretches of the video."""
    stretches = np.array_split(np.arange(frames), min(steps, frames))
    return [int(rng.choice(stretch)) for stretch in stretches]


def _draw_truth(
    scene: Scene,
    frame: int,
    later: int | None,
    before: Statement | None,
    named: set[str],
    rng: np.random.Generator,
) -> Statement:
    """A true statement; each form is as likely as the others that there are."""
    candidates = true_statements(scene, frame)
    # Each wish is dropped where nothing would be left.
    if later is not None:
        candidates = [each for each in candidates if not each.holds(scene[later])] or candidates
    if before is not None:
        words = _words_of(before)
        others = [each for each in candidates if each.form != before.form]
        others = [each for each in others if words.isdisjoint(_words_of(each))]
        candidates = others or [each for each in candidates if each != before] or candidates
    forms = sorted({each.form for each in candidates})
    form = forms[int(rng.integers(len(forms)))]
    of_form = [each for each in candidates if each.form == form]
    of_form = [each for each in of_form if named.intersection(each.about)] or of_form
    return of_form[int(rng.integers(len(of_form)))]


def _words_of(statement: Statement) -> set[str]:
    return {word for name in statement.about for word in name.split()}


def _guess_statement(named: Sequence[str], rng: np.random.Generator) -> Statement:
    """Anything, of the shapes that the question names more often than of others."""
    pool = list(named) if named and rng.random() < 0.5 else list(PHRASES)
    name, other = (str(rng.choice(names)) for names in (pool, PHRASES))
    match int(rng.integers(4)):
        case 0:
            return statements.presence((name,))
        case 1 if name != other:
            return statements.relation(name, str(rng.choice(PLACES)), other)
        case 2:
            return statements.camera_turn(str(rng.choice(("left", "right"))))
        case _:
            return statements.action_of(name, str(rng.choice(statements.VERBS)))
