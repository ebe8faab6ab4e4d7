"""Every check of the model contract catches a model that is bad in just that way."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar
from uuid import uuid4

import numpy as np
import pytest
from pydantic import ConfigDict, Field

from cuescope_sdk import (
    Capabilities,
    Context,
    Frame,
    HideTokens,
    Options,
    Response,
    Trial,
    UserError,
    Words,
)
from cuescope_testing import FakeModel, ModelContract
from cuescope_testing._fake_models import FakeModelOptions

from .contract_proofs import checks_of, expect_caught
from .test_fusion_proofs import PROOFS as FUSION_PROOFS
from .test_tower_edit_proofs import PROOFS as TOWER_PROOFS

Answer = Callable[[Trial, Response], Response]
OUTPUTS = FakeModel.capabilities.outputs
GRID = (8, 8)


class Embedding(FakeModel):
    """A healthy model with a text tower, one frame only, no text: every check applies to it."""

    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset(["logits", "embedding"]),
        edits=frozenset({"hide-tokens"}),
        exposes=frozenset({"patches", "choices"}),
        max_frames=2,
    )

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        for trial in trials:
            if len(trial.sample.frames) > 2 or "text" in trial.outputs:
                raise UserError("embedding", expected="two frames, and no text asked")
        return super().respond(trials)

    def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
        rows = np.stack([self.readout(f"text {text}") for text in texts])
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def answering(change: Answer) -> type[Embedding]:
    """A model whose answers are changed one by one."""

    class Bad(Embedding):
        def respond(self, trials: Sequence[Trial]) -> list[Response]:
            pairs = zip(trials, super().respond(trials), strict=True)
            return [change(trial, response) for trial, response in pairs]

    return Bad


def respond_with(respond: Callable[[Any, Sequence[Trial]], Any]) -> type[Embedding]:
    """A model with another `respond`; it is given the healthy one."""

    class Bad(Embedding):
        def respond(self, trials: Sequence[Trial]) -> list[Response]:
            return respond(super().respond, trials)

    return Bad


def shifted(response: Response, by: float) -> Response:
    """Another answer, in which the order of logits and cosines is the same."""
    logits = None if response.logits is None else response.logits + np.float32(by)
    embedding = None if response.embedding is None else response.embedding * np.exp(by)
    return Response(logits, response.text, embedding)


def built(**facts: Any) -> type[Embedding]:
    """A model with other attributes once it is built."""

    class Bad(Embedding):
        def __init__(self, options: FakeModelOptions, context: Context) -> None:
            super().__init__(options, context)
            for name, make in facts.items():
                setattr(self, name, make())

    return Bad


class Loose(FakeModelOptions):
    model_config = ConfigDict(extra="ignore")


class Unexplained(FakeModelOptions):
    depth: int = 3


class Unmarked(FakeModelOptions):
    notes: str = Field("", description="goes where it likes")


class Needy(FakeModelOptions):
    weights: Annotated[str, Words()] = Field(description="where they are")


def with_options(options: type[Options]) -> type[Embedding]:
    return type("Bad", (Embedding,), {"Options": options})


def with_capabilities(value: object) -> type[Embedding]:
    return type("Bad", (Embedding,), {"capabilities": value})


def declaring(**update: Any) -> type[Embedding]:
    return with_capabilities(Embedding.capabilities.model_copy(update=update))


class Forgetful(Embedding):
    """The options change its answers, and its fingerprint does not."""

    def __init__(self, options: FakeModelOptions, context: Context) -> None:
        super().__init__(options, context)
        self.fingerprint = "forgetful"


class Random(Embedding):
    """Noise of its own in every call, too little to show beyond the tolerance."""

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        rng = np.random.default_rng()
        return [shifted(r, 2e-6 * rng.random()) for r in super().respond(trials)]


class Reborn(Embedding):
    """Other weights each time it is built."""

    def __init__(self, options: FakeModelOptions, context: Context) -> None:
        super().__init__(options, context)
        self.bias = np.random.default_rng().normal()

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        return [shifted(response, self.bias) for response in super().respond(trials)]


class Seeder(Embedding):
    """Seeds everybody's random numbers."""

    def __init__(self, options: FakeModelOptions, context: Context) -> None:
        super().__init__(options, context)
        random.seed(0)


class FixedHead(Embedding):
    """Logits over three classes, whatever the choices."""

    def answer(self, trial: Trial) -> Response:
        named = ("top", "middle", "bottom")
        extra = tuple(name for name in named if name not in trial.sample.choices)
        sample = replace(trial.sample, choices=trial.sample.choices + extra)
        return super().answer(replace(trial, sample=sample))


