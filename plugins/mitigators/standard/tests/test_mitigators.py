"""The mitigators hold their contract, and do what they are for."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from cuescope_mitigators.asking import OtherWay
from cuescope_mitigators.choosing import best_share, gap_left, sides_of
from cuescope_mitigators.coop import CoOp
from cuescope_mitigators.dfr import DFR, cut_to_smallest, sparse_head
from cuescope_mitigators.group_dro import GroupDRO, robust_head
from cuescope_mitigators.hide import Hide
from cuescope_mitigators.jtt import JTT, upweighted_head
from cuescope_mitigators.last_layer import LastLayer
from cuescope_mitigators.new_head import Lesson, best_for_worst
from cuescope_mitigators.prompts import Prompts
from cuescope_mitigators.refit import Refit
from cuescope_mitigators.reweight import Reweight
from cuescope_sdk import Capabilities, Context, Response, Trial, UserError
from cuescope_sdk.mitigation import LinearHead, Task, halves
from cuescope_sdk.models import PromptTower
from cuescope_testing import FakeModel, FakeReader, MitigatorContract

OUTPUTS: Any = frozenset({"logits", "embedding"})
WORDS, WIDTH, CUE = 40, 12, "red corner"


class TestLastLayer(MitigatorContract):
    plugin = LastLayer


class TestRefit(MitigatorContract):
    plugin = Refit


class TestDFR(MitigatorContract):
    plugin = DFR
    options = {"draws": 2, "least": 2}


class TestJTT(MitigatorContract):
    plugin = JTT
    options = {"least": 2}


class TestGroupDRO(MitigatorContract):
    plugin = GroupDRO
    options = {"least": 2}


class TestHide(MitigatorContract):
    plugin = Hide


class TestReweight(MitigatorContract):
    plugin = Reweight


class ReadingModel(FakeModel):
    """The fake model with a small text tower: the mean of word vectors, through two layers."""

    capabilities = Capabilities(
        outputs=FakeModel.capabilities.outputs,
        edits=FakeModel.capabilities.edits,
        exposes=FakeModel.capabilities.exposes | {"text-tower"},
    )
    frozen = False

    def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
        words = [text.removeprefix("a photo of a ").rstrip(".") for text in texts]
        return self.embed_choices(words)

    def prompt_tower(self) -> PromptTower:
        generator = torch.Generator().manual_seed(0)
        dim = len(np.asarray(self.embed_choices(["top"]))[0])
        vectors = torch.randn(WORDS, WIDTH, generator=generator)
        words = torch.nn.Embedding.from_pretrained(vectors, freeze=False)
        mix = torch.randn(WIDTH, 64, generator=generator)
        out = torch.randn(64, dim, generator=generator)

        def tokenize(texts: list[str]) -> Mapping[str, torch.Tensor]:
            ids = [
                [1 + sum(map(ord, word)) % (WORDS - 1) for word in t.split()]
                for t in texts
            ]
            longest = max(map(len, ids))
            return {
                "input_ids": torch.tensor(
                    [row + [0] * (longest - len(row)) for row in ids]
                )
            }

        def encode(inputs: Mapping[str, torch.Tensor]) -> torch.Tensor:
            vectors = words(inputs["input_ids"])
            if self.frozen:
                vectors = vectors.detach()
            # context and label must meet in something that is not linear, as they do in attention
            return torch.tanh(4 * vectors.mean(dim=1) @ mix) @ out

        return PromptTower(tokenize, words, encode, scale=20.0, bias=0.0)


class TestPrompts(MitigatorContract):
    plugin = Prompts
    model = ReadingModel


class TestOtherWays(MitigatorContract):
    plugin = Prompts
    model = FakeReader


class TestCoOp(MitigatorContract):
    plugin = CoOp
    model = ReadingModel
    options = {"epochs": 3}


CONTRACTS = [
    each
    for each in list(globals().values())
    if isinstance(each, type)
    and issubclass(each, MitigatorContract)
    and each is not MitigatorContract
    # what is only written for another training answers nothing
    and each.plugin.changes_answers
]


@pytest.mark.parametrize("contract", CONTRACTS)
def test_arrays_that_fit_no_answer_name_their_folder(
    contract: type[MitigatorContract], tmp_path: Path
) -> None:
    """A stranger's: they fit each other, and not what the model answers; it has no fault."""
    made: Any = contract()
    model = made.asked
    registry = Context().registry
    [name] = [
        entry.name
        for entry in registry.of_kind("mitigator")
        if registry.load(entry) is made.plugin
    ]
    facts = {"model": model.fingerprint, "spec": "fake"}
    for field in fields(made.learned):
        array = getattr(made.learned, field.name)
        if not isinstance(array, np.ndarray):
            continue
        forged = copy(made.learned)
        wide = np.concatenate([array, array], axis=-1)
        # past the checks of the class, as in a file
        object.__setattr__(forged, field.name, wide)
        forged.save(tmp_path, mitigator=name, model=facts)
        try:
            made.plugin.mitigated(model, tmp_path, made.context()).respond(made.trials)
        except UserError as line:
            said = str(line)
        else:
            continue
        assert said.startswith(f"mitigated={tmp_path}"), (field.name, said)
        assert "\n" not in said


