"""Several audits one after another: how far they are together, and how long the rest takes.

Before an audit its plan says what the model is asked for, or a range of it. How much of the range
is asked, and how long everything beside the model takes, is known from earlier audits on this
computer; before the first of them by what was measured on toys (docs/adr/0042).
"""

import json
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from cuescope.conclusions import Report
from cuescope.parts import share_of_part
from cuescope.planning import Plan
from cuescope.request import Request
from cuescope.respond import model_name
from cuescope.store import ResponseCache

Clock = Callable[[], float]
# of a method beside the model: of each, and more for each frame of its samples
OWN_SECONDS, FRAME_SECONDS = 2.0, 0.001
LONGER = 0.3  # of what took longer than foreseen so far: so long it takes on
SHARED = 3  # cues: to locate them takes as much as so many take by themselves
KNOWN = 200  # inputs that the pace of earlier audits counts as,
SURE = 50  # until so many of this course say that it is
UNLIKE = 3  # times faster or slower
ASKED = 0.9  # of the calls that may follow what a plan knows


@dataclass(frozen=True)
class Stage:
    """An audit to come: what its model is likely asked for, and the seconds of all else.

    `most` are the inputs that it is asked for at most, of which a `share` is likely; its own
    seconds grow with `size`. `cues` are those that all of this is foreseen for. What it took is
    kept for this `method`, by default its name, on this `data`. The `pace` is the seconds of an
    input of its `model` here so far, None where the model has never been timed.
    """

    name: str
    inputs: float
    seconds: float
    most: float = 0.0
    size: float = 0.0
    share: float = ASKED
    cues: int | None = None
    data: str = ""
    method: str = ""
    model: str = ""
    pace: float | None = None

    @classmethod
    def unknown(cls, name: str) -> "Stage":
        """One of which nothing can be foreseen: no time left is said until it is over."""
        return cls(name, math.inf, 0.0)

    @classmethod
    def of_plan(
        cls, name: str, plan: Plan, cache: ResponseCache, request: Request
    ) -> "Stage":
        """By the plan of an audit, and by earlier ones of this method here."""
        most = float(plan.model_inputs)
        if plan.more and plan.model_calls:
            most += plan.more * plan.model_inputs / plan.model_calls
        share = share_asked(request.method, request.data, cache)
        inputs = max(float(plan.model_inputs), share * most)
        size = float(plan.frames)
        seconds = own_seconds(request.method, request.data, cache, size)
        stage = cls(name, inputs, seconds, most, size, share)
        return replace(stage.about(request, cache), pace=plan.pace)

    @classmethod
    def of_run(
        cls, name: str, report: Report, cache: ResponseCache, request: Request
    ) -> "Stage":
        """Of a run that is made again, by what it took: its plan would take as long as the run.

        The model is asked again where it is another one, or the data are.
        """
        origin = report.provenance
        part = share_of_part(request.part) / share_of_part(origin.part)
        subject = origin.model.spec, origin.data.spec
        is_known = subject == (request.model, request.data)
        asked = max(report.cost.trials, report.cost.shown)
        own = max(0.0, report.cost.seconds - report.cost.model_seconds)
        stage = cls(name, 0.0 if is_known else part * asked, part * own)
        return stage.about(request, cache)

    def about(self, request: Request, cache: ResponseCache) -> "Stage":
        """The same, of this request: its method, data, model and the pace of that so far."""
        options = json.dumps(dict(request.model_options), sort_keys=True, default=str)
        return replace(
            self,
            data=request.data,
            method=request.method,
            model=f"{request.model} {options} {request.dtype}",
            pace=cache.pace(model_name(request.model)),
        )

    def remember(self, cache: ResponseCache, inputs: float, seconds: float) -> None:
        """Keep what it took, for the next one."""
        for kept in _memory_key(self.method or self.name, self.data):
            if self.most:
                cache.add_pace(f"{kept} asked", round(self.most), inputs)
            if self.size:
                cache.add_pace(f"{kept} own", round(self.size), seconds)


def share_asked(
    name: str, data: str, cache: ResponseCache, default: float = ASKED
) -> float:
    """Of what a method asks at most, how much it has asked here so far."""
    asked = cache.pace(*(f"{kept} asked" for kept in _memory_key(name, data)))
    return default if asked is None else min(asked, 1.0)


def own_seconds(
    name: str,
    data: str,
    cache: ResponseCache,
    size: float,
    default: float | None = None,
) -> float:
    """What a method takes beside the model, by what it has taken here for each of its `size`.

    Before its first time that is the `default`, or what most methods took of so many frames.
    """
    own = cache.pace(*(f"{kept} own" for kept in _memory_key(name, data)))
    if own is not None:
        return size * own
    return OWN_SECONDS + FRAME_SECONDS * size if default is None else default


def _memory_key(name: str, data: str) -> tuple[str, str]:
    # what a method finds, and so what follows, is more alike on the same data
    return f"method {name} on {data}", f"method {name}"


