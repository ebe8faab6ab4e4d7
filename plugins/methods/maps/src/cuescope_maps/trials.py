"""Which answers are explained, the maps of the explainers, and the region that each map claims."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import softmax

from cuescope_maps.explainers.sampling import difference_of_means
from cuescope_maps.options import CONTROLS, MapsOptions
from cuescope_maps.scores import area_under, knee, sizes_of, top_parts
from cuescope_sdk import (
    Audit,
    Outcome,
    Output,
    PluginError,
    Readout,
    Sample,
    Trial,
    UserError,
)
from cuescope_sdk.explain import AnswerWords, Explained, Grid, RegionExplainer, Steps
from cuescope_sdk.language import normalise_answer

WORDS = "answer-words"
AT_ONCE = 20_000  # trials: their answers are in memory together
PerPart = Float[np.ndarray, " part"]
Parts = Bool[np.ndarray, " part"]


@dataclass(frozen=True, eq=False)
class Target:
    """The answer to a sample that is explained, and how its probability is asked for.

    Of choices it is that of number `choice`, and `other` is the likeliest other one. Of `words`
    that a model writes it is the geometric mean of the probabilities of those from `start` to
    `end`. Of a text alone it is 1 where the same is written again, else 0.
    """

    sample: Sample
    answer: str
    choice: int | None = None
    other: int | None = None
    words: tuple[str, ...] = ()
    start: int = 0
    end: int = 0

    def trial(self, changed: Trial) -> Trial:
        """The trial that asks for the answer to a changed sample."""
        if self.words:
            return AnswerWords(words=self.words).of(changed.sample, changed.edit)
        output: Output = "text" if self.choice is None else "logits"
        return replace(changed, outputs=frozenset({output}))

    def probability(self, outcome: Outcome) -> float:
        """How probable the answer is there."""
        if self.words:
            logs = np.asarray(outcome.response.readout, np.float64)
            return float(np.exp(logs[self.start : self.end].mean()))
        if self.choice is None:
            same = normalise_answer(outcome.text) == normalise_answer(self.answer)
            return float(same)
        return float(_shares(outcome)[self.choice])

    def of_other(self, outcome: Outcome) -> float:
        """How probable the likeliest other answer is; 0 where none is known."""
        return 0.0 if self.other is None else float(_shares(outcome)[self.other])

    @property
    def words_explained(self) -> str:
        """The word, or the answer."""
        return " ".join(self.words[self.start : self.end]) or self.answer


def _shares(outcome: Outcome) -> Float[np.ndarray, " choice"]:
    return np.asarray(softmax(outcome.logits.astype(np.float64)))


@dataclass(eq=False)
class Map:
    """One explainer's map of one answer, and the region that it claims.

    `others` is the map of the likeliest other answer, from the same questions. `insertion` and
    `deletion` are areas under the curves, `calls` counts the answers that were asked for.
    """

    explainer: str
    target: Target
    grid: Grid
    intact: float
    importance: PerPart = field(default_factory=lambda: np.zeros(0))
    others: PerPart = field(default_factory=lambda: np.zeros(0))
    region: Parts = field(default_factory=lambda: np.zeros(0, bool))
    insertion: float = 0.0
    deletion: float = 0.0
    calls: int = 0
    _asked: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)

    def trials(self, shown: Bool[np.ndarray, "subset part"]) -> list[Trial]:
        """One a subset of parts that are shown."""
        sample = self.target.sample
        return [
            self.target.trial(
                Trial(sample=self.grid.show(sample, parts), condition="parts")
            )
            for parts in shown
        ]

    def read(
        self, shown: Bool[np.ndarray, "subset part"], outcomes: Sequence[Outcome]
    ) -> Float[np.ndarray, " subset"]:
        """Probabilities of the answer; those of the other answer are kept for its own map."""
        others = [self.target.of_other(outcome) for outcome in outcomes]
        self._asked.append((shown, np.array(others)))
        self.calls += len(outcomes)
        return np.array([self.target.probability(outcome) for outcome in outcomes])

    def finish(self) -> None:
        """The map of the other answer, from all that was asked."""
        shown, values = map(np.concatenate, zip(*self._asked, strict=True))
        self.others = difference_of_means(shown, values)
        self._asked.clear()

    @property
    def rank(self) -> PerPart:
        """Ranks of the parts, from 0 for the least important to 1."""
        order = self.importance.argsort(kind="stable").argsort(kind="stable")
        return np.asarray(order / max(len(order) - 1, 1))


# -------------------------------------------------------------------------------------- answers


def find_answers(audit: Audit, options: MapsOptions) -> Sequence[Outcome]:
    """What the model answers to the samples that are looked at; for `audit.once`."""
    samples = [sample for sample in audit.samples_by_key() if sample.frames]
    if not samples:
        raise UserError("maps: no sample has a picture", expected="images, or clips")
    chosen = np.unique(
        np.linspace(0, len(samples) - 1, options.samples).round().astype(int)
    )
    has = audit.capabilities
    asked = []
    for sample in (samples[number] for number in chosen):
        # a model has logits for choices alone
        closed = "logits" in has.outputs and len(sample.choices) > 1
        output: Output = "logits" if closed else "text"
        if output not in has.outputs:
            raise UserError(
                f"maps: sample '{sample.key}' cannot be answered",
                expected="two choices or more, or a model that writes",
                got=f"{len(sample.choices)} choices",
            )
        asked.append(Trial(sample=sample, outputs=frozenset({output})))
    return audit.respond(asked)


def find_targets(audit: Audit, options: MapsOptions) -> list[tuple[Target, float]]:
    """The answers that are explained, each with its probability; for `audit.once`."""
    targets = []
    for outcome in audit.once(find_answers, audit, options):
        target = _target_of(outcome, options, audit.capabilities.exposes)
        if target is not None:
            targets.append(target)
    if not targets:
        named = f"the word '{options.word}'" if options.word else "an answer"
        raise UserError(
            "maps: nothing to explain", expected=f"{named} in some sample", got="none"
        )
    intact = audit.respond(
        [target.trial(Trial(sample=target.sample)) for target in targets]
    )
    return [
        (target, target.probability(outcome))
        for target, outcome in zip(targets, intact, strict=True)
    ]


def _target_of(
    outcome: Outcome, options: MapsOptions, exposes: frozenset[str]
) -> Target | None:
    sample = outcome.trial.sample
    answer = sample.label if options.answer == "label" else outcome.prediction
    if not answer:
        return None
    if outcome.response.logits is not None:
        order = np.argsort(-outcome.logits, kind="stable")
        choice = sample.choices.index(answer)
        other = next(int(index) for index in order if index != choice)
        return Target(sample, answer, choice, other)
    words = tuple(answer.split())
    if WORDS not in exposes or not words:
        return Target(sample, answer)
    if options.word is None:
        return Target(sample, answer, words=words, end=len(words))
    plain = [word.strip(".,;:!?\"'").lower() for word in words]
    if options.word.lower() not in plain:
        return None
    place = plain.index(options.word.lower())
    return Target(sample, answer, words=words, start=place, end=place + 1)


# ----------------------------------------------------------------------------------------- maps


def explainers(audit: Audit, options: MapsOptions) -> dict[str, RegionExplainer]:
    """The explainers by SPEC; raises UserError for one that looks at what the model hides."""
    plugins: dict[str, RegionExplainer] = {}
    has = audit.capabilities
    for spec in options.explainers:
        plugin: RegionExplainer = audit.context.build("explainer", spec)
        lacking = sorted(plugin.requires.exposes - has.exposes)
        if lacking:
            raise UserError(
                f"maps: the explainer {spec} cannot be used here",
                expected=f"a model that shows its {lacking[0]}",
                got=f"one that does not{has.why_not(lacking[0])}",
                remedy="Take greedy, occlusion, rise or shapley: these look at answers alone.",
            )
        plugins[spec] = plugin
    return plugins


def draw_maps(audit: Audit, options: MapsOptions) -> list[Map]:
    """The maps of all explainers, finished; for `audit.once`."""
    plugins = audit.once(explainers, audit, options)
    audit.expect_more(most_calls(audit, options, plugins))
    targets = audit.once(find_targets, audit, options)
    drawn = []
    runs = []
    for spec, plugin in plugins.items():
        for target, intact in targets:
            sample = target.sample
            grid = Grid.over(sample, options.parts)
            rng = audit.rng("map", spec, sample.key)
            case = Explained(
                sample, target.answer, target.choice, grid, intact, options.budget, rng
            )
            one = Map(spec, target, grid, intact)
            runs.append(plugin.explain(case))
            drawn.append(one)
    _run(audit, drawn, runs)
    _measure(audit, drawn)
    for one in drawn:
        one.finish()
    return drawn


def _run(audit: Audit, maps: Sequence[Map], runs: Sequence[Steps]) -> None:
    """All explainers side by side: what they ask in one step is answered together."""
    replies: dict[int, np.ndarray | None] = dict.fromkeys(range(len(maps)))
    while replies:
        wanted: dict[int, np.ndarray | Readout] = {}
        for number, reply in replies.items():
            try:
                # the first one is sent nothing: it has not asked yet
                wanted[number] = runs[number].send(reply)  # type: ignore[arg-type]
            except StopIteration as end:
                _take(maps[number], end.value)
        replies = dict(_answer(audit, maps, wanted))


def _answer(
    audit: Audit,
    maps: Sequence[Map],
    wanted: Mapping[int, np.ndarray | Readout],
) -> Iterator[tuple[int, np.ndarray]]:
    trials = []
    for number, request in wanted.items():
        one = maps[number]
        if isinstance(request, Readout):
            trials.append((number, request.of(one.target.sample)))
        else:
            trials += [(number, trial) for trial in one.trials(request)]
    outcomes: dict[int, list[Outcome]] = {number: [] for number in wanted}
    for start in range(0, len(trials), AT_ONCE):
        part = trials[start : start + AT_ONCE]
        answered = audit.respond([trial for _, trial in part])
        for (number, _), outcome in zip(part, answered, strict=True):
            outcomes[number].append(outcome)
    for number, request in wanted.items():
        one = maps[number]
        if isinstance(request, Readout):
            one.calls += 1
            yield number, np.asarray(outcomes[number][0].response.readout)
        else:
            yield number, one.read(request, outcomes[number])


def _take(one: Map, importance: object) -> None:
    """A map; one that is true and false says itself which region it claims."""
    values = np.asarray(importance)
    is_sound = values.shape == (one.grid.count,) and values.dtype.kind in "bfiu"
    if not is_sound or not np.isfinite(values).all():
        raise PluginError(
            f"the explainer {one.explainer} broke its contract",
            expected=f"{one.grid.count} finite numbers, one a part",
            got=f"shape {values.shape}",
        )
    one.importance = values.astype(np.float64)
    if values.dtype == bool and values.any() and not values.all():
        one.region = values


def _measure(audit: Audit, drawn: Sequence[Map]) -> None:
    """Curves of insertion and deletion, and the region at their knee."""
    shown = []
    for one in drawn:
        sizes = sizes_of(one.grid.count)
        tops = np.stack([top_parts(one.importance, size) for size in sizes.tolist()])
        shown.append(np.concatenate([tops, ~tops]))
    for number, values in _answer(audit, drawn, dict(enumerate(shown))):
        one = drawn[number]
        sizes = sizes_of(one.grid.count)
        insertion, deletion = np.split(values, 2)
        one.insertion = area_under(sizes, insertion)
        one.deletion = area_under(sizes, deletion)
        if not one.region.any():
            one.region = top_parts(one.importance, knee(sizes, insertion, deletion))


def most_calls(
    audit: Audit, options: MapsOptions, plugins: Mapping[str, RegionExplainer]
) -> int:
    """How many answers follow the first ones, at most."""
    samples = [sample for sample in audit.samples if sample.frames]
    count = min(len(samples), options.samples)
    grid = Grid.over(samples[0], options.parts) if samples else Grid(1, 1, 1)
    # both curves share their ends, of which one is the sample as it is
    each = 2 * len(sizes_of(grid.count)) - 3
    # where all are asked the same, other pictures are answered as samples are
    asks = any(sample.question for sample in samples)
    each += len(options.interventions) * (1 + len(CONTROLS)) + asks
    calls = sum(
        plugin.calls(grid.count, options.budget) + each for plugin in plugins.values()
    )
    # without its picture, and with another one; of words as it is again
    others = 1 + asks + (WORDS in audit.capabilities.exposes)
    return count * (calls + others)
