"""An executor, less the workers themselves."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar
from weakref import finalize

from pydantic import model_validator

from cuescope_sdk import Context, Options, Plugin, Response, Trial
from cuescope_sdk.workers._answering import Respond, Setup
from cuescope_sdk.workers._crew import Crew, Pool, pack, pack_trials

ROUNDS = 50  # batches of each worker, of which it waits for one
MOST_TOGETHER = 3200  # their answers are in memory


class WorkerOptions(Options):
    """Options of such an executor: `--executor NAME:ARG,option=value,option=value`."""

    @model_validator(mode="before")
    @classmethod
    def _options_after_a_comma(cls, given: Any) -> Any:
        name = cls.argument
        if not isinstance(given, dict) or not isinstance(given.get(name), str):
            return given
        words = dict(given)
        first, *more = [part.strip() for part in words.pop(name).split(",")]
        if "=" in first:
            more.insert(0, first)
            first = ""
        for part in more:
            key, equals, value = part.partition("=")
            if not equals or key in words:
                raise ValueError(f"ARG,option=value, each once: '{part}' does not fit")
            words[key] = value
        if first:
            words[name] = first
        return words


class WorkerExecutor(Plugin):
    """Answers in workers that each open the model once and stay for the whole audit.

    A subclass says which workers there are, in `pool`.
    """

    name: ClassVar[str]

    def __init__(self, options: Options, context: Context) -> None:
        super().__init__(options, context)
        self._build: object = None
        self._crew: Crew | None = None

    @property
    def together(self) -> int:
        """Batches that are handed over together: with few, workers wait often for the last one."""
        # with five batches each, 64 simulated GPUs waited a quarter of the time (docs/scale.md)
        return min(ROUNDS * self.expected, MOST_TOGETHER)

    @property
    def expected(self) -> int:
        """Workers that there will probably be; 0 where nobody knows."""
        return 0

    @abstractmethod
    def pool(self) -> tuple[Pool, int]:
        """Where workers run, and how many; raises UserError where there can be none."""

    def setup(self, build: bytes, trials: Sequence[Trial]) -> Setup:
        """Setup of workers; `trials` are the first that they are to answer."""
        return Setup(build)

    def pack(self, trials: Sequence[Trial]) -> bytes:
        """A batch as it is sent."""
        return pack_trials(trials)

    def map(
        self,
        build: Callable[[], Respond],
        batches: Sequence[Sequence[Trial]],
    ) -> Iterator[tuple[int, list[Response]]]:
        """Each batch's index with its responses, as soon as it is done, in any order."""
        if not batches:
            return
        whole = False
        try:
            yield from self._open(build, batches[0]).map(batches, self.pack)
            whole = True
        finally:
            if not whole:  # an error, or nobody takes the rest
                self.close(at_once=True)

    def close(self, *, at_once: bool = False) -> None:
        """End the workers; the next `map` starts others."""
        crew = self._crew
        self._crew = None
        self._build = None
        if crew is not None:
            crew.pool.end(at_once=at_once)

    def _open(self, build: Callable[[], Respond], trials: Sequence[Trial]) -> Crew:
        # workers open the model once, and keep it for the whole audit (docs/scale.md)
        if self._crew is None or self._build is not build:
            self.close()
            expected = "a model by SPEC, whose options pickle takes"
            setup = self.setup(pack(build, "the model", expected), trials)
            pool, size = self.pool()
            finalize(self, pool.end, at_once=False)  # also as the process ends
            message = pack(setup, "the model", expected)
            self._crew = Crew(self.name, pool, size, message)
            self._build = build
        return self._crew
