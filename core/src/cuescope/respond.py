"""`respond`: show trials to a model and bring back outcomes. Dedupe, cache, batch, resume."""

import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache, partial
from itertools import compress, islice

import numpy as np

from cuescope.capabilities import Executor, Model, Respond
from cuescope.digest import digest
from cuescope.errors import PlanStopped, PluginError, UserError
from cuescope.repeats import agreeing, combine, copies
from cuescope.spool import Shared, Spool
from cuescope.store import ResponseCache
from cuescope.types import Outcome, Readout, Response, Trial

OnProgress = Callable[[int, int, int], None]
WINDOW = 20_000  # trials looked up together: keys and answers of more need not be in memory
LONG = 2**14  # characters: a model that keeps its answers itself is asked for longer ones again
MODEL_LETTERS = 8  # of its identity begin its keys, so that a cache can tell models apart


class InProcess:
    """The executor that is always there: the model answers in this process, batch after batch."""

    def map(
        self, build: Callable[[], Respond], batches: Sequence[Sequence[Trial]]
    ) -> Iterator[tuple[int, list[Response]]]:
        """Each batch's index and responses, in order."""
        respond = build()
        prefetch = getattr(respond, "prefetch", lambda trials: None)
        for index, batch in enumerate(batches):
            prefetch([trial for upcoming in batches[index : index + 2] for trial in upcoming])
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
                self.largest = (len(part) + 1) // 2
                warnings.warn(
                    f"out of memory with {len(part)} trials a call; going on with {self.largest}. "
                    f"--batch-size {self.largest} avoids the attempt",
                    stacklevel=2,
                )
        return responses

    def prefetch(self, trials: Sequence[Trial]) -> None:
        """Tell a model that can load frames ahead what it is asked now and next."""
        if trials and hasattr(self.model, "prefetch"):
            self.model.prefetch(trials)


def out_of_memory(error: Exception) -> bool:
    """Whether an error of Python, torch or CUDA says that memory did not suffice."""
    named = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
    told = any(said in str(error).lower() for said in ("out of memory", "can't allocate memory"))
    return named or (isinstance(error, RuntimeError) and told)


def answer_batch(model: Model, trials: Sequence[Trial]) -> list[Response]:
    """The responses to trials that all ask for one and the same readout, or for none."""
    if (readout := trials[0].readout) is None:
        return model.respond(trials)
    return [Response(readout=array) for array in readout.read(model, trials)]


