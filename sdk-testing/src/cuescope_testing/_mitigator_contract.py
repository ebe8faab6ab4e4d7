"""Contract of mitigators: it learns the same twice, and answers by what it learned."""

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cuescope_core.amounts import count_of
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

    def test_learns_the_same_twice(self) -> None:
        """A report that runs again finds the same."""
        expect(
            digest(*self.fit().content()) == digest(*self.learned.content()),
            "the same learned from the same task",
            got="something else",
            remedy="Draw from a seeded generator that is made anew in fit",
        )

    def test_answers_each_trial_with_what_it_asks(self) -> None:
        """A response a trial, with finite logits, and the embedding where it is asked for."""
        # without the embedding, which a router may need all the same
        only = [replace(trial, outputs=frozenset({"logits"})) for trial in self.trials]
        for trials in (self.trials, only, []):
            answers = self.learned.answer(trials, self.ask)
            expect(
                len(answers) == len(trials) and all(map(_is_whole, trials, answers)),
                "a response for each trial, with a finite logit for each choice",
                got=f"{len(answers)} for {count_of(len(trials), 'trials')}, or something "
                f"missing in one",
                remedy="`rescore` keeps what a trial asks for",
            )

    def test_answers_the_same_in_any_batch_and_order(self) -> None:
        """Answers do not depend on what else is asked at the same time."""
        single = [self._logits([trial])[0] for trial in self.trials]
        backwards = self._logits(self.trials[::-1])[::-1]
        for logits in (single, backwards):
            self._expect_same(
                logits,
                "the same answers alone, together and in another order",
                "Let an answer depend on its own trial and on what was learned",
            )

    def test_does_not_look_at_labels(self) -> None:
        """At test time nobody knows them."""
        bare = [with_sample(trial, label=None, annotations={}) for trial in self.trials]
        self._expect_same(
            self._logits(bare),
            "the same answers to samples without label and annotations",
            "Look at frames and at what was learned alone",
        )

    def test_takes_the_choices_in_any_order(self) -> None:
        """Logits belong to the choices of their own trial."""
        turned = [with_sample(t, choices=t.sample.choices[::-1]) for t in self.trials]
        self._expect_same(
            np.stack(self._logits(turned))[:, ::-1],
            "logits in the order of each sample's choices",
            "`self.columns(trial)` gives the place of each choice among the labels",
            got="another order",
        )

    def test_is_kept_whole(self) -> None:
        """A loaded mitigation, and the model with it, answer as the one that was learned."""
        with TemporaryDirectory() as place:
            folder = Path(place)
            model = {"model": self.asked.fingerprint, "spec": "fake"}
            self.learned.save(folder, mitigator="plugin", model=model)
            # inside: the folder is gone afterwards
            loaded = self.plugin.learned.load(folder)
        reloaded = [np.asarray(a.logits) for a in loaded.answer(self.trials, self.ask)]
        self._expect_same(
            reloaded,
            "the same answers after it was saved and loaded",
            "Keep all that answers depend on in the fields of the dataclass",
        )

    def test_refuses_or_answers_other_choices(self) -> None:
        """A choice that was not learned is one line, no wrong answer in silence."""
        choices = ("left", "right")
        other = [with_sample(t, choices=choices, label=None) for t in self.trials[:2]]
        try:
            answers = self.learned.answer(other, self.ask)
        except UserError:
            return
        expect(
            all(np.asarray(answer.logits).shape == (2,) for answer in answers),
            "a line that refuses, or a logit for each choice",
            got="something else",
            remedy="`self.columns` raises UserError for a choice that was not learned",
        )

    def _expect_same(
        self,
        logits: ArrayLike,
        expected: str,
        remedy: str,
        *,
        got: str = "others",
    ) -> None:
        same = np.allclose(self._logits(self.trials), logits, atol=1e-4)
        expect(same, expected, got=got, remedy=remedy)

    def _logits(self, trials: list[Trial]) -> list[np.ndarray]:
        answers = self.learned.answer(trials, self.ask)
        return [np.asarray(answer.logits) for answer in answers]


def _is_whole(trial: Trial, answer: Response) -> bool:
    if answer.missing(trial.outputs):
        return False
    logits = np.asarray(answer.logits)
    return len(logits) == len(trial.sample.choices) and bool(np.isfinite(logits).all())
