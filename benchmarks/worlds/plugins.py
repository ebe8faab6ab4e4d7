"""The data set of a case, and an auditor that hands its cue over, impure as audits are."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from cuescope_planted_cues.auditors import Auditor, accuracy_gap
from cuescope_sdk import (
    Audit,
    Context,
    Feature,
    Frame,
    Metric,
    Occurrence,
    Options,
    Outcome,
    Plugin,
    Sample,
    Score,
    digest,
    generator,
    hookimpl,
)
from worlds import open_world
from worlds.design import Case, Facts, World

RECALL = 0.85  # of the samples with the cue, those that the finding lists
IMPURE = 0.1  # of what it lists, those without the cue
FOUND = "cluster-00"


class CaseOptions(Options):
    """A world by its number, and one of its cases; companions may be `annotated`.

    Of `few` so many samples of each label are taken, None for all.
    """

    world: str
    case: str
    annotated: bool = False
    few: int | None = None


def shown_in(world: World, case: Case, few: int | None) -> list[Facts]:
    """What the audited samples of a case show; of each label the first `few`."""
    taken = Counter[str]()
    shown = []
    for facts in world.audited(case):
        taken[facts.label] += 1
        if few is None or taken[facts.label] <= few:
            shown.append(facts)
    return shown


@lru_cache(maxsize=1)
def _samples(
    number: str, name: str, annotated: bool, few: int | None
) -> tuple[Sample, ...]:
    """Those of a case: the run and its test ask for the same ones."""
    world = open_world(number)
    samples = []
    case = world.case(name)
    companion = case.companion
    for index, facts in enumerate(shown_in(world, case, few)):
        frames = tuple(map(Frame.from_array, world.draw(facts)))
        notes = {}
        if annotated and companion:
            notes = {"factors": {companion: companion in facts.cues}}
        samples.append(
            Sample(
                key=f"sample-{index:05d}",
                frames=frames,
                choices=world.labels,
                label=facts.label,
                annotations=notes,
            )
        )
    return tuple(samples)


class Pictures(Plugin):
    """The audited samples of a case."""

    Options = CaseOptions
    options: CaseOptions

    def __init__(self, options: CaseOptions, context: Context) -> None:
        super().__init__(options, context)
        self.world = open_world(options.world)
        self.case = self.world.case(options.case)
        self.labels = self.world.labels
        self.shown = shown_in(self.world, self.case, options.few)
        # cues are a set, whose order is another one in each process
        drawn = [vars(facts) | {"cues": sorted(facts.cues)} for facts in self.shown]
        self.fingerprint = digest(
            "worlds", self.world.name, repr(drawn), str(options.annotated)
        )
        self.facts = {"world": self.world.name}
        self._samples = _samples(
            options.world, options.case, options.annotated, options.few
        )

    def __len__(self) -> int:
        return len(self.shown)

    def __getitem__(self, index: int) -> Sample:
        return self._samples[index]

    def keys(self, cue: str) -> set[str]:
        """The samples that show a cue."""
        pairs = zip(self._samples, self.shown, strict=True)
        return {sample.key for sample, facts in pairs if cue in facts.cues}

    def keys_of(self, setting: str) -> set[str]:
        """The samples with these surroundings."""
        pairs = zip(self._samples, self.shown, strict=True)
        return {sample.key for sample, facts in pairs if facts.setting == setting}


class Sheet(Auditor):
    """One finding, which is the cue of the case, and clusters of surroundings that are none."""

    title = "What an audit would hand over"
    metrics = (
        Metric(
            name="gap",
            title="Gap",
            meaning="accuracy without the cluster minus accuracy with it",
        ),
    )

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """The cluster with the cue, then one of each kind of surroundings."""
        data: Pictures = audit.context.dataset
        keys = [sample.key for sample in audit.samples]
        frames = data.world.in_frames.get(data.case.cue)
        count = len(audit.samples[0].frames)
        listed = _impure(keys, data.keys(data.case.cue))
        yield _cluster(FOUND, listed, frames or range(count))
        for number, setting in enumerate(data.world.settings, 1):
            shown = sorted(data.keys_of(setting).intersection(keys))
            yield _cluster(f"cluster-{number:02d}", shown, range(count))

    @hookimpl
    def compute_scores(
        self,
        audit: Audit,
        features: Sequence[Feature],
        outcomes: Sequence[Outcome],
    ) -> Iterator[Score]:
        """The gaps on the label that the cue draws away."""
        data: Pictures = audit.context.dataset
        label = data.world.victim_of(data.case)
        right = {}
        for outcome in outcomes:
            if outcome.trial.sample.label == label:
                right[outcome.trial.sample.key] = outcome.correct()
        for feature in features:
            shown = {occurrence.sample for occurrence in feature.occurrences}
            yield Score(
                feature=feature.key,
                label=label,
                metric="gap",
                value=accuracy_gap(right, shown),
                finding=feature.key == FOUND,
            )


def _impure(keys: Sequence[str], shown: set[str]) -> list[str]:
    """Most of those that show the cue, and a few that do not."""
    rng = generator(0, "found")
    inside = [key for key in keys if key in shown and rng.random() < RECALL]
    outside = [key for key in keys if key not in shown]
    count = round(len(inside) * IMPURE / (1 - IMPURE))
    return inside + rng.choice(outside, count, replace=False).tolist()


def _cluster(key: str, samples: Sequence[str], frames: Sequence[int]) -> Feature:
    occurrences = [
        Occurrence(sample=sample, frame=frame) for sample in samples for frame in frames
    ]
    return Feature(key=key, kind="cluster", name=key, occurrences=tuple(occurrences))