class SortedChoices(Embedding):
    """Scores the choices in the order of the alphabet."""

    def answer(self, trial: Trial) -> Response:
        ordered = tuple(sorted(trial.sample.choices))
        return super().answer(
            replace(trial, sample=replace(trial.sample, choices=ordered))
        )


class LongEmbedding(Embedding):
    """An embedding as long as the clip."""

    def answer(self, trial: Trial) -> Response:
        plain = super().answer(trial)
        if plain.embedding is None:
            return plain
        copies = 1 + (trial.sample.key.startswith("val-003"))
        return Response(plain.logits, plain.text, np.tile(plain.embedding, copies))


class RawTexts(Embedding):
    def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
        return 3 * super().embed_texts(texts)


class Constant(Embedding):
    """Never looks."""

    def see(self, trial: Trial) -> np.ndarray:
        return super().see(trial) * (trial.edit is None) * 0 + (
            1 if trial.edit is None else 2
        )


class DropsFrames(Embedding):
    """Looks at the first two frames of many."""

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        return super().respond(
            [
                replace(
                    trial,
                    sample=trial.sample.with_frames(trial.sample.frames[:2], "start"),
                )
                for trial in trials
            ]
        )


class OneLength(Embedding):
    """Crashes on a clip that is not of two frames."""

    def see(self, trial: Trial) -> np.ndarray:
        if len(trial.sample.frames) != 2:
            raise ValueError("shapes (1, 64) and (2, 64) not aligned")
        return super().see(trial)


class IgnoresOutputs(Embedding):
    """Answers what it has where text is asked."""

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        return super().respond(
            [replace(t, outputs=t.outputs - {"text"}) for t in trials]
        )


class IgnoresEdits(Embedding):
    """Answers the plain trial where it cannot edit."""

    def answer(self, trial: Trial) -> Response:
        known = trial.edit is not None and trial.edit.kind == "hide-tokens"
        return super().answer(trial if known else replace(trial, edit=None))


class HidesNothing(Embedding):
    """Declares an edit and does not carry it out."""

    def answer(self, trial: Trial) -> Response:
        hidden = trial.edit is not None and trial.edit.kind == "hide-tokens"
        return super().answer(replace(trial, edit=None) if hidden else trial)


class Inverted(Embedding):
    """Shows its canvas as a negative."""

    def canvas(self, frames: Sequence[Frame]) -> list[np.ndarray]:
        return [255 - pixels for pixels in super().canvas(frames)]


class ClassToken(Embedding):
    """Counts a token of no place among the patches of its first layer."""

    def patch_features(
        self, frames: Sequence[Frame], layer: int = -1
    ) -> list[np.ndarray]:
        features = super().patch_features(frames, layer)
        return (
            [np.concatenate([f, f[:1]]) for f in features] if layer == 0 else features
        )


class Indexed(Embedding):
    """Looks layers up as a list does."""

    def patch_features(
        self, frames: Sequence[Frame], layer: int = -1
    ) -> list[np.ndarray]:
        if not -2 <= layer < 2:
            raise IndexError("list index out of range")
        return super().patch_features(frames, layer)


class Whitened(Embedding):
    """Features less the mean over all that was asked together."""

    def patch_features(
        self, frames: Sequence[Frame], layer: int = -1
    ) -> list[np.ndarray]:
        maps = super().patch_features(frames, layer)
        mean = np.mean(maps, axis=(0, 1, 2), dtype=np.float32)
        return [features - mean for features in maps]


class LongRows(Embedding):
    def embed_choices(self, choices: Sequence[str]) -> np.ndarray:
        return 2 * super().embed_choices(choices)


class OtherTexts(Embedding):
    """Unit rows of texts that its logits do not come from."""

    def embed_choices(self, choices: Sequence[str]) -> np.ndarray:
        return super().embed_choices([f"a photo of {choice}" for choice in choices])


class MeanOfNothing(Embedding):
    """Averages over what is visible."""

    def answer(self, trial: Trial) -> Response:
        if isinstance(trial.edit, HideTokens) and trial.edit.mask.all():
            raise ZeroDivisionError("float division by zero")
        return super().answer(trial)


