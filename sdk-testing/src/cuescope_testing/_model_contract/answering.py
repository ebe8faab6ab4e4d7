"""How a model answers: whole, in order, as asked."""

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, get_args

import numpy as np

from cuescope_core.amounts import count_of
from cuescope_sdk import Output, Response, Trial, UserError
from cuescope_testing._contract import (
    ContractViolation,
    NotApplicable,
    expect,
    expect_no_error,
    with_sample,
)
from cuescope_testing._model_contract.setting import (
    EDITS,
    TOLERANCE,
    ModelSetting,
    are_units,
    distance,
    edit_of,
    with_choices,
)


class ModelAnswers(ModelSetting):
    """The shape of answers."""

    def test_answers_every_trial(self) -> None:
        """One response a trial, and none for no trial."""
        for count in (0, 1, len(self.samples)):
            got = len(self.model.respond(self.trials()[:count]))
            expect(
                got == count,
                f"{count} responses to {count_of(count, 'trials')}",
                got=got,
                remedy="Return a list with a response a trial",
            )

    def test_answers_with_responses(self) -> None:
        """`Response` is what the cache stores: float32 numpy, checked to be finite."""
        for response in self.model.respond(self.trials()):
            expect(
                isinstance(response, Response),
                "a cuescope_sdk.Response",
                got=type(response).__name__,
                remedy="Wrap the arrays: Response(logits=...)",
            )

    def test_answers_in_finite_numbers(self) -> None:
        """NaN is the largest of all to argmax: a broken model would seem to answer."""
        for response in self.model.respond(self.trials()):
            for output in ("logits", "embedding"):
                numbers = np.asarray(getattr(response, output), float)
                # what is not given is None, which is one NaN
                expect(
                    numbers.ndim == 0 or np.isfinite(numbers).all(),
                    f"finite numbers as {output}",
                    got=numbers,
                    remedy="Look at the dtype, at masks without a token, and at empty texts",
                )

    def test_answers_in_order(self) -> None:
        """The engine gives each trial the response at its place."""
        forward = self.model.respond(self.trials())
        backward = self.model.respond(self.trials()[::-1])[::-1]
        expect(
            all(map(self.alike, forward, backward)),
            "the responses reversed when the trials are",
            got="others",
            remedy="Keep the order of the trials when batching or sorting by length",
        )

    def test_answers_each_output_asked_for(self) -> None:
        """Each declared output can be had, alone as well as with the others."""
        # sorted: a set would name another one first in each process
        for output in sorted(self.capabilities.outputs):
            for response in self.model.respond(
                self.trials(outputs=frozenset({output}))
            ):
                expect(
                    not response.missing(frozenset({output})),
                    f"the declared output '{output}'",
                    got="none",
                    remedy="Answer it, or do not declare it in `capabilities`",
                )

    def test_gives_a_logit_for_each_choice(self) -> None:
        """Logits are over the sample's own choices, however many."""
        self.needs("logits")
        # one choice less than the data set has labels: a fixed head shows
        for fewer in (0, 1):
            shorter = [with_choices(s, s.choices[fewer:]) for s in self.samples]
            trials = [Trial(sample=sample) for sample in shorter if sample.choices]
            for trial, response in zip(trials, self.model.respond(trials), strict=True):
                got = -1 if response.logits is None else len(response.logits)
                expect(
                    got == len(trial.sample.choices),
                    f"{len(trial.sample.choices)} logits",
                    got=got,
                    remedy="Score the choices of each sample: of fixed outputs, their columns",
                )

    def test_follows_the_order_of_choices(self) -> None:
        """Choices in another order are the same question."""
        self.needs("logits")
        # reversed, so that each but a middle one changes its place
        turned = [with_choices(s, s.choices[::-1]) for s in self.samples]
        plain = self.model.respond(self.trials(outputs=frozenset({"logits"})))
        other = self.model.respond([Trial(sample=sample) for sample in turned])
        for response, turned_response in zip(plain, other, strict=True):
            logits = response.logits
            turned_logits = turned_response.logits
            if logits is None or turned_logits is None:
                raise ContractViolation(
                    "logits",
                    got="none",
                    remedy="Answer what is asked for",
                )
            expect(
                self.alike(
                    Response(logits=logits), Response(logits=turned_logits[::-1])
                ),
                "logits that follow their choices",
                got=f"{logits} and {turned_logits}",
                remedy="Look choices up by name",
            )

    def test_embeds_in_one_space(self) -> None:
        """Embeddings are compared with one another, so they have one dimension."""
        self.needs("embedding")
        trials = self.trials(outputs=frozenset({"embedding"}))
        vectors = [response.embedding for response in self.model.respond(trials)]
        dims = {len(vector) for vector in vectors if vector is not None}
        expect(
            len(dims) == 1 and min(dims) > 1,
            "embeddings of one dimension, 2 or more",
            got=sorted(dims),
            remedy="Pool over frames and tokens to a vector of fixed length",
        )

    def test_embeds_texts_as_unit_rows(self) -> None:
        """`embed_texts` rows are compared with image embeddings by dot product."""
        embed = getattr(self.model, "embed_texts", None)
        if embed is None:
            raise NotApplicable("asks about `embed_texts`, which this model has not")
        # the same text twice: order and rows that depend on their batch show
        rows = np.asarray(embed(["a dog", "a cat", "a dog"]))
        expect(
            are_units(rows, 3, 1e-2)
            and np.allclose(rows[0], rows[2], atol=1e-2)
            and not np.allclose(rows[0], rows[1]),
            "a unit row a text, in order",
            got=f"shape {rows.shape}",
            remedy="Normalise the text features and keep their order",
        )


