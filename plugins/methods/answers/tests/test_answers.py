"""Preferences and slices: planted ones are found, an unbiased model earns none."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from cuescope_answers import Answers
from cuescope_answers.analysis import candidates_of, clusters
from cuescope_answers.scores import even_choices, preference
from cuescope_sdk import Capabilities, Options, Plugin, Report, Response, Sample, Trial
from cuescope_testing import MethodContract, run_audit

WORDS = ("lamp", "river", "chair", "cloud", "bridge", "spoon", "garden", "engine")


class TestContract(MethodContract):
    plugin = Answers
    missed_plants: ClassVar = {
        "trade": "its clusters are of few samples each, and what helps a label is no loss",
        "rare": "its clusters are of a fixed number: what is in one of twenty has none of its own",
    }


@dataclass
class World:
    """Questions with four options, and a model with dials."""

    count: int = 600
    seed: int = 0
    accuracy: float = 0.6
    first: float = 0.0  # how often the first option is taken whatever it is
    harmful: str = ""  # a word of the question that makes the model guess
    skewed: bool = False  # the right answer is the first one in half of the questions
    group: int = 1
    closed: bool = False  # all questions have the same four answers
    pull: float = 0.0  # in a closed set: how often "yard" makes the model say "d"
    judged: float | None = (
        None  # a column judges the answers; the share that it judges wrongly
    )


def samples_of(world: World) -> list[tuple[Sample, int]]:
    """Each question and the number of the option that the model takes."""
    rng = np.random.default_rng(world.seed)
    made = []
    for number in range(world.count):
        word, other = rng.choice(WORDS, 2, replace=False)
        choices = tuple(f"{name} {number}" for name in rng.permutation(list("abcd")))
        if world.closed:
            choices = tuple("abcd")
        label = int(rng.integers(4))
        if world.skewed and rng.random() < 1 / 3:
            label = 0
        accuracy = 0.25 if word == world.harmful else world.accuracy
        wrong = [place for place in range(4) if place != label]
        choice = label if rng.random() < accuracy else int(rng.choice(wrong))
        if rng.random() < world.first:
            choice = 0
        if number % 2 and rng.random() < world.pull:
            choice = 3
        facts = {"room": ("hall", "yard")[number % 2]}
        if world.judged is not None:
            right = (choice == label) != (number < world.judged * world.count)
            facts["judge"] = str(int(right))
        sample = Sample(
            key=f"q{number:05d}",
            frames=(),
            # with its number, as a log without pictures has it: equal questions have one answer
            question=f"What does the {word} have to do with the {other} here? [{number}]",
            choices=choices,
            label=choices[label],
            group=str(number // world.group) if world.group > 1 else None,
            annotations=facts,
        )
        made.append((sample, choice))
    return made


def audit(world: World, **options: Any) -> Report:
    asked = samples_of(world)

    class Made(Plugin):
        """The questions of a world."""

        Options: ClassVar[type[Options]] = Options
        labels: tuple[str, ...] = tuple("abcd") if world.closed else ()
        fingerprint = repr(world)
        facts: ClassVar[dict[str, str]] = {}

        def __len__(self) -> int:
            return len(asked)

        def __getitem__(self, index: int) -> Sample:
            return asked[index][0]

    class Recorded(Plugin):
        """What was answered."""

        Options: ClassVar[type[Options]] = Options
        capabilities = Capabilities(
            outputs=frozenset({"logits"}), exposes=frozenset({"recorded"}), min_frames=0
        )
        fingerprint = repr(world)
        facts: ClassVar[dict[str, str]] = {}

        def respond(self, trials: list[Trial]) -> list[Response]:
            choice = {sample.key: number for sample, number in asked}
            rows = []
            for trial in trials:
                logits = np.full(4, -10.0)
                logits[choice[trial.sample.key]] = 0
                rows.append(Response(logits=logits))
            return rows

    return run_audit(Answers, Recorded, Made, **options)


def test_a_place_that_is_preferred_is_found_and_told() -> None:
    report = audit(World(first=0.2))
    [finding] = report.findings
    assert finding.feature == "place-1"
    # a fifth of the answers, less those that would have been the first anyway
    assert finding.value == pytest.approx(0.2 * 0.75, abs=0.05)
    assert "errors spread evenly" in report.statements[0]
    assert report.cost.model_calls == 0


@pytest.mark.long
def test_a_word_that_goes_with_errors_is_found() -> None:
    world = World(count=1500, accuracy=0.8, harmful="river")
    report = audit(world)
    first = report.findings[0]
    assert "river" in first.feature
    assert first.value is not None
    assert 0.1 < first.value < 0.6
    [feature] = [each for each in report.features if each.key == first.feature]
    asked = {sample.key: sample.question or "" for sample, _ in samples_of(world)}
    assert all(
        "river" in asked[occurrence.sample] for occurrence in feature.occurrences
    )


def test_an_answer_that_a_fact_pulls_to_is_found_and_told() -> None:
    """Accuracy is as low in both rooms, so that errors alone would not tell."""
    report = audit(World(closed=True, accuracy=0.3, pull=0.4))
    about = {(finding.feature, finding.label) for finding in report.findings}
    assert about & {("room: yard", "d")}
    assert not about & {("room: hall", label) for label in "abcd"}
    [finding] = [score for score in report.findings if score.feature == "room: yard"]
    assert finding.value == pytest.approx(0.4 * (1 - 0.7 / 3), abs=0.08)
    assert "'d' is answered in" in str(finding.statement)


@pytest.mark.parametrize(("wrongly", "mark"), [(0.0, "?"), (0.1, "*")])
def test_a_column_that_judges_the_answers_is_in_doubt(
    wrongly: float, mark: str
) -> None:
    """One that is wrong now and then is a cue like any other."""
    report = audit(World(count=200, judged=wrongly))
    scores = [score for score in report.scores if score.feature == "judge: 0"]
    assert [score.mark for score in scores] == [mark]
    told = report.sentence(scores[0]) or ""
    assert ("it is no cue: leave it out" in told) == (mark == "?")


def test_a_model_without_preferences_has_none() -> None:
    """Also where the right answer is mostly the first, and the model errs."""
    assert not audit(World(count=300, skewed=True)).findings


@pytest.mark.long
@pytest.mark.parametrize(("group", "closed"), [(1, False), (5, False), (1, True)])
def test_a_model_without_preferences_rarely_has_one(group: int, closed: bool) -> None:
    """200 audits at each: 5% of them may have a finding of either kind."""
    found = 0
    for seed in range(200):
        world = World(count=300, seed=seed, skewed=True, group=group, closed=closed)
        found += bool(audit(world).findings)
    assert found <= 24


def test_even_choices_add_up() -> None:
    """Over all options of a question they are one, whatever the accuracy."""
    label = np.array([2, 0])
    counts = np.array([4, 2])
    total = np.zeros(2)
    for place in range(4):
        option = np.full(2, place)
        total += np.where(place < counts, even_choices(label, option, counts, 0.7), 0)
    assert total == pytest.approx(np.ones(2))
    # a model that is always right prefers nothing
    assert not preference(label, label, np.zeros(2, int), counts).any()


def test_what_many_clusters_cut_into_pieces_is_one_of_few() -> None:
    rng = np.random.default_rng(0)
    # four places of eight samples each on one side, and of as many on the other
    far = np.repeat([[5.0, 0, 0], [-5.0, 0, 0]], 160, axis=0)
    near = np.tile(
        np.repeat([[0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], 40, axis=0), (2, 1)
    )
    embedding = far + near + rng.normal(0, 0.01, (320, 3))
    answers = SimpleNamespace(embedding=embedding, right=np.ones(320))
    audit = SimpleNamespace(
        options=Answers.Options(clusters=8), derive_seed=lambda name: 0
    )
    shown = [candidate.shows for candidate in clusters(audit, answers)]
    side = embedding[:, 0] > 0
    assert not any((shows == side).all() for shows in shown[:8])
    assert any((shows == side).all() for shows in shown[8:])


def test_a_pair_that_says_no_more_than_its_word_is_the_word() -> None:
    texts = ["Where does it move? Today", "Where does it move?"] * 30
    samples = [
        Sample(key=str(n), frames=(), question=text) for n, text in enumerate(texts)
    ]
    answers = SimpleNamespace(embedding=np.empty((60, 0)), right=np.ones(60))
    audit = SimpleNamespace(options=Answers.Options(clusters=0))
    found = [candidate.name for candidate in candidates_of(audit, answers, samples)]
    assert found == ["'today' in the question"]