def trials_of(task: Task, among: np.ndarray) -> list[Trial]:
    return [
        Trial(sample=task.samples[row], outputs=OUTPUTS)
        for row in np.flatnonzero(among)
    ]


def test_a_head_beside_no_other_is_a_logistic_regression() -> None:
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    inputs, targets = rng.normal(size=(90, 4)), rng.integers(3, size=90)
    weights = rng.random(90)
    peer = LogisticRegression(C=0.3, fit_intercept=False, tol=1e-8)
    peer.fit(inputs, targets, weights)
    head = LinearHead.fit(inputs, np.zeros((90, 3)), targets, weights, 0.3)
    assert np.allclose(head, peer.coef_, atol=1e-4)
    # what its own head says already, nothing has to be added for
    rest = LinearHead.fit(inputs, inputs @ (2 * peer.coef_).T, targets, weights, 0.3)
    assert np.linalg.norm(rest) < np.linalg.norm(head)


@pytest.fixture
def biased() -> Lesson:
    """Two labels; the first input tells the label a little, the second is a cue that goes with it.

    280 of 300 samples have the cue of their label, 20 that of the other.
    """
    rng = np.random.default_rng(0)
    targets = np.arange(300) % 2
    cue = np.where(np.arange(300) < 280, targets, 1 - targets)
    signs = 2 * np.column_stack([targets, cue]) - 1
    noise = rng.normal(size=(300, 2)) * (1.0, 0.3)
    inputs = np.column_stack([signs + noise, np.ones(300)])
    wrong = cue != targets
    own = np.zeros((300, 2))
    return Lesson(inputs, own, targets, 2 * targets + cue, wrong)


def worst_of(lesson: Lesson, head: np.ndarray) -> float:
    right = (lesson.inputs @ head.T).argmax(axis=1) == lesson.targets
    return min(right[lesson.groups == group].mean() for group in range(4))


def robust(lesson: Lesson, **changes: Any) -> np.ndarray:
    settings = {"adjustment": 0.0, "decay": 0.0001, "group_step": 0.01, "steps": 1500}
    return robust_head(lesson, **{**settings, **changes})


def test_heads_by_the_book_save_the_worst_group(biased: Lesson) -> None:
    """A training in which all samples are alike leans on the cue; these three do not."""
    alike = upweighted_head(biased, (1.0, 1.0))
    cut = biased.take(cut_to_smallest(biased.groups, np.random.default_rng(0)))
    heads = {
        "dfr": sparse_head(cut.inputs, cut.targets, 2, 1.0),
        "jtt": upweighted_head(biased, (14.0, 1.0)),
        "group-dro": robust(biased),
    }
    assert worst_of(biased, alike) < 0.3
    assert {
        name for name, head in heads.items() if worst_of(biased, head) < 0.6
    } == set()


def test_a_cut_has_as_many_samples_of_each_group(biased: Lesson) -> None:
    rows = cut_to_smallest(biased.groups, np.random.default_rng(0))
    assert np.bincount(biased.groups[rows]).tolist() == [10] * 4
    assert len(set(rows.tolist())) == 40


def test_a_sparse_head_is_where_no_step_helps(biased: Lesson) -> None:
    """The subgradient of an L1 penalty: 1 / strength against each weight, no more where it is 0."""
    strength = 0.05
    head = sparse_head(biased.inputs, biased.targets, 2, strength)
    logits = biased.inputs @ head.T
    answers = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    slope = (answers - np.eye(2)[biased.targets]).T @ biased.inputs
    used = np.abs(head) > 1e-6
    assert used.any()
    assert not used.all()
    np.testing.assert_allclose(slope[used], -np.sign(head[used]) / strength, atol=0.05)
    assert (np.abs(slope) <= 1 / strength + 0.05).all()