class ModelRunner:
    """Answers the trials of an audit through cache, executor and model.

    `identity` is everything about the model that enters an answer. `planning` asks nothing of
    the model: trials are counted, and the first that are not cached raise PlanStopped. Each trial
    is asked `repeats` times: of `combined` answers, `agreeing` say what counts for their trial.
    Long texts of a model that `keeps_answers` on the disk itself are not kept here once more.
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
        on_progress: OnProgress = lambda done, total, cached: None,
        on_answers: Callable[[list[Outcome]], None] = lambda outcomes: None,
        blaming: Callable[[], AbstractContextManager[None]] = nullcontext,
        planning: bool = False,
        keeps_answers: bool = False,
        name: str = "the model",
        shared: Shared | None = None,
    ) -> None:
        self.identity = identity
        self.build = partial(open_respond, build)  # picklable: an executor sends it to workers
        self.cache = cache
        self.batch_size, self.repeats = batch_size, repeats
        self.executor, self.shared = executor or InProcess(), shared
        self.on_progress, self.on_answers, self.blaming = on_progress, on_answers, blaming
        self.planning, self.keeps_answers, self.name = planning, keeps_answers, name
        self.trials = self.model_calls = self.cache_hits = self.combined = self.agreeing = 0
        self.conditions: Counter[str] = Counter()
        # sorted hashes (none is -1) in runs, each over twice the next: a tenth of a set of keys
        self._counted = [np.full(1, -1)]

    def __call__(self, trials: Iterable[Trial]) -> Sequence[Outcome]:
        """Outcomes in the order of the trials; many of them are read from a file as needed."""
        if not isinstance(trials, Sequence):
            trials = Spool(trials, self.shared)
        outcomes, asked = Spool[Outcome](shared=self.shared), 0
        together = max(WINDOW, self.batch_size * getattr(self.executor, "together", 0))
        for start in range(0, len(trials), together):
            window = list(trials[start : start + together])
            each = [copy for trial in window for copy in copies(trial, self.repeats)]
            keys = [trial_key(self.identity, trial) for trial in each]
            # labels make no other trial: each is asked once
            distinct = dict(zip(keys, each, strict=True))
            responses = self.cache.get(distinct)
            missing = [key for key in distinct if key not in responses]
            self._count(distinct, missing)
            waiting = Counter(key for key in keys if key not in responses)  # one answer may do
            asked += (left := waiting.total())
            if self.planning and asked:
                continue  # a plan counts the rest
            for answers in self._ask(missing, distinct):
                responses |= answers
                left -= sum(waiting[key] for key in answers)
                known = start * self.repeats + len(each)
                self.on_progress(known - left, len(trials) * self.repeats, known - asked)
            answers_to = iter([responses[key] for key in keys])
            answered = [Outcome(t, self._combine(islice(answers_to, self.repeats))) for t in window]
            self.on_answers(answered)
            outcomes.extend(answered)
        if self.planning and asked:
            raise PlanStopped("the answers of the model")
        return outcomes

    def _combine(self, answers: Iterable[Response]) -> Response:
        response = combine(responses := list(answers))
        self.agreeing += agreeing(responses, response) if responses[1:] else 1
        self.combined += len(responses)
        return response

    def _count(self, distinct: Mapping[str, Trial], missing: list[str]) -> None:
        """A trial asked again within an audit counts once."""
        hashes = np.fromiter(map(hash, distinct), np.int64)
        runs = self._counted
        known = [run.take(np.searchsorted(run, hashes), mode="clip") == hashes for run in runs]
        new = ~np.any(known, axis=0)
        if fresh := list(compress(distinct, new)):
            runs.append(np.sort(hashes[new]))
        while len(runs) > 1 and len(runs[-2]) <= 2 * len(runs[-1]):
            runs.append(np.sort(np.concatenate([runs.pop(), runs.pop()]), kind="stable"))
        self.trials += len(fresh)
        # a plan misses a trial in each window it is in
        self.model_calls += (asked := len(set(fresh).intersection(missing)))
        self.cache_hits += len(fresh) - asked
        self.conditions.update(distinct[key].condition for key in fresh)

    def _ask(
        self, keys: Sequence[str], trials: Mapping[str, Trial]
    ) -> Iterator[dict[str, Response]]:
        """What is answered at a time, nothing at first; it is stored already."""
        # A batch goes through the model once, so it holds one readout or none.
        by_readout: dict[Readout | None, list[str]] = {}
        for key in keys:
            by_readout.setdefault(trials[key].readout, []).append(key)
        batches = [
            group[start : start + self.batch_size]
            for group in by_readout.values()
            for start in range(0, len(group), self.batch_size)
        ]
        yield {}
        if keys:
            since = time.perf_counter()
            yield from self._answer(batches, trials)
            self.cache.add_pace(self.identity, len(keys), time.perf_counter() - since)

    def _answer(
        self, batches: list[list[str]], trials: Mapping[str, Trial]
    ) -> Iterator[dict[str, Response]]:
        batches_of_trials = [[trials[key] for key in batch] for batch in batches]
        with self.blaming():
            for index, responses in self.executor.map(self.build, batches_of_trials):
                # before they are stored: a cache keeps mistakes
                check_responses(batches_of_trials[index], responses, self.name)
                answered = dict(zip(batches[index], responses, strict=True))
                self.cache.put({k: r for k, r in answered.items() if not self._is_kept(r)})
                yield answered

    def _is_kept(self, response: Response) -> bool:
        """Whether the model itself gives a long text again without asking anybody."""
        return self.keeps_answers and len(response.text or "") > LONG


def check_responses(
    trials: Sequence[Trial], responses: Sequence[Response], name: str = "the model"
) -> None:
    """Raise PluginError unless each trial has its response, with all that it asked for, finite."""

    def broken(where: str, expected: str, got: str) -> PluginError:
        return PluginError(f"{name} broke its contract{where}", expected=expected, got=got)

    if len(responses) != len(trials):
        raise broken("", f"{len(trials)} responses", str(len(responses)))
    for trial, response in zip(trials, responses, strict=True):
        sample, logits, on = trial.sample, response.logits, f" on {trial.sample.key}"
        if lacking := response.missing(trial.outputs):
            raise broken(on, " and ".join(sorted(trial.outputs)), f"no {' and no '.join(lacking)}")
        if logits is not None and len(logits) != len(sample.choices):
            raise broken(on, f"{len(sample.choices)} logits, one a choice", str(len(logits)))
        for output in ("logits", "embedding", "readout"):
            numbers = getattr(response, output)
            if numbers is not None and not np.isfinite(numbers).all():
                bad = numbers[~np.isfinite(numbers)].flat[0]
                raise broken(on, f"finite numbers as its {output}", str(bad))


def trial_key(identity: str, trial: Trial) -> str:
    """Digest of everything that enters the answer; labels, features and conditions do not."""
    sample = trial.sample
    # a thousand choices, the same for each image
    shared = _digest_once(identity, sample.question, sample.choices, trial.outputs)
    # two packages may name a class alike; kinds are unique
    edit = trial.edit and (trial.edit.kind, trial.edit)
    readout = trial.readout and (trial.readout.name, trial.readout)
    again = [trial.repeat] if trial.repeat else []
    own = digest(shared, "|".join([frame.key for frame in sample.frames]), edit, readout, *again)
    return f"{identity[:MODEL_LETTERS]}-{own}"


@lru_cache(maxsize=4096)
def _digest_once(*shared: object) -> str:
    """Of what many trials share."""
    return digest(*shared)
