"""Several audits one after another: how far they are together, and how long the rest takes.

Before an audit its plan says what the model is asked for, or a range of it. How much of the range
is asked, and how long everything beside the model takes, is known from earlier audits on this
computer; before the first of them by what was measured on toys.
"""

import json
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from cuescope import experience
from cuescope.conclusions import Report
from cuescope.experience import ASKED
from cuescope.parts import share_of_part
from cuescope.planning import Plan
from cuescope.request import Request
from cuescope.respond import model_name
from cuescope.store import ResponseCache
from cuescope.time_left import Rest, Timed, TimeLeft, longer_than

Clock = Callable[[], float]
LONGER = 0.3  # of what took longer than foreseen so far: so long it takes on
SHARED = 3.0  # cues: to locate them takes as much as so many take by themselves
KNOWN = 200  # inputs that the pace of earlier audits counts as,
SURE = 50  # until so many of this course say that it is
UNLIKE = 3  # times faster or slower
STEADY = 2.0  # seconds that a computer as fast as ever counts as
PACE_DOUBT = 0.3  # of a pace that this course has hardly measured,
MEASURED_DOUBT = 0.1  # and of one that it has


@dataclass(frozen=True)
class Stage:
    """An audit to come: what its model is likely asked for, and the seconds of all else.

    `most` are the inputs that it is asked for at most, of which a `share` is likely; its own
    seconds grow with `size`. Of the most that it says itself, at its first word, a `share_said` is
    likely. `cues` are those that all of this is foreseen for. What it took is kept for this
    `method`, by default its name, on this `data`. The `pace` is the seconds of an input of its
    `model` (a `spec` with options) here so far, None where the model has never been timed. Where
    its method never `has_run` here, its seconds are a guess. How far all may be off:
    `inputs_doubt` as a share of what may be asked, `seconds_doubt` as a natural logarithm. What
    cues share (to locate them) takes as much as `shared` cues by themselves; where the cues are not
    yet known there may be none, or twice as many.
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
    spec: str = ""
    pace: float | None = None
    share_said: float | None = None
    has_run: bool = False
    inputs_doubt: float = 0.0
    seconds_doubt: float = 0.0
    shared: float = field(default=SHARED, kw_only=True)
    cues_are_known: bool = field(default=True, kw_only=True)

    @classmethod
    def unknown(cls, name: str) -> "Stage":
        """One of which nothing can be foreseen: no time left is said until it is over."""
        return cls(name, math.inf, 0.0)

    @classmethod
    def of_plan(
        cls, name: str, plan: Plan, cache: ResponseCache, request: Request
    ) -> "Stage":
        """By the plan of an audit, and by earlier ones of this method here."""
        method = request.method
        data = request.data
        surely = most = float(plan.model_inputs)
        if plan.more and plan.model_calls:
            most += plan.more * plan.model_inputs / plan.model_calls
        if plan.more is None:
            # nothing says how many follow: as many, beside those of the plan, as before
            share = experience.share_asked(method, data, cache, 1.0, math.inf)
        else:
            share = experience.share_asked(method, data, cache)
        size = float(plan.frames)
        guess = experience.guess_seconds(size, asks_questions=plan.questions > 1)
        stage = cls(
            name,
            inputs=max(surely, share * most),
            seconds=experience.own_seconds(method, data, cache, size, guess),
            most=most,
            size=size,
            share=share,
            share_said=min(share, 1.0),
        )
        stage = stage.about(request, cache)
        if stage.pace is None:
            # of these very weights, asked by other methods
            stage = replace(stage, pace=plan.pace)
        return replace(stage, inputs_doubt=0.0) if plan.more == 0 else stage

    @classmethod
    def of_test(
        cls,
        name: str,
        most: float,
        cache: ResponseCache,
        request: Request,
        *,
        share: float,
        seconds: float | None = None,
        cues: int | None = None,
        shared: float = SHARED,
    ) -> "Stage":
        """An audit that cannot be planned: what it asks is a `share` of about so many inputs.

        The `share`, and the `seconds` beside the model, are guesses before its first time.
        What `cues` share takes as much as so many of them.
        """
        method = request.method
        data = request.data
        share = experience.share_asked(method, data, cache, share, math.inf)
        said = experience.share_said(method, data, cache)
        if seconds is None:
            seconds = experience.guess_seconds(most, asks_questions=False)
        own = experience.own_seconds(method, data, cache, most, seconds)
        stage = cls(name, share * most, own, most, most, share, cues, share_said=said)
        return replace(stage.about(request, cache), shared=shared)

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
        """The same, of this request: its method, data, model, and what is known of them here."""
        options = json.dumps(dict(request.model_options), sort_keys=True, default=str)
        method = request.method
        model = f"{request.model} {options} {request.dtype}"
        pace = experience.pace_of(method, (model, request.model), cache)
        # without a size it is foreseen by its own last time
        known = not self.size or experience.has_run(method, cache)
        return replace(
            self,
            data=request.data,
            method=method,
            model=model,
            spec=request.model,
            pace=cache.pace(model_name(request.model)) if pace is None else pace,
            has_run=known,
            inputs_doubt=experience.doubt("inputs", method, cache, known=known),
            seconds_doubt=experience.doubt("seconds", method, cache, known=known),
        )

    def remember(
        self,
        cache: ResponseCache,
        inputs: float,
        seconds: float,
        timed: tuple[float, float] = (0.0, 0.0),
        said: float = 0.0,
    ) -> None:
        """Keep what it took for the next one, and how far that is from what was foreseen.

        `timed` are seconds of the model, and the inputs that took them; `said` are the most inputs
        as it said at its first word.
        """
        method = self.method or self.name
        experience.remember(
            method,
            self.data,
            [name for name in (self.model, self.spec) if name],
            cache,
            asked=(inputs, self.most),
            said=(inputs, said),
            own=(seconds, self.size),
            timed=timed,
            is_general=self.cues != 0,
        )
        surprises: dict[str, float | None] = {}
        # where nothing was foreseen, nothing surprises
        if self.seconds_doubt:
            surprises["seconds"] = experience.surprise_of_seconds(self.seconds, seconds)
        if self.most and self.inputs_doubt:
            surprises["inputs"] = (inputs - self.inputs) / self.most
        for what, surprise in surprises.items():
            if surprise is not None:
                experience.keep_surprise(
                    what, method, cache, surprise, known=self.has_run
                )


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
        # inputs after this call, at most and likely, as it was said
        self._more: tuple[float, float | None] | None = None
        self.said = 0.0  # inputs of a stage at most, at its first word
        self._model_seconds = 0.0  # of the current stage
        # without the first batch of a model: by model, and of the current stage
        self._timed: dict[str, Timed] = defaultdict(Timed)
        self._stage_timed = Timed()
        self._warm: set[str] = set()
        # beside the model: of methods that were known, and of those that were guessed
        self._own = {True: [0.0, 0.0], False: [0.0, 0.0]}  # foreseen, and taken
        self.opened: float | None = None  # seconds until the first audit began to work
        self._opening = opening
        # of what is under way beside the model and has a bar: its seconds left, where it tells them
        self.seconds_of_bars: Callable[[], float] = float
        self.once = 0.0  # seconds of the opening under bars: training, a download

    def scale(self, name: str, cues: int) -> None:
        """A stage is about so many cues, which was a guess before."""
        stage = self.stages[name]
        if stage.cues and not cues:
            # there is nothing to locate either
            self.stages[name] = replace(
                stage,
                inputs=0.0,
                seconds=0.0,
                cues=0,
                cues_are_known=True,
                inputs_doubt=0.0,
                seconds_doubt=0.0,
            )
        elif stage.cues:
            by = (cues + stage.shared) / (stage.cues + stage.shared)
            self.stages[name] = replace(
                stage,
                inputs=by * stage.inputs,
                seconds=by * stage.seconds,
                most=by * stage.most,
                size=by * stage.size,
                cues=cues,
                cues_are_known=True,
            )

    def begin(self, name: str) -> None:
        """The next stage is at work."""
        self.current = self.stages[name]
        self._stage_begun = self._clock()
        self._inputs = self._of_call = self._all_of_call = 0
        self._model_seconds = 0.0
        self._stage_timed = Timed()
        self._more = None
        self.said = 0.0

    def open(self) -> None:
        """The audit of this stage begins to work: its model is open.

        The first time in a process that takes longest, and says nothing of the method.
        """
        if self.opened is None:
            self.opened = self._clock() - self._stage_begun
            self._stage_begun = self._clock()

    def count_bars(self, seconds: float) -> None:
        """So long there were bars: while a model is opened, of what is not done again."""
        if self.opened is None:
            self.once += seconds

    @property
    def opening_again(self) -> float | None:
        """Seconds that it will take to open the model again: without what was done once."""
        return None if self.opened is None else max(0.0, self.opened - self.once)

    @property
    def _opening_left(self) -> float:
        if self.opened is not None:
            return 0.0
        begun = self._begun if self.current is None else self._stage_begun
        left = self._opening - (self._clock() - begun - self.once)
        return max(0.0, left, self.seconds_of_bars())

    def foresee(self, more: float | None, likely: float | None = None) -> None:
        """The audit says how many inputs follow a call, at most and likely; None: it does not."""
        # what it said before its first call counts that call and all others
        if self.current is None or more is None or (more, likely) == self._more:
            return
        self._more = more, likely
        stage = self.current
        known = self._inputs + self._all_of_call
        inputs = known + self._likely_of(stage, known, more, likely)
        self.said = self.said or known + more
        self.current = replace(stage, inputs=inputs, most=known + more)

    def _likely_of(
        self, stage: Stage, known: float, more: float, likely: float | None
    ) -> float:
        """Of so many inputs that may follow those that are known, how many do likely."""
        is_first = not self.said
        if is_first and stage.share_said is not None:
            return stage.share_said * more
        if likely is not None:
            return likely
        if is_first:
            return min(max(stage.inputs - known, 0.0), more)
        # of a bound it cannot ask more than all
        return min(stage.share, 1.0) * more

    def count_asked(self, inputs: int, all_inputs: int) -> None:
        """The model has looked at so many of the inputs of a call, which begins with none."""
        now = self._clock()
        if inputs == 0 or inputs < self._of_call:
            self._inputs += self._of_call
        else:
            self._model_seconds += now - self._mark
            self._time(inputs - self._of_call, now - self._mark)
        self._mark = now
        self._of_call = inputs
        self._all_of_call = all_inputs

    def _time(self, inputs: int, seconds: float) -> None:
        stage = self.current
        if stage is None or inputs <= 0:
            return
        # the first batch opens weights
        if stage.model not in self._warm:
            self._warm.add(stage.model)
            return
        for timed in (self._timed[stage.model], self._stage_timed):
            timed.add(inputs, seconds, stage.pace)

    def end(self) -> tuple[float, float]:
        """The current stage is over: the inputs that it asked for, and its seconds beside them."""
        stage = self.current
        if stage is None:
            return 0.0, 0.0
        own = self._own_seconds
        of_kind = self._own[stage.has_run]
        of_kind[0] += stage.seconds
        of_kind[1] += own
        self.done.append(stage.name)
        self.current = None
        return float(self._inputs + self._of_call), own

    @property
    def timed(self) -> tuple[float, float]:
        """Of the stage that is at work, or was last: seconds of the model, for so many inputs."""
        return self._stage_timed.seconds, self._stage_timed.inputs

    @property
    def _own_seconds(self) -> float:
        since = self._clock() - self._stage_begun
        if self.opened is None:
            since -= min(since, self._opening + self.once)
        return max(0.0, since - self._model_seconds - self._in_batch)

    @property
    def _in_batch(self) -> float:
        """Seconds that the model has been at a batch of which nothing is counted yet."""
        is_asked = self.current is not None and self._of_call < self._all_of_call
        return self._clock() - self._mark if is_asked else 0.0

    def pace(self, stage: Stage) -> float | None:
        """Seconds of an input of its model: of this course, as soon as it says something."""
        timed = self._timed[stage.model]
        is_current = self.current is not None and self.current.name == stage.name
        own = self._stage_timed if is_current else Timed()
        if stage.pace is not None:
            # methods ask in ways of their own, so it is how much slower the model is that counts
            known = stage.pace * timed.slower(KNOWN * stage.pace)
            # else another load of this computer, or a model that was timed as it opened
            alike = stage.pace / UNLIKE < known < stage.pace * UNLIKE
            if own.inputs:
                by_itself = own.seconds / own.inputs
                alike = stage.pace / UNLIKE < by_itself < stage.pace * UNLIKE
            if alike or timed.inputs < SURE:
                # a first batch or two must not turn it over
                return (own.seconds + KNOWN * known) / (own.inputs + KNOWN)
        if own.inputs >= SURE or (own.inputs and not timed.inputs):
            return own.seconds / own.inputs
        if timed.inputs and timed.seconds > 0:
            return timed.seconds / timed.inputs
        if not is_current and (
            self.current is None or self.current.model != stage.model
        ):
            return None
        asked = self._inputs + self._of_call
        return self._model_seconds / asked if asked and self._model_seconds else None

    @property
    def left(self) -> TimeLeft | None:
        """Of all stages; None where nothing tells how fast the model is."""
        rests = [
            (stage, self._rest(stage))
            for stage in self.stages.values()
            if stage.name not in self.done
        ]
        opening = self._opening_left
        seconds = opening + sum(rest.seconds for _, rest in rests)
        # a computer that is slower is so in all of them, and of guesses each errs by itself
        own_doubt = PACE_DOUBT * opening
        variance = 0.0
        for stage, rest in rests:
            if stage.has_run:
                own_doubt += rest.seconds_doubt
            else:
                variance += rest.seconds_doubt**2
        variance += own_doubt**2
        surely = 0.0
        by_model: dict[str, float] = defaultdict(float)
        for stage, rest in rests:
            if not rest.inputs:
                continue
            pace = self.pace(stage)
            if pace is None or math.isinf(rest.inputs):
                return None
            by_model[stage.model] += pace * rest.inputs
            surely += pace * rest.surely
            variance += (pace * rest.inputs_doubt) ** 2
        for model, model_seconds in by_model.items():
            seconds += model_seconds
            variance += (self._doubt_of_pace(model) * model_seconds) ** 2
        return TimeLeft(seconds, surely, math.sqrt(variance))

    def _doubt_of_pace(self, model: str) -> float:
        is_measured = self._timed[model].inputs >= SURE
        return MEASURED_DOUBT if is_measured else PACE_DOUBT

    @property
    def seconds_left(self) -> float | None:
        """Of all stages, as it is likeliest; None where nothing tells how fast the model is."""
        left = self.left
        return None if left is None else left.seconds

    def _rest(self, stage: Stage) -> Rest:
        """What is left of a stage that is at work or to come."""
        own = self._slower(stage) * stage.seconds
        current = self.current
        if current is None or stage.name != current.name:
            inputs_doubt = stage.inputs_doubt * stage.most
            if not (stage.cues_are_known or stage.has_run):
                inputs_doubt = max(inputs_doubt, stage.inputs)
            return Rest(
                stage.inputs,
                own,
                inputs_doubt=inputs_doubt,
                seconds_doubt=stage.seconds_doubt * own,
            )
        over = self._own_seconds
        # while the model is opened they are of that
        of_bars = 0.0 if self.opened is None else self.seconds_of_bars()
        doubt = stage.seconds_doubt
        # it counts down as if it were known, or a wild guess would never be nearly done
        seconds, _ = longer_than(over, own, min(doubt, math.log(1 + LONGER)))
        # what takes longer than foreseen takes longer still
        seconds = max(seconds, LONGER * over if over > own or not doubt else 0.0)
        _, doubt = longer_than(over, own, doubt)
        of_call = float(self._all_of_call - self._of_call)
        asked = self._inputs + self._of_call
        may_follow = max(current.most - asked - of_call, 0.0)
        inputs = max(current.inputs - asked, of_call, 0.0)
        _, likely = self._more or (None, None)
        # a guess, which is used up
        if likely is None and asked + of_call >= current.inputs:
            inputs = of_call + min(LONGER * asked, may_follow)
        return Rest(
            inputs,
            max(seconds, of_bars),
            surely=of_call,
            inputs_doubt=stage.inputs_doubt * may_follow,
            seconds_doubt=doubt,
        )

    def _slower(self, stage: Stage) -> float:
        """How many times slower this computer is than foreseen."""
        foreseen, taken = self._own[True]
        if stage.has_run:
            return (taken + STEADY) / (foreseen + STEADY)
        # of guesses one says little of the others
        foreseen += self._own[False][0]
        taken += self._own[False][1]
        all_own = sum(other.seconds for other in self.stages.values()) + 1.0
        return (taken + all_own) / (foreseen + all_own)

    @property
    def share(self) -> float:
        """Of the whole time, how much is over (0 to 1); 0 where that is not known."""
        left = self.seconds_left
        over = self._clock() - self._begun
        return 0.0 if left is None or over <= 0 else over / (over + left)
