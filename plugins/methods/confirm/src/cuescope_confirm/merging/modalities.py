"""Findings that have a place by definition (a modality, the background), and what is no cue."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from cuescope_confirm.study import MODALITIES, NOWHERE, TELLS, Cue, Cues, Study

NO_CUE = "no cue"  # the note that says why what was found is none
PLACES = {
    "video": "the video",
    "text": "the question",
    "both": "the video and the question",
    "background": "the background",
}


def place_of(cue: Cue) -> str | None:
    """Where a finding without a place of its own lies; None for any other."""
    if cue.is_background:
        return "background"
    if cue.kind not in MODALITIES:
        return None
    key = cue.feature.key
    if "text" in key or "question" in key:
        return "text"
    if "video" in key:
        return "video"
    return "both"


def modalities(cues: Cues) -> list[list[Cue]]:
    """The findings about whole modalities, those about one together and the surest first.

    What is said of both at once (a verdict, attention between the two) goes with the modality that
    has findings of its own, with the video where both have.
    """
    groups = defaultdict[str | None, list[Cue]](list)
    for cue in cues:
        if cue.kind in MODALITIES:
            groups[place_of(cue)].append(cue)
    # a finding about both is no third cue: it is evidence for the modality that others found
    if len(groups) > 1 and "both" in groups:
        of_both = groups.pop("both")
        groups["video" if "video" in groups else "text"] += of_both
    return list(groups.values())


def no_cues(
    study: Study,
    groups: Sequence[Cues],
    others: Cues,
) -> Iterator[str]:
    """Why some findings are no cues; `groups` are those about modalities.

    A model that answers from video and question together does as it should; one that answers from
    either alone has findings of its own about that one alone.
    """
    if len(groups) > 1:
        run = groups[0][0].run
        said = next(iter(study.reports[run].statements), "")
        yield f"The video and the question are no cues, since the model needs both. {run}: {said}"
    for kind, words in TELLS.items():
        # each word once: a tell may be found on several labels
        tells = [f"'{cue.name}' ({cue.run})" for cue in study.cues if cue.kind == kind]
        if tells:
            names = ", ".join(dict.fromkeys(tells))
            yield f"{names}: {words}. No change of pictures tests this."
    figures = [f"'{cue.name}' ({cue.run})" for cue in others if cue.kind in NOWHERE]
    if figures:
        yield f"{', '.join(dict.fromkeys(figures))}: figures of the run as a whole, and no cues."
