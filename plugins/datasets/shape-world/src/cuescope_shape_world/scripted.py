"""The model `scripted`: a reasoner whose faults are known, for audits of reasoning."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

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
from cuescope_sdk.models import refuse_unanswerable
from cuescope_shape_world.words import HELD_OUT

if TYPE_CHECKING:
    from cuescope_shape_world.scripts import Step

VERSION = 1  # part of the fingerprint: raise it when the same frames and dials give other traces


def _share(default: float, description: str) -> float:
    share: float = Field(default, ge=0, le=1, description=description)
    return share


class ScriptedOptions(Options):
    """The dials."""

    grounding: float = _share(1.0, "share of claims that are true")
    hallucination: float | None = Field(
        None, ge=0, le=1,
        description="share of steps with one false claim, all others true; rules over grounding",
    )  # fmt: skip
    stale: float = _share(0.0, "chance to repeat a belief that the scene has left behind")
    decay: float = _share(0.0, "grounding lost from the first step to the last, evenly")
    reliance: Literal["vision", "question"] = Field(
        "vision", description="question: never opens a frame, and makes all of it up"
    )
    accuracy: float = _share(1.0, "chance of the right answer")
    ood_accuracy: float | None = Field(
        None, ge=0, le=1,
        description="the same where a shape is seen that training never shows; default accuracy",
    )  # fmt: skip
    steps: int = Field(7, ge=1, le=64, description="steps of a trace; of a short video fewer")
    seed: int = Field(0, ge=0, description="another seed, another draw")


class Scripted(Plugin):
    """Reads shape-world's pixels, and says of them what its dials want.

    Numbered steps and an answer, or a JSON list where the question asks for JSON. Everything is
    drawn from the seed, the question and what it sees: what looks the same is told the same.
    """

    Options: ClassVar[type[Options]] = ScriptedOptions
    capabilities: ClassVar[Capabilities] = Capabilities(outputs=frozenset({"text", "logits"}))

    def __init__(self, options: ScriptedOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_shape_world.scripts import Dials

        self.options: ScriptedOptions = options
        self.dials = Dials(options.grounding, options.hallucination, options.stale, options.decay)
        self.fingerprint = digest("scripted", VERSION, options)
        changed = options.model_dump(exclude_defaults=True)
        self.facts: Mapping[str, str] = {
            "dials": ", ".join(f"{name} {value}" for name, value in changed.items()) or "all true"
        }

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """A trace as `text`; `logits` are 1 for the chosen answer and 0 for the others."""
        for trial in trials:
            refuse_unanswerable("scripted", self.capabilities, trial)
        return [self._response(trial) for trial in trials]

    def reason(self, sample: Sample) -> "tuple[list[Step], str]":
        """The steps that it takes, with the claims that it means, and its answer."""
        from cuescope_shape_world.questions import answer
        from cuescope_shape_world.scripts import imagined, script
        from cuescope_shape_world.statements import ever
        from cuescope_shape_world.watching import watched

        question, count = sample.question or "", self.options.steps
        choices = sorted(sample.choices or listed_choices(question))
        if self.options.reliance == "question":
            steps = imagined(question, len(sample.frames), count, self._rng("steps", question))
            return steps, _guessed(None, choices, 0.0, self._rng("answer", question))
        scene, seen = watched(sample.frames)
        steps = script(scene, question, self.dials, count, self._rng("steps", question, seen))
        chance = self.options.accuracy
        if self.options.ood_accuracy is not None and not HELD_OUT.isdisjoint(ever(scene)):
            chance = self.options.ood_accuracy
        right = answer(question, scene)
        return steps, _guessed(right, choices, chance, self._rng("answer", question, seen))

    def _response(self, trial: Trial) -> Response:
        steps, answer = self.reason(trial.sample)
        as_json = "json" in (trial.sample.question or "").lower()
        logits = None
        if trial.sample.choices:
            logits = np.array([choice == answer for choice in trial.sample.choices], np.float32)
        return Response(text=written(steps, answer, as_json=as_json), logits=logits)

    def _rng(self, *names: str) -> np.random.Generator:
        return generator(self.options.seed, "scripted", *names)


def listed_choices(question: str) -> list[str]:
    """The choices that a prompt lists in its words: "Choices: yes; no."."""
    found = re.search(r"^choices: (.+?)\.?$", question, re.IGNORECASE | re.MULTILINE)
    return found[1].split("; ") if found else []


def written(steps: "Sequence[Step]", answer: str, *, as_json: bool = False) -> str:
    """The trace in words."""
    if as_json:
        beliefs = [{"frame": s.frame + 1, "belief": f"{s.statement.words}."} for s in steps]
        return f"{json.dumps(beliefs, indent=1)}\nAnswer: {answer}"
    lines = [f"{number}. {step.sentence}" for number, step in enumerate(steps, start=1)]
    return "\n".join([*lines, f"Answer: {answer}"])


def _guessed(
    right: str | None, choices: Sequence[str], chance: float, rng: np.random.Generator
) -> str:
    """The right answer with this chance, else another; any where none is known to be right."""
    knows = rng.random() < chance
    if right is not None and knows and (not choices or right in choices):
        return right
    others = [choice for choice in choices if choice != right] or list(choices) or ["unknown"]
    return others[int(rng.integers(len(others)))]