def test_the_worst_group_chooses_the_setting(biased: Lesson) -> None:
    settings = [(1.0, 1.0), (14.0, 1.0)]
    assert best_for_worst(biased, settings, upweighted_head) == (14.0, 1.0)


def losses_of(lesson: Lesson, head: np.ndarray) -> np.ndarray:
    logits = lesson.inputs @ head.T
    chance = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    losses = -np.log(chance[np.arange(len(logits)), lesson.targets])
    return np.array([losses[lesson.groups == group].mean() for group in range(4)])


def test_a_group_weighs_more_the_longer_it_is_wrong(biased: Lesson) -> None:
    """Half of the cueless twos look like ones: of groups that weigh the same, this one loses."""
    biased.inputs[biased.groups == 2, 0] *= np.where(np.arange(10) < 5, -1, 1)
    alike = losses_of(biased, robust(biased, group_step=1e-9))
    fair = losses_of(biased, robust(biased))
    assert alike.argmax() == 2
    assert fair.max() < 0.9 * alike.max()
    # small groups generalise worse, so that an adjustment gives them more
    adjusted = losses_of(biased, robust(biased, adjustment=3.0))
    assert adjusted[[1, 2]].sum() < fair[[1, 2]].sum()


def test_a_group_that_is_too_small_is_one_line() -> None:
    contract: Any = type("Check", (TestDFR,), {"options": {"least": 40}})()
    with pytest.raises(UserError, match="dfr: a label has no group of 40 samples"):
        contract.build().fit(contract.task())


def test_learned_prompts_tell_labels_apart_where_the_cue_is() -> None:
    options = {"epochs": 300, "learning_rate": 0.05, "cost": 1}
    contract: Any = type("Check", (TestCoOp,), {"options": options})()
    task = contract.task()
    learned = contract.build().fit(task)
    showing = task.shows[:, 0]
    trials = trials_of(task, showing)
    before = np.array([a.logits.argmax() for a in contract.ask(trials)])
    after = np.array([a.logits.argmax() for a in learned.answer(trials, contract.ask)])
    right = task.targets[showing]
    assert (after == right).mean() > (before == right).mean() + 0.2
    # where the cue is not, the model answers as it did
    told = np.array(task.router.best(trials_of(task, task.targets >= 0), contract.ask))
    others = trials_of(task, told < 0)
    assert others
    for was, now in zip(
        contract.ask(others), learned.answer(others, contract.ask), strict=True
    ):
        assert np.array_equal(was.logits, now.logits)


def test_a_remedy_goes_as_far_as_its_cost_allows() -> None:
    """Of what may be lost, the setting with which the cue costs its label least."""
    contract: Any = TestCoOp()
    task = contract.task()
    hurt, shows = (
        np.array([s.label == task.hurts[0] for s in task.samples]),
        task.shows[:, 0],
    )
    before = ~(hurt & shows)
    mended = np.ones_like(before)
    # a tenth of the others is lost
    costly = mended & (hurt | (np.arange(len(before)) % 10 > 0))
    right = {0.0: before, 0.5: mended, 1.0: costly}
    sides = sides_of(task, 0)
    assert best_share(right, before, 0, sides) == 0.5
    both = {0.0: before, 1.0: costly}
    assert best_share(both, mended, 0.01 * len(before), sides) == 0.0
    assert best_share({0.5: mended, 1.0: mended}, before, 0, sides) == 0.5
    assert (gap_left(before, sides)[0], gap_left(mended, sides)[0]) == (1, 0)
    assert sorted(np.bincount(halves(task.targets[shows]))) == pytest.approx(
        [shows.sum() / 2] * 2, abs=len(task.labels)
    )


def test_a_text_tower_without_gradients_is_one_line() -> None:
    frozen = type("Frozen", (ReadingModel,), {"frozen": True})
    contract: Any = type("Check", (TestCoOp,), {"model": frozen})()
    with pytest.raises(UserError, match=r"no gradient reaches the words.*last-layer"):
        contract.build().fit(contract.task())


def test_a_cue_with_one_label_is_one_line() -> None:
    contract: Any = TestCoOp()
    task = contract.task()
    task.shows[:, 0] = task.targets == 0
    with pytest.raises(UserError, match="fewer than two labels"):
        contract.build().fit(task)
    task.shows[:, 0] = True
    with pytest.raises(UserError, match="nothing tells the cue from its label"):
        TestHide().build().fit(task)


