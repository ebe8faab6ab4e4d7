"""Contract of mitigators: it learns the same twice, and answers by what it learned."""

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cuescope_core.digest import digest
from cuescope_sdk import Response, Trial, UserError
from cuescope_sdk.cues import learn_log_odds
from cuescope_sdk.maths import normalise
from cuescope_sdk.mitigation import CueRouter, Mitigation, Task
from cuescope_sdk.statistics import Groups
from cuescope_testing._contract import (
    NotApplicable,
    PerClass,
    ShownContract,
    expect,
    with_sample,
)
from cuescope_testing._fake_data import CUE
from cuescope_testing._fake_models import FakeModel

OUTPUTS = frozenset({"logits", "embedding"})


class MitigatorContract(ShownContract):
    """Checks of a mitigator, on a model that takes a red corner for "top".

    `model` is that model's class; give one that has what the mitigator `requires`.
    """

    kind = "mitigator"
    model: ClassVar[type[Any]] = FakeModel
    # half to learn from: 45 samples, 15 of each label
    count: ClassVar[int] = 90
    learned: PerClass[Mitigation] = PerClass(lambda contract: contract().fit())

    def exercise(self) -> None:
        """Build it, and fit it once."""
        self.fit()

    @cached_property
    def asked(self) -> Any:
        """The model; raises NotApplicable where it lacks what the mitigator needs."""
        model = self.model(self.model.Options(), self.context())
        needs = self.plugin.requires
        has = model.capabilities
        # edits are not asked of a model here, so they are not looked at
        if not (needs.outputs <= has.outputs and needs.exposes <= has.exposes):
            raise NotApplicable("needs a model that has more; set `model` to one")
        return model

    def ask(self, trials: Any) -> list[Response]:
        """The model's own answers."""
        return list(map(self._answer, trials))

    def _answer(self, trial: Trial) -> Response:
        if trial.readout is None:
            # one by one: answers must not depend on how they are batched
            [response] = self.asked.respond([trial])
            return response  # type: ignore[no-any-return]
        [reading] = trial.readout.read(self.asked, [trial])
        return Response(readout=reading)

    def task(self) -> Task:
        """Half of the samples, with the cue that they show."""
        samples = self.samples[: len(self.samples) // 2]
        shows = np.array([any(sample.annotations["cues"][CUE]) for sample in samples])
        # the first frame shows the cue wherever any does
        stills = [Trial(sample=s.static(0), outputs=OUTPUTS) for s in samples]  # type: ignore[arg-type]
        embedding = np.stack([np.asarray(a.embedding) for a in self.ask(stills)])
        labels = self.dataset().labels
        recogniser = learn_log_odds(
            normalise(embedding).astype(np.float64),
            np.array([labels.index(str(sample.label)) for sample in samples]),
            shows.astype(int),
            Groups.of(samples),
            np.random.default_rng(0),
        )
        return Task(
            labels=labels,
            samples=samples,
            shows=shows[:, None],
            # a sample of "middle" with the corner is taken for "top"
            hurts=("middle",),
            router=CueRouter.of([recogniser]),
            ask=self.ask,
            context=self.context(),
            names=(CUE,),
            capabilities=self.asked.capabilities,
        )

    def fit(self) -> Mitigation:
        """Mitigation that it learns of the task."""
        _ = self.asked  # or it is not applicable
        learned: Mitigation = self.build().fit(self.task())
        return learned

    @property
    def trials(self) -> list[Trial]:
        """The other half, asked for logits and embedding."""
        rest = self.samples[len(self.samples) // 2 :]
        return [Trial(sample=sample, outputs=OUTPUTS) for sample in rest]  # type: ignore[arg-type]

    def test_is_learned_and_kept(self) -> None:
        """A report that runs again finds the same: seed what fit draws, keep all in the fields."""
        again = digest(*self.fit().content())
        expect(again == digest(*self.learned.content()), "the same learned twice")
        with TemporaryDirectory() as place:
            folder = Path(place)
            model = {"model": self.asked.fingerprint, "spec": "fake"}
            self.learned.save(folder, mitigator="plugin", model=model)
            # inside: the folder is gone afterwards
            loaded = self.plugin.learned.load(folder)
        reloaded = [np.asarray(a.logits) for a in loaded.answer(self.trials, self.ask)]
        self._expect_same(reloaded, "the same answers after it was saved and loaded")

    def test_answers_each_trial_with_what_it_asks(self) -> None:
        """A response a trial, with finite logits and what else is asked: `rescore` keeps it."""
        # without the embedding, which a router may need all the same
        only = [replace(trial, outputs=frozenset({"logits"})) for trial in self.trials]
        for trials in (self.trials, only, []):
            answers = self.learned.answer(trials, self.ask)
            expect(len(answers) == len(trials), "a response a trial", got=len(answers))
            whole = all(map(_is_whole, trials, answers))
            expect(whole, "a finite logit for each choice")

    def test_answers_by_the_trial_alone(self) -> None:
        """Not by its neighbours, labels or annotations; logits are in the order of its choices."""
        single = [self._logits([trial])[0] for trial in self.trials]
        self._expect_same(single, "the same answers alone and together")
        backwards = self._logits(self.trials[::-1])[::-1]
        self._expect_same(backwards, "the same answers in another order")
        bare = [with_sample(trial, label=None, annotations={}) for trial in self.trials]
        self._expect_same(self._logits(bare), "the same answers without label")
        turned = [with_sample(t, choices=t.sample.choices[::-1]) for t in self.trials]
        columns = np.stack(self._logits(turned))[:, ::-1]
        self._expect_same(columns, "logits in the order of each sample's choices")

    def test_refuses_or_answers_other_choices(self) -> None:
        """`self.columns` refuses a choice that was not learned, which else is wrong in silence."""
        choices = ("left", "right")
        other = [with_sample(t, choices=choices, label=None) for t in self.trials[:2]]
        try:
            answers = self.learned.answer(other, self.ask)
        except UserError:
            return
        whole = all(np.asarray(answer.logits).shape == (2,) for answer in answers)
        expect(whole, "a line that refuses, or a logit for each choice")

    def _expect_same(self, logits: ArrayLike, expected: str) -> None:
        same = np.allclose(self._logits(self.trials), logits, atol=1e-4)
        expect(same, expected, got="others")

    def _logits(self, trials: list[Trial]) -> list[np.ndarray]:
        answers = self.learned.answer(trials, self.ask)
        return [np.asarray(answer.logits) for answer in answers]


def _is_whole(trial: Trial, answer: Response) -> bool:
    if answer.missing(trial.outputs):
        return False
    logits = np.asarray(answer.logits)
    finite = bool(np.isfinite(logits).all())
    return len(logits) == len(trial.sample.choices) and finite
