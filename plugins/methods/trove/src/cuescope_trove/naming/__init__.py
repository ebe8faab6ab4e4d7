"""Words for clusters, where the user gives a namer; in the paper a person looked at the frames."""

from collections.abc import Iterator, Sequence

import numpy as np

from cuescope_sdk import Audit, Frame
from cuescope_sdk.maths import normalise
from cuescope_sdk.stills import Answers
from cuescope_sdk.tools import FrameGroup, NameGuess
from cuescope_trove.maths.clustering import Clusters
from cuescope_trove.naming.text_embeddings import TextEmbeddings

SHOWN = 16  # frames of a cluster, and of the others, that a namer may look at


def cluster_guesses(
    audit: Audit,
    clusters: Clusters,
    answers: Answers,
) -> Sequence[NameGuess | None]:
    """A guess for each cluster; none without a namer, or with a single cluster."""
    namer = audit.tools.get("namer")
    if namer is None or clusters.count < 2:
        return [None] * clusters.count
    guesses: list[NameGuess | None] = namer.name_groups(
        list(_groups(audit, clusters, answers))
    )
    named = sum(guess is not None for guess in guesses)
    audit.note(
        "names of clusters",
        f"guesses by {audit.tool_specs.get('namer', 'the namer')} for {named} of "
        f"{clusters.count}: the name that fits the cluster's frames better than all other frames "
        "by the largest margin",
    )
    return guesses


def _groups(audit: Audit, clusters: Clusters, answers: Answers) -> Iterator[FrameGroup]:
    frames = list(answers.row)
    samples = {sample.key: sample for sample in audit.samples}
    # float64: differences of long sums of float32 would lose their digits
    rows = normalise(answers.embedding).astype(np.float64)
    sums = np.zeros((clusters.count, rows.shape[1]))
    np.add.at(sums, clusters.cluster, rows)
    counts = np.bincount(clusters.cluster, minlength=clusters.count)
    members = clusters.members

    def frames_of(chosen: np.ndarray) -> Iterator[Frame]:
        for row in chosen[:SHOWN]:
            sample, number = frames[row]
            yield samples[sample].frames[number]

    def embed_texts(texts: Sequence[str]) -> np.ndarray:
        # a readout comes with a sample, and this one does not look at it
        trial = TextEmbeddings(texts=tuple(texts)).of(audit.samples[0])
        [outcome] = audit.respond([trial])
        return np.asarray(outcome.response.readout)

    most_typical = np.array([strongest[0] for strongest in members])
    for cluster in range(clusters.count):
        # the most typical frame of other clusters, the same clusters for all but their own
        others = np.delete(most_typical, cluster)
        count = min(SHOWN, len(others))
        # spread out, as clusters are numbered by size: not only the largest are shown
        spread = np.linspace(0, len(others) - 1, count)
        elsewhere = sums.sum(axis=0) - sums[cluster]
        yield FrameGroup(
            frames=tuple(frames_of(members[cluster])),
            others=tuple(frames_of(others[spread.astype(int)])),
            centre=sums[cluster] / counts[cluster],
            elsewhere=elsewhere / (len(rows) - counts[cluster]),
            embed_texts=embed_texts,
            labels=audit.labels,
        )
