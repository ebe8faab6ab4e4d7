"""Claims and their kinds. A kind is declared once; rows, words, prompts and checks are made of it.

A package adds one of its own where its module is imported:

    declare_kind(ClaimKind("sound", "What is heard", says=("subject",), words="{subject} is heard"))
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, Self

from pydantic import AfterValidator

from cuescope.types import Value
from cuescope_sdk.grounding._scenes import MOTIONS

Part = Literal["subject", "predicate", "object"]


@dataclass(frozen=True)
class ClaimKind:
    """What claims of a kind say, and in which words.

    - `title` heads its row of a report.
    - `says` are the fields of a claim that it uses; those that are not `optional` must be there.
    - `words` puts such a claim into plain words, `denial` (with "{}" for these) its denial.
    - `accepts` tells whether a predicate has a meaning.
    - `example` is the claim as JSON for a language model that writes claims down, `rule` a line of
      advice to it.
    - `happens`: it can come before or after something else. `moves`: it is seen only beside the
      frames around its moment. `composed`: its `parts` are claims that are judged each by itself.
    - `read` finds the claims in a step's words; None where a method's parser reads them. Claims
      without frames are given those that the step names.
    """

    name: str
    title: str
    says: tuple[Part, ...]
    words: str
    denial: str = "not ({})"
    optional: frozenset[Part] = frozenset()
    accepts: Callable[[str], bool] = bool
    example: Mapping[str, str | int] = field(default_factory=dict)
    rule: str = ""
    happens: bool = False
    moves: bool = False
    composed: bool = False
    read: "Callable[[str], Iterable[Claim]] | None" = None

    @property
    def needs(self) -> tuple[Part, ...]:
        """The fields without which it says nothing."""
        return tuple(part for part in self.says if part not in self.optional)


KINDS: dict[str, ClaimKind] = {}  # by name, in the order of a report's rows


def declare_kind(kind: ClaimKind) -> ClaimKind:
    """Adds a kind; raises ValueError where another one has its name."""
    if KINDS.setdefault(kind.name, kind) != kind:
        raise ValueError(f"a kind of claims is called '{kind.name}' already")
    return kind


def require_kind(name: str) -> str:
    """The name of a declared kind; raises ValueError for any other."""
    if name not in KINDS:
        raise ValueError(f"expected a kind of claims: {', '.join(KINDS)}")
    return name


KindName = Annotated[str, AfterValidator(require_kind)]


class Copied(Value):
    """A value that can be copied with changes."""

    def replace(self, **fields: object) -> Self:
        """A copy with other values of these fields, which are not checked."""
        return self.model_copy(update=fields)


class Claim(Copied):
    """One thing that a step says can be seen.

    A noun phrase is written as its adjectives and its head, lower case, singular, without article:
    "red chair". What the fields mean for each `kind` stands where it is declared, below.

    `frames` are the moments meant, indices into the sample's frames: None where nothing is said of
    time, () where what is said points outside the video. `text` is the words of the step.
    """

    kind: KindName
    text: str
    subject: str = ""
    predicate: str | None = None
    object: str | None = None
    negated: bool = False
    frames: tuple[int, ...] | None = None
    parts: tuple["Claim", ...] = ()


# ---------------------------------------------------------------------------------- declared here

# `subject` is on screen
declare_kind(
    ClaimKind(
        name="entity",
        title="What is on screen",
        says=("subject",),
        words="{subject}",
        denial="no {}",
        example={"subject": "red cup"},
        rule="Every thing that is named and there is an entity.",
    )
)
# `subject` has the attribute `predicate` ("open", "red")
declare_kind(
    ClaimKind(
        name="attribute",
        title="How things look",
        says=("subject", "predicate"),
        words="{subject} is {predicate}",
        example={"subject": "door", "predicate": "open"},
        happens=True,
    )
)
# So many of `subject` are on screen, `predicate` in digits ("3"); where only those are counted of
# which more is said ("two men sit"), `parts` say it.
declare_kind(
    ClaimKind(
        name="count",
        title="How many there are",
        says=("subject", "predicate"),
        words="{predicate} of {subject}",
        accepts=str.isdecimal,
        example={"subject": "cup", "predicate": "3"},
    )
)
# `subject` (of whom nothing need be known) does `predicate`, a verb's lemma with its particle
# ("pick up"), to `object`
declare_kind(
    ClaimKind(
        name="action",
        title="What happens",
        says=("subject", "predicate", "object"),
        optional=frozenset({"subject", "object"}),
        words="{subject}: {predicate} {object}",
        example={"subject": "man", "predicate": "pick up", "object": "red cup"},
        rule="Verbs are infinitives with their particle, in the active voice; "
        '"object" may be left out.',
        happens=True,
        moves=True,
    )
)
# `subject` is `predicate` ("left of", see `INVERSE`) `object`
declare_kind(
    ClaimKind(
        name="relation",
        title="Where things are",
        says=("subject", "predicate", "object"),
        words="{subject} {predicate} {object}",
        example={"subject": "red cup", "predicate": "on", "object": "table"},
        rule="Relations are: left of, right of, above, below, on, under, in front of, behind, "
        "inside, near, far from, touching, around, between.",
    )
)
# `parts[0]` happens `predicate` ("before", "after", "while") `parts[1]`
declare_kind(
    ClaimKind(
        name="temporal",
        title="In which order",
        says=(),
        words="{predicate}",
        example={"first": 1, "predicate": "before", "second": 2},
        rule="A temporal claim names two earlier lines by their numbers; its predicate is before, "
        "after or while.",
        moves=True,
        composed=True,
    )
)
# The camera or agent does `predicate` ("turn left", see `MOTIONS`).
declare_kind(
    ClaimKind(
        name="ego-motion",
        title="How the camera moves",
        says=("predicate",),
        words="camera: {predicate}",
        accepts=MOTIONS.__contains__,
        example={"predicate": "turn left"},
        rule='The person who holds the camera, the robot and the agent are "agent". Their own '
        f"motion is an ego-motion: {', '.join(MOTIONS)}.",
        happens=True,
        moves=True,
    )
)
