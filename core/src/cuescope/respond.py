"""`respond`: show trials to a model and bring back outcomes. Dedupe, cache, batch, resume."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache, partial

from cuescope.capabilities import Executor, Model, Responds
from cuescope.digest import digest
from cuescope.errors import PluginError, Unanswered
from cuescope.store import ResponseCache
from cuescope.types import Outcome, Reading, Response, Trial

Progressed = Callable[[int, int, int], None]


class InProcess:
    """The executor that is always there: the model answers in this process, batch after batch."""

    def map(
        self, build: Callable[[], Responds], batches: Sequence[Sequence[Trial]]
    ) -> Iterator[tuple[int, list[Response]]]:
        """Each batch's index and responses, in order."""
        model = build()
        for index, batch in enumerate(batches):
            yield index, model.respond(batch)


class Reader:
    """The model, beside which readings are run: what an executor builds and asks."""

    def __init__(self, build: Callable[[], Model]) -> None:
        self.model = build()

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """What the trials ask for: all of them the same reading, or none."""
        if (reading := trials[0].reading) is None:
            return self.model.respond(trials)
        return [Response(reading=array) for array in reading.read(self.model, trials)]


class Responder:
    """Answers trials through cache, executor and model.

    `identity` is everything about the model that enters an answer. `planning` asks nothing of
    the model: trials are counted, and the first that are not cached raise Unanswered.
    """

    def __init__(
        self,
        identity: str,
        build: Callable[[], Model],
        cache: ResponseCache,
        *,
        batch_size: int,
        executor: Executor | None = None,
        progressed: Progressed = lambda done, total, cached: None,
        blaming: Callable[[], AbstractContextManager[None]] = nullcontext,
        planning: bool = False,
    ) -> None:
        self.identity = identity
        self.build = partial(Reader, build)
        self.cache = cache
        self.batch_size = batch_size
        self.executor = executor or InProcess()
        self.progressed = progressed
        self.blaming = blaming
        self.planning = planning
        self.trials = self.model_calls = self.cache_hits = 0
        self._seen: set[str] = set()

    def __call__(self, trials: Iterable[Trial]) -> list[Outcome]:
        """Outcomes in the order of the trials."""
        asked = list(trials)
        keys = [trial_key(self.identity, trial) for trial in asked]
        distinct = dict(zip(keys, asked, strict=True))
        responses = self.cache.get(distinct)
        missing = [key for key in distinct if key not in responses]
        self._count(distinct, missing)
        if missing:
            if self.planning:
                raise Unanswered("the answers of the model")
            alike: dict[Reading | None, list[str]] = {}
            for key in missing:
                alike.setdefault(distinct[key].reading, []).append(key)
            size = self.batch_size
            batches = [k[i : i + size] for k in alike.values() for i in range(0, len(k), size)]
            self.progressed(len(responses), len(distinct), len(responses))
            cached, since = len(responses), time.perf_counter()
            for answered in self._answer(batches, distinct):
                responses |= answered
                self.progressed(len(responses), len(distinct), cached)
            self.cache.clock(self.identity, len(missing), time.perf_counter() - since)
        return [Outcome(trial, responses[key]) for key, trial in zip(keys, asked, strict=True)]

    def _count(self, distinct: dict[str, Trial], missing: list[str]) -> None:
        """A trial asked again within an audit counts once."""
        fresh = distinct.keys() - self._seen
        self._seen |= fresh
        self.trials += len(fresh)
        self.model_calls += len(missing)
        self.cache_hits += len(fresh.difference(missing))

    def _answer(
        self, batches: list[list[str]], trials: dict[str, Trial]
    ) -> Iterator[dict[str, Response]]:
        shown = [[trials[key] for key in batch] for batch in batches]
        with self.blaming():
            for index, responses in self.executor.map(self.build, shown):
                check_responses(shown[index], responses)
                answered = dict(zip(batches[index], responses, strict=True))
                self.cache.put(answered)
                yield answered


def check_responses(trials: Sequence[Trial], responses: Sequence[Response]) -> None:
    """Raise PluginError unless each trial has its response, with all that it asked for."""
    if len(responses) != len(trials):
        raise _broken("", f"{len(trials)} responses", str(len(responses)))
    for trial, response in zip(trials, responses, strict=True):
        sample, logits = trial.sample, response.logits
        if lacking := response.missing(trial.outputs):
            wanted = " and ".join(sorted(trial.outputs))
            raise _broken(f" on {sample.key}", wanted, f"no {' and no '.join(lacking)}")
        if logits is not None and len(logits) != len(sample.choices):
            wanted = f"{len(sample.choices)} logits, one a choice"
            raise _broken(f" on {sample.key}", wanted, str(len(logits)))


def _broken(where: str, expected: str, got: str) -> PluginError:
    return PluginError(f"the model broke its contract{where}", expected=expected, got=got)


def trial_key(identity: str, trial: Trial) -> str:
    """Digest of everything that enters the answer; labels, features and conditions do not."""
    sample = trial.sample
    asked = _digest_once(identity, sample.question, sample.choices, trial.outputs)
    reading = trial.reading and (trial.reading.name, trial.reading)
    return digest(asked, "|".join([frame.key for frame in sample.frames]), trial.edit, reading)


@lru_cache(maxsize=4096)
def _digest_once(*shared: object) -> str:
    """Of what many trials share."""
    return digest(*shared)
