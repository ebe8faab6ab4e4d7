"""What a decision may lack, and what would decide: each stands in a report's sentence."""

from dataclasses import dataclass

PAIRS_DECIDE = (
    "Pairs of your own would decide: the same scenes with the cue and without it "
    "(`--pairs FOLDER`)."
)
SAMPLES_DECIDE = "More samples that show it would decide."
MORE_TESTED = "`--on SPLIT`, or `--folds 4` where there are few"
PLACE_DECIDES = (
    "A tool that finds the cue (`--tool detector=SPEC`) or pairs of your own (`--pairs FOLDER`) "
    "would decide."
)


@dataclass(frozen=True)
class Undecided:
    """Why nothing can be told of a cue, as half a sentence, and what would decide, as a sentence.

    `of_samples` is whether more samples would, so that their number may be told. `explained` is
    whether something else is known that would do all that was measured.
    """

    because: str
    decides: str = PAIRS_DECIDE
    of_samples: bool = False
    explained: bool = False

    def decides_next(self, *, folds: bool) -> str:
        """What would decide, with the options for it; by `folds` all samples are tested already."""
        if folds or self.decides != SAMPLES_DECIDE:
            return self.decides
        return f"{self.decides.removesuffix('.')} ({MORE_TESTED})."


MORE_SAMPLES = Undecided(
    "there are too few samples with it to be sure",
    SAMPLES_DECIDE,
    of_samples=True,
)
MORE_PAIRS = Undecided(
    "the pairs are too few to be sure",
    "More pairs would decide.",
    of_samples=True,
)
NO_SAMPLES = Undecided(
    "too few samples that show it could be changed",
    SAMPLES_DECIDE,
)
ONLY_DAMAGE = Undecided(
    "each change moves answers wherever it is made: the placebo alone does, or the same change "
    "where the cue is not",
    explained=True,
)
NO_CHANGE = Undecided("no change of pictures takes all of it out, or puts it in")
UNSURE_PLACE = Undecided("it is not known well enough where it is", PLACE_DECIDES)
REGION = Undecided(
    "changing whole frames changes the answers, but it is not known which part of the picture "
    "matters",
    PLACE_DECIDES,
)
SECOND_CAUSE = Undecided(
    "only one kind of change moves the answers, and a second kind has to agree"
)
PART_ALONE = Undecided(
    "the changes that move answers take out only a part of it, or are done in the model's "
    "embedding alone: something that is there together with it may be the cause"
)
SECOND_NONE = Undecided(
    "nothing that was done to it moves answers more than the placebos do, but too little of it "
    "could be changed to say that it is no cause"
)
DISAGREEMENT = Undecided(
    "the changes disagree: at least half of them do no more than their placebos"
)
SPREAD = Undecided("what was measured is too unlike to say how large its effect is")
SAME_ELSEWHERE = Undecided(
    "the same changes move answers about as much in pictures in which it can do nothing",
    explained=True,
)
ALL_ELSE = Undecided(
    "something else in its pictures may move the answers: with that held alike, they are the same "
    "with the cue and without it",
    explained=True,
)
PERHAPS_ALL_ELSE = Undecided(
    "something else in its pictures may move the answers: with that held alike, they may be the "
    "same with the cue and without it"
)
HARD_TO_SEE = Undecided(
    "its wrong answers are of many kinds, as with pictures that are hard to see, and only the "
    "model's embedding says that it is one",
    explained=True,
)
NOTHING_TO_EXPLAIN = Undecided(
    "in the run, answers are as often right with it as without it, so there is nothing to explain",
    "A run with more samples would show a difference, if there is one.",
)
OTHER_WAY = Undecided(
    "in the run, answers are as often right with it as without it, and here they change the other "
    "way than was assumed",
    "A run with more samples would show which way answers go.",
)


def nowhere(reason: str | None) -> Undecided:
    """Of a cue that could not be located, with the reason."""
    return Undecided(f"its place is not known ({reason})", PLACE_DECIDES)


def its_company(words: str, name: str) -> Undecided:
    """Of a cue whose company moves the answers; `words` say how often the two go together."""
    return Undecided(
        f"where it comes apart from {words}, answers go with {name} and not with the cue",
        explained=True,
    )


def own_look(answer: str) -> Undecided:
    """Of a cue that mostly samples of the answer's own label show."""
    return Undecided(
        f"it may be what '{answer}' itself looks like: samples of this label show it far more "
        "often than others, and only the model's embedding says that it is a cause",
        explained=True,
    )
