"""A model that reads questions, asked in other ways (SpurLens, section 6.2).

A sample that shows a cue is asked in every way that counts, all others plainly. Labels of samples
are not looked at.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from jaxtyping import Float
from scipy.special import entr, log_softmax, logsumexp, softmax

from cuescope_sdk import Capabilities, Output, Readout, Response, Sample, Trial, UserError
from cuescope_sdk.language import (
    WORDINGS,
    WayOfAsking,
    add_description,
    add_guidance,
    add_warning,
    description_request,
    shorten_description,
)
from cuescope_sdk.mitigation import Ask, Router, Task
from cuescope_sdk.stills import baseline_trials

Way = Literal["plain", "ensemble", "dual", "guiding", "spurious-list", "spurious-top"]
WAYS: tuple[Way, ...] = ("plain", *get_args(WayOfAsking))
NAMED = frozenset({"spurious-list", "spurious-top"})  # ways that say what the cues are
EMBEDDING: frozenset[Output] = frozenset({"embedding"})  # the same, whatever is asked
TENTHS = 10.0  # a tenth more of what can be told: e times the weight, with sharpness 1
LEAST = 0.01  # a way with less weight is not asked
TRIED = 8  # samples that tell whether a model reads its question
THING, ANSWER, CLAIM = "what is asked about", "one of the answers", "it is right"


class OwnQuestion(Readout):
    """What the model is asked where a sample has no question, as bytes that end with a newline."""

    name: ClassVar[str] = "own-question"

    def read(self, model: Any, trials: Sequence[Trial]) -> list[np.ndarray]:
        """The same for each trial."""
        question = str(getattr(model.options, "question", ""))
        return [np.frombuffer(f"{question}\n".encode(), np.uint8)] * len(trials)


@dataclass(frozen=True)
class Asker:
    """How trials are put in other ways: the cues by name, and a question for those without one."""

    names: tuple[str, ...]
    question: str
    ask: Ask

    def answers(
        self, ways: Sequence[str], trials: Sequence[Trial], cues: Sequence[int]
    ) -> list[list[list[Response]]]:
        """For each way and trial the response to each wording; `cues` has the cue of each trial."""
        told = self._descriptions(trials) if "dual" in ways else [""] * len(trials)
        rows = [
            [self._put(way, *each) for each in zip(trials, cues, told, strict=True)] for way in ways
        ]
        responses = iter(self.ask([trial for way in rows for row in way for trial in row]))
        return [[[next(responses) for _ in row] for row in way] for way in rows]

    def _put(self, way: str, trial: Trial, cue: int, description: str) -> list[Trial]:
        """The trial in the wordings of a way; the plain one is the trial itself."""
        sample = trial.sample
        question = sample.question or self.question
        match way:
            case "plain":
                return [trial]
            case "ensemble":
                # no str.format: a question may have braces of its own
                words = [wording.replace("{question}", question) for wording in WORDINGS[1:]]
                return [trial, *(_reworded(trial, each) for each in words)]
            case "dual":
                words = [add_description(question, description, _medium(sample))]
            case "guiding":
                words = [add_guidance(question, THING)]
            case _:
                # of what shows no cue, the strongest finding's
                one = way == "spurious-top"
                cues = [self.names[max(cue, 0)]] if one else list(dict.fromkeys(self.names))
                words = [add_warning(question, cues, ANSWER, CLAIM)]
        return [_reworded(trial, each) for each in words]

    def _descriptions(self, trials: Sequence[Trial]) -> list[str]:
        outputs: frozenset[Output] = frozenset({"text"})
        requests = [
            replace(
                trial,
                sample=replace(
                    trial.sample,
                    key=f"{trial.sample.key}/described",
                    question=description_request(_medium(trial.sample)),
                    choices=(),
                    label=None,
                ),
                outputs=outputs,
            )
            for trial in trials
        ]
        return [shorten_description(answer.text or "") for answer in self.ask(requests)]


def _reworded(trial: Trial, question: str) -> Trial:
    key = f"{trial.sample.key}/reworded"
    sample = replace(trial.sample, key=key, question=question)
    return replace(trial, sample=sample, outputs=trial.outputs - EMBEDDING)


def _medium(sample: Sample) -> str:
    return "image" if len(sample.frames) == 1 else "video"


def log_probabilities(wordings: Sequence[Response]) -> Float[np.ndarray, " choice"]:
    """Of the mean over the wordings of a way: an ensemble's vote, counted by how sure each is."""
    rows = log_softmax([np.asarray(each.logits, np.float64) for each in wordings], axis=1)
    return np.asarray(logsumexp(rows, axis=0) - np.log(len(rows)))


def common_text(wordings: Sequence[Response]) -> str:
    """What most wordings of a way are answered with; the first of equals."""
    [(text, _)] = Counter((each.text or "").strip() for each in wordings).most_common(1)
    return text


def information(logits: Float[np.ndarray, "way sample label"]) -> Float[np.ndarray, " way"]:
    """What the answers to a way tell of a sample, as a share of all that they could (0 to 1).

    The mutual information of samples and answers: large where the model is sure of each answer, and
    does not say the same of all. The way with the largest is the best guess at the most accurate
    one without labels (Sorensen et al., 2022). Of samples that all show a cue, a way by which the
    cue alone decides tells nothing.
    """
    shares = softmax(logits, axis=2)
    each, together = entr(shares).sum(axis=2).mean(axis=1), entr(shares.mean(axis=1)).sum(axis=1)
    return np.asarray((together - each) / np.log(logits.shape[2]))


