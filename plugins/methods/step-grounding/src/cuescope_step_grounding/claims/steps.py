"""From the steps of a trace to their claims."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, starmap

from cuescope_sdk.grounding import Claim, ClaimKind
from cuescope_step_grounding.claims.english.extraction import (
    UntimedClaim,
    orders_of,
    untimed_claims,
)
from cuescope_step_grounding.claims.english.nouns import Story
from cuescope_step_grounding.claims.english.sentences import Sentence, sentences
from cuescope_step_grounding.claims.english.spacy_parser import Parser
from cuescope_step_grounding.claims.english.tokens import Doc, clause_of, is_verb
from cuescope_step_grounding.claims.times import Clock, Frames, union

_BREAKS = {",", "and", "but", "then", "while", "before", "after", "when", "as", "until"}
_LONGEST_WORD = 30  # letters; English has none longer outside chemistry

# The moments that a clause names, by the index of its verb.
MomentsByClause = dict[int, list[Frames | None]]
Claims = tuple[Claim, ...]


def read_steps(parser: Parser, steps: Sequence[str], clock: Clock) -> list[Claims]:
    """The claims of each step of a trace; pronouns and "then" look back over the steps."""
    by_step = [sentences(step, clock) for step in steps]
    parsed = iter(parser.parse(list(chain.from_iterable(by_step))))
    reader = _Reader(parser)
    return [
        reader.read([(said, next(parsed)) for said in of_step]) for of_step in by_step
    ]


def _is_english(words: Doc) -> bool:
    """True of every short line of plain letters, and of a longer one with a sixth of English stop
    words: a parser finds nouns and verbs in any text."""
    plain = [word for word in words if word.is_alpha]
    if not plain or max(map(len, plain)) > _LONGEST_WORD:
        return False
    if sum(word.is_ascii for word in plain) < 0.8 * len(plain):
        return False
    return len(plain) <= 3 or 6 * sum(word.is_stop for word in plain) >= len(plain)


@dataclass
class _Reader:
    """Reads the steps of a trace in order."""

    parser: Parser
    story: Story = field(default_factory=Story)
    last: UntimedClaim | None = None  # what happened last

    def read(self, parsed: Sequence[tuple[Sentence, Doc]]) -> Claims:
        times = list(starmap(_moments_by_clause, parsed))
        clauses = list(chain.from_iterable(map(dict.values, times)))
        # "The man sits, and at frame 4 he drinks": what comes before a step's first moment is taken
        # to be of that moment too, for a step is told as one scene.
        placed = (frames for frames in map(union, clauses) if frames is not None)
        now = next(placed, None)
        claims = []
        for (sentence, words), of_sentence in zip(parsed, times, strict=True):
            when = _frames_by_word(len(words), of_sentence, now)
            if _is_english(words):
                claims += self._read_sentence(sentence.text, words, when)
            # the next sentence goes on at the moment that was told last
            now = when[-1]
        # what is said twice in a step counts once
        return tuple(dict.fromkeys(claims))

    def _read_sentence(
        self, text: str, words: Doc, when: Sequence[Frames | None]
    ) -> list[Claim]:
        self.story.read(words)
        untimed = untimed_claims(words, self.story, self.parser.patterns.marks(words))
        claim_of = {}
        for event in untimed:
            clause = event.word if is_verb(event.word) else clause_of(event.word)
            claim_of[event] = event.claim(text, when[clause.i])
        claims = add_what_is_counted(list(claim_of.values()))
        for earlier, order, event in orders_of(words, untimed, self.last):
            # "Then" may look back to an event of an earlier step, which has no words in this one.
            before = claim_of.get(earlier) or earlier.claim("", None)
            parts = (before, claim_of[event])
            claims.append(
                Claim(kind="temporal", text=text, predicate=order, parts=parts)
            )
        happened = [event for event in untimed if event.happens]
        self.last = happened[-1] if happened else self.last
        return claims


def add_what_is_counted(claims: Sequence[Claim]) -> list[Claim]:
    """The claims, each count with what else is said of those that are counted."""
    describing = []
    for claim in claims:
        describes = {"subject", "predicate"} <= {*ClaimKind.declared[claim.kind].says}
        if describes and claim.kind != "count":
            describing.append(claim)
    described = []
    for claim in claims:
        if claim.kind == "count":
            said = [c for c in describing if claim.subject in (c.subject, c.object)]
            claim = claim.replace(parts=tuple(said))
        described.append(claim)
    return described


def _moments_by_clause(sentence: Sentence, words: Doc) -> MomentsByClause:
    """The moments of a sentence by the clause that they stand in: the one that follows where they
    open it ("At 0:04, he ..."), else the one before."""
    # a fragment has no verb: its first word stands for one
    verbs = [word.i for word in words if is_verb(word)] or [0]
    times: MomentsByClause = {}
    for position, mention in sentence.moments:
        following = bisect_left(verbs, position)
        opens = not following or words[position - 1].lower_ in _BREAKS
        ends = opens and following < len(verbs)
        verb = verbs[following] if ends else verbs[following - 1]
        times.setdefault(verb, []).append(mention.frames)
    return times


def _frames_by_word(
    words: int,
    times: MomentsByClause,
    now: Frames | None,
) -> list[Frames | None]:
    """The frames meant at each word's clause: its own, else those told last."""
    frames = []
    for index in range(words):
        meant = union(times.get(index, ()))
        now = now if meant is None else meant
        frames.append(now)
    return frames
