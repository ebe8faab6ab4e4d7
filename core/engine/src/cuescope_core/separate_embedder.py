"""An outside eye: embeddings by a tool, or another model, beside a model that answers.

What a method asks of an embedding goes to the eye, and all else to the model; the method does not
know. So a model behind an API, which tells no embedding, can be audited by methods that need one.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cuescope_core.capabilities import Capabilities, Embedder, EmbedsPatches
from cuescope_core.errors import PlanStopped, UserError
from cuescope_core.respond import EMBEDDING, ModelRunner, list_trials
from cuescope_core.types import Outcome, Output, Response, Trial

# what compares a model's own embedding with its own texts
OF_OWN_EMBEDDING = frozenset({"choices", "text-tower"})
# of the eye, by a readout `of_embedding`; "patches" are the model's own, which edits go by
EYE_PATCHES = "eye-patches"


def with_eye(capabilities: Capabilities, eye: Any = None) -> Capabilities:
    """Capabilities of a model with a separate embedder; an open `eye` tells if it has patches."""
    # the model's own embedding is out of the game: what would compare with it goes too
    exposes = capabilities.exposes - OF_OWN_EMBEDDING
    notes = capabilities.notes
    if eye is not None and "patches" not in exposes:
        why_not = _why_no_patches(eye)
        if why_not is None:
            exposes |= {EYE_PATCHES}
        else:
            notes = {**notes, EYE_PATCHES: why_not}
    update = {
        "outputs": capabilities.outputs | EMBEDDING,
        "exposes": exposes,
        "notes": notes,
    }
    return capabilities.model_copy(update=update)


def _why_no_patches(eye: Any) -> str | None:
    """Say why a tool, or a model that serves as one, has no patches; None where it has."""
    has = getattr(eye, "capabilities", None)
    if has is not None:
        reason = has.notes.get("patches", "it shows none")
        return None if "patches" in has.exposes else str(reason)
    if not isinstance(eye, EmbedsPatches):
        return "it shows none"
    return eye.why_no_patches


class ToolAsModel:
    """A tool that embeds frames, asked as a model is: the mean over the frames of a sample."""

    def __init__(self, tool: Embedder) -> None:
        self.tool = tool

    def __getattr__(self, name: str) -> Any:
        # a text tower beside it, where it has one
        return getattr(self.tool, name)

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        # each frame is embedded once, however many trials show it
        """An embedding a trial; each frame is embedded once."""
        frames = {}
        for trial in trials:
            for frame in trial.sample.frames:
                frames[frame.key] = frame
        rows = self.tool.embed(list(frames.values()))
        by_key = dict(zip(frames, rows, strict=True))
        responses = []
        for trial in trials:
            of_sample = [by_key[frame.key] for frame in trial.sample.frames]
            responses.append(Response(embedding=np.mean(of_sample, axis=0)))
        return responses


class OutsideEye:
    """Answers trials by a `model`, and what they ask of an embedding by the `eye`."""

    def __init__(self, model: ModelRunner, eye: ModelRunner) -> None:
        self.model = model
        self.eye = eye

    def __call__(self, trials: Iterable[Trial]) -> Sequence[Outcome]:
        """Outcomes in the order of the trials, each with all that it asks for."""
        trials = list_trials(trials)
        # most methods never ask for an embedding
        if not any(map(asks_eye, trials)):
            return self.model(trials)
        stopped = None
        try:
            answers = self.model(filter(None, map(without_embedding, trials)))
        except PlanStopped as stop:
            # a plan counts what the eye is to see as well
            stopped = stop
        seen = self.eye(filter(None, map(for_eye, trials)))
        if stopped is not None:
            raise stopped
        return list(_join(trials, answers, seen))


def asks_eye(trial: Trial) -> bool:
    """True if a trial asks for an embedding, or for what lies beside it."""
    readout = trial.readout
    return "embedding" in trial.outputs or (
        readout is not None and readout.of_embedding
    )


def without_embedding(trial: Trial) -> Trial | None:
    """Return the part of a trial that is left for the model; None where nothing is."""
    if not asks_eye(trial):
        return trial
    # what is left of the question goes to the model, if anything is left
    outputs = trial.outputs - EMBEDDING
    return replace(trial, outputs=outputs) if outputs else None


def for_eye(trial: Trial) -> Trial | None:
    """Return the trial of the embedder: the frames alone; None where it is not asked."""
    if not asks_eye(trial):
        return None
    sample = trial.sample
    if trial.edit is not None:
        raise UserError(
            f"the embedding of {sample.key} under an edit of the model",
            expected="an embedding of the model's own",
            got="one by --tool embedder, which no edit of the model reaches",
        )
    if not sample.frames:
        raise UserError(f"--tool embedder: {sample.key} has no frame to be seen")
    # neither question nor choices decide it: what differs in these is seen once
    seen = replace(sample, question=None, choices=(), label=None)
    outputs = frozenset[Output]() if trial.readout else EMBEDDING
    return replace(trial, sample=seen, outputs=outputs)


def _join(
    trials: Iterable[Trial],
    answers: Iterable[Outcome],
    seen: Iterable[Outcome],
) -> Iterator[Outcome]:
    """Each trial with what the model answers and what the eye sees."""
    # both were asked in the order of the trials, each for its part of them
    of_model = iter(answers)
    of_eye = iter(seen)
    for trial in trials:
        response = Response()
        if without_embedding(trial) is not None:
            response = next(of_model).response
        if asks_eye(trial):
            sight = next(of_eye).response
            response = replace(
                response,
                embedding=sight.embedding,
                readout=sight.readout,
            )
        yield Outcome(trial, response)
