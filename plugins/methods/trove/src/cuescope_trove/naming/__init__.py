"""Words for clusters, where the user gives a namer; in the paper a person looked at the frames."""

from collections.abc import Iterator, Sequence

import numpy as np

from cuescope_sdk import Audit, Frame
from cuescope_sdk.maths import normalise
from cuescope_sdk.stills import Answers
from cuescope_sdk.tools import FrameGroup, NameGuess
from cuescope_trove.candidates.groups import Candidates

SHOWN = 16  # frames of a cluster, and of the others, that a namer may look at


def candidate_guesses(
    audit: Audit,
    candidates: Candidates,
    answers: Answers,
) -> Sequence[NameGuess | None]:
    """A guess for each candidate; none without a namer, or with a single candidate."""
    namer = audit.tools.get("namer")
    if namer is None or len(candidates) < 2:
        return [None] * len(candidates)
    guesses: list[NameGuess | None] = namer.name_groups(
        list(_groups(audit, candidates, answers))
    )
    named = sum(guess is not None for guess in guesses)
    audit.note(
        "names of clusters",
        f"guesses by {audit.tool_specs.get('namer', 'the namer')} for {named} of "
        f"{len(candidates)}: the name that fits the cluster's frames better than all other frames "
        "by the largest margin",
    )
    return guesses


def _groups(
    audit: Audit,
    candidates: Candidates,
    answers: Answers,
) -> Iterator[FrameGroup]:
    frames = list(answers.row)
    samples = {sample.key: sample for sample in audit.samples}
    # float64: differences of long sums of float32 would lose their digits
    rows = normalise(answers.embedding).astype(np.float64)
    members = candidates.members
    total = rows.sum(axis=0)

    def frames_of(chosen: np.ndarray) -> Iterator[Frame]:
        for row in chosen[:SHOWN]:
            sample, number = frames[row]
            yield samples[sample].frames[number]

    def embed_texts(texts: Sequence[str]) -> np.ndarray:
        # a readout comes with a sample, and this one does not look at it
        from cuescope_trove.naming.text_embeddings import TextEmbeddings

        trial = TextEmbeddings(texts=tuple(texts)).of(audit.samples[0])
        [outcome] = audit.respond([trial])
        return np.asarray(outcome.response.readout)

    most_typical = np.array([strongest[0] for strongest in members])
    for number, shown in enumerate(members):
        # the most typical frame of the others, the same for all but their own
        others = np.delete(most_typical, number)
        count = min(SHOWN, len(others))
        # spread out, as clusters are numbered by size: not only the largest are shown
        spread = np.linspace(0, len(others) - 1, count)
        sums = rows[shown].sum(axis=0)
        # at least 1: a candidate may have every frame
        left = max(len(rows) - len(shown), 1)
        yield FrameGroup(
            frames=tuple(frames_of(shown)),
            others=tuple(frames_of(others[spread.astype(int)])),
            centre=sums / len(shown),
            elsewhere=(total - sums) / left,
            embed_texts=embed_texts,
            labels=audit.labels,
        )