def test_hiding_takes_the_cue_away() -> None:
    contract: Any = TestHide()
    task = contract.task()
    learned = contract.build().fit(task)
    misled = (task.targets != 0) & task.shows[:, 0]
    trials = trials_of(task, misled)
    before = [a.logits.argmax() for a in contract.ask(trials)]
    after = [a.logits.argmax() for a in learned.answer(trials, contract.ask)]
    right = task.targets[misled]
    assert np.mean(after == right) > np.mean(before == right) + 0.3


def others(**options: object) -> Any:
    return type("Check", (TestOtherWays,), {"options": options})()


def right_where_misled(contract: Any, task: Task) -> tuple[float, float]:
    """The share of right answers before and after, where the red corner goes with other labels."""
    learned = contract.build().fit(task)
    misled = (task.targets != 0) & task.shows[:, 0]
    trials = trials_of(task, misled)
    shares = [
        np.mean([a.logits.argmax() for a in answers] == task.targets[misled])
        for answers in (contract.ask(trials), learned.answer(trials, contract.ask))
    ]
    return float(shares[0]), float(shares[1])


def test_a_warning_of_the_cue_helps_and_of_another_thing_does_not() -> None:
    contract = others(way="spurious-top")
    task = contract.task()
    before, warned = right_where_misled(contract, task)
    assert warned > before + 0.5
    _, elsewhere = right_where_misled(contract, replace(task, names=("umbrella",)))
    assert elsewhere < before + 0.1


def test_each_way_asks_what_it_says() -> None:
    contract = others()
    task = contract.task()
    trial = trials_of(task, task.shows[:, 0])[0]
    open_question = replace(
        trial.sample, question="Is it {red}?", choices=(), label=None
    )
    asked = list[str]()
    for way in ("ensemble", "dual", "guiding", "spurious-list", "spurious-top"):

        def ask(trials: Sequence[Trial]) -> list[Response]:
            wanted = [each for each in trials if each.outputs != {"embedding"}]
            assert all("logits" not in each.outputs for each in wanted)
            asked.extend(str(each.sample.question) for each in wanted)
            return contract.ask(trials)  # type: ignore[no-any-return]

        learned = others(way=way).build().fit(task)
        [answer] = learned.answer(
            [replace(trial, sample=open_question, outputs=frozenset({"text"}))], ask
        )
        assert answer.text is not None
        assert answer.logits is answer.embedding is None
    assert "Describe this video: what is in it, and where?" in asked
    assert any(each.startswith("You said of this video:") for each in asked)
    assert any(each.startswith(f"{CUE}: these often go with") for each in asked)


def test_an_option_without_an_effect_is_one_line() -> None:
    contract = others(sets=("raw",))
    with pytest.raises(UserError, match="sets changes nothing for this model"):
        contract.build().check(contract.task().capabilities, ("umbrella",))


def test_cues_with_a_name_are_warned_of_beside_one_without() -> None:
    contract = others()
    task = contract.task()
    trial = trials_of(task, task.shows[:, 0])[0]
    asked = replace(trial, outputs=frozenset({"text"}))

    def ask(trials: Sequence[Trial]) -> list[Response]:
        return [Response(text=each.sample.question) for each in trials]

    texts = {
        (way, cue): OtherWay(("", "red corner"), way, Cued(cue))
        .answer([asked], ask)[0]
        .text
        or ""
        for way in ("spurious-list", "spurious-top")
        for cue in (0, 1)
    }
    assert "red corner" in texts["spurious-list", 0]
    # of the one without nothing can be said
    assert texts["spurious-top", 0] == (trial.sample.question or "What is shown?")
    assert "red corner" in texts["spurious-top", 1]


class Cued:
    """A router that knows one cue in all samples."""

    def __init__(self, cue: int) -> None:
        self.cue = cue

    def route(self, trials: Sequence[Trial], ask: Any) -> np.ndarray:
        return np.tile(np.arange(2) == self.cue, (len(trials), 1))

    def best(self, trials: Sequence[Trial], ask: Any) -> list[int]:
        return [self.cue] * len(trials)


def test_wrong_input_for_other_ways_is_one_line() -> None:
    contract = others(way="spurious-top")
    task = contract.task()
    with pytest.raises(
        UserError, match=r"a name for one of them, got 1 without.*--name"
    ):
        contract.build().fit(replace(task, names=(None,)))
    has = task.capabilities
    closed = has.model_copy(update={"exposes": frozenset({"closed-answers"})})
    with pytest.raises(UserError, match="dual asks for a description first"):
        others(way="dual").build().check(closed, task.names)
    deaf = Capabilities(outputs=OUTPUTS)
    with pytest.raises(UserError, match="compares its embedding with texts"):
        others().build().check(deaf, task.names)
