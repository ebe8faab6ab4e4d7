"""Claims and their kinds, of which rows, words, prompts and checks are made."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator

from cuescope_core.types import Value
from cuescope_sdk.grounding._relations import RELATIONS
from cuescope_sdk.grounding._scenes import SceneFrame
from cuescope_sdk.language._words import (
    AGENTS,
    ANYONE,
    IDEAS,
    IN_SIGHT,
    MENTAL,
    OUT_OF_SIGHT,
    PEOPLE,
    STATES,
    UNCLEAR,
    head_noun,
    normalise_words,
)

Part = Literal["subject", "predicate", "object"]
Reason = Literal[  # the most telling first
    "abstract",
    "unclear reference",
    "occluded",
    "complex relation",
    "out of vocabulary",
    "no evidence",
]


@dataclass(frozen=True)
class ClaimKind:
    """Kind of claims: what they say, and in which words.

    - `title` heads its row of a report.
    - `says` are the fields of a claim that it uses; those that are not `optional` must be there.
    - `words` puts such a claim into plain words, `denial` (with "{}" for these) its denial.
    - `accepts` tells whether a predicate has a meaning.
    - `example` is the claim as JSON for a language model that writes claims down, `rule` a line of
      advice to it.
    - `happens`: it can come before or after something else. `moves`: it is seen only beside the
      frames around its moment. `composed`: its `parts` are claims that are judged each by itself.
    """

    # by name, in the order of a report's rows
    declared: ClassVar[dict[str, "ClaimKind"]] = {}
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

    @property
    def needs(self) -> tuple[Part, ...]:
        """The fields without which it says nothing."""
        return tuple(part for part in self.says if part not in self.optional)


def require_kind(name: str) -> str:
    """The name of a declared kind; raises ValueError for any other."""
    if name not in ClaimKind.declared:
        raise ValueError(f"expected a kind of claims: {', '.join(ClaimKind.declared)}")
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

    def frames_meant(self, frames: int) -> tuple[int, ...]:
        """The frames that it means, of so many that there are."""
        if self.frames is None:
            return tuple(range(frames))
        # a model may speak of frames that it was not shown
        return tuple(frame for frame in self.frames if 0 <= frame < frames)

    @property
    def why_unverifiable(self) -> Reason | None:
        """Why no picture could tell: it is about a thought, or about nothing in particular."""
        phrases = filter(None, (self.subject, self.object))
        nouns = {head_noun(normalise_words(phrase)) for phrase in phrases}
        predicate = normalise_words(self.predicate or "")
        if (
            not nouns.isdisjoint(IDEAS)
            or (self.kind == "attribute" and not STATES.isdisjoint(predicate.split()))
            or (self.kind == "action" and predicate.partition(" ")[0] in MENTAL)
        ):
            return "abstract"
        # parsers of free text leave gaps
        whole = all(getattr(self, part) for part in ClaimKind.declared[self.kind].needs)
        return None if whole and nouns.isdisjoint(UNCLEAR) else "unclear reference"

    @property
    def in_sight(self) -> bool | None:
        """True if an attribute says that the thing is seen, False if unseen; None for others."""
        predicate = normalise_words(self.predicate or "")
        if predicate in OUT_OF_SIGHT:
            return False
        return True if predicate in IN_SIGHT else None

    @property
    def beside_agent(self) -> tuple[str, str] | None:
        """The thing, and where it is for the agent; None unless a relation has one on one side.

        "I am left of the chair" has the chair on the right; "in front of the chair" says nothing
        of which way the agent looks.
        """
        subject = normalise_words(self.subject)
        other = normalise_words(self.object or "")
        if self.kind != "relation" or (subject in AGENTS) == (other in AGENTS):
            return None
        if other in AGENTS:
            return subject, self.predicate or ""
        # seen from the agent it is the other way round
        relation = RELATIONS.get(self.predicate or "")
        turned = relation.inverse if relation and not relation.in_depth else ""
        return other, turned

    def is_general(self, names_of: Callable[[str], Iterable[str]]) -> bool:
        """True if a phrase was found by more general names alone: a "woman" as a "person".

        `names_of` has the names by which a phrase was found, each perhaps several: "person/woman".
        """
        for phrase in filter(None, (self.subject, self.object)):
            noun = head_noun(normalise_words(phrase))
            if noun in PEOPLE - ANYONE:
                names = list(map(normalise_words, names_of(phrase)))
                if names and all(_is_kind_only(noun, name) for name in names):
                    return True
        return False


def _is_kind_only(word: str, known: str) -> bool:
    """True if a name is anyone's, and not the word's own."""
    names = known.split("/")
    said = any(word == name or name.endswith(f" {word}") for name in names)
    return not said and not ANYONE.isdisjoint(names)


# ------------------------------------------------------------------------------------ the kinds

_KINDS = (
    # `subject` is on screen
    ClaimKind(
        name="entity",
        title="What is on screen",
        says=("subject",),
        words="{subject}",
        denial="no {}",
        example={"subject": "red cup"},
        rule="Every thing that is named and there is an entity.",
    ),
    # `subject` has the attribute `predicate` ("open", "red")
    ClaimKind(
        name="attribute",
        title="How things look",
        says=("subject", "predicate"),
        words="{subject} is {predicate}",
        example={"subject": "door", "predicate": "open"},
        happens=True,
    ),
    # So many of `subject` are on screen, `predicate` in digits ("3"); where only those are counted
    # of which more is said ("two men sit"), `parts` say it.
    ClaimKind(
        name="count",
        title="How many there are",
        says=("subject", "predicate"),
        words="{predicate} of {subject}",
        accepts=str.isdecimal,
        example={"subject": "cup", "predicate": "3"},
    ),
    # `subject` (of whom nothing need be known) does `predicate`, a verb's lemma with its particle
    # ("pick up"), to `object`
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
    ),
    # `subject` is `predicate` ("left of", see `RELATIONS`) `object`
    ClaimKind(
        name="relation",
        title="Where things are",
        says=("subject", "predicate", "object"),
        words="{subject} {predicate} {object}",
        example={"subject": "red cup", "predicate": "on", "object": "table"},
        rule="Relations are: left of, right of, above, below, on, under, in front of, behind, "
        "inside, near, far from, touching, around, between.",
    ),
    # `parts[0]` happens `predicate` ("before", "after", "while") `parts[1]`
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
    ),
    # The camera or agent does `predicate` ("turn left", see `SceneFrame.MOTIONS`).
    ClaimKind(
        name="ego-motion",
        title="How the camera moves",
        says=("predicate",),
        words="camera: {predicate}",
        accepts=SceneFrame.MOTIONS.__contains__,
        example={"predicate": "turn left"},
        rule='The person who holds the camera, the robot and the agent are "agent". Their own '
        f"motion is an ego-motion: {', '.join(SceneFrame.MOTIONS)}.",
        happens=True,
        moves=True,
    ),
)
ClaimKind.declared.update({kind.name: kind for kind in _KINDS})
