"""From the steps of a trace to their claims."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from cuescope_sdk.grounding import Claim
from cuescope_step_grounding.claims.extraction import found_in
from cuescope_step_grounding.claims.found import Found
from cuescope_step_grounding.claims.order import ordered
from cuescope_step_grounding.claims.parser import Parser
from cuescope_step_grounding.claims.phrases import clause_of
from cuescope_step_grounding.claims.reading import Sentence, sentences
from cuescope_step_grounding.claims.repairs import repaired
from cuescope_step_grounding.claims.story import Story, View
from cuescope_step_grounding.claims.times import Clock, Frames, contradict, union
from cuescope_step_grounding.claims.words import Analysis, Tree, Word

_BREAKS = frozenset({",", "and", "but", "then", "while", "before", "after", "when", "as", "until"})

Times = dict[int, list[Frames | None]]  # the moments of a clause, by the index of its verb


@dataclass(frozen=True, slots=True)
class StepClaims:
    """The claims of a step; whether it tells two times of one thing that share no frame."""

    claims: tuple[Claim, ...]
    contradictory: bool = False


def claims_of(parser: Parser, step: str, clock: Clock) -> list[Claim]:
    """The claims of a step that stands alone."""
    return claims_of_steps(parser, [step], clock)[0]


def claims_of_steps(parser: Parser, steps: Sequence[str], clock: Clock) -> list[list[Claim]]:
    """The claims of each step of a trace; pronouns and "then" look back over the steps."""
    return [list(step.claims) for step in read_steps(parser, steps, clock)]


def read_steps(parser: Parser, steps: Sequence[str], clock: Clock) -> list[StepClaims]:
    """The same, with what is wrong with a step's times."""
    read = [sentences(step, clock) for step in steps]
    parsed = iter(parser.analyse([[w.text for w in s.words] for step in read for s in step]))
    reader = _Reader()
    return [
        reader.read(step, [(sentence, tree(sentence, next(parsed))) for sentence in said])
        for step, said in zip(steps, read, strict=True)
    ]


def tree(sentence: Sentence, analyses: Sequence[Analysis]) -> Tree:
    """The parsed sentence."""
    said = repaired([shown.text for shown in sentence.words], analyses)
    return Tree(
        tuple(
            Word(
                index, shown.text.lower(), shown.name, one.lemma, one.tag, one.dep, one.head,
                shown.start, shown.end,
            )
            for index, (shown, one) in enumerate(zip(sentence.words, said, strict=True))
        )
    )  # fmt: skip


@dataclass
class _Reader:
    """Reads the steps of a trace in order."""

    story: Story = field(default_factory=Story)
    last: Found | None = None  # what happened last

    def read(self, step: str, said: Sequence[tuple[Sentence, Tree]]) -> StepClaims:
        times = [_times(sentence, tree) for sentence, tree in said]
        told = [union(moments) for of in times for moments in of.values()]
        now = next((frames for frames in told if frames is not None), None)
        claims: list[Claim] = []
        for (_, tree), of in zip(said, times, strict=True):
            when = _when(len(tree.words), of, now)
            claims += self._sentence(step, tree, when)
            now = when[-1]
        wrong = any(contradict(moments) for of in times for moments in of.values())
        return StepClaims(tuple(dict.fromkeys(claims)), wrong)

    def _sentence(self, step: str, tree: Tree, when: Sequence[Frames | None]) -> list[Claim]:
        self.story.read(tree)
        view = View(tree, self.story)
        found = found_in(view)
        made = {one: _claim(step, tree, one, when) for one in found}
        claims = list(made.values())
        for one, word, other in ordered(view, found, self.last):
            before = made.get(one) or one.claim("", None)  # of a step before
            claims.append(
                Claim(
                    kind="temporal", text=made[other].text, predicate=word,
                    parts=(before, made[other]),
                )
            )  # fmt: skip
        self.last = next((one for one in reversed(found) if one.happens), self.last)
        return claims


def _times(sentence: Sentence, tree: Tree) -> Times:
    """The moments of a sentence by the clause that they stand in: the one that follows where they
    open it ("At 0:04, he ..."), else the one before."""
    verbs = [word.index for word in tree.words if word.is_verb] or [0]
    found: Times = {}
    for place, mention in sentence.moments:
        before = [verb for verb in verbs if verb < place]
        after = [verb for verb in verbs if verb >= place]
        opens = not before or tree.words[place - 1].text in _BREAKS
        verb = after[0] if after and opens else before[-1]
        found.setdefault(verb, []).append(mention.frames)
    return found


def _when(words: int, times: Times, now: Frames | None) -> list[Frames | None]:
    """The frames meant at each word's clause: its own, else those told last."""
    found = []
    for index in range(words):
        own = union(times[index]) if index in times else None
        now = now if own is None else own
        found.append(now)
    return found


def _claim(step: str, tree: Tree, one: Found, when: Sequence[Frames | None]) -> Claim:
    word = one.word
    words = _said(tree, word)
    text = step[min(w.start for w in words) : max(w.end for w in words)]
    return one.claim(text, when[(word if word.is_verb else clause_of(tree, word)).index])


def _said(tree: Tree, word: Word) -> list[Word]:
    """The words that say it: a noun with what stands before it, a verb with its clause."""
    if word.is_noun:
        return [word, *(kid for kid in tree.kids(word) if kid.index < word.index)]
    below = list(tree.below(word))
    if not word.is_verb:
        return below
    own = (one for one in below if clause_of(tree, one) is word)
    return [
        word,
        *(one for one in own if not one.is_verb and one.tag != "CC" and one.text[0].isalnum()),
    ]
