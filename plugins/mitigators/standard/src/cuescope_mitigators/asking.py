"""A model that reads questions, asked in other ways (SpurLens, section 6.2).

A sample that shows a cue is asked in every way that counts, all others plainly. Labels of samples
are not looked at.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, compress, islice
from statistics import mode
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from jaxtyping import Float, UInt8
from scipy.special import entr, log_softmax, logsumexp, softmax

from cuescope_mitigators.reading import Trials, best_cues, read
from cuescope_sdk import (
    Capabilities,
    Output,
    Readout,
    Response,
    Sample,
    Trial,
    UserError,
)
from cuescope_sdk.language import Question
from cuescope_sdk.mitigation import Ask, Mitigation, Router, Task
from cuescope_sdk.stills import Answers

# the wordings of an ensemble beside the plain one, for a question of any kind
WORDINGS = (
    "Look at all that is shown, then answer: {question}",
    "{question} Decide by what is shown.",
)
Way = Literal["plain", "ensemble", "dual", "guiding", "spurious-list", "spurious-top"]
WAYS: tuple[Way, ...] = get_args(Way)
NAMED = frozenset({"spurious-list", "spurious-top"})  # ways that say what the cues are
EMBEDDING: frozenset[Output] = frozenset({"embedding"})  # the same, whatever is asked
QUESTION = "What is shown?"  # where neither a sample nor the model has one
# What the wordings say of a question that may be about anything.
THING = "what is asked about"
ANSWER = "one of the answers"
CLAIM = "it is right"


class OwnQuestion(Readout):
    """What the model is asked where a sample has no question, as bytes that end with a newline."""

    name: ClassVar[str] = "own-question"
    gives: ClassVar[Any] = UInt8[np.ndarray, " byte"]

    def read(self, model: Any, trials: Trials) -> list[np.ndarray]:
        """The same for each trial."""
        # a readout is an array of numbers; the newline keeps it from being empty
        question = str(getattr(model.options, "question", ""))
        return [np.frombuffer(f"{question}\n".encode(), np.uint8)] * len(trials)

    def accepts(self, array: np.ndarray, trial: Trial) -> bool:
        """Text of one line, of which UTF-8 makes these bytes."""
        if not super().accepts(array, trial):
            return False
        try:
            return array.tobytes().decode().endswith("\n")
        except UnicodeDecodeError:
            return False


@dataclass(frozen=True)
class Asker:
    """How trials are put in other ways: cues by name, "" where they have none.

    The `question` is for trials without one.
    """

    names: tuple[str, ...]
    question: str

    def answers(
        self,
        ways: Sequence[str],
        trials: Trials,
        cues: Sequence[int],
        ask: Ask,
    ) -> dict[str, list[list[Response]]]:
        """For each way and trial the response to each wording; `cues` has the cue of each trial."""
        descriptions = [""] * len(trials)
        if "dual" in ways:
            described = ask(list(map(_ask_description, trials)))
            descriptions = [answer.text or "" for answer in described]
        rows = {}
        for way in ways:
            put = partial(self._put, way)
            rows[way] = list(map(put, trials, cues, descriptions))
        # in one call: batches are full
        responses = iter(ask(list(chain(*chain(*rows.values())))))
        answers = {}
        for way, of_trials in rows.items():
            answers[way] = [list(islice(responses, len(row))) for row in of_trials]
        return answers

    def _put(self, way: str, trial: Trial, cue: int, description: str) -> list[Trial]:
        """The trial in the wordings of a way; the plain one is the trial itself."""
        sample = trial.sample
        question = Question(sample.question or self.question, _medium(sample))
        match way:
            case "plain":
                # as it was asked before, so its answer is known already
                return [trial]
            case "ensemble":
                # no str.format: a question may have braces of its own
                trials = [trial]
                for wording in WORDINGS:
                    text = wording.replace("{question}", question.text)
                    trials.append(_reword(trial, text))
                return trials
            case "dual":
                text = question.after_description(description)
            case "guiding":
                text = question.with_guidance(THING)
            case "spurious-top":
                # of what shows no cue, the strongest finding's
                name = self.names[max(cue, 0)]
                # nobody can be warned of what has no name
                if not name:
                    return [trial]
                text = question.with_warning([name], ANSWER, CLAIM)
            case _:
                # a cue that hurts two labels is warned of once
                names = list(dict.fromkeys(filter(None, self.names)))
                text = question.with_warning(names, ANSWER, CLAIM)
        return [_reword(trial, text)]


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
    """What most wordings of a way are answered with; the first of equals."""
    return mode((response.text or "").strip() for response in wordings)


def information(
    logits: Float[np.ndarray, "way sample label"],
) -> Float[np.ndarray, " way"]:
    """What the answers to a way tell of a sample, as a share of all that they could (0 to 1).

    The mutual information of samples and answers: large where the model is sure of each answer, and
    does not say the same of all. The way with the largest is the best guess at the most accurate
    one without labels (Sorensen et al., 2022). Of samples that all show a cue, a way by which the
    cue alone decides tells nothing.
    """
    shares = softmax(logits, axis=2)
    # entr takes 0 log 0 as 0: a sure answer has no entropy
    of_answers = entr(shares).sum(axis=2)
    of_mean = entr(shares.mean(axis=1)).sum(axis=1)
    most = np.log(logits.shape[2])
    return np.asarray((of_mean - of_answers.mean(axis=1)) / most)


def ways_of(
    capabilities: Capabilities,
    names: Sequence[str | None],
    wanted: Sequence[Way],
) -> tuple[Way, ...]:
    """The ways that are asked: those that are wanted, else all that model and names allow.

    Raises UserError for a way that is wanted and cannot be.
    """
    are_unnamed = all(name is None for name in names)
    # closed answers are texts too, and are not written freely
    writes = (
        "text" in capabilities.outputs and "closed-answers" not in capabilities.exposes
    )
    for way in wanted:
        if way in NAMED and are_unnamed:
            raise UserError(
                f"prompts: {way} tells the model what the cues are",
                expected="a name for one of them",
                got=f"{len(names)} without one",
                remedy="Say it with --name cluster-03='red corner', take fewer findings with "
                "--top, or audit with --tool namer=SPEC first",
            )
        if way == "dual" and not writes:
            raise UserError(
                "prompts: dual asks for a description first",
                expected="a model that writes freely",
                got="one whose answers are a closed set",
                remedy="Take other ways, as -O ways=guiding",
            )
    impossible = set(NAMED if are_unnamed else ())
    if not writes:
        impossible.add("dual")
    possible = [way for way in WAYS if way not in impossible]
    # a way that is given twice must not weigh twice
    return tuple(dict.fromkeys(wanted or possible))


def fit_way(task: Task, wanted: Sequence[Way]) -> tuple[Asker, Way]:
    """Of several ways that whose answers tell most of the samples that show a cue.

    Raises UserError where the model answers the same however it is asked.
    """
    ways = ways_of(task.capabilities, task.names, wanted)
    [letters] = read(task.ask, OwnQuestion(), task.samples[:1])
    question = letters.astype(np.uint8).tobytes().decode().strip()
    asker = Asker(tuple(name or "" for name in task.names), question or QUESTION)
    if len(ways) == 1:
        return asker, ways[0]
    trials = list(
        Answers.trials(compress(task.samples, np.asarray(task.shows.any(axis=1))))
    )
    if not trials:
        raise UserError(
            "prompts: no sample to learn from shows a cue",
            expected="samples with the cues",
            remedy="Take more samples",
        )
    cues = task.router.best(trials, task.ask)
    # plain is always asked: other ways are held against it
    answers = asker.answers(
        list(dict.fromkeys(("plain", *ways))), trials, cues, task.ask
    )
    _require_reading(answers)
    logits = np.stack([_label_rows(task, trials, answers[way]) for way in ways])
    return asker, ways[int(information(logits).argmax())]


def _label_rows(
    task: Task,
    trials: Trials,
    answers: Sequence[Sequence[Response]],
) -> Float[np.ndarray, "sample label"]:
    """Log-probabilities of each trial's answers, in the order of the task's labels."""
    rows = []
    for trial, wordings in zip(trials, answers, strict=True):
        columns = [trial.sample.choices.index(label) for label in task.labels]
        rows.append(log_probabilities(wordings)[columns])
    return np.stack(rows)


def _require_reading(answers: Mapping[str, list[list[Response]]]) -> None:
    """Raises UserError where all ways are answered alike."""
    others = [way for way in answers if way != "plain"]
    for way in others:
        for [plain], wordings in zip(answers["plain"], answers[way], strict=True):
            logits = np.asarray(plain.logits)
            for wording in wordings:
                if not np.array_equal(np.asarray(wording.logits), logits):
                    return
    if others:
        raise UserError(
            "prompts: this model answers the same however it is asked",
            expected="a model that reads a question",
            got=f"equal answers to {', '.join(others)}",
            remedy="Take last-layer, or coop where it has a text tower",
        )


class LearnedPrompts(Mitigation):
    """A `PromptTable`, or `OtherWays`."""


@dataclass(frozen=True)
class OtherWays(LearnedPrompts):
    """Samples that show a cue are asked in another `way`."""

    asker: Asker
    way: str
    router: Router

    def answer(self, trials: Trials, ask: Ask) -> list[Response]:
        """Log-probabilities of the mean over the way's wordings, and their commonest text.

        Samples that show no cue are asked as they are.
        """
        # a cue is seen in frames: what has none shows none
        cues = best_cues(self.router, trials, _has_frames, ask)
        more = EMBEDDING
        # plain and ensemble ask plainly as well, and the embedding comes with that
        if self.way in ("plain", "ensemble"):
            more = frozenset()
        changed = []
        requests = []
        for number, trial in enumerate(trials):
            # who wants the embedding alone has no question to reword
            if trial.outputs - EMBEDDING and cues[number] >= 0:
                changed.append(number)
                # what is asked in another way is asked plainly for its embedding alone
                trial = replace(trial, outputs=trial.outputs & more)
            requests.append(trial)
        plain = iter(ask([request for request in requests if request.outputs]))
        responses = [
            next(plain) if request.outputs else Response() for request in requests
        ]
        some = [trials[number] for number in changed]
        of_some = [cues[number] for number in changed]
        answers = self.asker.answers([self.way], some, of_some, ask)[self.way]
        for number, wordings in zip(changed, answers, strict=True):
            outputs = trials[number].outputs
            responses[number] = _in_one(wordings, outputs, responses[number])
        return responses


def _has_frames(trial: Trial) -> bool:
    return bool(trial.sample.frames)


def _in_one(
    wordings: Sequence[Response], outputs: frozenset[Output], plain: Response
) -> Response:
    logits = log_probabilities(wordings) if "logits" in outputs else None
    text = common_text(wordings) if "text" in outputs else None
    with_embedding = (
        answer for answer in (plain, *wordings) if answer.embedding is not None
    )
    embedding = next(with_embedding, Response()).embedding
    return Response(logits=logits, text=text, embedding=embedding)