def ways_of(
    capabilities: Capabilities, names: Sequence[str | None], wanted: Sequence[Way]
) -> tuple[Way, ...]:
    """The ways that are asked: those that are wanted, else all that model and names allow.

    Raises UserError for a way that is wanted and cannot be.
    """
    unnamed = sum(name is None for name in names)
    writes = "text" in capabilities.outputs and "closed-answers" not in capabilities.exposes
    for way in wanted:
        if way in NAMED and unnamed:
            raise UserError(
                f"prompts: {way} tells the model what the cues are",
                expected="a name for each cue",
                got=f"{unnamed} of {len(names)} without one",
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
    out = (NAMED if unnamed else set()) | (set() if writes else {"dual"})
    return tuple(dict.fromkeys(wanted)) or tuple(way for way in WAYS if way not in out)


@dataclass(frozen=True)
class Learned:
    """What is found on the task: the ways that count, and the question of samples without one."""

    ways: tuple[Way, ...]
    weights: Float[np.ndarray, " way"]
    names: tuple[str, ...]
    question: str


def fit_ways(
    task: Task, wanted: Sequence[Way], question: str, everywhere: bool, sharpness: float
) -> Learned:
    """Weigh the ways by what their answers tell of samples with a cue; `everywhere`: of all.

    Raises UserError where the model answers the same however it is asked.
    """
    ways = ways_of(task.capabilities, task.names, wanted)
    [answer] = task.ask([OwnQuestion().of(task.samples[0])])
    own = np.asarray(answer.readout, np.uint8).tobytes().decode().strip()
    names = tuple(name or "" for name in task.names)
    asker = Asker(names, own or question, task.ask)
    rows = np.flatnonzero(task.shows.any(axis=1) | everywhere).tolist()
    trials = list(baseline_trials(task.samples[row] for row in rows))
    if not trials:
        raise UserError(
            "prompts: no sample to learn from shows a cue",
            expected="samples with the cues",
            remedy="Take more samples, or -O everywhere=true",
        )
    cues = task.router.best(trials, task.ask)
    single = len(ways) == 1
    shown = TRIED if single else len(trials)
    asked = tuple(dict.fromkeys(("plain", *ways)))
    answers = dict(zip(asked, asker.answers(asked, trials[:shown], cues[:shown]), strict=True))
    _require_reading(answers)
    if single:
        return Learned(ways, np.ones(1), names, asker.question)
    logits = np.stack(
        [
            [
                log_probabilities(wordings)[[trial.sample.choices.index(x) for x in task.labels]]
                for wordings, trial in zip(answers[way], trials, strict=True)
            ]
            for way in ways
        ]
    )
    weights = softmax(sharpness * TENTHS * information(logits))
    kept = weights >= LEAST
    return Learned(
        tuple(way for way, keep in zip(ways, kept, strict=True) if keep),
        weights[kept] / weights[kept].sum(),
        names,
        asker.question,
    )


def _require_reading(answers: Mapping[Way, list[list[Response]]]) -> None:
    """Raises UserError where all ways are answered alike."""
    others = [way for way in answers if way != "plain"]
    same = all(
        np.array_equal(np.asarray(answer.logits), np.asarray(plain.logits))
        for way in others
        for [plain], wordings in zip(answers["plain"], answers[way], strict=True)
        for answer in wordings
    )
    if others and same:
        raise UserError(
            "prompts: this model answers the same however it is asked",
            expected="a model that reads a question",
            got=f"equal answers to {', '.join(others)}",
            remedy="Take last-layer, or coop where it has a text tower",
        )


def answer_otherwise(
    learned: Learned, router: Router, everywhere: bool, trials: Sequence[Trial], ask: Ask
) -> list[Response]:
    """A response to each trial; those that show no cue are asked as they are."""
    framed = [place for place, trial in enumerate(trials) if trial.sample.frames]
    cues = dict(zip(framed, router.best([trials[place] for place in framed], ask), strict=True))
    changed = [
        place
        for place, trial in enumerate(trials)
        if trial.outputs - EMBEDDING and (everywhere or cues.get(place, -1) >= 0)
    ]
    responses = dict(enumerate(_plainly(learned, trials, set(changed), ask)))
    by_way = Asker(learned.names, learned.question, ask).answers(
        learned.ways,
        [trials[place] for place in changed],
        [cues.get(place, -1) for place in changed],
    )
    for number, place in enumerate(changed):
        of_ways = [way[number] for way in by_way]
        responses[place] = _mix(learned, of_ways, trials[place].outputs, responses[place])
    return [responses[place] for place in range(len(trials))]


def _plainly(
    learned: Learned, trials: Sequence[Trial], changed: Set[int], ask: Ask
) -> Iterator[Response]:
    """The model's own answers; of a trial that is asked in other ways the embedding alone."""
    more = EMBEDDING if not {"plain", "ensemble"} & set(learned.ways) else frozenset()
    asked = [
        replace(trial, outputs=trial.outputs & more) if place in changed else trial
        for place, trial in enumerate(trials)
    ]
    answers = iter(ask([trial for trial in asked if trial.outputs]))
    for trial in asked:
        yield next(answers) if trial.outputs else Response()


def _mix(
    learned: Learned,
    of_ways: Sequence[Sequence[Response]],
    outputs: frozenset[Output],
    own: Response,
) -> Response:
    """Log-probabilities of the weighted mean over the ways, and the text of the heaviest."""
    logits = text = None
    if "logits" in outputs:
        rows = np.stack([log_probabilities(wordings) for wordings in of_ways])
        logits = logsumexp(rows, axis=0, b=learned.weights[:, None])
    if "text" in outputs:
        text = common_text(of_ways[int(learned.weights.argmax())])
    embeddings = [own.embedding, *(each.embedding for way in of_ways for each in way)]
    embedding = next((each for each in embeddings if each is not None), None)
    return Response(logits=logits, text=text, embedding=embedding)
