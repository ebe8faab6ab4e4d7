"""The intervention: it takes the cue out of a sample, or puts it into one."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from jaxtyping import Float

from cuescope_core.capabilities import Capabilities, Requirements
from cuescope_core.plugin import Plugin
from cuescope_core.types import Sample, Trial
from cuescope_sdk.interventions._place import Knowledge, Place

Effect = Literal["removes", "inserts"]
# what has none is tried and shown, and decides nothing alone (CONTRIBUTING.md)
Placebo = Literal[
    "elsewhere", "other donor", "other frames", "other words", "other direction", "none"
]
NEEDS: dict[Knowledge, str] = {
    "region": "the cue's region in the frame",
    "still": "a cue in the frames, which some samples show and others do not",
    "inside": "a cue in the frames, which some samples show and others do not",
    "frames": "the frames that show the cue",
    "words": "a cue in the words of the question, and this one is not there",
    "modality": "a cue that is a whole modality, as all pictures or all text",
    "question": "a cue that is the question as a whole",
    "name": "a word that names the cue, and the run gives none",
    "pair": "pictures of the same scenes with the cue and without it",
}


@dataclass(frozen=True, eq=False)
class Case:
    """A sample, and where it is to be changed.

    What stands there afterwards may come from a `donor`, of which `donor_place` is the same region
    or the cue's own; its frames are those that may be taken. `word` is what the cue is called,
    `seed` decides all that is drawn. `shift` is what is added to the model's embedding of the
    sample, and `norm` how long that embedding is.
    """

    sample: Sample
    place: Place
    donor: Sample | None = None
    donor_place: Place = field(default_factory=Place)
    word: str | None = None
    seed: int = 0
    shift: Float[np.ndarray, " dim"] | None = None
    norm: float = 1.0


class Intervention(Plugin, ABC):
    """Changes samples where a cue is, and only there.

    `needs` is what must be known of the cue's place, `effect` whether the cue is taken away or put
    in. `requires` are the model's outputs and edits and the tools that it cannot do without.
    `placebo` says beside what it is measured: the same change of an equal region "elsewhere", with
    content of an "other donor" (one with the cue where it removes, one without where it inserts),
    of "other frames" of the same sample, with "other words", or a shift of equal length in an
    "other direction". What needs the "still" changes all of each frame that shows the cue, towards
    a donor of the same label: where in the frame the cue is need not be known, and it may be
    nowhere. It `changes` one property, by whose name the change that takes it out and the one that
    puts it in are known as a pair. What needs the "inside" moves the model's embedding by the
    `shift` of a case, and changes no picture. What is taken of a donor is taken `in_place`, where
    the cue is in the sample; else where it is in the donor, or would be. What is
    `partial` leaves something of the cue: where it does nothing, that says nothing of the cue.
    """

    title: ClassVar[str]
    needs: ClassVar[Knowledge]
    effect: ClassVar[Effect] = "removes"
    # by the same function: what it does wrong, its placebo does wrong too (docs/adr/0019)
    placebo: ClassVar[Placebo] = "elsewhere"
    in_place: ClassVar[bool] = True
    changes: ClassVar[str | None] = None
    # what leaves a part of the cue counts only where it confirms
    partial: ClassVar[bool] = False
    requires: ClassVar[Requirements] = Requirements(outputs=frozenset())

    @abstractmethod
    # it sees no answers, so it cannot be fitted to them (docs/adr/0019)
    def intervene(self, cases: Sequence[Case], tools: Mapping[str, Any]) -> list[Trial]:
        """A trial a case, in order: another sample under another key, or an edit of the model.

        `tools` are by role. Nothing outside of `case.place` changes; the same case gives the same
        trial; labels and annotations are not looked at.
        """

    @classmethod
    def lacks(cls, has: Capabilities, tools: Sequence[str]) -> str | None:
        """Lack of model and tools for it, in a line; None where nothing does."""
        needs = cls.requires
        lacking = sorted(needs.edits - has.edits)
        edits = [f"the edit '{edit}'{has.why_not(edit)}" for edit in lacking]
        if edits:
            return f"the model does not take {' and '.join(edits)}"
        if insides := sorted(needs.exposes - has.exposes):
            return f"the model does not show its {insides[0]}{has.why_not(insides[0])}"
        if outputs := sorted(needs.outputs - has.outputs):
            return f"the model gives no {' and no '.join(outputs)}"
        if roles := sorted(needs.tools - set(tools)):
            return f"there is no {roles[0]} (--tool {roles[0]}=SPEC)"
        return None

    @classmethod
    def why_not(
        cls,
        known: Set[str],
        has: Capabilities,
        tools: Sequence[str],
    ) -> str | None:
        """Why it does not apply where this is `known` of a cue, in a line; None where it does."""
        lacking = cls.lacks(has, tools)
        if lacking is None and cls.needs not in known:
            return f"it needs {NEEDS[cls.needs]}"
        return lacking
