"""A model that reads questions, asked in other ways (SpurLens, section 6.2).

A sample that shows a cue is asked in another way, all others plainly. Labels of samples are not
looked at.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from statistics import mode
from typing import Literal

import numpy as np
from jaxtyping import Float
from scipy.special import log_softmax, logsumexp

from cuescope_mitigators.reading import Trials, best_cues
from cuescope_sdk import Capabilities, Output, Response, Sample, Trial, UserError
from cuescope_sdk.language import Question
from cuescope_sdk.mitigation import Ask, Mitigation, Router

# the wordings of an ensemble beside the plain one, for a question of any kind
WORDINGS = (
    "Look at all that is shown, then answer: {question}",
    "{question} Decide by what is shown.",
)
Way = Literal["ensemble", "dual", "guiding", "spurious-list", "spurious-top"]
NAMED = ("spurious-list", "spurious-top")  # ways that say what the cues are
EMBEDDING: frozenset[Output] = frozenset({"embedding"})  # the same, whatever is asked
QUESTION = "What is shown?"  # where a sample has none
# What the wordings say of a question that may be about anything.
THING = "what is asked about"
ANSWER = "one of the answers"
CLAIM = "it is right"


def require_way(
    capabilities: Capabilities, names: Sequence[str | None], way: Way
) -> None:
    """Raise UserError for a way in which these cues or this model cannot be asked."""
    if way in NAMED and not any(names):
        raise UserError(
            f"prompts: {way} tells the model what the cues are",
            expected="a name for one of them",
            got=f"{len(names)} without one",
            remedy="Say it with --name cluster-03='red corner', take fewer findings with "
            "--top, or audit with --tool namer=SPEC first",
        )
    # closed answers are texts too, and are not written freely
    if way == "dual" and "closed-answers" in capabilities.exposes:
        raise UserError(
            "prompts: dual asks for a description first",
            expected="a model that writes freely",
            got="one whose answers are a closed set",
            remedy="Take another way, as -O way=guiding",
        )


class LearnedPrompts(Mitigation):
    """A `PromptTable`, or an `OtherWay`."""


@dataclass(frozen=True)
class OtherWay(LearnedPrompts):
    """Samples that show a cue are asked in another `way`; cues have a name, "" for none."""

    names: tuple[str, ...]
    way: str
    router: Router

    def answer(self, trials: Trials, ask: Ask) -> list[Response]:
        """Log-probabilities of the mean over the way's wordings, and their commonest text.

        Samples that show no cue are asked as they are.
        """
        # a cue is seen in frames: what has none shows none
        wanted = [bool(trial.sample.frames) for trial in trials]
        cues = best_cues(self.router, trials, wanted, ask)
        changed = []
        requests = []
        for number, trial in enumerate(trials):
            # who wants the embedding alone has no question to reword
            if trial.outputs - EMBEDDING and cues[number] >= 0:
                changed.append(number)
                # what is asked in another way is asked plainly for its embedding alone
                trial = replace(trial, outputs=trial.outputs & EMBEDDING)
            requests.append(trial)
        plain = iter(ask([request for request in requests if request.outputs]))
        responses = [
            next(plain) if request.outputs else Response() for request in requests
        ]
        some = [trials[number] for number in changed]
        wordings = self._ask([cues[number] for number in changed], some, ask)
        for number, answers in zip(changed, wordings, strict=True):
            outputs = trials[number].outputs
            responses[number] = replace(
                responses[number],
                logits=log_probabilities(answers) if "logits" in outputs else None,
                text=common_text(answers) if "text" in outputs else None,
            )
        return responses

    def _ask(
        self, cues: Sequence[int], trials: Trials, ask: Ask
    ) -> list[list[Response]]:
        """The response of each trial to each wording."""
        descriptions = [""] * len(trials)
        if self.way == "dual":
            described = ask(list(map(_ask_description, trials)))
            descriptions = [answer.text or "" for answer in described]
        rows = list(map(self._put, trials, cues, descriptions))
        # in one call: batches are full
        responses = iter(ask(list(chain(*rows))))
        return [list(islice(responses, len(row))) for row in rows]

    def _put(self, trial: Trial, cue: int, description: str) -> list[Trial]:
        """The trial in the wordings of the way."""
        sample = trial.sample
        question = Question(sample.question or QUESTION, _medium(sample))
        # a cue that hurts two labels is warned of once
        names = list(dict.fromkeys(filter(None, self.names)))
        match self.way:
            case "ensemble":
                # no str.format: a question may have braces of its own
                texts = [
                    question.text,
                    *(text.replace("{question}", question.text) for text in WORDINGS),
                ]
            case "dual":
                texts = [question.after_description(description)]
            case "guiding":
                texts = [question.with_guidance(THING)]
            case "spurious-top":
                # nobody can be warned of what has no name
                name = self.names[cue]
                texts = [
                    question.with_warning([name], ANSWER, CLAIM)
                    if name
                    else question.text
                ]
            case _:
                texts = [question.with_warning(names, ANSWER, CLAIM)]
        return [_reword(trial, text) for text in texts]


def _ask_description(trial: Trial) -> Trial:
    sample = replace(
        trial.sample,
        key=f"{trial.sample.key}/described",
        question=Question.for_description(_medium(trial.sample)),
        # no choices: a model that sees them answers instead of describing
        choices=(),
        label=None,
    )
    return replace(trial, sample=sample, outputs=frozenset({"text"}))


def _reword(trial: Trial, question: str) -> Trial:
    key = f"{trial.sample.key}/reworded"
    sample = replace(trial.sample, key=key, question=question)
    return replace(trial, sample=sample, outputs=trial.outputs - EMBEDDING)


def _medium(sample: Sample) -> str:
    return "image" if len(sample.frames) == 1 else "video"


def log_probabilities(wordings: Sequence[Response]) -> Float[np.ndarray, " choice"]:
    """Of the mean over the wordings of a way: an ensemble's vote, counted by how sure each is."""
    logits = [np.asarray(response.logits, np.float64) for response in wordings]
    total = logsumexp(log_softmax(logits, axis=1), axis=0)
    return np.asarray(total - np.log(len(logits)))


def common_text(wordings: Sequence[Response]) -> str:
    """Text that most wordings of a way are answered with; the first of equals."""
    return mode((response.text or "").strip() for response in wordings)
