"""All that was measured of one cue, and what that comes to."""

from collections.abc import Sequence
from dataclasses import dataclass

from cuescope_confirm.companions import Discordant
from cuescope_confirm.companions.difficulty import Drawn, is_half
from cuescope_confirm.locating import Target
from cuescope_confirm.scores import Effect, Ruling
from cuescope_confirm.testimony.votes import Testimony, Vote, jointly_telling
from cuescope_confirm.testimony.witnesses import Witness
from cuescope_sdk.statistics import DoseResponse, Estimate, PrognosticGap

OPEN = Ruling("cannot tell")


@dataclass(frozen=True, eq=False)
class Row:
    """A cue with all that was measured of it; `lost` is accuracy over all samples.

    `effect` is how large it is, `together` the test of several kinds. `drawn` is the wrong answer
    that a cause brings most, `posterior` what one model of all rows says of the effect.
    """

    target: Target
    measured: Sequence[Testimony]
    unmeasured: Sequence[Witness]
    votes: Sequence[Vote]
    ruling: Ruling = OPEN
    effect: Estimate[float] | None = None
    together: Effect | None = None
    lost: Estimate[float] | None = None
    discordant: Sequence[Discordant] = ()
    beside: PrognosticGap | None = None
    drawn: Drawn | None = None
    posterior: DoseResponse | None = None

    @property
    def draws_answers(self) -> bool:
        """Whether what is tested is that the cue makes its label a likelier answer to others."""
        return self.target.direction.toward == "the label"

    @property
    def fullest(self) -> list[Vote]:
        """The kinds that change all of the cue, else its inside, a part of it, or all frames."""
        joined = jointly_telling(self.votes)
        # what is tested together gives the size, too
        if joined and all(vote.standing != "full" for vote in joined):
            return joined
        # the best standing that any kind has: weaker ones do not dilute it
        for standing in ("full", "inside", "partial", "coarse"):
            of_standing = [vote for vote in self.votes if vote.standing == standing]
            if of_standing:
                return of_standing
        return []

    @property
    def telling(self) -> list[Vote]:
        """The kinds that are tested together, else the one that changes most of the cue."""
        return jointly_telling(self.votes) or self.fullest

    @property
    def tested(self) -> Effect:
        """The test of these kinds; raises IndexError where nothing was measured."""
        return self.together or self.telling[0].effect

    @property
    def stated(self) -> Estimate[float] | None:
        """The effect as it is told: of what is not decided its interval holds that there is none.

        What goes with the cue may do all that was measured.
        """
        if self.effect is None or self.ruling.verdict != "cannot tell":
            return self.effect
        value = self.effect.value
        # none, as surely told as the effect
        low = min(self.effect.low, self.effect.low - value)
        high = max(self.effect.high, self.effect.high - value)
        return Estimate(value, low, high)

    @property
    def is_shown(self) -> bool:
        """Whether samples as they are show a difference to be caused: the run's, or all of them.

        Those held out that are asked about are as many again as the run's.
        """
        if self.target.direction.shown:
            return True
        return self.beside is not None and self.beside.plain.low > 0

    def stands_for_one(self, margin: float) -> bool:
        """Whether one answer surely comes with the cue in samples of all labels, all else alike."""
        return self.drawn is not None and self.drawn.stands_out(margin)

    def is_said_as_they_are(self, margin: float) -> bool:
        """Whether samples as they are say that the cue moves answers, all else alike.

        Those of its own label, surely by half of a margin, or one answer in those of all labels.
        """
        is_sure = self.beside is not None and is_half(self.beside.alike, margin)
        return is_sure or self.stands_for_one(margin)

    def moves(self, level: float) -> bool:
        """Whether a kind of change, or several together, surely move answers."""
        effects = [vote.effect for vote in self.votes]
        if self.together is not None:
            effects.append(self.together)
        return any(effect.corrected <= level for effect in effects)

    def rank(self, level: float) -> tuple[bool, bool, float, float]:
        """The lower, the earlier in a report: causes by what they cost, then what may be one.

        Last stands what is none, what something else explains, and what was not seen to move.
        """
        missing = self.ruling.missing
        is_open = missing is not None and not missing.explained and self.moves(level)
        lost = self.lost.value if self.lost else 0.0
        # below any effect: what was not measured stands last
        effect = self.effect.value if self.effect else -1.0
        return self.ruling.verdict != "causes", not is_open, -lost, -effect

    @property
    def fine(self) -> list[Testimony]:
        """The witnesses that change less than a whole frame."""
        return [
            testimony
            for testimony in self.measured
            if testimony.plugin.needs != "frames"
        ]

    @property
    def decisive(self) -> Testimony | None:
        """The witness with the clearest effect; of whole frames where no finer one decides."""
        # the clearest by itself is what a table of one figure shows
        return min(
            self.fine or self.measured,
            key=lambda testimony: clearness(testimony.effect),
            default=None,
        )

    @property
    def pictured(self) -> Testimony | None:
        """The witness whose pictures are shown: the decisive one.

        Of edits inside the model one that takes the cue out: its samples show the cue.
        """
        decisive = self.decisive
        if decisive is None or decisive.removes or not decisive.is_inside:
            return decisive
        able = [other for other in self.fine if other.removes and other.is_inside]
        return able[0] if able else decisive

    @property
    def confirming(self) -> list[Testimony]:
        """The witnesses that confirm, those that take the cue out before others, clearest first."""
        return sorted(
            [testimony for testimony in self.measured if testimony.confirms],
            key=lambda testimony: (not testimony.removes, testimony.effect.corrected),
        )

    def clearest(self, *, removes: bool) -> list[Testimony]:
        """Of the finer ones those that confirm in one direction, the largest sure effect first.

        One that does nothing by itself is left out, whatever others of its kind do.
        """
        able = [
            testimony
            for testimony in self.fine
            if testimony.confirms and testimony.removes == removes
        ]
        able.sort(key=lambda testimony: -testimony.effect.low)
        return [testimony for testimony in able if testimony.effect.low > 0] or able


def clearness(effect: Effect) -> tuple[float, float]:
    """The less, the clearer an effect."""
    # p-values have a least value: among many of these the size decides
    return effect.corrected, -effect.least
