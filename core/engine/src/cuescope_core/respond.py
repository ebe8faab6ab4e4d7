"""`respond`: show trials to a model and bring back outcomes. Dedupe, cache, batch, resume."""

import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain
from typing import NoReturn

import numpy as np

from cuescope_core.amounts import count_of
from cuescope_core.capabilities import ChecksTrials, Executor, Model, Respond
from cuescope_core.digest import digest
from cuescope_core.errors import PlanStopped, PluginError, UserError, with_article
from cuescope_core.store import ResponseCache
from cuescope_core.types import (
    NUMERIC,
    Outcome,
    Output,
    Readout,
    Response,
    Sample,
    Trial,
)

OnProgress = Callable[[int, int, int, int, int], None]
# trials looked up together: keys and packed answers of more need not be in memory
WINDOW = 20_000
# characters: a model that keeps its answers itself is asked for longer ones again
LONG = 2**14
# of a vector: squares of more do not fit into float32
LARGEST = 1e18
EMBEDDING: frozenset[Output] = frozenset({"embedding"})
# of its identity begin its keys, so that a cache can tell models apart
MODEL_LETTERS = 8


class InProcess:
    """The executor that is always there: the model answers in this process, batch after batch."""

    def map(
        self,
        build: Callable[[], Respond],
        batches: Sequence[Sequence[Trial]],
    ) -> Iterator[tuple[int, list[Response]]]:
        """Each batch's index and responses, in order."""
        respond = build()
        prefetch = getattr(respond, "prefetch", lambda trials: None)
        for index, batch in enumerate(batches):
            # the next one too: its frames are loaded while the model answers this one
            now_and_next = batches[index : index + 2]
            prefetch(list(chain.from_iterable(now_and_next)))
            yield index, respond(batch)


def open_respond(build: Callable[[], Model]) -> Respond:
    """Build the model; returns the function that answers a batch of trials, readouts included."""
    return InParts(build())


