"""Do two classes look alike? What tells a fine-grained error from any other (appendix A.4.1)."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from cuescope_sdk import Audit

Pair = tuple[str, str]
Judged = dict[Pair, bool | None]
Judge = Callable[[Sequence[Pair]], Judged]
# "not similar" has the word, and is the opposite
DENIALS = frozenset({"not", "no", "never", "cannot", "hardly", "neither", "nor"})

PROMPT = """\
You know what things look like. Two categories: "{true}" and "{predicted}".
Going by appearance alone (shape, texture, colour, size, typical parts): would a person looking at \
an ordinary photo easily take one for the other?
Answer with one word: "similar" if they look alike, "different" if they are clearly distinct."""


def choose_judge(audit: Audit) -> tuple[str, Judge] | None:
    """Return the judge that is there, in words and as a function of (true, predicted) pairs.

    The paper asks a language model; else annotated families of labels decide. None without either.
    """
    if "text-generator" in audit.tools:
        return "a language model is asked about each pair of classes", partial(
            _ask, audit
        )
    families = {}
    for sample in audit.samples:
        family = sample.annotations.get("family")
        if sample.label and family:
            families[sample.label] = str(family)
    if not families:
        return None
    return "same family of labels", partial(_compare_families, families)


def _compare_families(families: Mapping[str, str], pairs: Sequence[Pair]) -> Judged:
    """None where a label has no family."""
    judged: Judged = {}
    for pair in pairs:
        true, predicted = map(families.get, pair)
        # two labels without a family are not of the same one
        is_known = true is not None and predicted is not None
        judged[pair] = true == predicted if is_known else None
    return judged


def _ask(audit: Audit, pairs: Sequence[Pair]) -> Judged:
    prompts = [
        PROMPT.format(true=true, predicted=predicted) for true, predicted in pairs
    ]
    # all at once, as a language model batches; none where nothing is wrong
    answers = audit.tools["text-generator"].generate(prompts) if prompts else []
    return dict(zip(pairs, map(parse_similar, answers), strict=True))


def parse_similar(answer: str) -> bool | None:
    """True for "similar", False for "different", None for both, neither or a denial.

    >>> parse_similar("**Similar**."), parse_similar("different"), parse_similar("not sure")
    (True, False, None)
    """
    # Language models write typographic apostrophes: aren\u2019t must count as aren't.
    tokens = re.findall("[a-z']+", answer.lower().replace("\u2019", "'"))
    words = {token.strip("'") for token in tokens}
    denied = words & DENIALS or any(word.endswith("n't") for word in words)
    verdict = words & {"similar", "different"}
    # an answer that is not understood must not count for either side
    if denied or len(verdict) != 1:
        return None
    return verdict == {"similar"}
