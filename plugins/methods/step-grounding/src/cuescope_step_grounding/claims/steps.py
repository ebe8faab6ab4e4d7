"""From the steps of a trace to their claims."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, starmap
from operator import attrgetter

from cuescope_sdk.grounding import Claim, ClaimKind
from cuescope_step_grounding.claims.english.extraction import orders_of, untimed_claims
from cuescope_step_grounding.claims.english.phrases import View
from cuescope_step_grounding.claims.english.pronouns import Story, clause_of
from cuescope_step_grounding.claims.english.repair import repair
from cuescope_step_grounding.claims.english.sentences import Sentence, sentences
from cuescope_step_grounding.claims.english.spacy_parser import Parser
from cuescope_step_grounding.claims.english.tree import (
    Analysis,
    UntimedClaim,
    Word,
    Words,
    link,
)
from cuescope_step_grounding.claims.times import Clock, Frames, are_contradictory, union

_BREAKS = {",", "and", "but", "then", "while", "before", "after", "when", "as", "until"}

# The moments that a clause names, by the index of its verb.
MomentsByClause = dict[int, list[Frames | None]]


@dataclass(frozen=True)
class StepClaims:
    """The claims of a step; whether it tells two times of one thing that share no frame."""

    claims: tuple[Claim, ...] = ()
    contradictory: bool = False


def read_steps(parser: Parser, steps: Sequence[str], clock: Clock) -> list[StepClaims]:
    """The claims of each step of a trace; pronouns and "then" look back over the steps."""
    by_step = [sentences(step, clock) for step in steps]
    # All sentences of a trace are parsed in one call: spaCy is many times faster in batches.
    parsed = chain.from_iterable(by_step)
    texts = [[word.text for word in sentence.words] for sentence in parsed]
    analyses = iter(parser.analyse(texts))
    reader = _Reader()
    claims = []
    for step, of_step in zip(steps, by_step, strict=True):
        linked = map(_link_sentence, of_step, analyses)
        claims.append(reader.read(step, list(zip(of_step, linked, strict=True))))
    return claims


def _link_sentence(sentence: Sentence, analyses: Sequence[Analysis]) -> Words:
    corrected = repair(list(map(attrgetter("text"), sentence.words)), analyses)
    words: list[Word] = []
    for shown, analysis in zip(sentence.words, corrected, strict=True):
        word = Word(
            len(words),
            shown.text.lower(),
            shown.name,
            *analysis[:3],
            shown.start,
            shown.end,
        )
        words.append(word)
    return link(words, list(map(attrgetter("head"), corrected)))


@dataclass
class _Reader:
    """Reads the steps of a trace in order."""

    story: Story = field(default_factory=Story)
    last: UntimedClaim | None = None  # what happened last

    def read(self, step: str, parsed: Sequence[tuple[Sentence, Words]]) -> StepClaims:
        times = list(starmap(_moments_by_clause, parsed))
        clauses = list(chain.from_iterable(map(dict.values, times)))
        # "The man sits, and at frame 4 he drinks": what comes before a step's first moment is taken
        # to be of that moment too, for a step is told as one scene.
        placed = (frames for frames in map(union, clauses) if frames is not None)
        now = next(placed, None)
        claims = []
        for (_, words), of_sentence in zip(parsed, times, strict=True):
            when = _frames_by_word(len(words), of_sentence, now)
            claims += self._read_sentence(step, words, when)
            # the next sentence goes on at the moment that was told last
            now = when[-1]
        claims += _claims_by_own_rules(step, union(chain.from_iterable(clauses)))
        # what is said twice in a step counts once
        return StepClaims(
            tuple(dict.fromkeys(claims)),
            any(map(are_contradictory, clauses)),
        )

    def _read_sentence(
        self,
        step: str,
        words: Words,
        when: Sequence[Frames | None],
    ) -> list[Claim]:
        self.story.read(words)
        view = View(words, self.story)
        untimed = untimed_claims(view)
        claim_of = {event: _timed_claim(step, event, when) for event in untimed}
        claims = add_what_is_counted(list(claim_of.values()))
        for earlier, order, event in orders_of(view, untimed, self.last):
            # "Then" may look back to an event of an earlier step, which has no words in this one.
            before = claim_of.get(earlier) or earlier.claim("", None)
            after = claim_of[event]
            claims.append(
                Claim(
                    kind="temporal",
                    text=after.text,
                    predicate=order,
                    parts=(before, after),
                )
            )
        for event in untimed:
            if event.happens:
                self.last = event
        return claims


def _claims_by_own_rules(step: str, frames: Frames | None) -> Iterator[Claim]:
    """The claims of kinds that bring their own way to read a step."""
    for kind in ClaimKind.declared.values():
        for claim in kind.read(step) if kind.read else ():
            timeless = claim.frames is None
            yield claim.replace(frames=frames) if timeless else claim


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


def _moments_by_clause(sentence: Sentence, words: Words) -> MomentsByClause:
    """The moments of a sentence by the clause that they stand in: the one that follows where they
    open it ("At 0:04, he ..."), else the one before."""
    # a fragment has no verb: its first word stands for one
    verbs = [word.index for word in words if word.is_verb] or [0]
    times: MomentsByClause = {}
    for position, mention in sentence.moments:
        following = bisect_left(verbs, position)
        opens = not following or words[position - 1].text in _BREAKS
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


def _timed_claim(
    step: str,
    untimed: UntimedClaim,
    when: Sequence[Frames | None],
) -> Claim:
    word = untimed.word
    words = _words_of(word)
    # Words need not be adjacent in the tree, so the quote spans from the first to the last.
    start = min(map(attrgetter("start"), words))
    end = max(map(attrgetter("end"), words))
    clause = word if word.is_verb else clause_of(word)
    return untimed.claim(step[start:end], when[clause.index])


def _words_of(word: Word) -> list[Word]:
    """The words that say it: a noun with what stands before it, a verb with its clause."""
    if word.is_noun:
        return [word, *(kid for kid in word.kids() if kid.index < word.index)]
    below = list(word.below())
    if not word.is_verb:
        return below
    words = [word]
    for inner in below:
        said = not inner.is_verb and inner.tag != "CC" and inner.text[0].isalnum()
        if said and clause_of(inner) is word:
            words.append(inner)
    return words
