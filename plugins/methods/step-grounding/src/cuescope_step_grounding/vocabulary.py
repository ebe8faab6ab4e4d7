"""The words of a data set: what claims can be made of, for random and counterfactual reasoning."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cuescope_sdk import Sample
from cuescope_sdk.grounding import INVERSE, MOTIONS, Claim, scene_of


@dataclass(frozen=True)
class Vocabulary:
    """Each word once, in order, so that a draw does not depend on how often it is said."""

    heads: tuple[str, ...]
    adjectives: tuple[str, ...]
    relations: tuple[str, ...]
    verbs: tuple[str, ...]
    motions: tuple[str, ...]


def vocabulary(samples: Iterable[Sample], claims: Iterable[Claim]) -> Vocabulary:
    """From the annotated scenes and from what was claimed."""
    heads: set[str] = set()
    adjectives: set[str] = set()
    relations: set[str] = set()
    verbs: set[str] = set()
    motions: set[str] = set()
    for sample in samples:
        for frame in scene_of(sample) or ():
            heads |= {thing.name for thing in frame.things}
            adjectives |= {word for thing in frame.things for word in thing.attributes}
            verbs |= {action.verb for action in frame.actions}
            relations |= {told.predicate for told in frame.relations}
            motions |= {frame.motion} if frame.motion else set()
    for claim in flat(claims):
        for phrase in (claim.subject, claim.object or ""):
            if claim.kind != "ego-motion" and phrase:
                heads.add(head(phrase))
                adjectives |= set(phrase.split()[:-1])
        known = {"attribute": adjectives, "relation": relations, "action": verbs}
        if claim.predicate and claim.kind in known:
            known[claim.kind].add(claim.predicate)
        if claim.predicate and claim.kind == "ego-motion":
            motions.add(claim.predicate)
    return Vocabulary(
        tuple(sorted(heads)), tuple(sorted(adjectives)),
        tuple(sorted(relations)) or tuple(INVERSE), tuple(sorted(verbs)),
        tuple(sorted(motions | (set(MOTIONS) if motions else set()))),
    )  # fmt: skip


def flat(claims: Iterable[Claim]) -> list[Claim]:
    """Claims, and in place of an order of events its parts."""
    return [one for claim in claims for one in (flat(claim.parts) if claim.parts else [claim])]


def head(phrase: str) -> str:
    """The noun of a noun phrase."""
    return phrase.split()[-1] if phrase.split() else ""


def of_steps(claims: Sequence[Sequence[Sequence[Claim]]]) -> list[Claim]:
    """All claims of traces."""
    return [claim for trace in claims for step in trace for claim in step]
