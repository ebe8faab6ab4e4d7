"""Which worker gets which batch; what happens when a worker dies."""

import pickle
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

from cuescope_sdk import Response, Trial, UserError
from cuescope_sdk.workers._answering import read_reply

WINDOW = 2  # batches with a worker: the next one is there when the first is answered
# the contract of executors proves it
KILLS = 2  # workers that a batch may kill before it is left out
VAIN_OPENINGS = 2  # workers in a row that die while they open the model
# deaths in a row without an answer, and twice as many as there are workers
VAIN_DEATHS = 10

Pack = Callable[[Sequence[Trial]], bytes]


@dataclass(frozen=True)
class Death:
    """A worker's last message: why it ended ("killed by signal 9")."""

    reason: str


class Pool(ABC):
    """Where workers run. Each has a number, and answers in the order in which it is asked."""

    @abstractmethod
    def start(self, worker: int, setup: bytes) -> None:
        """Begin a worker; its first message is what `Answering.open` replied to `setup`."""

    @abstractmethod
    def submit(self, worker: int, batch: bytes) -> None:
        """Send a batch for `Answering.take`; a dead worker is no error.

        `Answering.answer` begins with it as soon as the worker's last answer is stored.
        """

    @abstractmethod
    def wait(self) -> list[tuple[int, bytes | Death]]:
        """Messages with the numbers of their workers, one at least; nothing follows a Death."""

    @abstractmethod
    def start_next(self, worker: int) -> None:
        """Its last answer is stored; it may begin the next batch, which it has already.

        So a driver that is killed leaves one batch of each worker to ask again, and never two.
        """

    @abstractmethod
    def end(self, *, at_once: bool) -> None:
        """End all workers: at once, or as soon as they have nothing to do."""


class Crew:
    """Workers that have one model open, for as many calls of `map` as there are."""

    def __init__(self, name: str, pool: Pool, size: int, setup: bytes) -> None:
        self.name = name
        self.pool = pool
        self.size = size
        self._setup = setup
        self._numbers = count()
        self._opening: set[int] = set()
        self._batches: dict[
            int, deque[int]
        ] = {}  # by worker; the first is being answered
        self._vain_openings = self._vain_deaths = 0

    def map(
        self,
        batches: Sequence[Sequence[Trial]],
        pack: Pack,
    ) -> Iterator[tuple[int, list[Response]]]:
        """Each batch's index and responses as soon as they are here.

        At the end raises UserError for the batches that killed `KILLS` workers.
        """
        waiting = deque(range(len(batches)))
        kills = Counter[int]()
        poison = dict[int, str]()
        left = len(batches)
        while left:
            self._start(len(waiting))
            self._feed(waiting, batches, pack)
            for worker, message in self.pool.wait():
                if isinstance(message, Death):
                    lost = self._bury(worker, message)
                    # the first was being answered; the second only waited there
                    kills.update(lost[:1])
                    if lost and kills[lost[0]] == KILLS:
                        poison[lost.pop(0)] = message.reason
                        left -= 1
                    waiting.extendleft(reversed(lost))
                elif worker in self._opening:
                    read_reply(message)
                    self._opening.remove(worker)
                    self._vain_openings = 0
                else:
                    index = self._batches[worker].popleft()
                    self._vain_deaths = 0
                    left = left - 1
                    yield index, read_reply(message)
                    # the caller has stored it by now: a killed driver costs a batch a worker
                    self.pool.start_next(worker)
        if poison:
            raise self._poison_error(
                [batches[index] for index in sorted(poison)], poison
            )

    def _start(self, waiting: int) -> None:
        """No more workers than there are batches for."""
        busy = sum(map(bool, self._batches.values()))
        while len(self._batches) < min(self.size, waiting + busy):
            worker = next(self._numbers)
            self._batches[worker] = deque()
            self._opening.add(worker)
            self.pool.start(worker, self._setup)

    def _feed(
        self,
        waiting: deque[int],
        batches: Sequence[Sequence[Trial]],
        pack: Pack,
    ) -> None:
        """A batch for each worker first; a second one while more wait than there are workers."""
        workers = [worker for worker in self._batches if worker not in self._opening]
        for most in range(1, WINDOW + 1):
            for worker in workers:
                enough = most == 1 or len(waiting) > len(workers)
                if waiting and enough and len(self._batches[worker]) < most:
                    index = waiting.popleft()
                    self._batches[worker].append(index)
                    self.pool.submit(worker, pack(batches[index]))

    def _bury(self, worker: int, death: Death) -> list[int]:
        """The batches that a dead worker had; raises UserError where there is no end of dying."""
        self._vain_deaths += 1
        if worker in self._opening:
            self._opening.remove(worker)
            self._vain_openings += 1
        too_many = self._vain_deaths >= max(VAIN_DEATHS, 2 * self.size)
        if too_many or self._vain_openings >= VAIN_OPENINGS:
            when = "one after the other" if too_many else "while they open the model"
            raise UserError(
                f"{self.name}: workers die {when}",
                got=death.reason,
                remedy="Where memory is short, take fewer workers or a smaller --batch-size",
            )
        return list(self._batches.pop(worker))

    def _poison_error(
        self,
        batches: Sequence[Sequence[Trial]],
        reasons: dict[int, str],
    ) -> UserError:
        trials = chain.from_iterable(batches)
        samples = ", ".join(dict.fromkeys(trial.sample.key for trial in trials))
        batch = "a batch" if len(batches) == 1 else f"each of {len(batches)} batches"
        deaths = ", ".join(set(reasons.values()))
        return UserError(
            f"{self.name}: {batch} killed {KILLS} workers ({deaths}); "
            f"all other answers are kept. The samples in it: {samples}",
            remedy="Leave the sample out that does it; --batch-size 1 tells which one it is",
        )


def pack_trials(trials: Sequence[Trial]) -> bytes:
    """Trials as bytes; raises UserError for frames that cannot be sent."""
    return pack(
        list(trials), "the frames", "a module-level function as the loader of a Frame"
    )


def pack(item: Any, what: str, expected: str) -> bytes:
    """The item as bytes; raises UserError where pickle does not take it."""
    try:
        return pickle.dumps(item)
    except Exception as error:
        raise UserError(
            f"{what} cannot be sent to workers",
            expected=expected,
            got=" ".join(f"{type(error).__name__}: {error}".split()),
            remedy="Leave --executor out: this process answers then",
        ) from error