class Glimpses(Embedding):
    """Sees a little of what is hidden."""

    def answer(self, trial: Trial) -> Response:
        edited, plain = super().answer(trial), super().answer(replace(trial, edit=None))
        hides = isinstance(trial.edit, HideTokens) and trial.edit.mask.any()
        if not hides or plain.logits is None or edited.logits is None:
            return edited
        return Response(edited.logits + plain.logits / 100, None, edited.embedding)


class AnyShape(Embedding):
    """Cuts or stretches whatever mask it is given."""

    def answer(self, trial: Trial) -> Response:
        if not isinstance(trial.edit, HideTokens):
            return super().answer(trial)
        frames, rows, cols = len(trial.sample.frames), *GRID
        mask = np.resize(trial.edit.mask, (frames, rows, cols))
        return super().answer(replace(trial, edit=HideTokens.from_mask(mask)))


class OneGrid(Embedding):
    """Takes masks on its own grid alone."""

    def answer(self, trial: Trial) -> Response:
        edit = trial.edit
        if isinstance(edit, HideTokens) and edit.shape[1:] not in (GRID, (4, 4)):
            raise UserError("one grid", expected="a mask on it")
        return super().answer(trial)


class Padded(Embedding):
    """Trials of a batch that hide less than another see a token of padding."""

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        edits = [trial.edit for trial in trials]
        hidden = [int(e.mask.sum()) if isinstance(e, HideTokens) else 0 for e in edits]
        pairs = zip(super().respond(trials), hidden, strict=True)
        return [
            shifted(response, 0.01 * (count < max(hidden))) for response, count in pairs
        ]


def once_more_edited(trial: Trial, response: Response) -> Response:
    return shifted(response, 0.01 * (trial.edit is not None))


def label_leak(trial: Trial, response: Response) -> Response:
    label = trial.sample.label
    return shifted(response, 0.01 * (label == "top"))


def batch_normalised(respond: Any, trials: Sequence[Trial]) -> list[Response]:
    answers = respond(trials)
    mean = np.mean(
        [r.embedding.mean() for r in answers if r.embedding is not None] or [0.0]
    )
    return [shifted(response, 0.1 * float(mean)) for response in answers]


def deduplicated(respond: Any, trials: Sequence[Trial]) -> list[Response]:
    """Answers distinct samples, and fills up with the last."""
    distinct = {
        trial.sample.key + str(trial.edit) + str(trial.outputs): trial
        for trial in trials
    }
    answers = respond(list(distinct.values()))
    return answers + answers[-1:] * (len(trials) - len(answers))


def reordered(respond: Any, trials: Sequence[Trial]) -> list[Response]:
    """Sorted for speed, and never put back."""
    order = sorted(
        range(len(trials)), key=lambda index: trials[index].sample.frames[0].key
    )
    return respond([trials[index] for index in order])


def lacking(trial: Trial, response: Response) -> Response:
    """No embedding unless asked for alone."""
    only = trial.outputs == {"logits"}
    return Response(None if only else response.logits, None, response.embedding)


class Plainly(Embedding):
    """The torch way: a list of dicts."""

    def respond(self, trials: Sequence[Trial]) -> list[Any]:
        return [NotResponse(response) for response in super().respond(trials)]


class NotResponse:
    """Looks like a Response, and checks nothing."""

    def __init__(self, response: Response) -> None:
        self.logits, self.text, self.embedding = (
            response.logits,
            None,
            response.embedding,
        )

    def missing(self, wanted: frozenset[str]) -> list[str]:
        return [name for name in wanted if getattr(self, name) is None]