class InParts:
    """Answers a batch whole, or in smaller parts once memory did not suffice for it."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.largest: int | None = None

    def __call__(self, trials: Sequence[Trial]) -> list[Response]:
        """The responses in order; raises UserError where not even one trial fits into memory."""
        responses: list[Response] = []
        start = 0
        while part := trials[start:][: self.largest]:
            try:
                responses += answer_batch(self.model, part)
                start += len(part)
            except Exception as error:
                if not out_of_memory(error):
                    raise
                if len(part) == 1:
                    raise UserError(
                        f"out of memory with a single trial ({part[0].sample.key})",
                        remedy="Take a smaller model, --dtype bfloat16, or another --device",
                    ) from error
                # for all batches to come too: each would fail alike
                self.largest = (len(part) + 1) // 2
                size = sum(map(inputs_of, part[: self.largest]))
                warnings.warn(
                    f"out of memory with {count_of(len(part), 'trials')} a call; going on with "
                    f"{self.largest}. "
                    f"--batch-size {size} avoids the attempt",
                    stacklevel=2,
                )
        return responses

    def prefetch(self, trials: Sequence[Trial]) -> None:
        """Tell a model that can load frames ahead what it is asked now and next."""
        if trials and hasattr(self.model, "prefetch"):
            self.model.prefetch(trials)


def list_trials(trials: Iterable[Trial]) -> list[Trial]:
    """What `audit.respond` was given; raises PluginError for what is no trial."""
    # of a list that is not one each is looked at in vain, and of one trial the fields
    if not isinstance(trials, Iterable):
        _refuse(trials)
    return [trial if isinstance(trial, Trial) else _refuse(trial) for trial in trials]


def _refuse(item: object) -> NoReturn:
    is_sample = isinstance(item, Sample)
    raise PluginError(
        "audit.respond",
        expected="trials in a list",
        got=with_article(type(item).__name__),
        remedy="Trial(sample=sample) shows a sample as it is"
        if is_sample
        else "audit.respond([trial]) asks one"
        if isinstance(item, Trial)
        else None,
    )


def check_of(model: object) -> Callable[[Sequence[Trial]], None]:
    """The check by which a model says beforehand which trials it refuses, if it has one."""
    return (
        model.require_answerable if isinstance(model, ChecksTrials) else lambda _: None
    )


def out_of_memory(error: Exception) -> bool:
    """True if an error of Python, torch or CUDA says that memory did not suffice."""
    # torch has a class for it, which this module cannot import
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    # on the CPU torch raises a plain RuntimeError
    message = str(error).lower()
    says_so = "out of memory" in message or "can't allocate memory" in message
    return isinstance(error, RuntimeError) and says_so


def model_name(spec: str) -> str:
    """The name of a model in messages; its pace is kept by this name as well."""
    return f"model '{spec}'"


def inputs_of(trial: Trial) -> int:
    """How many pictures a model looks at for a trial, each counted once; 1 where there is none.

    A frozen clip repeats one picture; a clip of eight frames is eight inputs.
    """
    return len({frame.key for frame in trial.sample.frames}) or 1


def batches_of(inputs: Mapping[str, int], size: int) -> Iterator[list[str]]:
    """The keys of trials in batches of at most `size` of their inputs, with a trial at least."""
    batch: list[str] = []
    room = size
    for key, own in inputs.items():
        if batch and own > room:
            yield batch
            batch = []
            room = size
        batch.append(key)
        room -= own
    if batch:
        yield batch


def answer_batch(model: Model, trials: Sequence[Trial]) -> list[Response]:
    """The responses to trials that all ask for one and the same readout, or for none."""
    readout = trials[0].readout
    if readout is None:
        responses: list[Response] | None = model.respond(trials)
        if responses is None:  # a forgotten `return`
            raise PluginError(
                f"respond of {type(model).__name__} broke its contract",
                expected="a list of responses",
                got="None",
            )
        return responses
    return [Response(readout=array) for array in readout.read(model, trials)]


class ModelRunner:
    """Answers the trials of an audit through cache, executor and model.

    `identity` is everything about the model that enters an answer. `planning` asks nothing of
    the model: trials are counted, and the first that are not cached raise PlanStopped. A batch has
    at most `batch_size` inputs (`inputs_of`), so that a call takes alike long for clips. Each trial
    is asked `repeats` times: of `combined` answers, `agreeing` say what counts for their trial.
    Long texts of a model that `keeps_answers` on the disk itself are not kept here once more.
    What was `recorded` before is read and not asked: it counts as no call. `require` raises for
    trials that the model would refuse, before any of a window is asked. The model was `shown` so
    many inputs, of so many distinct `pictures`.
    """

    def __init__(
        self,
        identity: str,
        build: Callable[[], Model],
        cache: ResponseCache,
        *,
        batch_size: int,
        repeats: int = 1,
        executor: Executor | None = None,
        on_progress: OnProgress = lambda *numbers: None,
        on_answers: Callable[[list[Outcome]], None] = lambda outcomes: None,
        blaming: Callable[[], AbstractContextManager[None]] = nullcontext,
        require: Callable[[Sequence[Trial]], None] = lambda _: None,
        planning: bool = False,
        keeps_answers: bool = False,
        recorded: bool = False,
        name: str = "the model",
    ) -> None:
        self.identity = identity
        # picklable: an executor sends it to workers
        self.build = partial(open_respond, build)
        self.cache = cache
        self.batch_size = batch_size
        self.repeats = repeats
        self.executor = executor or InProcess()
        self.on_progress = on_progress
        self.on_answers = on_answers
        self.blaming = blaming
        self.require = require
        self.planning = planning
        self.keeps_answers = keeps_answers
        self.recorded = recorded
        self.name = name
        self.trials = 0
        self.model_calls = 0
        self.model_inputs = 0
        self.cache_hits = 0
        self.combined = 0
        self.agreeing = 0
        self.conditions: Counter[str] = Counter()
        self.model_seconds = 0.0
        # of what the model was really asked: a plan has none, and neither has a recording
        self.shown = 0
        self.pictures = set[str]()
        self.seen = set[str]()
        self._is_open = False

    def __call__(self, trials: Iterable[Trial]) -> Sequence[Outcome]:
        """Outcomes in the order of the trials."""
        trials = list_trials(trials)
        outcomes: list[Outcome] = []
        asked = 0
        seen = 0
        # an executor's workers wait for the last of what is handed over together
        size = max(WINDOW, self.batch_size * getattr(self.executor, "together", 0))
        for start in range(0, len(trials), size):
            window = trials[start : start + size]
            questions = self._repeat(window)
            keys = [trial_key(self.identity, question) for question in questions]
            # labels make no other trial: each is asked once
            distinct = dict(zip(keys, questions, strict=True))
            responses = self._known(distinct)
            missing = [key for key in distinct if key not in responses]
            with self.blaming():
                self.require([distinct[key] for key in missing])
            inputs = {key: inputs_of(distinct[key]) for key in missing}
            self._count(distinct, inputs)
            # one answer may do
            waiting = Counter(key for key in keys if key not in responses)
            left = waiting.total()
            asked += left
            if self.planning and asked:
                continue  # a plan counts the rest
            looked_up = start * self.repeats + len(questions)
            total = len(trials) * self.repeats
            # what later windows ask is not known yet: alike much, as far as one can tell
            windows = (len(trials) - start) / len(window)
            all_seen = seen + round(sum(inputs.values()) * windows)
            for answers in self._ask(inputs, distinct):
                responses |= answers
                left -= sum(waiting[key] for key in answers)
                seen += sum(inputs[key] for key in answers)
                known = looked_up - asked
                self.on_progress(looked_up - left, total, known, seen, all_seen)
            answered = self._combine(window, [responses[key] for key in keys])
            self.on_answers(answered)
            outcomes += answered
        if self.planning and asked:
            raise PlanStopped("the answers of the model")
        return outcomes

    def _known(self, trials: Mapping[str, Trial]) -> dict[str, Response]:
        """The stored answers; to a trial that asks for no embedding, also one with an embedding."""
        known = self._sound(trials, self.cache.get(trials))
        missing = {key: trials[key] for key in trials if key not in known}
        with_more = self._with_embedding(missing)
        of_more = {
            with_more[more_key]: replace(response, embedding=None)
            for more_key, response in self.cache.get(with_more).items()
        }
        return known | self._sound(trials, of_more)

    def _sound(
        self,
        trials: Mapping[str, Trial],
        known: Mapping[str, Response],
    ) -> dict[str, Response]:
        """Those that answer their trials; the others, of a damaged cache, are asked again."""
        sound = {}
        for key, response in known.items():
            fault = _fault_of(trials[key], response)
            if fault is None:
                sound[key] = response
                continue
            expected, got = fault
            place = f"{self.cache.path}: " if self.cache.path else ""
            warnings.warn(
                "answers in the cache are damaged, and asked again "
                f"({place}expected {expected}, got {got})",
                stacklevel=4,
            )
        return sound

    def _with_embedding(self, trials: Mapping[str, Trial]) -> dict[str, str]:
        """By the key of each trial that asks for an embedding as well: its key without."""
        with_more = {}
        for key, trial in trials.items():
            if trial.outputs and not trial.outputs & EMBEDDING:
                more = replace(trial, outputs=trial.outputs | EMBEDDING)
                with_more[trial_key(self.identity, more)] = key
        return with_more

    def answers_now(self, trial: Trial) -> bool:
        """True if the model answers this trial now, whatever is stored of it; true in a plan."""
        if self.planning:
            return True
        try:
            for _ in self.executor.map(self.build, [[trial]]):
                pass
        except Exception:
            return False
        return True

    def _repeat(self, trials: list[Trial]) -> list[Trial]:
        if self.repeats == 1:
            return trials
        times = range(self.repeats)
        return [replace(trial, repeat=time) for trial in trials for time in times]

    def _combine(self, trials: list[Trial], responses: list[Response]) -> list[Outcome]:
        """One outcome a trial; its responses stand side by side, `repeats` of them."""
        self.combined += len(responses)
        if self.repeats == 1:
            self.agreeing += len(responses)
            return [Outcome(*pair) for pair in zip(trials, responses, strict=True)]
        from cuescope_core.repeats import agreeing, combine

        outcomes = []
        for number, trial in enumerate(trials):
            start = number * self.repeats
            answers = responses[start : start + self.repeats]
            response = combine(answers)
            self.agreeing += agreeing(answers, response)
            outcomes.append(Outcome(trial, response))
        return outcomes

    def _count(
        self,
        distinct: Mapping[str, Trial],
        inputs: Mapping[str, int],
    ) -> None:
        """A trial asked again within an audit counts once."""
        planned = set[str]()
        if self.planning:
            # answers that an audit before this one asks for, with an embedding beside
            with_more = self._with_embedding({key: distinct[key] for key in inputs})
            planned = {with_more[key] for key in with_more.keys() & self.seen}
        new = [key for key in distinct if key not in self.seen]
        self.seen.update(new)
        # a plan misses a trial in each window it is in
        fresh = (inputs.keys() & set(new)) - planned
        calls = len(fresh)
        self.trials += len(new)
        if not self.recorded:
            self.model_calls += calls
            self.model_inputs += sum(inputs[key] for key in fresh)
        self.cache_hits += len(new) - calls
        self.conditions.update(distinct[key].condition for key in new)

    def _ask(
        self,
        inputs: Mapping[str, int],
        trials: Mapping[str, Trial],
    ) -> Iterator[dict[str, Response]]:
        """Yield the answers of a batch, none at first; they are stored already."""
        # so that a progress bar begins with what the cache had
        yield {}
        if not inputs:
            return
        # a batch goes through the model once, so it holds one readout or none
        by_readout: dict[Readout | None, dict[str, int]] = defaultdict(dict)
        for key, own in inputs.items():
            by_readout[trials[key].readout][key] = own
        # of one size, however long one takes: in other batches a model rounds otherwise
        batches: list[list[str]] = []
        for group in by_readout.values():
            batches += batches_of(group, self.batch_size)
        batches_of_trials = [[trials[key] for key in batch] for batch in batches]
        seen = 0
        asked = time.perf_counter()
        since = asked if self._is_open else None
        with self.blaming():
            for index, responses in self.executor.map(self.build, batches_of_trials):
                if not self.recorded:
                    for trial in batches_of_trials[index]:
                        pictures = {frame.key for frame in trial.sample.frames}
                        self.shown += len(pictures)
                        self.pictures |= pictures
                    self.model_seconds += time.perf_counter() - asked
                batch = batches[index]
                yield self._keep(batch, responses, trials)
                asked = time.perf_counter()
                # the first batch of an audit has opened the weights, and is no pace
                if since is None:
                    since = asked
                    self._is_open = True
                else:
                    seen += sum(inputs[key] for key in batch)
        # for plans: of what the model was really asked, not of what the cache had
        if seen and since is not None:
            self.cache.add_pace(self.identity, seen, time.perf_counter() - since)

    def _keep(
        self,
        batch: list[str],
        responses: list[Response],
        trials: Mapping[str, Trial],
    ) -> dict[str, Response]:
        """The responses by key, checked and stored."""
        # before they are stored: a cache keeps mistakes
        check_responses([trials[key] for key in batch], responses, self.name)
        answered = dict(zip(batch, responses, strict=True))
        stored = answered
        if self.keeps_answers:
            # the model itself gives long texts again without asking anybody
            stored = {
                key: response
                for key, response in answered.items()
                if len(response.text or "") <= LONG
            }
        # before it counts as done: a kill costs one batch
        self.cache.put(stored)
        return answered


def check_responses(
    trials: Sequence[Trial],
    responses: Sequence[Response],
    name: str = "the model",
) -> None:
    """Raise PluginError unless each trial has its response, with all that it asked for, finite."""
    breach = f"{name} broke its contract"
    given: Sequence[object] = responses
    for response in given:
        if not isinstance(response, Response):
            kind = with_article(type(response).__name__)
            raise PluginError(breach, expected="a Response for each trial", got=kind)
    # a trial without its answer would be asked for again and again
    if len(responses) != len(trials):
        expected = f"{len(trials)} responses"
        raise PluginError(breach, expected=expected, got=str(len(responses)))
    for trial, response in zip(trials, responses, strict=True):
        fault = _fault_of(trial, response)
        if fault:
            expected, got = fault
            raise PluginError(
                f"{breach} on {trial.sample.key}",
                expected=expected,
                got=got,
            )
    sizes = sorted({size for each in responses if (size := _size(each))})
    if len(sizes) > 1:
        got = " and ".join(map(str, sizes))
        raise PluginError(breach, expected="embeddings of one length", got=got)


def _size(response: Response) -> int | None:
    return None if response.embedding is None else len(response.embedding)


def _fault_of(trial: Trial, response: Response) -> tuple[str, str] | None:
    """Return what was expected of a response and what came, None for a response that is sound."""
    lacking = response.missing(trial.outputs)
    if lacking:
        return " and ".join(sorted(trial.outputs)), f"no {' and no '.join(lacking)}"
    choices = len(trial.sample.choices)
    if response.logits is not None and len(response.logits) != choices:
        return f"{choices} logits, one a choice", str(len(response.logits))
    text: object = response.text
    if text is not None and not isinstance(text, str):
        return "a text", with_article(type(text).__name__)
    for output in ("logits", "embedding", "readout"):
        fault = _fault_of_numbers(getattr(response, output), output)
        if fault is not None:
            return fault
    return _fault_of_readout(trial, response)


def _fault_of_numbers(
    numbers: np.ndarray | None, output: str
) -> tuple[str, str] | None:
    if numbers is None:
        return None
    array = np.asarray(numbers)
    if array.dtype.kind not in NUMERIC:
        return f"real numbers as its {output}", str(array.dtype)
    # argmax takes NaN for the largest: a broken model would seem to answer
    finite = np.isfinite(array)
    if not finite.all():
        return f"finite numbers as its {output}", str(array[~finite].flat[0])
    # of a choice that is ruled out the logit may be the lowest number that there is
    if output != "logits" and array.dtype.kind == "f":
        largest = float(np.abs(array).max(initial=0))
        if largest > LARGEST:
            return f"numbers of at most {LARGEST:g} as its {output}", f"{largest:g}"
    return None


def _fault_of_readout(trial: Trial, response: Response) -> tuple[str, str] | None:
    readout = trial.readout
    if readout is None:
        return None
    expected = f"what {readout.name} reads"
    if response.readout is None:
        return expected, "none"
    array = np.asarray(response.readout)
    if readout.accepts(array, trial):
        return None
    return expected, f"other numbers ({array.dtype} of shape {array.shape})"


def trial_key(identity: str, trial: Trial) -> str:
    """Digest of everything that enters the answer; labels, features and conditions do not."""
    sample = trial.sample
    # a thousand choices, the same for each image
    shared = _digest_once(identity, sample.question, sample.choices, trial.outputs)
    frames = "|".join([frame.key for frame in sample.frames])
    # two packages may name a class alike; kinds are unique
    edit = trial.edit and (trial.edit.kind, trial.edit)
    readout = trial.readout and (trial.readout.name, trial.readout)
    # a first time has the key that it had before there were repeats
    repeat = [trial.repeat] if trial.repeat else []
    answer = digest(shared, frames, edit, readout, *repeat)
    return f"{identity[:MODEL_LETTERS]}-{answer}"


@lru_cache(maxsize=4096)
def _digest_once(*shared: object) -> str:
    """Digest what many trials share, once."""
    return digest(*shared)