class Course:
    """Where a row of stages is, and how long the rest takes.

    To open the model took `opening` seconds last time.
    """

    def __init__(
        self,
        stages: Iterable[Stage],
        clock: Clock = time.monotonic,
        opening: float = 0.0,
    ) -> None:
        self.stages = {stage.name: stage for stage in stages}
        self.done: list[str] = []
        self.current: Stage | None = None
        self._clock = clock
        self._begun = self._stage_begun = self._mark = clock()
        self._inputs = 0  # of the current stage, in calls that are over and in this one
        self._of_call = 0
        self._all_of_call = 0
        self._more: float | None = (
            None  # inputs after this call at most, as it was said
        )
        self._model_seconds = 0.0  # of the current stage
        # by model: inputs and their seconds, without first batches
        self._timed: dict[str, list[float]] = defaultdict(lambda: [0, 0.0])
        self._own = [0.0, 0.0]  # seconds beside the model: foreseen, and taken
        self.opened: float | None = None  # seconds until the first audit began to work
        self._opening = opening

    def scale(self, name: str, cues: int) -> None:
        """A stage is about so many cues, which was a guess before."""
        stage = self.stages[name]
        if stage.cues:
            by = (cues + SHARED) / (stage.cues + SHARED)
            self.stages[name] = replace(
                stage,
                inputs=by * stage.inputs,
                seconds=by * stage.seconds,
                most=by * stage.most,
                size=by * stage.size,
                cues=cues,
            )

    def begin(self, name: str) -> None:
        """The next stage is at work."""
        self.current = self.stages[name]
        self._stage_begun = self._clock()
        self._inputs = self._of_call = self._all_of_call = 0
        self._model_seconds = 0.0
        self._more = None

    def open(self) -> None:
        """The audit of this stage begins to work: its model is open.

        The first time in a process that takes longest, and says nothing of the method.
        """
        if self.opened is None:
            self.opened = self._clock() - self._stage_begun
            self._stage_begun = self._clock()

    @property
    def _opening_left(self) -> float:
        if self.opened is not None:
            return 0.0
        begun = self._begun if self.current is None else self._stage_begun
        return max(0.0, self._opening - (self._clock() - begun))

    def foresee(self, more: float | None) -> None:
        """The audit says how many inputs follow this call at most; None: it does not."""
        # what it said before its first call counts that call and all others
        if self.current is None or more is None or more == self._more:
            return
        self._more = more
        inputs = self._inputs + self._all_of_call + self.current.share * more
        self.current = replace(self.current, inputs=inputs)

    def count_asked(self, inputs: int, all_inputs: int) -> None:
        """The model has looked at so many of the inputs of a call, which begins with none."""
        now = self._clock()
        if inputs == 0 or inputs < self._of_call:
            self._inputs += self._of_call
        else:
            self._model_seconds += now - self._mark
            # the first batch opens weights
            if self._of_call and self.current is not None:
                timed = self._timed[self.current.model]
                timed[0] += inputs - self._of_call
                timed[1] += now - self._mark
        self._mark = now
        self._of_call = inputs
        self._all_of_call = all_inputs

    def end(self) -> tuple[float, float]:
        """The current stage is over: the inputs that it asked for, and its seconds beside them."""
        stage = self.current
        if stage is None:
            return 0.0, 0.0
        own = self._own_seconds
        self._own[0] += stage.seconds
        self._own[1] += own
        self.done.append(stage.name)
        self.current = None
        return float(self._inputs + self._of_call), own

    @property
    def _own_seconds(self) -> float:
        since = self._clock() - self._stage_begun
        if self.opened is None:
            since -= min(since, self._opening)
        return max(0.0, since - self._model_seconds)

    def pace(self, stage: Stage) -> float | None:
        """Seconds of an input of its model: of this course, as soon as it says something."""
        inputs, seconds = self._timed[stage.model]
        own = seconds / inputs if inputs and seconds > 0 else None
        known = stage.pace
        if known is not None and own is not None and inputs >= SURE:
            alike = known / UNLIKE < own < known * UNLIKE
            # else another load of this computer, or a model that was timed as it opened
            known = known if alike else None
        if known is not None:
            # a first batch or two must not turn it over
            return (seconds + KNOWN * known) / (inputs + KNOWN)
        if own is not None:
            return own
        current = self.current
        if current is None or current.model != stage.model or not self._of_call:
            return None
        return self._model_seconds / self._of_call or None

    @property
    def seconds_left(self) -> float | None:
        """Of all stages; None where nothing tells how fast the model is."""
        seconds = self._opening_left
        # a computer that is slower than foreseen is so in later stages; one stage says little of
        # the others
        all_own = sum(stage.seconds for stage in self.stages.values()) + 1.0
        slower = (self._own[1] + all_own) / (self._own[0] + all_own)
        for stage in self.stages.values():
            if stage.name in self.done:
                continue
            inputs = stage.inputs
            own = slower * stage.seconds
            if self.current is not None and stage.name == self.current.name:
                inputs = self._inputs_left(self.current)
                # what takes longer than foreseen takes longer still
                own = max(own - self._own_seconds, LONGER * self._own_seconds)
            seconds += own
            if not inputs:
                continue
            pace = self.pace(stage)
            if pace is None or math.isinf(inputs):
                return None
            seconds += inputs * pace
        return seconds

    def _inputs_left(self, stage: Stage) -> float:
        """Of the current stage."""
        asked = self._inputs + self._of_call
        of_call = self._all_of_call - self._of_call
        return max(stage.inputs - asked, of_call, 0.0)

    @property
    def share(self) -> float:
        """Of the whole time, how much is over (0 to 1); 0 where that is not known."""
        left = self.seconds_left
        over = self._clock() - self._begun
        return 0.0 if left is None or over <= 0 else over / (over + left)