# check -> (a model that it catches, the other checks that cannot help but catch it too)
PROOFS = [
    ("test_builds", with_options(Needy), {"*"}),
    ("test_refuses_unknown_options", with_options(Loose), set()),
    ("test_declares_its_options", with_options(Unexplained), set()),
    ("test_declares_its_options", with_options(Unmarked), set()),
    ("test_leaves_global_randomness_alone", Seeder, set()),
    ("test_declares_capabilities", with_capabilities({"outputs": OUTPUTS}), {"*"}),
    (
        "test_has_a_fingerprint",
        built(fingerprint=lambda: None),
        {"test_has_another_fingerprint_for_other_options"},
    ),
    ("test_has_a_fingerprint", built(fingerprint=lambda: uuid4().hex), set()),
    ("test_has_another_fingerprint_for_other_options", Forgetful, set()),
    ("test_states_facts_in_words", built(facts=lambda: {"accuracy": 0.93}), set()),
    (
        "test_answers_every_trial",
        respond_with(
            lambda respond, trials: respond(trials) or [Response(logits=np.zeros(3))]
        ),
        set(),
    ),
    ("test_answers_every_trial", Plainly, set()),
    (
        "test_answers_every_trial",
        answering(lambda _, answer: Response(logits=answer.logits * np.nan)),
        {"*"},
    ),
    (
        "test_answers_alike_in_any_batch",
        respond_with(reordered),
        {"test_hides_trial_by_trial", "test_is_blind_to_what_is_hidden"},
    ),
    (
        "test_answers_every_trial",
        answering(lacking),
        {"test_scores_the_choices_of_each_sample"},
    ),
    ("test_scores_the_choices_of_each_sample", FixedHead, set()),
    (
        "test_scores_the_choices_of_each_sample",
        SortedChoices,
        {"test_embeds_choices_as_unit_rows"},
    ),
    (
        "test_embeds_in_one_space",
        LongEmbedding,
        {
            "test_embeds_choices_as_unit_rows",
            "test_reads_frames_question_and_choices_alone",
        },
    ),
    ("test_embeds_in_one_space", RawTexts, set()),
    ("test_answers_alike_twice", Random, set()),
    ("test_answers_alike_twice", Reborn, set()),
    (
        "test_answers_alike_in_any_batch",
        respond_with(batch_normalised),
        {"test_hides_trial_by_trial"},
    ),
    (
        "test_answers_alike_in_any_batch",
        respond_with(deduplicated),
        {"test_reads_frames_question_and_choices_alone"},
    ),
    (
        "test_looks_at_the_frames",
        Constant,
        {"test_carries_out_its_edits", "test_is_blind_to_what_is_hidden"},
    ),
    (
        "test_reads_frames_question_and_choices_alone",
        answering(label_leak),
        {"test_scores_the_choices_of_each_sample"},
    ),
    (
        "test_reads_frames_question_and_choices_alone",
        answering(
            lambda trial, r: shifted(r, 0.01 * ("cues" in trial.sample.annotations))
        ),
        set(),
    ),
    (
        "test_reads_frames_question_and_choices_alone",
        answering(lambda trial, r: shifted(r, 0.01 * (trial.condition != "baseline"))),
        set(),
    ),
    (
        "test_reads_frames_question_and_choices_alone",
        answering(lambda trial, r: shifted(r, 0.01 * ("val-001" in trial.sample.key))),
        set(),
    ),
    ("test_refuses_what_it_does_not_declare", IgnoresOutputs, set()),
    ("test_refuses_what_it_does_not_declare", IgnoresEdits, set()),
    ("test_takes_or_refuses_clips_of_another_length", DropsFrames, set()),
    ("test_takes_or_refuses_clips_of_another_length", OneLength, set()),
    ("test_carries_out_its_edits", answering(once_more_edited), set()),
    (
        "test_carries_out_its_edits",
        HidesNothing,
        {"test_is_blind_to_what_is_hidden", "test_takes_masks_in_pixels"},
    ),
    ("test_shows_its_canvas", Inverted, {"test_takes_masks_in_pixels"}),
    ("test_gives_patch_features", ClassToken, set()),
    ("test_gives_patch_features", Indexed, set()),
    ("test_gives_patch_features", Whitened, set()),
    ("test_embeds_choices_as_unit_rows", LongRows, set()),
    ("test_embeds_choices_as_unit_rows", OtherTexts, set()),
    ("test_hides_trial_by_trial", MeanOfNothing, set()),
    ("test_is_blind_to_what_is_hidden", Glimpses, set()),
    ("test_takes_masks_in_pixels", AnyShape, set()),
    ("test_takes_masks_in_pixels", OneGrid, set()),
    ("test_hides_trial_by_trial", Padded, set()),
]


def contract_of(model: type) -> type[ModelContract]:
    facts: Mapping[str, Any] = {"plugin": model, "other_options": {"lean": 0}}
    return type("Contract", (ModelContract,), dict(facts))


class TestHealthy(ModelContract):
    """A model that is as it should be, to which every check applies."""

    plugin = Embedding
    other_options = {"lean": 0}


class TestFake(ModelContract):
    plugin = FakeModel


def test_every_check_is_proved() -> None:
    proved = checks_of(PROOFS, FUSION_PROOFS, TOWER_PROOFS)
    assert set(ModelContract.checks()) == proved


@pytest.mark.parametrize(("check", "model", "others"), PROOFS)
def test_check_catches_its_bad_model(check: str, model: type, others: set[str]) -> None:
    expect_caught(contract_of(model), check, others)
