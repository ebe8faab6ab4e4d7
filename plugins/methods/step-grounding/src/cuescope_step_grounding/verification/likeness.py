"""Which videos show the same kind of scene, so that what a question gives away holds in all.

A model that reads the question alone guesses the kind of scene, and writes what is common there.
Held against scenes of other kinds its text would seem to fit. So videos change places only with
videos that are alike in three things: the meaning of what is asked, what their annotated scenes
show, and what was claimed of them (a blind text repeats itself within a kind).
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from operator import attrgetter

import numpy as np
from jaxtyping import Float
from scipy.cluster.hierarchy import ClusterNode, linkage, to_tree
from scipy.spatial.distance import squareform

from cuescope_sdk import Sample, SentenceEncoder
from cuescope_sdk.grounding import SCENE
from cuescope_sdk.language import BagOfWords, head_noun
from cuescope_step_grounding.claims.contents import flatten
from cuescope_step_grounding.trials import Claims

# Where the same kind ends, on the way from the distance of nearest neighbours (0) to that of any
# two groups (1). It was chosen on one simulated world, and looked at on others.
EDGE = 0.7
SAME = 0.3  # distance up to which groups are of one kind in any case
Traces = Sequence[tuple[Sample, Claims]]  # of one group
Distances = Float[np.ndarray, "group group"]


def distances(
    groups: Sequence[Traces],
    encoder: SentenceEncoder | None = None,
) -> Distances:
    """How unlike groups are: 1 less the mean of the cosines of whatever is known of them."""
    if len(groups) < 3:
        return 1 - np.eye(len(groups))
    scenes = [list(_scene_words(group)) for group in groups]
    claims = [list(_claim_words(group)) for group in groups]
    views = [
        _questions(groups, encoder or BagOfWords()),
        _rare_words(scenes),
        _rare_words(claims),
    ]
    cosines = [view @ view.T for view in views if view.any()]
    if not cosines:
        return 1 - np.eye(len(groups))
    unlike = np.clip(1 - np.mean(cosines, axis=0), 0, None)
    np.fill_diagonal(unlike, 0)
    return np.asarray((unlike + unlike.T) / 2)


def kinds(unlike: Distances, *, cut: bool = True) -> list[list[int]]:
    """Groups of the same kind of scene together; some may be alone. Not `cut`, all in one.

    Average linkage; within a kind those that are alike stand side by side.
    """
    count = len(unlike)
    if not count:
        return []
    if count < 3:
        return [list(range(count))]
    pairs = squareform(unlike, checks=False)
    tree = to_tree(linkage(pairs, "average"))
    furthest = _furthest_alike(unlike) if cut else np.inf
    return list(_branches(tree, furthest))


def _furthest_alike(unlike: Distances) -> float:
    """The distance up to which groups are of one kind."""
    count = len(unlike)
    is_own = np.eye(count, dtype=bool)
    others = unlike[~is_own].reshape(count, -1)
    nearest = float(np.median(others.min(axis=1)))
    way = float(others.mean()) - nearest
    return max(nearest + EDGE * way, SAME)


def _branches(node: ClusterNode, furthest: float) -> Iterator[list[int]]:
    if node.is_leaf() or node.dist <= furthest:
        yield node.pre_order()
        return
    yield from _branches(node.left, furthest)
    yield from _branches(node.right, furthest)


def _questions(
    groups: Sequence[Traces], encoder: SentenceEncoder
) -> Float[np.ndarray, "group dim"]:
    """Unit rows of what is asked of each group."""
    samples = [group[0][0] for group in groups]
    embeddings = encoder.encode(list(map(question_text, samples)))
    rows = np.asarray(embeddings, float)
    # what all questions share tells none from another
    return _unit(rows - rows.mean(axis=0))


def question_text(sample: Sample) -> str:
    """All that a question tells: its words and its choices. Which is right, it does not tell."""
    told = (sample.question, *sample.choices)
    return " ".join(filter(None, told))


def _scene_words(group: Traces) -> Iterator[str]:
    for sample, _ in group:
        for frame in sample.annotations.get(SCENE, ()):
            yield from map(attrgetter("name"), frame.things)
            yield from map(attrgetter("verb"), frame.actions)


def _claim_words(group: Traces) -> Iterator[str]:
    for _, claims in group:
        for claim in flatten(chain.from_iterable(claims)):
            # things alone: what is said of them is what the test is about
            for phrase in filter(None, (claim.subject, claim.object)):
                yield head_noun(phrase)


def _rare_words(texts: Sequence[list[str]]) -> Float[np.ndarray, "text word"]:
    """Unit rows of words, each once and the rarer the heavier; 0 of a text without words."""
    if not any(texts):
        return np.zeros((len(texts), 1))
    # an extra of the sdk, and slow to import
    from sklearn.feature_extraction.text import TfidfVectorizer

    counts = TfidfVectorizer(analyzer=set).fit_transform(texts)
    return np.asarray(counts.toarray())


def _unit(rows: Float[np.ndarray, "text dim"]) -> Float[np.ndarray, "text dim"]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    directions = rows / np.maximum(lengths, 1e-6)
    # what is left by rounding has no direction
    return np.asarray(np.where(lengths > 1e-6, directions, 0.0))
