"""What an answer depends on: what is shown, and nothing else."""

from cuescope_sdk import Trial
from cuescope_sdk.testing._model_contract.comparing import TOLERANCE, changed, distance
from cuescope_sdk.testing._model_contract.setting import ModelSetting
from cuescope_sdk.testing._violation import expect


class ModelDepends(ModelSetting):
    """Determinism, batches, and what must not be read."""

    def test_answers_alike_twice(self) -> None:
        """The same batch has the same answer, bit by bit: the cache stands for the model."""
        one, other = (self.model.respond(self.trials()) for _ in range(2))
        expect(
            all(distance(*pair) == 0 for pair in zip(one, other, strict=True)),
            "equal answers to the same batch",
            got="others the second time",
            remedy="Put the model in evaluation mode and sample nothing",
        )

    def test_answers_alike_when_built_again(self) -> None:
        """Equal fingerprints, equal answers."""
        again = self.build().respond(self.trials())
        expect(
            all(map(self.alike, self.model.respond(self.trials()), again)),
            "the answers of the first build",
            got="others",
            remedy="Draw weights and templates from seeded generators, or load them",
        )

    def test_answers_alike_in_any_batch(self) -> None:
        """Batch size is how fast, never what."""
        together = self.model.respond(self.trials())
        alone = [self.model.respond([trial])[0] for trial in self.trials()]
        worst = max(map(distance, together, alone))
        expect(
            worst <= TOLERANCE[self.dtype],
            f"answers within {TOLERANCE[self.dtype]:g} of those given one by one",
            got=f"{worst:.2g}",
            remedy="Normalise and pad each trial by itself",
        )

    def test_answers_duplicates_alike(self) -> None:
        """A trial twice in a batch is answered twice."""
        trials = self.trials()[:3]
        found = self.model.respond([trials[0], trials[1], trials[0], trials[2], trials[0]])
        expect(
            len(found) == 5 and self.alike(found[0], found[2]) and self.alike(found[0], found[4]),
            "one answer for the same trial at every place",
            got="several",
            remedy="Spread the answers of distinct frames back over the trials",
        )

    def test_looks_at_the_frames(self) -> None:
        """Other frames, other answers; or there is nothing to audit."""
        first, *others = self.model.respond(self.trials())
        expect(
            any(distance(first, other) > 0 for other in others),
            "answers that differ between samples",
            got="one answer for all",
            remedy="Check that frames reach the model",
        )

    def test_does_not_read_the_label(self) -> None:
        """The right answer is the answer sheet."""

        def relabelled(trial: Trial) -> Trial:
            sample = trial.sample
            other = next((name for name in sample.choices if name != sample.label), None)
            return changed(trial, sample=changed(sample, label=other))

        self.answers_stay(relabelled, "label")

    def test_does_not_read_annotations(self) -> None:
        """They hold the cues, and do not enter the cache key."""
        self.answers_stay(
            lambda trial: changed(trial, sample=changed(trial.sample, annotations={})),
            "annotations",
        )

    def test_does_not_read_what_a_trial_is_for(self) -> None:
        """Feature and condition are for the method; the cache does not tell them apart."""
        self.answers_stay(
            lambda trial: changed(trial, feature="a-cue", condition="cue-present"),
            "trial's feature and condition",
        )

    def test_does_not_read_the_sample_key(self) -> None:
        """Samples that look alike share one answer in the cache, whatever they are called."""
        self.answers_stay(
            lambda trial: changed(trial, sample=changed(trial.sample, key="another")), "key"
        )
