"""Contract of tells: a strength an option, from labels that it may learn from alone."""

from typing import Any, ClassVar

import numpy as np

from cuescope_sdk import Sample, UserError, generator
from cuescope_sdk.tells import Tell
from cuescope_testing._contract import Contract, expect

COUNT = 60
FOLDS = 3
WORDS = [
    "red",
    "blue",
    "old",
    "new",
    "car",
    "bus",
    "tram",
    "bird",
    "7",
    "12",
    "yes",
    "no",
]


class TellContract(Contract):
    """Checks of a tell on questions of words drawn by chance, with two to five options each."""

    kind: ClassVar[str] = "tell"

    def exercise(self) -> None:
        """Build it, and ask it once."""
        self.strengths()

    @property
    def questions(self) -> list[Sample]:
        """Questions, of which every third shares its kind with others."""
        rng = generator(0, "tell contract")
        samples = []
        for number in range(COUNT):
            options: dict[str, None] = {}
            while len(options) < 2 + number % 4:
                words = rng.choice(WORDS, int(rng.integers(1, 4)))
                options[" ".join(words.tolist())] = None
            choices = tuple(options)
            samples.append(
                Sample(
                    key=f"q{number}",
                    frames=(),
                    question=f"{WORDS[number % 5]} or {WORDS[number % 7]}?",
                    choices=choices,
                    label=choices[int(rng.integers(len(choices)))],
                    annotations={"question_type": WORDS[number % 3]},
                )
            )
        return samples

    def strengths(self) -> Any:
        """Strengths of all options, each learned from other folds."""
        fold = np.arange(COUNT) % FOLDS
        rng = generator(0, "tell contract", "decoys")
        return Tell.held_out_strengths("yours", self._build, self.questions, fold, rng)

    def _build(self) -> Tell:
        return self.plugin(self.plugin.Options(**self.options), self.context())  # type: ignore[no-any-return]

    def test_does_not_read_the_labels_that_it_is_asked_for(self) -> None:
        """Its strengths stay when held-out labels change: look at labels where training is True."""
        got = "others"
        try:
            same = np.array_equal(self.strengths(), self.strengths())
        except UserError as error:
            same = False
            got = str(error)
        expect(same, "the same strengths from the same questions", got=got)

    def test_has_a_title_that_ends_the_sentence(self) -> None:
        """Reports say "Taking {title} is right in 31% of 400 questions"."""
        title = self.plugin.title
        fits = title and not title.endswith(".") and not title[0].isupper()
        expect(fits, "a title such as 'the longest option'", got=repr(title))
