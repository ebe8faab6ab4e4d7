"""What comes before what: the temporal claims of a sentence."""

from collections.abc import Iterator, Sequence

from cuescope_step_grounding.claims.found import Found
from cuescope_step_grounding.claims.lexicon import ORDER, ORDERS
from cuescope_step_grounding.claims.story import View
from cuescope_step_grounding.claims.words import Tree, Word

Ordered = tuple[Found, str, Found]  # one, "before" | "after" | "while", other


def ordered(view: View, found: Sequence[Found], last: Found | None) -> Iterator[Ordered]:
    """The pairs whose order is told; "then" looks back to what happened last, `last` before this
    sentence."""
    tree = view.tree
    events = {one.word.index: one for one in reversed(found) if one.happens}
    for verb in tree.words:
        one = events.get(verb.index)
        if one is None:
            continue
        if word := _order(tree, verb):
            head = tree.head(tree.head(verb)) if verb.dep == "pcomp" else tree.head(verb)
            if (other := events.get(head.index)) is not None:
                yield other, word, one
        if any(kid.text in ORDER for kid in tree.kids(verb, "advmod", "dep", "npadvmod")):
            earlier = [events[index] for index in sorted(events) if index < verb.index]
            before = earlier[-1] if earlier else last
            if before is not None and before is not one:
                yield before, "before", one


def _order(tree: Tree, verb: Word) -> str | None:
    """How a clause is bound to the one that it hangs on: "after he sits", "before sitting"."""
    if verb.dep == "pcomp":
        return ORDERS.get(tree.head(verb).text)
    if verb.dep != "advcl":
        return None
    marks = tree.kids(verb, "mark", "advmod")
    return next((ORDERS[kid.text] for kid in marks if kid.text in ORDERS), None)