# --------------------------------------------------------------------------------------- depending


class ModelDepends(ModelSetting):
    """Determinism, batches, and what must not be read."""

    def test_answers_alike_twice(self) -> None:
        """The same batch has the same answer, bit by bit: the cache stands for the model."""
        first = self.model.respond(self.trials())
        second = self.model.respond(self.trials())
        expect(
            max(map(distance, first, second)) == 0,
            "equal answers to the same batch",
            got="others the second time",
            remedy="Put the model in evaluation mode and sample nothing",
        )

    def test_answers_alike_when_built_again(self) -> None:
        """Equal fingerprints, equal answers."""
        self.expect_near(
            self.build().respond(self.trials()),
            self.model.respond(self.trials()),
            "the answers of the first build",
            "Draw weights and templates from seeded generators, or load them",
        )

    def test_answers_alike_in_any_batch(self) -> None:
        """Batch size is how fast, never what."""
        self.expect_as_alone(
            self.trials(),
            f"answers within {TOLERANCE[self.dtype]:g} of those given one by one",
            "Normalise and pad each trial by itself",
        )

    def test_answers_duplicates_alike(self) -> None:
        """A trial twice in a batch is answered twice."""
        trials = self.trials()[:3]
        twice, *others = trials
        answers = self.model.respond([twice, others[0], twice, others[1], twice])
        first, *again = answers[::2]
        expect(
            len(answers) == 5 and all(self.alike(first, answer) for answer in again),
            "one answer for the same trial at every place",
            got="several",
            remedy="Spread the answers of distinct frames back over the trials",
        )

    def test_looks_at_the_frames(self) -> None:
        """Other frames, other answers; or there is nothing to audit."""
        first, *others = self.model.respond(self.trials())
        expect(
            # any, not all: samples of one class may be answered alike
            any(map(partial(distance, first), others)),
            "answers that differ between samples",
            got="one answer for all",
            remedy="Check that frames reach the model",
        )

    def test_does_not_read_the_label(self) -> None:
        """The right answer is the answer sheet."""

        def relabel(trial: Trial) -> Any:
            sample = trial.sample
            # a wrong label, not none: a model may treat a missing one apart
            others = (name for name in sample.choices if name != sample.label)
            return with_sample(trial, label=next(others, None))

        self.answers_stay(relabel, "label")

    def test_does_not_read_annotations(self) -> None:
        """They hold the cues, and do not enter the cache key."""
        self.answers_stay(
            lambda trial: with_sample(trial, annotations={}),
            "annotations",
        )

    def test_does_not_read_what_a_trial_is_for(self) -> None:
        """Feature and condition are for the method; the cache does not tell them apart."""
        self.answers_stay(
            lambda trial: replace(trial, feature="a-cue", condition="cue-present"),
            "trial's feature and condition",
        )

    def test_does_not_read_the_sample_key(self) -> None:
        """Samples that look alike share one answer in the cache, whatever they are called."""
        self.answers_stay(
            lambda trial: with_sample(trial, key="another"),
            "key",
        )


