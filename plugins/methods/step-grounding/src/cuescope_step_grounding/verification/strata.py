"""Strata of videos that are asked alike: within them traces change places.

A model that reads the question alone guesses the kind of scene and writes what is common there.
Compared with scenes of other kinds its text would seem to fit.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from math import ceil
from operator import attrgetter

import numpy as np
from jaxtyping import Float
from scipy.cluster.hierarchy import fcluster, leaves_list, linkage
from scipy.spatial.distance import squareform

from cuescope_sdk import Sample, SentenceEncoder
from cuescope_sdk.grounding import SCENE
from cuescope_sdk.language import head_noun
from cuescope_step_grounding.claims.contents import flatten
from cuescope_step_grounding.trials import Claims


@dataclass(frozen=True)
class TraceClaims:
    """The claims of a trace, step by step, and its sample."""

    sample: Sample
    claims: Claims

    @property
    def group(self) -> str:
        """The unit that was drawn independently; a sample without a group is one by itself."""
        # Two kinds of names must not meet: a group may be called as another sample.
        group = self.sample.group
        return f"sample {self.sample.key}" if group is None else f"group {group}"


Group = Sequence[TraceClaims]


def by_group(traces: Iterable[TraceClaims]) -> list[list[TraceClaims]]:
    """Traces with claims, by group."""
    groups = defaultdict(list)
    for trace in traces:
        if any(trace.claims):
            groups[trace.group].append(trace)
    return list(groups.values())


def distances(
    groups: Sequence[Group],
    encoder: SentenceEncoder | None = None,
) -> Float[np.ndarray, "group group"]:
    """Cosine distances of questions, choices, scenes and named things; tf-idf without encoder."""
    texts = [" ".join(_words(group)) for group in groups]
    if encoder is not None:
        rows = np.asarray(encoder.encode(texts), float)
    elif any(texts):
        # an extra of the sdk, and slow to import
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectors = TfidfVectorizer(token_pattern=r"\w+", binary=True).fit_transform(
            texts
        )
        rows = vectors.toarray()
    else:
        return 1 - np.eye(len(groups))
    unlike = np.clip(1 - rows @ rows.T, 0, None)
    np.fill_diagonal(unlike, 0)
    return np.asarray((unlike + unlike.T) / 2)


def _words(group: Group) -> Iterator[str]:
    """Words of the questions and scenes, and the things that are named in the traces."""
    for trace in group:
        yield trace.sample.question or ""
        yield from trace.sample.choices
        for frame in trace.sample.annotations.get(SCENE, ()):
            yield from map(attrgetter("name"), frame.things)
            yield from map(attrgetter("verb"), frame.actions)
        for claim in flatten(chain.from_iterable(trace.claims)):
            for phrase in filter(None, (claim.subject, claim.object)):
                yield head_noun(phrase)


def strata(
    groups: Sequence[Group],
    partners: int,
    encoder: SentenceEncoder | None = None,
) -> list[list[Group]]:
    """Groups of like questions together, at most one more than `partners` in each.

    Average linkage, cut where the mean silhouette is largest (Rousseeuw, 1987).
    """
    if len(groups) < 3:
        return [list(groups)] if groups else []
    unlike = distances(groups, encoder)
    tree = linkage(squareform(unlike, checks=False), "average")
    stratum = _cut(unlike, tree)
    blocks = []
    for number in np.unique(stratum):
        # those that are alike stand side by side in the tree
        members = [index for index in leaves_list(tree) if stratum[index] == number]
        edges = np.linspace(0, len(members), ceil(len(members) / (partners + 1)) + 1)
        for low, high in pairwise(edges.round().astype(int)):
            blocks.append([groups[index] for index in members[low:high]])
    return blocks


def _cut(
    unlike: Float[np.ndarray, "group group"],
    tree: np.ndarray,
) -> np.ndarray:
    """The stratum of each group."""
    # an extra of the sdk, and slow to import
    from sklearn.metrics import silhouette_score

    cuts = [fcluster(tree, count, "maxclust") for count in range(2, len(unlike))]
    cuts = [cut for cut in cuts if 1 < len(np.unique(cut)) < len(unlike)]
    if not cuts:
        return np.zeros(len(unlike), int)
    return max(
        cuts, key=lambda cut: silhouette_score(unlike, cut, metric="precomputed")
    )
