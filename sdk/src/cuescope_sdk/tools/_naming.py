"""Words for groups of frames: what a namer is given, and what it guesses."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, runtime_checkable

import numpy as np
from jaxtyping import Float
from pydantic import FiniteFloat

from cuescope_core.capabilities import ToolRole
from cuescope_core.types import Frame, Value

LOOKS_LIKE = ", looks like: "


class NameGuess(Value):
    """A name with the namer's figure for it in the group and elsewhere; the first is larger."""

    name: str
    score: FiniteFloat
    elsewhere: FiniteFloat

    def __str__(self) -> str:
        figures = f"({self.score:.2f} vs {self.elsewhere:.2f} elsewhere)"
        figures = figures.replace("-", "\N{MINUS SIGN}")
        return f"{self.name} {figures}"

    def title(self, key: str) -> str:
        """Title of a group of frames in a report: its key, and what it looks like."""
        return f"{key}{LOOKS_LIKE}{self}"

    @staticmethod
    def name_in(title: str) -> str | None:
        """The guessed word alone, of what `title` wrote; None where there is no guess.

        >>> NameGuess.name_in("cluster-03, looks like: tree (0.31 vs 0.12 elsewhere)")
        'tree'
        """
        _, mark, guess = title.partition(LOOKS_LIKE)
        return guess.rpartition(" (")[0] if mark else None

    @classmethod
    def best(
        cls,
        names: Sequence[str],
        scores: Float[np.ndarray, " name"],
        elsewhere: Float[np.ndarray, " name"],
    ) -> Self | None:
        """The name whose figure in the group most exceeds that elsewhere; None where none does.

        What is alike everywhere drops out: a word that suits all frames names none.
        """
        if not len(names):
            return None
        best = int(np.argmax(scores - elsewhere))
        if scores[best] <= elsewhere[best]:
            return None
        return cls(name=names[best], score=scores[best], elsewhere=elsewhere[best])


@dataclass(frozen=True, eq=False)
class FrameGroup:
    """Frames that go together, and frames that do not.

    `frames` are some of the group, the most typical first, `others` some of the rest. `centre` and
    `elsewhere` (dim) are the mean unit embeddings of all of the group and of all of the rest, in
    the space in which the model's `embed_texts` gives unit rows (text, dim); it raises UserError
    where the model reads no texts. `labels` are the answers that the model chooses from.
    """

    frames: tuple[Frame, ...]
    others: tuple[Frame, ...]
    centre: Float[np.ndarray, " dim"]
    elsewhere: Float[np.ndarray, " dim"]
    embed_texts: Callable[[Sequence[str]], Float[np.ndarray, "text dim"]]
    labels: tuple[str, ...] = ()


@runtime_checkable
class Namer(Protocol):
    """A tool in the role `namer`."""

    def name_groups(self, groups: Sequence[FrameGroup]) -> list[NameGuess | None]:
        """A guess for each group; None where no word fits it better than the rest."""


# a role that the engine does not know: any package may bring one (docs/adr/0013)
NAMER = ToolRole("namer", Namer)