# ------------------------------------------------------------------------------------------ limits


OUTPUTS: tuple[Output, ...] = get_args(Output)


class ModelLimits(ModelSetting):
    """Undeclared outputs and edits, numbers of frames, edits."""

    def test_refuses_outputs_it_has_not(self) -> None:
        """An output that is not declared is an error, not an empty answer."""
        others = [
            output for output in OUTPUTS if output not in self.capabilities.outputs
        ]
        if not others:
            raise NotApplicable("asks about undeclared outputs, and all are declared")
        for output in others:
            trial = Trial(sample=self.samples[0], outputs=frozenset({output}))
            self.refuses(trial, output, declared=True)

    def test_refuses_edits_it_has_not(self) -> None:
        """An edit that is ignored looks like a model that does not care."""
        others = [kind for kind in EDITS if kind not in self.capabilities.edits]
        if not others:
            raise NotApplicable("asks about undeclared edits, and all are declared")
        for kind in others:
            # of everything: an empty edit is ignored with reason
            edit = edit_of(kind, self.samples[0], self.token_grid)
            trial = self.trials(edit=edit)[0]
            self.refuses(trial, f"the edit '{kind}'", declared=True)

    def test_refuses_more_frames_than_it_takes(self) -> None:
        """Frames beyond `max_frames` must not be dropped in silence."""
        most = self.capabilities.max_frames
        if most is None:
            raise NotApplicable("asks about max_frames, and the model takes any number")
        sample = self.samples[0]
        # one frame again and again: its number alone is wrong
        long = sample.with_frames((sample.frames[0],) * (most + 1), "long")
        self.refuses(
            Trial(sample=long, outputs=self.capabilities.outputs),
            f"{count_of(most + 1, 'frames')}",
        )

    def test_takes_or_refuses_clips_of_another_length(self) -> None:
        """A clip of one frame, or of one more, is answered or refused in words."""
        most = self.capabilities.max_frames
        for count in {1, 2, len(self.samples[0].frames) + 1}:
            if most is not None and count > most:
                continue
            sample = self.samples[0]
            clip = sample.with_frames((sample.frames[0],) * count, f"length-{count}")
            trial = Trial(sample=clip, outputs=self.capabilities.outputs)
            with (
                expect_no_error(
                    f"an answer to {count_of(count, 'frames')}, or a UserError",
                    remedy="Check the number of frames, and raise UserError(...)",
                ),
                suppress(UserError),
            ):
                [_] = self.model.respond([trial])

    def test_leaves_an_empty_edit_without_effect(self) -> None:
        """An edited forward with nothing to edit is the plain forward."""
        self.needs_edits()
        plain = self.model.respond(self.trials())
        for kind in sorted(self.capabilities.edits):
            self.expect_near(
                self.edited(kind, whole=False),
                plain,
                f"the plain answer under an empty '{kind}'",
                "Edit only what the edit names",
            )

    def test_carries_out_its_edits(self) -> None:
        """A declared edit changes answers."""
        self.needs_edits()
        plain = self.model.respond(self.trials())
        for kind in sorted(self.capabilities.edits):
            expect(
                # some sample must change: in one the edit may meet nothing
                max(map(distance, plain, self.edited(kind, whole=True))) > 0,
                f"other answers under '{kind}'",
                got="the plain ones",
                remedy="Carry the edit out, or do not declare it",
            )
