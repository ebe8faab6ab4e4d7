"""How a model answers: whole, in order, as asked, and by what is shown alone."""

from dataclasses import replace
from typing import get_args

import numpy as np

from cuescope_core.amounts import count_of
from cuescope_sdk import Capabilities, Edit, HideTokens, Output, Response, Sample, Trial
from cuescope_sdk.fusion import AverageAttention, AverageTokens
from cuescope_testing._contract import (
    NotApplicable,
    expect,
    expect_no_error,
    with_sample,
)
from cuescope_testing._model_contract.setting import (
    ModelSetting,
    are_units,
    distance,
    with_choices,
)

OUTPUTS: tuple[Output, ...] = get_args(Output)
EDITS = ("hide-tokens", "average-attention", "average-tokens")


def edit_of(
    kind: str,
    sample: Sample,
    grid: tuple[int, int],
    whole: bool = True,
) -> Edit:
    """An edit of everything that its kind can change, or of nothing."""
    match kind:
        case "hide-tokens":
            mask = np.zeros((len(sample.frames), *grid), dtype=bool)
            # half of them: a model may need some token to answer
            mask[:, : grid[0] // 2] = whole
            return HideTokens.from_mask(mask)
        case "average-attention":
            quadrants = ("VV", "VT", "TV", "TT") if whole else ()
            return AverageAttention(quadrants=frozenset(quadrants))
        case "average-tokens":
            modalities = ("video", "text") if whole else ()
            return AverageTokens(modalities=frozenset(modalities))
    raise KeyError(kind)


class ModelAnswers(ModelSetting):
    """Checks of any model."""

    def test_declares_capabilities(self) -> None:
        """Pairs of method and model are refused before weights load, from the class alone."""
        declared = getattr(self.plugin, "capabilities", None)
        is_whole = isinstance(declared, Capabilities) and declared.outputs
        expect(
            is_whole, "`capabilities = Capabilities(outputs=...)`", got=repr(declared)
        )

    def test_answers_every_trial(self) -> None:
        """A Response a trial, finite, with each declared output, alone or with the others."""
        expect(not self.model.respond([]), "no response to no trial")
        every = self.capabilities.outputs
        # sorted: a set would name another one first in each process
        for outputs in (every, *(frozenset({output}) for output in sorted(every))):
            responses = self.model.respond(self.trials(outputs=outputs))
            got = len(responses)
            expect(got == len(self.samples), "a response a trial", got=got)
            for response in responses:
                is_response = isinstance(response, Response)
                expect(is_response, "a Response", got=type(response).__name__)
                missing = response.missing(outputs)
                expect(not missing, "the declared outputs", got=f"no {missing}")
                for numbers in (response.logits, response.embedding):
                    finite = numbers is None or np.isfinite(numbers).all()
                    expect(finite, "finite numbers", got=numbers)

    def test_scores_the_choices_of_each_sample(self) -> None:
        """Logits are over the sample's own choices, however many and in whatever order."""
        self.needs("logits")
        answers = self.model.respond(self.trials(outputs=frozenset({"logits"})))
        # what else an answer has, such as words, is another check's
        plain = [Response(logits=answer.logits) for answer in answers]
        turned = [with_choices(s, s.choices[::-1]) for s in self.samples]
        other = self.model.respond([Trial(sample=sample) for sample in turned])
        back = [Response(logits=np.asarray(answer.logits)[::-1]) for answer in other]
        self.expect_near(plain, back, "logits that follow their choices")
        # one choice less than the data set has labels: a fixed head shows
        shorter = [with_choices(s, s.choices[1:]) for s in self.samples]
        trials = [Trial(sample=sample) for sample in shorter if sample.choices]
        for trial, response in zip(trials, self.model.respond(trials), strict=True):
            got = np.asarray(response.logits).shape
            expect(got == (len(trial.sample.choices),), "a logit a choice", got=got)

    def test_embeds_in_one_space(self) -> None:
        """Embeddings are compared: pool frames and tokens to one length, texts to unit rows."""
        self.needs("embedding")
        trials = self.trials(outputs=frozenset({"embedding"}))
        answers = self.model.respond(trials)
        dims = {np.asarray(answer.embedding).shape for answer in answers}
        expect(
            len(dims) == 1 and min(dims) > (1,), "embeddings of one length", got=dims
        )
        embed = getattr(self.model, "embed_texts", None)
        if embed is None:
            return
        # the same text twice: order and rows that depend on their batch show
        rows = np.asarray(embed(["a dog", "a cat", "a dog"]))
        expect(are_units(rows, 3, 1e-2), "a unit row a text", got=rows.shape)
        repeats = np.allclose(rows[0], rows[2], atol=1e-2)
        differs = not np.allclose(rows[0], rows[1])
        expect(repeats and differs, "the row of each text in its place", got="others")

    def test_answers_alike_twice(self) -> None:
        """The cache stands for the model: evaluation mode, nothing sampled, weights seeded."""
        first = self.model.respond(self.trials())
        again = self.model.respond(self.trials())
        same = max(map(distance, first, again)) == 0
        expect(same, "equal answers to the same batch", got="others the second time")
        rebuilt = self.build().respond(self.trials())
        self.expect_near(rebuilt, first, "the answers of the first build")

    def test_answers_alike_in_any_batch(self) -> None:
        """Batch size, order and copies of a trial change nothing: pad each trial by itself."""
        first, *others = self.trials()
        self.expect_as_alone([first, *others], "the answers given one by one")
        self.expect_as_alone([*others[::-1], first], "them in reverse")
        self.expect_as_alone([first, others[0], first, first], "one answer for copies")

    def test_looks_at_the_frames(self) -> None:
        """Other frames, other answers; or there is nothing to audit."""
        first, *others = self.model.respond(self.trials())
        # any, not all: samples of one class may be answered alike
        differ = any(distance(first, other) for other in others)
        expect(differ, "answers that differ between samples", got="one for all")

    def test_reads_frames_question_and_choices_alone(self) -> None:
        """The label is the answer sheet, annotations hold the cues, keys are names."""
        trials = self.trials()
        plain = self.model.respond(trials)
        others = {
            "annotations": [with_sample(trial, annotations={}) for trial in trials],
            "key": [with_sample(trial, key="another") for trial in trials],
            "label": [_relabel(trial) for trial in trials],
            "purpose": [
                replace(trial, feature="a-cue", condition="cue-present")
                for trial in trials
            ],
        }
        for what, changed in others.items():
            answers = self.model.respond(changed)
            self.expect_near(plain, answers, f"the same answers whatever the {what}")

    def test_refuses_what_it_does_not_declare(self) -> None:
        """An output or edit that is ignored looks like a model that does not care."""
        sample = self.samples[0]
        for output in OUTPUTS:
            if output not in self.capabilities.outputs:
                trial = Trial(sample=sample, outputs=frozenset({output}))
                self.refuses(trial, output, declared=True)
        for kind in EDITS:
            if kind not in self.capabilities.edits:
                # of everything: an empty edit is ignored with reason
                edit = edit_of(kind, sample, self.token_grid)
                trial = self.trials(edit=edit)[0]
                self.refuses(trial, f"the edit '{kind}'", declared=True)

    def test_takes_or_refuses_clips_of_another_length(self) -> None:
        """Another number of frames is answered or refused in words, beyond `max_frames` refused."""
        sample = self.samples[0]
        most = self.capabilities.max_frames
        longer = len(sample.frames) + 1
        too_many = (most or 0) + 1
        for count in {1, 2, longer, too_many}:
            clip = sample.with_frames((sample.frames[0],) * count, f"length-{count}")
            trial = Trial(sample=clip, outputs=self.capabilities.outputs)
            if most is not None and count > most:
                self.refuses(trial, count_of(count, "frames"))
                continue
            with expect_no_error(f"an answer to {count_of(count, 'frames')}"):
                [_] = self.model.respond([trial])

    def test_carries_out_its_edits(self) -> None:
        """A declared edit changes answers, and one of nothing is the plain forward pass."""
        if not self.capabilities.edits:
            raise NotApplicable("asks about edits, and none is declared")
        plain = self.model.respond(self.trials())
        for kind in sorted(self.capabilities.edits):
            empty = self._edited(kind, whole=False)
            self.expect_near(empty, plain, f"the plain answer under an empty '{kind}'")
            # some sample must change: in one the edit may meet nothing
            farthest = max(map(distance, plain, self._edited(kind, whole=True)))
            expect(farthest > 0, f"other answers under '{kind}'", got="the plain ones")

    def _edited(self, kind: str, *, whole: bool) -> list[Response]:
        trials = []
        for trial in self.trials():
            # made for each: a mask has as many frames as its sample
            edit = edit_of(kind, trial.sample, self.token_grid, whole)
            trials.append(replace(trial, edit=edit))
        return self.model.respond(trials)


def _relabel(trial: Trial) -> Trial:
    """The trial with a wrong label: a model may treat a missing one apart."""
    sample = trial.sample
    others = (name for name in sample.choices if name != sample.label)
    return with_sample(trial, label=next(others, None))  # type: ignore[no-any-return]
